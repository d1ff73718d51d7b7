package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net"
	"os"
)

// state is what the next start uses of this one.
type state struct {
	Port    int    `json:"port"`    // of the API, which kubeconfigs name
	Network string `json:"network"` // of the pods, whose addresses databases store
}

func readState(file string) (state, error) {
	var s state
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read the sandbox's state: %w", err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("read the sandbox's state: %w", err)
	}
	return s, nil
}

func (s state) write(file string) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return fmt.Errorf("write the sandbox's state: %w", err)
	}
	return nil
}

// networks is how many pod networks a machine has; shortNetworks of them have so short addresses that tables with them fit
// a terminal of 80 columns.
const networks, shortNetworks = 255, 100

// claimNetwork takes a pod network that no other sandbox of this machine uses: the requested one, or the first
// free one from that of the directory on. So the network of a sandbox that starts again is hardly ever taken by
// another one meanwhile. It is released when the listener closes.
func claimNetwork(requested, dir string) (string, net.Listener, error) {
	if requested != "" {
		l, err := claim(requested)
		if err != nil {
			return "", nil, fmt.Errorf("pod network %s is in use by another sandbox; stop that one first: %w", requested, err)
		}
		return requested, l, nil
	}
	first := fnv.New32a()
	first.Write([]byte(dir))
	for i := range uint32(networks) {
		network := fmt.Sprintf("127.%d.0.0/16", (first.Sum32()%shortNetworks+i)%networks)
		if l, err := claim(network); err == nil {
			return network, l, nil
		}
	}
	return "", nil, errors.New("every pod network is in use")
}

// claim listens on an abstract socket, a name that exists once per machine and
// ends with its process.
func claim(network string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(context.Background(), "unix", "@fdb-sandbox-"+network)
}
