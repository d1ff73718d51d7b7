package logs

import (
	"fmt"
	"sync"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// faults are the logs that could not be read. They are safe for concurrent use.
type faults struct {
	env *session.Env

	mu     sync.Mutex
	read   int
	errs   []error
	warned map[string]bool
}

// note counts the reading of a log, and prints why one failed: once, however often it is tried.
func (f *faults) note(what string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.read++
		return
	}
	if f.warn(what + ": " + exit.Explain(err)) {
		f.errs = append(f.errs, err)
	}
}

// limited prints that the beginning of a log is omitted.
func (f *faults) limited(what, flag string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.warn(what + ": the beginning is omitted (" + flag + ")")
}

// warn prints a warning, unless it was printed before.
func (f *faults) warn(text string) (printed bool) {
	if f.warned[text] {
		return false
	}
	f.warned[text] = true
	f.env.Logf("warning: %s", text)
	return true
}

// end returns the end of the command.
func (f *faults) end() error {
	if len(f.errs) == 0 {
		return nil
	}
	code := exit.Worst(f.errs)
	if f.read > 0 {
		code = exit.ExitPartly
	}
	return &exit.Error{Code: code, Err: fmt.Errorf("read logs: %d of %s failed: %s", len(f.errs), phrase.Count(f.read+len(f.errs), "read"), exit.Explain(f.errs[0]))}
}
