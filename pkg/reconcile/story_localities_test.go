package reconcile_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// The arguments of a spec that was carried out before they were refused. A pass does not report a cluster
// as reconciled whose processes it does not find again, and it finds them by their pods once the spec is
// corrected.
func TestProcessesThatReportWrongLocalitiesAreMissingAndRestartOnceTheSpecIsCorrected(t *testing.T) {
	for _, imageType := range []v1beta2.ImageType{v1beta2.ImageTypeUnified, v1beta2.ImageTypeSplit} {
		for name, parameter := range map[string]v1beta2.FoundationDBCustomParameter{
			"an ID of no group": "locality_instance_id=x", "the ID of one group for all": "locality_instance_id=storage-1", "another process ID": "locality_process_id=x",
		} {
			t.Run(string(imageType)+", "+name, func(t *testing.T) {
				w := oldAndQuiet(t, 31, func(c *v1beta2.FoundationDBCluster) { c.Spec.ImageType = &imageType })
				changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) {
					s.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
						v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{parameter}},
					}
				})
				var story bytes.Buffer
				restarted := false
				for range 12 {
					before := len(w.Acted)
					done := pass(t, w, ui.Text(&story, ui.TextOptions{}))
					for _, a := range w.Acted[before:] {
						_, is := a.(plan.RestartProcesses)
						restarted = restarted || is
					}
					if restarted && done.Settled() {
						t.Fatalf("reconciled:%s", &story)
					}
					w.Tick(max(simtest.UntilNext(done), time.Minute))
				}
				if !restarted {
					t.Fatalf("the parameter was not carried out:%s", &story)
				}
				changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) { s.Processes = nil })
				settle(t, w, 20, &story)
			})
		}
	}
}
