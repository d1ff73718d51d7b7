package planned

import (
	"encoding/json"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// The digest of a plan is of its words. Details that say more than these allow nothing.
func TestApprovalDetailsMustMatchTheirFingerprint(t *testing.T) {
	deletion := plan.ClearBackupData{Backup: "nightly", URL: "blobstore://a", Snapshots: 2, Bytes: 20, UpTo: 7}
	more := deletion
	more.Snapshots = 200
	expiry := plan.ExpireBackup{Backup: "nightly", URL: "blobstore://a", Before: 7, Snapshots: 2}
	tests := map[string]struct {
		approved, details plan.Action
		want              bool
	}{
		"a deletion as it was approved":           {deletion, deletion, true},
		"an expiry as it was approved":            {expiry, expiry, true},
		"details that say more":                   {deletion, more, false},
		"what is done as a whole":                 {plan.PauseAgents{Pause: true}, plan.PauseAgents{Pause: true}, false},
		"the kind of one, the details of another": {deletion, expiry, false},
	}
	for name, tt := range tests {
		details, err := json.Marshal(tt.details)
		if err != nil {
			t.Fatal(err)
		}
		item := ApprovedItem{Kind: plan.KindOf(tt.approved), Fingerprint: plan.Fingerprint(tt.approved), Details: details}
		if got := item.Cuttable(); (got != nil) != tt.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
