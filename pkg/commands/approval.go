package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// approval is what a person said yes to. The zero approval permits nothing.
type approval struct {
	everything bool
	// exact are actions by kind and subject; kinds are those whose subjects were
	// not known yet when the plan was shown.
	exact, kinds map[string]bool
}

// add says yes to everything that a plan shows.
func (a *approval) add(v ui.PlanView) {
	if a.exact == nil {
		a.exact, a.kinds = map[string]bool{}, map[string]bool{}
	}
	// What was seen while acting is recorded along with the actions.
	a.kinds[plan.KindOf(plan.WriteStatus{})] = true
	for _, item := range v.Items {
		if len(item.Provisional) > 0 {
			a.kinds[item.Kind] = true
		} else {
			a.exact[item.Kind+" "+item.Subject] = true
		}
	}
}

func (a *approval) permits(_ string, action plan.Action) bool {
	kind := plan.KindOf(action)
	return a.everything || a.kinds[kind] || a.exact[kind+" "+action.Subject()]
}

// confirm asks a yes-or-no question on a terminal and waits for the answer. No
// answer means no.
func (e *Env) confirm(ctx context.Context, question string) error {
	fmt.Fprintf(e.ErrOut, "%s [y/N] ", question)
	line, err := e.readLine(ctx)
	if err != nil {
		fmt.Fprintln(e.ErrOut)
		return err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	default:
		return &failure{code: ExitUnconfirmed, err: errors.New("declined; nothing was changed")}
	}
}

// readLine reads one line of input, and gives up when the context ends. The
// reader it leaves behind then ends with the program.
func (e *Env) readLine(ctx context.Context) (string, error) {
	type reply struct {
		line string
		err  error
	}
	replies := make(chan reply, 1)
	go func() {
		line, err := bufio.NewReader(e.In).ReadString('\n')
		replies <- reply{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", causeOf(ctx, ctx.Err())
	case r := <-replies:
		if r.err != nil && !errors.Is(r.err, io.EOF) {
			return "", fmt.Errorf("reading the answer: %w", r.err)
		}
		return r.line, nil
	}
}
