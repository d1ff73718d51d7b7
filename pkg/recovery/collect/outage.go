package collect

import (
	"cmp"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

// requiredSpace is the share of a disk that must be free, as one in so many: FoundationDB accepts no
// commits with less. Source: its knob min_available_space_ratio.
const requiredSpace = 20

// readOutage reads what the database reports of itself while it is not available.
func readOutage(s plan.Snapshot, f *recovery.Facts) {
	f.Outage = recovery.Outage{Excluded: []string{}, FullDisks: []recovery.FullDisk{}, Replicas: s.Cluster.MinimumFaultDomains()}
	stateless := map[string]bool{}
	for _, g := range s.Groups() {
		stateless[string(g.ProcessGroupID)] = !g.ProcessClass.IsStateful()
		if g.MayBeExcluded() {
			f.Outage.Excluded = append(f.Outage.Excluded, string(g.ProcessGroupID))
		}
	}
	if s.Database.Status == nil {
		return
	}
	f.Outage.RecoveryState = s.Database.Status.RecoveryName()
	for _, p := range s.Database.Status.ProcessList() {
		if stateless[p.InstanceID()] || p.Disk == nil || p.Disk.FreeBytes == nil || p.Disk.TotalBytes == nil || *p.Disk.FreeBytes >= *p.Disk.TotalBytes/requiredSpace {
			continue // or unknown
		}
		f.Outage.FullDisks = append(f.Outage.FullDisks, recovery.FullDisk{Group: cmp.Or(p.InstanceID(), p.Address.HostPort()), Free: *p.Disk.FreeBytes, Total: *p.Disk.TotalBytes})
	}
	slices.SortFunc(f.Outage.FullDisks, func(a, b recovery.FullDisk) int { return cmp.Compare(a.Group, b.Group) })
}
