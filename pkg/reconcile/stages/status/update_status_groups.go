package status

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// GroupFacts are the known facts about one process group.
type GroupFacts struct {
	S     plan.Snapshot
	Group *v1beta2.ProcessGroupStatus
	// pod is nil when there is none.
	pod *corev1.Pod
	// servers is how many processes the group's pod runs.
	servers int
	// processes are those that report as processes of the group.
	processes []process
	// misnamed are those that run in the group's pod and report another process group: they are missing,
	// and their arguments are known.
	misnamed []process
	// hashes are the hashes of the configurations that pods should use.
	hashes readings.ConfigHashes
	// specs are the hashes of the current pod specs.
	specs *objects.SpecHashes
	// metadata compares the metadata of pods and PVCs with the spec.
	metadata *objects.GroupMetadata
	// monitors are the configurations that pods' monitors should have.
	monitors readings.MonitorConfigurations
	// versionsMixed is true during a patch upgrade.
	versionsMixed bool
	// databaseAnswers is false when no process of the data center reports, as in a status document
	// without the processes' own part: a process that does not report proves nothing then.
	databaseAnswers bool
}

// process is one that reports, with its number in its pod.
type process struct {
	*fdb.Process
	number int
}

// recordGroups updates every process group on its own.
func recordGroups(s *plan.Snapshot) error {
	adoptOrphans(s)
	reporting, hashes := reportingIn(sameDataCenter(*s)), readings.ConfigHashes{}
	recordFaultDomains(s.Cluster, reporting.processes)
	for _, g := range s.Groups() {
		MarkIfListed(s.Cluster, g, s.Now)
		if err := recordPod(s, g); err != nil && !objects.IsPodValue(err) {
			return err
		}
	}
	// Sorted and complete before anything is judged: desired objects depend on them.
	v1beta2.SortProcessGroups(s.Cluster.Status.ProcessGroups)
	tidy(&s.Cluster.Status)
	specs, metadata := objects.RememberedSpecHashes(s.Cluster, s.Hashes), objects.NewGroupMetadata(s.Cluster)
	monitors, mixed := readings.NewMonitorConfigurations(), readings.CompatibleUpgrade(s.Cluster)
	for _, g := range s.Groups() {
		f, err := factsOf(*s, g, reporting)
		if objects.IsPodValue(err) {
			continue // how many processes it runs is unknown, and so whether any is missing
		}
		if err != nil {
			return err
		}
		f.hashes, f.specs, f.metadata, f.monitors, f.versionsMixed = hashes, specs, metadata, monitors, mixed
		if err := judgeGroup(f); err != nil {
			return err
		}
		forgiveFaults(f)
	}
	return nil
}

// MarkIfListed marks the groups that the spec lists for removal. Deleting an ID from the list does
// not revert the mark: KeepGroups does. A group that the spec also keeps stays as it is, until it
// is in one of the lists only.
func MarkIfListed(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus, now time.Time) {
	if c.KeepsFromReplacement(g.ProcessGroupID) {
		return
	}
	withoutExclusion := slices.Contains(c.Spec.ProcessGroupsToRemoveWithoutExclusion, g.ProcessGroupID)
	if withoutExclusion || slices.Contains(c.Spec.ProcessGroupsToRemove, g.ProcessGroupID) {
		g.MarkForRemoval(now)
	}
	if g.IsMarkedForRemoval() && (withoutExclusion || g.ProcessClass.IsTester()) {
		g.ExclusionSkipped = true
		g.SetExcluded(now)
	}
}

// recordPod records what the pod alone shows: addresses, image type, processes per pod.
func recordPod(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) error {
	pod := s.Pod(g)
	if pod == nil {
		return nil
	}
	addresses, err := objects.PublicIPs(pod)
	if err != nil {
		return err
	}
	servers, err := objects.ServersPerPodOf(pod, g.ProcessClass)
	if err != nil {
		return err
	}
	merge := v1beta2.DropFormerAddresses
	if !s.Database.Available() {
		merge = v1beta2.KeepFormerAddresses
	}
	g.MergeAddresses(addresses, merge)
	status := &s.Cluster.Status
	status.ImageTypes = append(status.ImageTypes, objects.ImageTypeOf(pod))
	switch {
	case g.ProcessClass == v1beta2.ProcessClassStorage:
		status.StorageServersPerDisk = append(status.StorageServersPerDisk, servers)
	case g.ProcessClass.IsLog():
		status.LogServersPerDisk = append(status.LogServersPerDisk, servers)
	}
	if pod.DeletionTimestamp == nil && !objects.HasListenIP(pod) {
		status.HasListenIPsForAllPods = false
	}
	return nil
}

// tidy sorts the lists of values in use and removes duplicates.
func tidy(status *v1beta2.FoundationDBClusterStatus) {
	slices.Sort(status.ImageTypes)
	status.ImageTypes = slices.Compact(status.ImageTypes)
	slices.Sort(status.StorageServersPerDisk)
	status.StorageServersPerDisk = slices.Compact(status.StorageServersPerDisk)
	slices.Sort(status.LogServersPerDisk)
	status.LogServersPerDisk = slices.Compact(status.LogServersPerDisk)
}

// sameDataCenter returns the processes that report from this cluster's data center, or all of them
// where the spec has none.
func sameDataCenter(s plan.Snapshot) []fdb.Process {
	if s.Database.Status == nil {
		return nil
	}
	dc := s.Cluster.Spec.DataCenter
	return slices.DeleteFunc(s.Database.Status.ProcessList(), func(p fdb.Process) bool {
		return dc != "" && p.DC() != dc
	})
}

// recordFaultDomains records the zone of every group. Where the processes of one group report
// different zones, the one that started last is right.
func recordFaultDomains(c *v1beta2.FoundationDBCluster, reporting []fdb.Process) {
	youngest := make(map[string]*fdb.Process, len(reporting))
	for i := range reporting {
		p := &reporting[i]
		uptime, known := p.Uptime()
		if p.Zone() == "" || !known {
			continue
		}
		if old := youngest[p.InstanceID()]; old != nil {
			if oldUptime, _ := old.Uptime(); uptime >= oldUptime {
				continue
			}
		}
		youngest[p.InstanceID()] = p
	}
	for _, g := range c.Status.ProcessGroups {
		if p := youngest[string(g.ProcessGroupID)]; p != nil {
			g.FaultDomain = v1beta2.FaultDomain(p.Zone())
		}
	}
}

// reporting are the processes of the status document, by process group and number.
type reporting struct {
	processes []fdb.Process
	byID      map[string]*fdb.Process
	answers   bool
}

func reportingIn(processes []fdb.Process) reporting {
	r := reporting{processes: processes, byID: make(map[string]*fdb.Process, len(processes)), answers: slices.ContainsFunc(processes, fdb.Process.Reporting)}
	for i := range processes {
		p := &processes[i]
		if id := p.Locality[fdb.LocalityProcessID]; id != "" {
			r.byID[id] = p
		} else {
			r.byID[p.InstanceID()] = p
		}
	}
	return r
}

// ProcessesReport reports whether a process of the cluster's data center reports. Otherwise missing
// processes are not judged: a document without any proves nothing about one.
func ProcessesReport(s plan.Snapshot) bool { return reportingIn(sameDataCenter(s)).answers }

// process returns the n-th process of a group, or nil if it does not report.
func (r reporting) process(g *v1beta2.ProcessGroupStatus, n int) *fdb.Process {
	p := r.byID[string(g.ProcessGroupID)]
	if p == nil {
		p = r.byID[g.ProcessGroupID.ProcessID(n)]
	}
	if p == nil || !p.Reporting() || p.InstanceID() != string(g.ProcessGroupID) {
		return nil
	}
	return p
}

func factsOf(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, r reporting) (GroupFacts, error) {
	f := GroupFacts{S: s, Group: g, pod: s.Pod(g), servers: 1, databaseAnswers: r.answers}
	if f.pod != nil {
		servers, err := objects.ServersPerPodOf(f.pod, g.ProcessClass)
		if err != nil {
			return f, err
		}
		f.servers = servers
	}
	for n := 1; n <= f.servers; n++ {
		if p := r.process(g, n); p != nil {
			f.processes = append(f.processes, process{p, n})
		}
	}
	if len(f.processes) == 0 {
		for _, p := range safety.Misnamed(s, g) {
			f.misnamed = append(f.misnamed, process{&p, objects.ServerAt(p.Address.Port)})
		}
	}
	return f, nil
}

// forgiveFaults resets the failure times of a pod that is to be recreated without the faults that the
// spec gave it: they were intended, however long they lasted, and are no reason to replace the
// group.
func forgiveFaults(f GroupFacts) {
	pod := readings.DeletablePod(f.S, f.Group)
	if pod == nil || !readings.HasOtherFaults(f.S.Cluster, f.Group, pod) {
		return
	}
	for _, c := range f.Group.ProcessGroupConditions {
		if slices.Contains(v1beta2.ReplacementConditions(), c.Type) {
			c.Timestamp = f.S.Now.Unix()
		}
	}
}

// adoptOrphans adds process groups to the status of which only an object exists: a pod, a PVC or a
// service with the cluster's labels and an ID that is not in the status. This restores a lost
// status.
func adoptOrphans(s *plan.Snapshot) {
	if groups := readings.Orphans(*s); len(groups) > 0 {
		s.Cluster = plan.AddGroups{Groups: groups, At: s.Now}.Apply(*s).Cluster
	}
}
