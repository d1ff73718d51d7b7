package safety

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// TestCleanBounce starts from a fully recovered database of version 7.4.7 whose bounce
// impact refuses because the recovery is not over.
func TestCleanBounce(t *testing.T) {
	tests := map[string]struct {
		given    func(*fdb.Status)
		ok       bool
		evidence string
	}{
		"ignores a refusal that the recovery state contradicts": {
			func(*fdb.Status) {}, true,
			`recovery_state is fully_recovered; bounce_impact of FoundationDB 7.4.7, a known defect (https://github.com/apple/foundationdb/pull/13343), contradicts it ("cluster hasn't fully recovered yet") and is ignored`,
		},
		"ignores it without a known version": {
			func(s *fdb.Status) { s.Cluster.Processes = map[string]fdb.Process{"a": {}} }, true,
			`recovery_state is fully_recovered; bounce_impact of FoundationDB unknown, which has no known defect, contradicts it ("cluster hasn't fully recovered yet") and is ignored`,
		},
		"ignores it in a version without the known defect": {
			func(s *fdb.Status) {
				s.Cluster.Processes = map[string]fdb.Process{"a": {Version: "7.4.6", Roles: []fdb.Role{{Role: fdb.RoleClusterController}}}}
			}, true,
			`recovery_state is fully_recovered; bounce_impact of FoundationDB 7.4.6, which has no known defect, contradicts it ("cluster hasn't fully recovered yet") and is ignored`,
		},
		"refuses before the recovery is over": {
			func(s *fdb.Status) { s.Cluster.RecoveryState.Name = fdb.RecoveryAllLogsRecruited }, false,
			"bounce_impact.can_clean_bounce is false: cluster hasn't fully recovered yet",
		},
		"refuses without a recovery state": {
			func(s *fdb.Status) { s.Cluster.RecoveryState = nil }, false, "bounce_impact.can_clean_bounce is false: cluster hasn't fully recovered yet",
		},
		"refuses for any other reason":  {func(s *fdb.Status) { s.Cluster.BounceImpact.Reason = "other" }, false, "bounce_impact.can_clean_bounce is false: other"},
		"refuses for a longer reason":   {func(s *fdb.Status) { s.Cluster.BounceImpact.Reason += "." }, false, "bounce_impact.can_clean_bounce is false: cluster hasn't fully recovered yet."},
		"refuses without a reason":      {func(s *fdb.Status) { s.Cluster.BounceImpact.Reason = "" }, false, "bounce_impact.can_clean_bounce is false: unknown"},
		"refuses by a partial document": {partial["late"], false, incompleteDocument},
		"refuses without an answer":     {func(s *fdb.Status) { s.Cluster.BounceImpact = nil }, false, "the status document does not report bounce_impact.can_clean_bounce"},
		"believes a yes":                {func(s *fdb.Status) { s.Cluster.BounceImpact.CanCleanBounce = new(true) }, true, "bounce_impact.can_clean_bounce is true"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := healthy(t)
			d.Status.Cluster.Processes = map[string]fdb.Process{"a": {Version: "7.4.7", Roles: []fdb.Role{{Role: fdb.RoleClusterController}}}}
			d.Status.Cluster.BounceImpact = &fdb.BounceImpact{CanCleanBounce: new(false), Reason: fdb.ReasonNotFullyRecovered}
			tc.given(d.Status)
			if c := CleanBounce(d); c.OK != tc.ok || c.Evidence != tc.evidence {
				t.Errorf("%v, %s", c.OK, c.Evidence)
			}
		})
	}
}
