package cluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestTheFieldCheckRefusesFieldsDroppedByTheAPIServer(t *testing.T) {
	const kept, distribution, detection = v1beta2.ExtensionCancelReplacements, v1beta2.ExtensionDistributionConfig, v1beta2.ExtensionFailureDetectionCronJob
	applied := func(spec string) func(*v1beta2.FoundationDBCluster) {
		return func(c *v1beta2.FoundationDBCluster) {
			c.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: `{"spec":` + spec + `}`}
		}
	}
	listed := func(c *v1beta2.FoundationDBCluster) {
		c.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{"storage-1"}
	}
	all := applied(`{"cancelReplacementsForInstance":["storage-1"],"distributionConfig":{},"automationOptions":{"replacements":{"failureDetectionCronJob":{}}}}`)
	tests := map[string]struct {
		given   func(*v1beta2.FoundationDBCluster)
		of      []v1beta2.Extension
		refused []v1beta2.Extension
		passed  []v1beta2.Extension
		then    plan.Then
	}{
		"none is used":                      {given: func(*v1beta2.FoundationDBCluster) {}},
		"all were dropped":                  {given: all, refused: []v1beta2.Extension{kept, distribution, detection}, then: plan.EndPass},
		"one arrived":                       {given: func(c *v1beta2.FoundationDBCluster) { all(c); listed(c) }, refused: []v1beta2.Extension{distribution, detection}, passed: []v1beta2.Extension{kept}},
		"one was dropped that does no harm": {given: applied(`{"distributionConfig":{}}`), refused: []v1beta2.Extension{distribution}},
		"only some count":                   {given: all, of: []v1beta2.Extension{distribution}, refused: []v1beta2.Extension{distribution}},
		"only the list counts":              {given: all, of: []v1beta2.Extension{kept}, refused: []v1beta2.Extension{kept}, then: plan.EndPass},
		"what arrived does not count":       {given: listed, of: []v1beta2.Extension{distribution}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(s.Cluster)
			d := CheckFields(tc.of...).Decide(s)
			var refused, passed []v1beta2.Extension
			for _, c := range d.Checks {
				if c.OK {
					passed = append(passed, v1beta2.Extension(c.Subject))
				} else {
					refused = append(refused, v1beta2.Extension(c.Subject))
				}
			}
			if diff := cmp.Diff([][]v1beta2.Extension{tc.refused, tc.passed}, [][]v1beta2.Extension{refused, passed}); diff != "" {
				t.Errorf("refused and passed (-want +got):\n%s", diff)
			}
			if len(tc.refused) == 0 {
				if d.Hold != nil {
					t.Errorf("holds with %q", d.Hold.Text())
				}
				return
			}
			if d.Hold == nil || d.Hold.Code != plan.HoldFieldsDropped || !d.Hold.Manual || d.Hold.Then != tc.then {
				t.Fatalf("got hold %+v", d.Hold)
			}
			for _, f := range tc.refused {
				if !strings.Contains(d.Hold.Reason, "the API server dropped "+string(f)) || !strings.Contains(d.Hold.Reason, f.Annotation()) {
					t.Errorf("%q does not name %s and its annotation", d.Hold.Reason, f)
				}
			}
		})
	}
}
