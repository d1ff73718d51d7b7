package safety

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// TestChecksReportTheirGateAndEvidence keeps what checks report beside their answer: gate, numbers, and
// reason. A refusal without evidence would leave a user without a reason.
func TestChecksReportTheirGateAndEvidence(t *testing.T) {
	noAnswer := func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }
	late := func(s *plan.Snapshot) { partial["late"](s.Database.Status) }
	storage1 := func(s plan.Snapshot) Pod { return Pod{Snapshot: s, Group: s.Cluster.ProcessGroup("storage-1")} }
	volume := func(change func(*corev1.PersistentVolumeClaim)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { change(s.Volumes[s.Cluster.ProcessGroup("storage-1").PVCName(s.Cluster)]) }
	}
	aged := func(age time.Duration) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Now = evening.Add(age) }
	}
	cleanBounce := func(s plan.Snapshot) plan.Check { return CleanBounce(s.Database) }
	isAvailable := func(s plan.Snapshot) plan.Check { return Available(s.Database) }
	keeps := func(s plan.Snapshot) plan.Check { return volumeStays(storage1(s)) }
	drains := func(s plan.Snapshot) plan.Check { return drainsFirst(storage1(s)) }
	maintained := func(s plan.Snapshot) plan.Check { return noMaintenanceElsewhere(storage1(s)) }
	untouched := func(s plan.Snapshot) plan.Check { return Untouched(s, s.Cluster.ProcessGroup("storage-1")) }
	upForAnHour := func(s plan.Snapshot) plan.Check { c, _ := UpLongEnough(s, time.Hour); return c }
	ofOldVersion := func(s *plan.Snapshot) {
		edit("stateless-1", func(p *fdb.Process) { p.Version, p.Roles = "7.1.20", []fdb.Role{{Role: fdb.RoleMaster}} })(s)
	}
	recovered := func(s plan.Snapshot) plan.Check { return RecoveredFor(s.Database, time.Minute) }
	allExcluded := func(s *plan.Snapshot) {
		ofOldVersion(s)
		for id := range s.Database.Status.Cluster.Processes {
			edit(id, func(p *fdb.Process) { p.ClassType = "test" })(s)
		}
	}
	budget := func(s plan.Snapshot) plan.Check { _, c := ExclusionBudget(s, "storage", 0); return c }
	tests := []struct {
		name  string
		given func(*plan.Snapshot)
		ask   func(plan.Snapshot) plan.Check
	}{
		{"clean bounce, no answer", noAnswer, cleanBounce},
		{"available", unchanged, isAvailable},
		{"available, late document", late, isAvailable},
		{"fully tolerant", unchanged, FullFaultTolerance},
		{"fully tolerant, late document", late, FullFaultTolerance},
		{"fully tolerant, unknown replicas", func(s *plan.Snapshot) { s.Database.Status.Cluster.Data.TeamTrackers = nil }, FullFaultTolerance},
		{"fully tolerant, a replica missing", func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Configuration.RedundancyMode = "triple"
		}, FullFaultTolerance},
		{"volume kept", unchanged, keeps},
		{"volume kept, no PVC", func(s *plan.Snapshot) { clear(s.Volumes) }, keeps},
		{"volume kept, PVC terminates", volume(func(v *corev1.PersistentVolumeClaim) { v.DeletionTimestamp = new(metav1.NewTime(evening)) }), keeps},
		{"volume kept, marked for removal", func(s *plan.Snapshot) { s.Cluster.ProcessGroup("storage-1").MarkForRemoval(evening) }, keeps},
		{"drained first", unchanged, drains},
		{"drained first, exclusion skipped", func(s *plan.Snapshot) { s.Cluster.ProcessGroup("storage-1").ExclusionSkipped = true }, drains},
		{"maintenance, no answer", noAnswer, maintained},
		{"maintenance", unchanged, maintained},
		{"untouched, late document", late, untouched},
		{"up for an hour", unchanged, upForAnHour},
		{"up for an hour, late document", late, upForAnHour},
		{"recovered, 7.1.20", ofOldVersion, recovered},
		{"recovered, 7.1.20 with testers only", allExcluded, recovered},
		{"recent, a minute old", aged(time.Minute), RecentProof},
		{"recent, older", aged(time.Minute + time.Second), RecentProof},
		{"space for its data", disks(80 << 30), func(s plan.Snapshot) plan.Check { return spaceElsewhere(storage1(s)) }},
		{"exclusion budget", unchanged, budget},
		{"exclusion budget, one was just created", func(s *plan.Snapshot) {
			missingFor("storage-3", time.Minute)(s)
			s.Cluster.ProcessGroup("storage-3").FaultDomain = ""
		}, budget},
		{"exclusion budget, one may come back", missingFor("storage-3", time.Minute), budget},
	}
	var b bytes.Buffer
	show := func(name string, c plan.Check) {
		fmt.Fprintf(&b, "%s: %t %s have=%q need=%q\n  %s\n", name, c.OK, c.Gate, c.Have, c.Need, c.Evidence)
	}
	for _, tc := range tests {
		s := leavable(t)
		s.Coordination.ExclusionsRead = true
		tc.given(&s)
		show(tc.name, tc.ask(s))
	}
	s := together()
	s.Now = s.Now.Add(time.Hour)
	s.Coordination.Lists.Entries[CommonExclusion().Pending][fdb.Member{Instance: "dc3", Group: "dc3-c"}] = s.Now.Add(-time.Hour)
	_, c, _ := Synchronized(s, CommonExclusion())
	show("common exclusion in part", c)
	s.Coordination.Lists.Read = false
	_, c, _ = Synchronized(s, CommonExclusion())
	show("common exclusion, lists not read", c)
	golden.RequireEqual(t, b.Bytes())
}
