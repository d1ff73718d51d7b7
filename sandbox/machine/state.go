package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
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

// claimNetwork takes a pod network no other sandbox of this machine uses: the
// requested one, or the first free one. It is released when the listener
// closes.
func claimNetwork(requested string) (string, net.Listener, error) {
	if requested != "" {
		l, err := claim(requested)
		if err != nil {
			return "", nil, fmt.Errorf("pod network %s is in use by another sandbox; stop that one first: %w", requested, err)
		}
		return requested, l, nil
	}
	for second := range 255 {
		network := "127." + strconv.Itoa(second) + ".0.0/16"
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
