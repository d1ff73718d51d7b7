package targets

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
)

// What is not listed is not absent: a database without a quorum proves nothing about any group.
func TestAMissingProcessListLeavesProcessGroupStateUnknown(t *testing.T) {
	f := withoutQuorum(t)
	status := inspect.NewStatusView(meta, f)
	if text := status.Summary; strings.Contains(text, "missing") || status.Database.ProcessesReported != nil || len(status.FaultTolerance.ZonesNotReporting) > 0 {
		t.Errorf("%s, %v report, silent are %v", text, status.Database.ProcessesReported, status.FaultTolerance.ZonesNotReporting)
	}
	if c := status.ProcessGroups.Classes[0]; c.Reporting != nil {
		t.Errorf("%d of class %s report", *c.Reporting, c.Class)
	}
	groups := inspect.NewGroupListView(meta, f)
	// The client still knows which coordinators it asked; of everything else Coordinator stays null.
	for _, g := range groups.Items {
		isOne := slices.ContainsFunc(f.Coordinators().Items, func(c inspect.CoordinatorView) bool { return f.Coordinator(c).Group == g.ID })
		if ptr.Deref(g.Coordinator, false) != isOne || (g.Coordinator != nil) != isOne {
			t.Errorf("%s: coordinator %v, want %t", g.ID, g.Coordinator, isOne)
		}
	}
	if g := groups.Items[0]; g.Processes != nil || g.Roles != nil || g.Exclusion != inspect.ExclusionUnknown || g.Exclusion.IsExcluded() || len(groups.Warnings) != 1 {
		t.Errorf("%+v with warnings %q", g, groups.Warnings)
	}
	if servers := lists.NewClusterVersion(f.Cluster).Observed(f).Processes; servers != nil {
		t.Errorf("its servers run %v", servers)
	}
	if zone := NotMaintained(f); zone.Reached {
		t.Error("that no zone is under maintenance is not reported")
	}
	if included := Inclusions(f, []v1beta2.ProcessGroupID{"storage-1"}, nil); included[0].Reached {
		t.Error("that storage-1 is not excluded is not reported")
	}
}
