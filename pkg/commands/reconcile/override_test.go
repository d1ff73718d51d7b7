package reconcile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestGateOverridesRequireAnOverridableGateAndAReason(t *testing.T) {
	tests := map[string]struct {
		given []string
		want  map[plan.Gate]string
		code  int
	}{
		"none":                            {want: map[plan.Gate]string{}},
		"one with a reason":               {given: []string{"G-LOCK-OWNER=the only instance"}, want: map[plan.Gate]string{plan.GateLockOwner: "the only instance"}},
		"a reason with an equals sign":    {given: []string{"G-OPERATOR=replicas=0"}, want: map[plan.Gate]string{plan.GateOperator: "replicas=0"}},
		"without a reason":                {given: []string{"G-LOCK-OWNER"}, code: exit.ExitUsage},
		"with an empty reason":            {given: []string{"G-LOCK-OWNER= "}, code: exit.ExitUsage},
		"a lock that someone else holds":  {given: []string{"G-LOCK=hurry"}, code: exit.ExitUsage},
		"a database that a restore owns":  {given: []string{"G-DBLOCK=hurry"}, code: exit.ExitUsage},
		"a plan that is not approved":     {given: []string{"G-PLAN=hurry"}, code: exit.ExitUsage},
		"a distribution over few domains": {given: []string{"G-CONFIG=a test cluster"}, want: map[plan.Gate]string{plan.GateConfig: "a test cluster"}},
		"data that cannot be replicated":  {given: []string{"G-REPL=hurry"}, code: exit.ExitUsage},
		"an unknown gate":                 {given: []string{"G-WHATEVER=hurry"}, code: exit.ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := (&apply.OverrideFlags{Given: tc.given}).Gates()
			if code := exit.Code(err); code != tc.code {
				t.Fatalf("exit code %d (%v), want %d", code, err, tc.code)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("overrides (-want +got):\n%s", diff)
			}
		})
	}
}
