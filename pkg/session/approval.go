package session

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Declined returns the failure of a run that the user did not confirm. It includes what was
// done before: a prompt may come after the first change.
func (e Prompt) Declined() *exit.Error {
	return &exit.Error{Code: exit.ExitUnconfirmed, Err: errors.New("declined (" + e.DoneSoFar() + ")")}
}

// DoneSoFar describes what the passes of this command have already done.
func (e Prompt) DoneSoFar() string {
	if e.Run.Acted == 0 {
		return "nothing was changed"
	}
	return phrase.Count(e.Run.Acted, "action") + phrase.Either(e.Run.Acted,
		" was carried out before", " were carried out before")
}

// Confirm asks a yes-or-no question on a terminal and waits for the answer. No answer means no.
func (e Prompt) Confirm(ctx context.Context, question string) error {
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
		return e.Declined()
	}
}

// Ask asks for a value on a terminal and returns the answer, which is otherwise for an empty line.
// The end of the input is no answer.
func (e Prompt) Ask(ctx context.Context, question, otherwise string) (string, error) {
	fmt.Fprintf(e.ErrOut, "%s [%s]: ", question, otherwise)
	line, err := e.readLine(ctx)
	if err == nil && line == "" {
		err = e.Declined()
	}
	if err != nil {
		fmt.Fprintln(e.ErrOut)
		return "", err
	}
	return cmp.Or(strings.TrimSpace(line), otherwise), nil
}

// ConfirmName requires the user to type the name of what is changed, which is not typed by
// habit.
func (e Prompt) ConfirmName(ctx context.Context, noun, name string) error {
	fmt.Fprintf(e.ErrOut, "%s ", nameQuestion(noun))
	line, err := e.readLine(ctx)
	if err != nil {
		fmt.Fprintln(e.ErrOut)
		return err
	}
	if strings.TrimSpace(line) != name {
		return &exit.Error{Code: exit.ExitUnconfirmed, Err: fmt.Errorf("declined: the answer does not match %s (%s)", name, e.DoneSoFar())}
	}
	return nil
}

func nameQuestion(noun string) string {
	return "Data may be lost. Type the name of the " + noun + " to confirm:"
}

// readLine reads one line of input, and returns early when the context ends. The reader
// goroutine then ends with the program.
func (e Prompt) readLine(ctx context.Context) (string, error) {
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
		return "", exit.CauseOf(ctx, ctx.Err())
	case r := <-replies:
		if r.err != nil && !errors.Is(r.err, io.EOF) {
			return "", fmt.Errorf("read the answer: %w", r.err)
		}
		return r.line, nil
	}
}

// RunObserver receives the events of passes and answers their prompts, instead of the terminal.
type RunObserver struct {
	// Event receives the events of a pass.
	Event func(reconcile.Event)
	// Document receives the other documents of a run: its intervals, and how it ended.
	Document func(any)
	// Progress receives each target whose progress changed.
	Progress func(inspect.Target)
	// Agrees prompts for the approval of a plan; no answer is an error. The typed text is a
	// name if data may be lost; empty means yes or no.
	Agrees func(ctx context.Context, v planned.PlanView, question, typed string) error
	// Turn waits until no other pass of this process runs, and returns a function that ends the
	// turn. The Lease does not separate passes of one process: they have the same holder.
	Turn func(ctx context.Context) (end func(), err error)
}

// Turn waits for the turn of a pass. A command runs one pass at a time.
func (e Prompt) Turn(ctx context.Context) (end func(), err error) {
	if e.Observer == nil {
		return func() {}, nil
	}
	return e.Observer.Turn(ctx)
}

// Agrees prompts the user to approve a plan.
func (e Prompt) Agrees(ctx context.Context, v planned.PlanView, question string) error {
	if e.Observer != nil {
		return e.Observer.Agrees(ctx, v, question, "")
	}
	return e.Confirm(ctx, question)
}

// AgreesByName prompts the user to approve a loss of data by typing the name.
func (e Prompt) AgreesByName(ctx context.Context, v planned.PlanView, noun, name string) error {
	if e.Observer != nil {
		return e.Observer.Agrees(ctx, v, nameQuestion(noun), name)
	}
	return e.ConfirmName(ctx, noun, name)
}

// Interactive reports whether a prompt can be answered.
func (e Prompt) Interactive() bool { return e.Observer != nil || e.IsTerminal(e.In) }
