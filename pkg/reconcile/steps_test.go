package reconcile

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// leased is an actor that has a Lease alone.
type leased struct {
	did  *[]string
	lost error
}

func (l leased) Begin(context.Context) error          { *l.did = append(*l.did, "begin"); return nil }
func (leased) Lock(context.Context) error             { return nil }
func (leased) Act(context.Context, plan.Action) error { return nil }
func (l leased) End(ctx context.Context) error        { *l.did = append(*l.did, "end"); return ctx.Err() }
func (l leased) held(context.Context) error           { return l.lost }

func TestStepsFollowEachOtherUnderTheLease(t *testing.T) {
	broken := errors.New("no answer")
	tests := map[string]struct {
		fails   string
		apart   bool
		changed error // what Prepare finds
		lost    error
		ends    bool // the context ends in the first step
		want    []string
		err     string
	}{
		"all of them":                              {want: []string{"begin", "prepare", "a", "b", "end"}},
		"the first one fails":                      {fails: "a", want: []string{"begin", "prepare", "a", "end"}, err: "a: no answer"},
		"one that stands apart fails":              {fails: "a", apart: true, want: []string{"begin", "prepare", "a", "b", "end"}},
		"something changed since the approval":     {changed: errors.New("changed"), want: []string{"begin", "prepare", "end"}, err: "changed"},
		"the Lease is lost":                        {lost: errors.New("lost"), want: []string{"begin", "prepare", "end"}, err: "lost"},
		"the command is interrupted during a step": {ends: true, want: []string{"begin", "prepare", "a", "end"}, err: "Ctrl-C"},
		"it is interrupted, and steps stand apart": {ends: true, apart: true, want: []string{"begin", "prepare", "a", "end"}, err: "Ctrl-C"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var did []string
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			l := leased{did: &did, lost: tc.lost}
			step := func(kind string) Step {
				return Step{Kind: kind, Do: func(context.Context) error {
					did = append(did, kind)
					if tc.ends {
						cancel(errors.New("Ctrl-C"))
					}
					if tc.fails == kind {
						return broken
					}
					return nil
				}}
			}
			var reported []string
			err := Steps{
				Actor: l, Held: l.held, Now: time.Now, Apart: tc.apart,
				Prepare: func(context.Context) ([]Step, error) {
					did = append(did, "prepare")
					return []Step{step("a"), step("b")}, tc.changed
				},
				Report: func(s Step, _ time.Time, err error) {
					reported = append(reported, s.Kind)
					if (err != nil) != (tc.fails == s.Kind) {
						t.Errorf("%s reported with %v", s.Kind, err)
					}
				},
			}.Run(ctx)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != tc.err {
				t.Errorf("got %q, want %q", text, tc.err)
			}
			steps := slices.DeleteFunc(slices.Clone(did), func(what string) bool { return what == "begin" || what == "prepare" || what == "end" })
			if !slices.Equal(did, tc.want) || !slices.Equal(reported, steps) {
				t.Errorf("did %q, want %q, reported %q", did, tc.want, reported)
			}
		})
	}
}
