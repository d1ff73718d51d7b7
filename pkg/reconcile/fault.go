package reconcile

import (
	"fmt"
	"path"
	"runtime"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// FaultError means that a stage, the code of an action, or a background task panicked: a bug of this
// program. The stage has decided nothing then; the effect of an action is unknown, and the next
// observation shows it. Later stages continue.
type FaultError struct {
	// Value is what it panicked with.
	Value any
	// Stack are the functions that were running, the innermost first: "function (file:line)".
	Stack []string
}

func (e *FaultError) Error() string {
	return fmt.Sprintf("bug in kubectl-fdb, please report it: %v, in %s", e.Value, strings.Join(e.Stack, " ← "))
}

// Guarded runs do and turns a panic into a *FaultError. One that do panics with is returned as it is: it
// names where another goroutine panicked.
func Guarded(do func() error) (err error) {
	defer func() {
		switch value := recover().(type) {
		case nil:
		case *FaultError:
			err = value
		default:
			err = &FaultError{Value: value, Stack: stack()}
		}
	}()
	return do()
}

// stack names the functions below the panic, without those that only handle it.
func stack() []string {
	const most, handlers = 12, 3
	callers := make([]uintptr, most)
	frames := runtime.CallersFrames(callers[:runtime.Callers(handlers, callers)])
	var names []string
	for {
		frame, more := frames.Next()
		if frame.Function != "" && !strings.HasPrefix(frame.Function, "runtime.") {
			names = append(names, fmt.Sprintf("%s (%s:%d)", path.Base(frame.Function), path.Base(frame.File), frame.Line))
		}
		if !more {
			return names
		}
	}
}

// ask lets a stage decide.
func ask(stage plan.Stage, s plan.Snapshot) (d plan.Decision, err error) {
	err = Guarded(func() error {
		d = stage.Decide(s)
		return nil
	})
	return d, err
}
