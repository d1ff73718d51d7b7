package recovery

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestARecoveryWithDataLossIsConfirmedByClusterName(t *testing.T) {
	tests := map[string]struct {
		options  apply.ChangeFlags
		terminal bool
		typed    string
		approved bool
	}{
		"--yes is not sufficient":                     {options: apply.ChangeFlags{Yes: true}},
		"nor with a reason":                           {options: apply.ChangeFlags{Yes: true, Reason: "incident"}},
		"nor with the name and no reason":             {options: apply.ChangeFlags{Yes: true, Confirmed: "sample"}},
		"nor the name without --yes":                  {options: apply.ChangeFlags{Confirmed: "sample", Reason: "incident"}},
		"another name is refused":                     {options: apply.ChangeFlags{Yes: true, Confirmed: "other", Reason: "incident"}},
		"with the name and a reason it is":            {options: apply.ChangeFlags{Yes: true, Confirmed: "sample", Reason: "incident"}, approved: true},
		"at a prompt the name is typed":               {terminal: true, typed: "sample\n", approved: true},
		"at a prompt y is not sufficient":             {terminal: true, typed: "y\n"},
		"at a prompt --yes does not replace the name": {options: apply.ChangeFlags{Yes: true}, terminal: true, typed: "\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			env := &session.Env{
				IOStreams: genericiooptions.IOStreams{In: strings.NewReader(tc.typed), Out: &out, ErrOut: &out}, Kube: genericclioptions.NewConfigFlags(false),
				IsTerminal: func(any) bool { return tc.terminal },
			}
			p := recovery.Plan{Cluster: "sample", Assessment: recovery.Assessment{Kind: recovery.CoordinatorsLost, Copy: &recovery.CoordinationCopy{}, Lost: "later commits"}}
			tc.options.DryRun, tc.options.Plan = apply.DryRunNone, "recovery.json"
			err := applyOptions{ChangeFlags: tc.options}.change(env, reading{}, p).ApproveSteps(t.Context(), env, "sample")
			if (err == nil) != tc.approved {
				t.Fatal(err)
			}
			if e, is := errors.AsType[*exit.Error](err); !tc.approved && (!is || e.Code != exit.ExitUnconfirmed) {
				t.Errorf("%v", err)
			}
			if tc.terminal && !strings.Contains(out.String(), "May be lost:  later commits") {
				t.Errorf("the plan is not shown: %s", out.String())
			}
		})
	}
}
