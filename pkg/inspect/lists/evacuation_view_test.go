package lists

import (
	"math"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
)

func TestCordonPredictsWhenATaintReplacesGroups(t *testing.T) {
	tests := map[string]struct {
		seconds int64
		want    string // when groups are replaced
	}{
		"minutes":         {300, "2026-11-20T12:35:00Z"},
		"three centuries": {10_000_000_000, "2343-10-11T06:16:40Z"},
		"never":           {math.MaxInt64, "-"},
		"next to never":   {math.MaxInt64 - 1, "-"},
		"beyond any date": {1_000_000_000_000, "-"},
		"the last year":   {251_000_000_000, "9980-10-05T02:43:20Z"},
		"the next read":   {0, "2026-11-20T12:30:00Z"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := of(inspecttest.Tainted(t))
			f.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions[0].DurationInSeconds = &tc.seconds
			var g EvacuatedGroup
			g.leaveBy(f, &corev1.Taint{Key: "example.com/maintenance"})
			if got := Moment(g.Replaced); got != tc.want || (g.Rule == "") != (tc.want == "-") {
				t.Errorf("replaced at %s because of %q, want %s (now %s)", got, g.Rule, tc.want, f.Now.Format(time.RFC3339))
			}
		})
	}
}
