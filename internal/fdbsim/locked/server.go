package locked

import (
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// ServerHandle is a running (or ended) server.
type ServerHandle struct {
	w    *model.Simulation
	slot *model.Slot
}

// StartServer starts a process. It fails when the command line or the cluster
// file cannot be used, as fdbserver would exit at once, and when another live
// process has the address.
func (w *Simulation) StartServer(spec Server) (*ServerHandle, error) {
	w.inner.Lock()
	defer w.inner.Unlock()
	at, err := w.inner.Start(spec)
	if err != nil {
		return nil, err
	}
	return &ServerHandle{w: w.inner, slot: at}, nil
}

// Exited delivers the exit code once the process has ended: 0 after fdbcli's
// kill, 137 after [ServerHandle.Stop].
func (h *ServerHandle) Exited() <-chan int {
	h.w.Lock()
	defer h.w.Unlock()
	return h.slot.Process.Exited
}

// Stop ends the process as SIGKILL does. Stopping an ended process does
// nothing.
func (h *ServerHandle) Stop() {
	h.w.Lock()
	defer h.w.Unlock()
	h.w.EndProcess(h.slot.Process, model.ExitKilled)
	h.w.Wake()
}

// Freeze stops the process from answering, as SIGSTOP does.
func (h *ServerHandle) Freeze() {
	h.w.Lock()
	defer h.w.Unlock()
	h.w.Freeze(h.slot.Process)
}

// Thaw lets a frozen process go on.
func (h *ServerHandle) Thaw() {
	h.w.Lock()
	defer h.w.Unlock()
	h.w.Thaw(h.slot.Process)
}
