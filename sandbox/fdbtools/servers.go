package fdbtools

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
)

// Server is one running fdbserver.
type Server struct {
	Pod     string `json:"pod"` // namespace/name
	Address string `json:"address"`
	Data    string `json:"data"` // its data directory as the machine knows it
}

func (b *Bridge) remember(h *fdbsim.ServerHandle, p *program, s fdbsim.Server) *fdbsim.ServerHandle {
	entry := Server{Pod: p.container.Namespace + "/" + p.container.Pod, Data: s.DataKey}
	if args, err := fdbsim.ParseServerArgs(s.Args); err == nil { // it was parsed to start the server
		entry.Address = args.Public[0].HostPort()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.servers[h], b.data[s.DataKey] = entry, p.container.UID
	return h
}

func (b *Bridge) forget(h *fdbsim.ServerHandle) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.servers, h)
}

// Servers are the running servers by address.
func (b *Bridge) Servers() []Server {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Server
	for _, s := range b.servers {
		all = append(all, s)
	}
	slices.SortFunc(all, func(x, y Server) int { return cmp.Compare(x.Address, y.Address) })
	return all
}

// handle finds a running server by its address.
func (b *Bridge) handle(address string) (*fdbsim.ServerHandle, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for h, s := range b.servers {
		if s.Address == address {
			return h, nil
		}
	}
	return nil, fmt.Errorf("no simulated server listens on %s", address)
}

// Kill ends a server as a crash does; its monitor starts it again.
func (b *Bridge) Kill(address string) error {
	h, err := b.handle(address)
	if err != nil {
		return err
	}
	h.Stop()
	return nil
}

// Freeze stops a server from answering, until Thaw.
func (b *Bridge) Freeze(address string) error {
	h, err := b.handle(address)
	if err != nil {
		return err
	}
	h.Freeze()
	return nil
}

// Thaw continues a frozen server.
func (b *Bridge) Thaw(address string) error {
	h, err := b.handle(address)
	if err != nil {
		return err
	}
	h.Thaw()
	return nil
}

// Lose destroys every data directory in a directory of the machine, and
// returns how many there were. Servers that use one die.
func (b *Bridge) Lose(dir string) int {
	b.mu.Lock()
	var lost []string
	for key := range b.data {
		if within(dir, key) {
			lost = append(lost, key)
		}
	}
	b.mu.Unlock()
	for _, w := range b.all() {
		for _, key := range lost {
			w.LoseData(key)
		}
		w.touch()
	}
	return len(lost)
}
