package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/util/jsonpath"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// defaultEvery is the time between two attempts of a wait.
const defaultEvery = 10 * time.Second

// end is how an attempt of a step ended.
type end struct {
	code    int
	message string
	// outside is true if the step failed outside of its command, which then printed no error.
	outside bool
	// output is what the command wrote to stdout.
	output []byte
}

// failed returns the end of a step that failed outside of its command.
func failed(err error) end {
	if err == nil {
		return end{}
	}
	return end{code: exit.Code(err), message: exit.Explain(err), outside: true}
}

// runStep runs a step once and keeps its state before and after. The error is why the invocation
// ends here; a step that failed is none.
func (r *runner) runStep(ctx context.Context, m runbook.Move) error {
	words := m.Step.Command()
	if m.Compensates {
		words = m.Step.Compensate
	}
	args, err := r.resolve(m, words)
	m.Start(args, r.Clock.Now())
	if err := r.store.write(ctx, r.progress); err != nil {
		return err
	}
	r.announce(m)
	ended := failed(err)
	if err == nil {
		ended = r.attempt(ctx, m, args)
	}
	if r.another != nil {
		m.Interrupt(ended.code, ended.message, r.Clock.Now()) // neither later steps nor compensations are for that cluster
		return errors.Join(r.another, r.store.write(ctx, r.progress))
	}
	if ctx.Err() != nil && ended.code != exit.ExitDone {
		m.Interrupt(ended.code, "interrupted: "+exit.CauseOf(ctx, ctx.Err()).Error(), r.Clock.Now())
		return errors.Join(exit.CauseOf(ctx, ctx.Err()), r.store.write(ctx, r.progress))
	}
	if err := r.keep(m, ended); err != nil {
		ended = failed(err)
	}
	action := r.book.End(r.progress, m, ended.code, ended.message, r.Clock.Now())
	r.conclude(m, ended, action)
	return r.store.write(ctx, r.progress)
}

// errAnotherCommand means that a captured value would make a step another command than the one that was
// validated.
var errAnotherCommand = errors.New("a captured value changes what the command may do: it is refused")

// resolve returns the words of a command with all values. They are validated again: values that steps
// captured were unknown before, and none may make a step change something that did not before.
func (r *runner) resolve(m runbook.Move, words runbook.Arguments) ([]string, error) {
	args, err := words.Expand(r.progress.Values)
	if err != nil {
		return nil, exit.Usage(err)
	}
	if names := words.Pending(r.progress.Values); len(names) > 0 {
		return args, exit.Usagef("variable %q has no value: the step that sets it did not", names[0])
	}
	if len(args) == 0 {
		return args, nil
	}
	traits, err := r.tree.Command(args)
	if err == nil && !asValidated(traits, r.validated(m)) {
		err = errAnotherCommand
	}
	if err != nil {
		return args, exit.Usage(err)
	}
	return args, r.unmodified(words)
}

// validated returns what was known of a command before its step.
func (r *runner) validated(m runbook.Move) runbook.Traits {
	if m.Compensates {
		return r.book.Compensations[m.Step.Name]
	}
	return r.book.Traits[m.Step.Name]
}

// asValidated reports whether a command with all values is the validated one, or does less.
func asValidated(now, before runbook.Traits) bool {
	if now.ReadOnly {
		now.ReadOnly, now.Changes, now.Forecasts = before.ReadOnly, before.Changes, before.Forecasts
	}
	return now == before
}

// unmodified fails if a saved file that words refer to is no longer as it was saved.
func (r *runner) unmodified(words runbook.Arguments) error {
	for _, result := range r.progress.Steps {
		if result.Saved == nil || !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "${"+r.saves(result.Name)+"}") }) {
			continue
		}
		if _, err := r.savedText(result.Saved); err != nil {
			return err
		}
	}
	return nil
}

// saves returns the variable that a step saves.
func (r *runner) saves(name string) string {
	for i := range r.book.Steps {
		if r.book.Steps[i].Name == name {
			return r.book.Steps[i].Save
		}
	}
	return ""
}

// savedText returns the content of a saved file.
func (r *runner) savedText(file *runbook.File) ([]byte, error) {
	text, err := limit.File(file.Path, limit.Output)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("read saved output: %w", err))
	}
	if runbook.Digest(text) != file.Digest {
		return nil, &exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("the saved output %s was modified after its step", file.Path)}
	}
	return text, nil
}

// attempt runs a step once, within its time limit.
func (r *runner) attempt(ctx context.Context, m runbook.Move, args []string) end {
	ctx, cancel := session.WithTimeout(ctx, r.Clock, time.Duration(m.Step.Timeout))
	defer cancel()
	switch {
	case m.Compensates, m.Step.Kind() == runbook.KindRun, m.Step.Kind() == runbook.KindCheck:
		return r.execute(ctx, args, r.shownOn(m))
	case m.Step.Approve != nil:
		return r.approve(ctx, m)
	case m.Step.Wait.For > 0:
		return failed(r.Env.Waiting().Pause(ctx, time.Duration(m.Step.Wait.For), "the time of step "+m.Step.Name))
	default:
		return r.await(ctx, m.Step, args)
	}
}

// await repeats a command until it ends with 0, the time limit expires, or repeating it cannot help.
func (r *runner) await(ctx context.Context, s *runbook.Step, args []string) end {
	every := time.Duration(s.Wait.Every)
	if every == 0 {
		every = defaultEvery
	}
	for {
		last := r.execute(ctx, args, io.Discard)
		if r.another != nil {
			return last
		}
		switch last.code {
		case exit.ExitNo, exit.ExitWaiting, exit.ExitRefused, exit.ExitConflict, exit.ExitUnreachable:
		default:
			return last
		}
		if err := r.Env.Waiting().Pause(ctx, every, fmt.Sprintf("%s to end with exit code 0, last %d", strings.Join(args, " "), last.code)); err != nil {
			return end{code: exit.Code(err), message: fmt.Sprintf("%v; the last exit code was %d", err, last.code), outside: true}
		}
	}
}

// execute runs a command line in this process.
func (r *runner) execute(ctx context.Context, args []string, shown io.Writer) end {
	var out, errs capture
	inside := session.Inside(r.Env, genericiooptions.IOStreams{In: r.In, Out: layout.Relayed(io.MultiWriter(shown, &out)), ErrOut: layout.Relayed(io.MultiWriter(r.ErrOut, &errs))})
	if !r.dryRun { // which has no state
		inside.Found = r.found
	}
	code := r.program(ctx, inside, slices.Concat(r.typed, args))
	r.Touch()
	return end{code: code, output: out.bytes(), message: errs.lastError()}
}

// shownOn returns where a step's stdout is shown: documents for programs are not.
func (r *runner) shownOn(m runbook.Move) io.Writer {
	switch {
	case !m.Compensates && (m.Step.Save != "" || len(m.Step.Capture) > 0):
		return io.Discard
	case !r.IsTable():
		return r.ErrOut
	default:
		return r.Out
	}
}

// capture keeps what a command prints. Commands print from several goroutines.
type capture struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (c *capture) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(text)
}

func (c *capture) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.text.Bytes())
}

// lastError returns the end of stderr, for reports.
func (c *capture) lastError() string {
	const most = 2000
	text := strings.TrimSpace(string(c.bytes()))
	if len(text) > most {
		text = "…" + strings.ToValidUTF8(text[len(text)-most:], "") // the cut can be inside a character
	}
	return text
}

// keep captures values of a step's output, and saves it.
func (r *runner) keep(m runbook.Move, e end) error {
	if m.Compensates || len(m.Step.Capture) == 0 && m.Step.Save == "" {
		return nil
	}
	if after := m.Step.ActionAfter(e.code); after != runbook.Continue {
		return nil // no later step needs it
	}
	captured, err := capturedValues(m.Step.Capture, e.output)
	if err != nil {
		return err
	}
	maps.Copy(r.progress.Values, captured)
	m.Result.Captured = captured
	if m.Step.Save == "" {
		return nil
	}
	if m.Result.Saved, err = r.store.save(m.Step.Save, e.output); err != nil {
		return err
	}
	r.progress.Values[m.Step.Save] = m.Result.Saved.Path
	return nil
}

// capturedValues reads values out of a JSON document. One that is missing or null is unknown, and
// fails the step.
func capturedValues(paths map[string]string, output []byte) (map[string]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	var document any
	if err := json.NewDecoder(bytes.NewReader(output)).Decode(&document); err != nil {
		return nil, unknownValue(fmt.Errorf("capture: the output is no JSON document: %w", err))
	}
	values := map[string]string{}
	for name, path := range paths {
		p := jsonpath.New(name)
		if err := p.Parse(format.Relaxed(path)); err != nil {
			return nil, exit.Usage(err)
		}
		found, err := p.FindResults(document)
		if err != nil || len(found) == 0 || len(found[0]) == 0 || !found[0][0].IsValid() || found[0][0].Interface() == nil {
			return nil, unknownValue(fmt.Errorf("capture %s: cannot determine %s", name, path))
		}
		var b bytes.Buffer
		if err := p.PrintResults(&b, found[0]); err != nil {
			return nil, unknownValue(fmt.Errorf("capture %s: %w", name, err))
		}
		values[name] = b.String()
	}
	return values, nil
}

func unknownValue(err error) error { return &exit.Error{Code: exit.ExitUnreachable, Err: err} }
