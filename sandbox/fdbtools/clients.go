package fdbtools

import (
	"context"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// clientVersion is the version of the client library that programs outside of containers link.
var clientVersion = fdb.Version{Major: 7, Minor: 3, Patch: 79}

// ServeClients serves programs of this machine that link the model's client library until ctx
// ends. Their cluster files are this machine's.
func (b *Bridge) ServeClients(ctx context.Context, listener net.Listener) {
	context.AfterFunc(ctx, func() { listener.Close() })
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			end := func() {}
			err := fdbsim.ServeClient(ctx, func(clusterFile string) *fdbsim.Simulation {
				w := b.ofClusterFile(clusterFile)
				end = w.count(&w.running)
				return w.Simulation
			}, clientVersion.String(), localFiles{}, conn)
			end()
			if err != nil && ctx.Err() == nil {
				b.Log.Error("serving a client library", "error", err)
			}
		}()
	}
}

// localFiles are the files of this machine.
type localFiles struct{}

func (localFiles) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

func (localFiles) WriteFile(name string, content []byte) error {
	const onlyOurs = 0o600
	return os.WriteFile(name, content, onlyOurs)
}

func (localFiles) Writable(name string) bool {
	return unix.Access(filepath.Dir(name), unix.W_OK) == nil
}
