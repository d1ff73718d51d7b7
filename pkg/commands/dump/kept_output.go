package dump

import (
	"bytes"
	"context"
	"sync"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// keptOutput keeps the last JSON that a program printed: a status document is kept as the database
// returned it.
type keptOutput struct {
	mu   sync.Mutex
	last []byte
}

func (k *keptOutput) of(t admin.Transport) admin.Transport { return keptTransport{t, k} }

func (k *keptOutput) stdout() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

type keptTransport struct {
	admin.Transport
	kept *keptOutput
}

// Run runs a tool to its end.
func (t keptTransport) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	r, err := t.Transport.Run(ctx, c)
	if err == nil && r.ExitCode == 0 && bytes.Contains(r.Stdout, []byte("{")) {
		t.kept.mu.Lock()
		defer t.kept.mu.Unlock()
		t.kept.last = r.Stdout
	}
	return r, err
}
