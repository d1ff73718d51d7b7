package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// orphans are the rules about what no process group of the record accounts for. It may be
// all that is left of a record that was lost. A pass takes up objects with the labels of a
// process group, and leaves all others alone.
func orphans() []Rule {
	return []Rule{
		{
			Code: "ORPHAN-001", Severity: Warning, Title: "Every pod is a process group's",
			Why:  "The record lost it, or somebody made it by hand. One that serves has to be drained before it goes.",
			find: orphanPods,
		},
		{
			Code: "ORPHAN-002", Severity: Warning, Title: "Every volume claim is a process group's",
			Why:  "It costs storage. It may hold the only copy of something if the record was lost, so it should go only while all data has its copies.",
			find: orphanClaims,
		},
		{
			Code: "ORPHAN-003", Severity: Info, Title: "Every service is the cluster's or a process group's",
			Why:  "Removals that were cut short leave services behind; so do changes of how processes are reached.",
			find: orphanServices,
		},
		{
			Code: "ORPHAN-004", Severity: Warning, Title: "Every exclusion is of a process group or of a process", needs: serving,
			Why:  "A new process that gets the address is excluded from its start.",
			find: orphanExclusions,
		},
		{
			Code: "ORPHAN-005", Severity: Warning, Title: "Every process is a process group's", needs: serving,
			Why:  "A server of this cluster runs that its record does not know: its pod is an orphan, or it runs elsewhere.",
			find: orphanProcesses,
		},
	}
}

// unrecorded are the objects that the record as it is stored does not know, by name and in
// order. What was judged for this report may know them already: a pass takes up what has
// the labels of a process group.
func unrecorded[T any](f Facts, objects map[string]T, of func(*v1beta2.ProcessGroupStatus) string) []string {
	known := map[string]bool{}
	for _, g := range f.Record.Status.ProcessGroups {
		known[of(g)] = true
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(objects)), func(name string) bool { return known[name] })
}

// takenUp says that the next pass makes a process group of an object; nil when it does not.
func (f Facts) takenUp(subject, name string, of func(*v1beta2.ProcessGroupStatus) string) []Finding {
	for _, g := range f.Groups() {
		if of(g) == name {
			return one(subject, "the record does not know it; the next pass takes it up as "+group(g.ProcessGroupID), f.fix("plan")...)
		}
	}
	return nil
}

func orphanPods(f Facts) ([]Finding, string) {
	of := func(g *v1beta2.ProcessGroupStatus) string { return g.PodName(f.Cluster) }
	var found []Finding
	for _, name := range unrecorded(f, f.Pods, of) {
		if taken := f.takenUp(pod(name), name, of); taken != nil {
			found = append(found, taken...)
			continue
		}
		id := f.Pods[name].Labels[f.Cluster.ProcessGroupIDLabels()[0]]
		switch {
		case !f.Database.Status.ListsProcesses():
			found = append(found, one(pod(name), "it is no process group's; whether it serves nobody knows", "describe", "pod", name)...)
		case id != "" && len(f.Database.Status.ProcessesOf(id)) > 0:
			found = append(found, one(pod(name), "it is no process group's, and its processes report to the database", "describe", "pod", name)...)
		default:
			found = append(found, one(pod(name), "it is no process group's, and none of its processes reports", "delete", "pod", name)...)
		}
	}
	return found, ""
}

func orphanClaims(f Facts) ([]Finding, string) {
	of := func(g *v1beta2.ProcessGroupStatus) string { return g.PVCName(f.Cluster) }
	verb := "describe"
	if f.Cluster.Status.Configured && safety.FullFaultTolerance(f.Snapshot).OK {
		verb = "delete"
	}
	var found []Finding
	for _, name := range unrecorded(f, f.Volumes, of) {
		taken := f.takenUp(claim(name), name, of)
		if taken == nil {
			taken = one(claim(name), "it is no process group's", verb, "pvc", name)
		}
		found = append(found, taken...)
	}
	return found, ""
}

func orphanServices(f Facts) ([]Finding, string) {
	of := func(g *v1beta2.ProcessGroupStatus) string { return g.ServiceName(f.Cluster) }
	var found []Finding
	for _, name := range unrecorded(f, f.Services, of) {
		if name == f.Cluster.HeadlessServiceName() {
			continue
		}
		taken := f.takenUp("service/"+name, name, of)
		if taken == nil {
			taken = one("service/"+name, "it is no process group's", "describe", "service", name)
		}
		found = append(found, taken...)
	}
	return found, ""
}

// orphanExclusions leaves out what another instance of the database accounts for: an ID
// that does not begin as ours do, or a process that reports.
func orphanExclusions(f Facts) ([]Finding, string) {
	var found []Finding
	for _, target := range f.Database.Status.ExcludedTargets() {
		if f.explained(target) {
			continue
		}
		found = append(found, one("exclusion/"+target, "no process group and no process accounts for it", f.include(target)...)...)
	}
	return found, ""
}

func (f Facts) explained(target string) bool {
	if id, byID := strings.CutPrefix(target, v1beta2.ExclusionLocalityPrefix+":"); byID && !f.isOurs(id) {
		return true
	}
	for _, g := range f.Groups() {
		if target == g.ExclusionString() || slices.ContainsFunc(g.Addresses, func(a string) bool { return sameHost(target, a) }) {
			return true
		}
	}
	return slices.ContainsFunc(f.Database.Status.ProcessList(), func(p fdb.Process) bool {
		return p.Reporting() && (target == v1beta2.ExclusionLocalityPrefix+":"+p.InstanceID() || sameHost(target, p.Address.Host))
	})
}

func sameHost(target, host string) bool {
	a, err := fdb.ParseAddress(target)
	return target == host || (err == nil && fdb.SameHost(a.Host, host))
}

// isOurs reports whether an ID begins as those of this record do.
func (f Facts) isOurs(id string) bool {
	prefix := f.Cluster.Spec.ProcessGroupIDPrefix
	return prefix == "" || strings.HasPrefix(id, prefix+"-")
}

// include ends an exclusion in one of the pods; without any the plan has to do.
func (f Facts) include(target string) []string {
	for _, g := range f.Staying() {
		if p := f.Pod(g); p != nil && p.DeletionTimestamp == nil {
			return []string{"exec", p.Name, "-c", v1beta2.ContainerMain, "--", "fdbcli", "--exec", "include " + target}
		}
	}
	return f.fix("plan")
}

func orphanProcesses(f Facts) ([]Finding, string) {
	finding := Finding{Message: "no process group of the record accounts for it", Fix: f.fix("status")}
	for _, p := range f.Database.Status.ProcessList() {
		id := p.InstanceID()
		if p.Reporting() && f.isOurs(id) && !v1beta2.ProcessClass(p.ClassType).IsTester() && f.Cluster.ProcessGroup(v1beta2.ProcessGroupID(id)) == nil {
			finding.Subjects = append(finding.Subjects, process(p))
		}
	}
	return finding.some(), ""
}
