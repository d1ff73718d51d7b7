package lists

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
)

func TestTheClientListWarnsSoonAfterARecovery(t *testing.T) {
	f := of(inspecttest.Connected(t))
	if v := NewClientListView(meta, f, ClientQuestion{}); len(v.Warnings) != 0 {
		t.Errorf("%q", v.Warnings)
	}
	f.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = new(3.0)
	if v := NewClientListView(meta, f, ClientQuestion{}); len(v.Warnings) != 1 {
		t.Errorf("%q", v.Warnings)
	}
}
