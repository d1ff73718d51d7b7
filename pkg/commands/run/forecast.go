package run

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/runbooks"
)

// forecast prints what every step would do. Only commands run that declare that they change nothing, others
// that have a dry run with --dry-run, and what waits is not run. Outputs are saved in a directory that is removed.
func (r *runner) forecast(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "kubectl-fdb-run-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left is in the directory for temporary files
	r.store.files = dir
	f := runbooks.NewForecast(r.Metadata(r.Run.About), r.Clock.Now(), r.book, r.digest)
	for i := range r.book.Steps {
		f.Steps = append(f.Steps, r.forecastStep(ctx, i))
		if ctx.Err() != nil {
			return exit.CauseOf(ctx, ctx.Err())
		}
	}
	return r.Print(r.Out, format.Printable{
		Document: f, Names: []string{"runbook/" + f.Runbook},
		Table: func(w io.Writer) error { return runbooks.WriteForecast(w, f) },
	})
}

func (r *runner) forecastStep(ctx context.Context, i int) runbooks.ForecastStep {
	s := &r.book.Steps[i]
	traits := r.book.Traits[s.Name]
	f := runbooks.ForecastStep{Name: s.Name, Kind: s.Kind(), Changes: traits.Changes, Compensate: s.Compensate}
	if args, err := s.Command().Expand(r.progress.Values); err == nil {
		f.Arguments = args
	}
	if args, err := s.Compensate.Expand(r.progress.Values); err == nil {
		f.Compensate = args
	}
	switch {
	case s.Approve != nil:
		f.Who, f.Why = s.Approve.Who, runbooks.NotNeeded
		if digest, err := r.toApprove(s); err == nil {
			f.Digest = &digest
		}
	case len(f.Arguments) == 0:
		f.Why = runbooks.NotNeeded
	case s.Wait != nil, traits.Waits:
		f.Why = runbooks.OnlyWaits
	case len(s.Command().Pending(r.progress.Values)) > 0:
		f.Why = runbooks.ValueUnknown
	case !traits.ReadOnly && !traits.Forecasts:
		f.Why = runbooks.NoDryRun
	default:
		r.try(ctx, i, &f)
	}
	return f
}

// try runs the forecast of a step, and keeps what later ones need.
func (r *runner) try(ctx context.Context, i int, f *runbooks.ForecastStep) {
	s := &r.book.Steps[i]
	f.Forecast = f.Arguments
	if !r.book.Traits[s.Name].ReadOnly {
		f.Forecast = dryRunOf(f.Arguments)
		if r.book.Traits[s.Name].Planned {
			f.Forecast = dryRunWithout(f.Arguments)
		}
	}
	if traits, err := r.tree.Command(f.Forecast); err != nil || !traits.ReadOnly {
		f.Forecast, f.Why = nil, runbooks.NoDryRun
		return
	}
	e := r.execute(ctx, f.Forecast, io.Discard)
	f.ExitCode = &e.code
	m := runbook.Move{Result: &r.progress.Steps[i], Step: s}
	keeps := len(s.Capture) > 0 || s.Save != ""
	if err := r.keep(m, e); err != nil || keeps {
		return // a document for a later step is not for users
	}
	f.Output = string(e.output)
}

// dryRunOf returns the words of a command's dry run: without the approval of changes and of a plan.
func dryRunOf(words []string) []string { return dryRunWithout(words, "--plan") }

// dryRunWithout returns the words of a command's dry run without the approval of changes, and without flags that have a
// value.
func dryRunWithout(words []string, flags ...string) []string {
	var all []string
	rest := words
	for len(rest) > 0 {
		word := rest[0]
		rest = rest[1:]
		name, _, hasValue := strings.Cut(word, "=")
		dropped := slices.Contains(flags, name)
		switch {
		case word == "--":
			return slices.Concat(all, []string{"--dry-run", word}, rest)
		case slices.Contains([]string{"--yes", "-y", "--yes=true"}, word), dropped && hasValue:
		case dropped && len(rest) > 0:
			rest = rest[1:]
		default:
			all = append(all, word)
		}
	}
	return append(all, "--dry-run")
}
