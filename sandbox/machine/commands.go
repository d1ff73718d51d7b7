package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/control"
)

// startControl takes commands until the sandbox stops.
func (m *Machine) startControl(ctx context.Context, short string) error {
	listener, err := listenAt(ctx, short, m.Paths.ControlSocket())
	if err != nil {
		return fmt.Errorf("listen for commands: %w", err)
	}
	m.onStop(control.Serve(listener, m.handlers(context.WithoutCancel(ctx))))
	return nil
}

// startClients serves client libraries until the sandbox stops.
func (m *Machine) startClients(ctx context.Context, short string) error {
	listener, err := listenAt(ctx, short, m.Paths.ClientSocket())
	if err != nil {
		return fmt.Errorf("listen for client libraries: %w", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m.onStop(cancel)
	go m.Tools.ServeClients(ctx, listener)
	return nil
}

// listenAt listens on a socket in the sandbox's directory, whose short name is good in this
// process.
func listenAt(ctx context.Context, short, socket string) (net.Listener, error) {
	if err := os.RemoveAll(socket); err != nil { // a sandbox that was killed left it; the lock shows that it has ended
		return nil, fmt.Errorf("remove an old socket: %w", err)
	}
	return (&net.ListenConfig{}).Listen(ctx, "unix", filepath.Join(short, filepath.Base(socket)))
}

// handlers are the commands by name; life is the sandbox's own context.
func (m *Machine) handlers(life context.Context) map[string]control.Handler {
	return map[string]control.Handler{
		"status":   answers(func(context.Context, struct{}) (Report, error) { return m.report(), nil }),
		"node":     does(func(_ context.Context, r NodeRequest) error { return m.changeNode(life, r) }),
		"pod":      does(m.changePod),
		"volume":   answers(m.loseVolume),
		"database": answers(m.database),
		"server":   does(m.changeServer),
		"api":      does(m.changeAPI),
		"speed":    does(func(_ context.Context, speed float64) error { return m.Tools.SetPace(speed) }),
	}
}

// answers makes a handler of a function.
func answers[Q, A any](do func(context.Context, Q) (A, error)) control.Handler {
	return func(ctx context.Context, body json.RawMessage) (any, error) {
		var q Q
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&q); err != nil {
			return nil, fmt.Errorf("read the command: %w", err)
		}
		return do(ctx, q)
	}
}

// does makes a handler of a function without an answer.
func does[Q any](do func(context.Context, Q) error) control.Handler {
	return answers(func(ctx context.Context, q Q) (struct{}, error) { return struct{}{}, do(ctx, q) })
}
