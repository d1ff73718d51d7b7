package apply

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// operating is a session that stores operations.
type operating struct {
	session.Session
	calls []string
	set   reconcile.Operation
	err   error
}

func (o *operating) SetOperation(op reconcile.Operation) {
	o.calls, o.set = append(o.calls, "set"), op
}

func (o *operating) RenewOperation(context.Context) error {
	o.calls = append(o.calls, "renew")
	return o.err
}

func (o *operating) EndOperation(ctx context.Context) error {
	o.calls = append(o.calls, "end")
	return errors.Join(ctx.Err(), o.err)
}

func TestACommandThatWaitsIsAnOperation(t *testing.T) {
	for name, c := range map[string]struct {
		wait bool
		err  error
		want []string
		says string
	}{
		"it waits":               {wait: true, want: []string{"set", "renew", "end"}},
		"it does not wait":       {want: []string{"renew"}},
		"its end is not written": {wait: true, err: errors.New("no answer"), want: []string{"set", "renew", "end"}, says: "others see this operation for 3m0s more: no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			s, errs := &operating{err: c.err}, &strings.Builder{}
			e := &session.Env{IOStreams: genericiooptions.IOStreams{ErrOut: errs}, Clock: clocktesting.NewFakeClock(time.Now()), Holder: "ann@laptop"}
			p := newPasses(Run{Env: e, Session: s}, Change{Words: []string{"replace", "sample", "storage-1"}, ChangeFlags: ChangeFlags{Wait: c.wait}})
			end := p.beginOperation(t.Context())
			p.renewOperation(t.Context())
			end()
			if !slices.Equal(s.calls, c.want) || !strings.Contains(errs.String(), c.says) {
				t.Errorf("calls %q, want %q; %q on stderr", s.calls, c.want, errs)
			}
			if c.wait && (!strings.HasPrefix(s.set.Command, "replace sample storage-1") || s.set.Holder != "ann@laptop" || s.set.Since.IsZero()) {
				t.Errorf("operation %+v", s.set)
			}
		})
	}
}
