package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// orphans returns the rules about objects that belong to no process group of the resource's
// status. They may be all that remains of a lost status. A pass adopts objects with the labels
// of a process group, and does not touch others.
func orphans() []Rule {
	return []Rule{
		{
			Code: "ORPHAN-001", Severity: Warning, Title: "Every pod belongs to a process group",
			Why:  "The status lost its process group, or it was created manually. If its processes report, drain it before you delete it.",
			Find: orphanPods,
		},
		{
			Code: "ORPHAN-002", Severity: Warning, Title: "Every PVC belongs to a process group",
			Why:  "It costs storage. If the status was lost, it may hold the only copy of some data: delete it only while all data is fully replicated.",
			Find: orphanClaims,
		},
		{
			Code: "ORPHAN-003", Severity: Info, Title: "Every service belongs to the cluster or a process group",
			Why:  "Interrupted removals leave services behind; so do changes of the addresses of processes.",
			Find: orphanServices,
		},
		{
			Code: "ORPHAN-004", Severity: Warning, Title: "Every exclusion matches a process group or a process", Needs: findings.NeedsAvailableDatabase,
			Why:  "A new process that gets the address is excluded from its start.",
			Find: orphanExclusions,
		},
		{
			Code: "ORPHAN-005", Severity: Warning, Title: "Every process belongs to a process group", Needs: findings.NeedsAvailableDatabase,
			Why:  "The status does not list a process that runs for this cluster: its pod is an orphan, or it runs elsewhere.",
			Find: orphanProcesses,
		},
	}
}

// unlisted returns the names of the objects that the stored status does not list, in order.
// The facts of this report may list them already: a pass adopts objects with the labels of a
// process group.
func unlisted[T any](f Facts, objects map[string]T, of func(*v1beta2.ProcessGroupStatus) string) []string {
	known := map[string]bool{}
	for _, g := range f.Resource.Status.ProcessGroups {
		known[of(g)] = true
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(objects)), func(name string) bool { return known[name] })
}

// adopted returns a finding if the next pass makes an object part of a process group, else nil.
func (f Facts) adopted(subject, name string, of func(*v1beta2.ProcessGroupStatus) string) []Finding {
	for _, g := range f.Groups() {
		if of(g) == name {
			return one(subject, "the status does not list it; the next pass adopts it as "+findings.ProcessGroup(g.ProcessGroupID), f.fix("plan")...)
		}
	}
	return nil
}

func orphanPods(f Facts) ([]Finding, string) {
	of := func(g *v1beta2.ProcessGroupStatus) string { return g.PodName(f.Cluster) }
	var found []Finding
	for _, name := range unlisted(f, f.Pods, of) {
		if adopted := f.adopted(findings.Pod(name), name, of); adopted != nil {
			found = append(found, adopted...)
			continue
		}
		id := f.Pods[name].Labels[f.Cluster.ProcessGroupIDLabels()[0]]
		switch {
		case !f.Database.Status.ListsProcesses():
			found = append(found, one(findings.Pod(name), "it belongs to no process group; whether its processes report is unknown", "describe", "pod", name)...)
		case id != "" && len(f.Database.Status.ProcessesOf(id)) > 0:
			found = append(found, one(findings.Pod(name), "it belongs to no process group, and its processes report to the database", "describe", "pod", name)...)
		default:
			found = append(found, one(findings.Pod(name), "it belongs to no process group, and none of its processes reports", "delete", "pod", name)...)
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
	for _, name := range unlisted(f, f.Volumes, of) {
		adopted := f.adopted(findings.Claim(name), name, of)
		if adopted == nil {
			adopted = one(findings.Claim(name), "it belongs to no process group", verb, "pvc", name)
		}
		found = append(found, adopted...)
	}
	return found, ""
}

func orphanServices(f Facts) ([]Finding, string) {
	of := func(g *v1beta2.ProcessGroupStatus) string { return g.ServiceName(f.Cluster) }
	var found []Finding
	for _, name := range unlisted(f, f.Services, of) {
		if name == f.Cluster.HeadlessServiceName() {
			continue
		}
		adopted := f.adopted("service/"+name, name, of)
		if adopted == nil {
			adopted = one("service/"+name, "it belongs to no process group", "describe", "service", name)
		}
		found = append(found, adopted...)
	}
	return found, ""
}

// orphanExclusions skips exclusions of other control-plane instances: those of an ID with
// another prefix, or of a process that reports.
func orphanExclusions(f Facts) ([]Finding, string) {
	var found []Finding
	for _, target := range f.Database.Status.ExcludedTargets() {
		if f.matched(target) {
			continue
		}
		found = append(found, one("exclusion/"+target, "no process group and no process matches it", f.include(target)...)...)
	}
	return found, ""
}

func (f Facts) matched(target string) bool {
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

// isOurs reports whether an ID has the prefix of this resource.
func (f Facts) isOurs(id string) bool {
	prefix := f.Cluster.Spec.ProcessGroupIDPrefix
	return prefix == "" || strings.HasPrefix(id, prefix+"-")
}

// include returns the command that ends an exclusion in one of the pods, or else the plan.
func (f Facts) include(target string) []string {
	for _, g := range f.Remaining() {
		if p := f.Pod(g); p != nil && p.DeletionTimestamp == nil {
			return []string{"exec", p.Name, "-c", v1beta2.ContainerMain, "--", "fdbcli", "--exec", "include " + target}
		}
	}
	return f.fix("plan")
}

func orphanProcesses(f Facts) ([]Finding, string) {
	finding := Finding{Message: "no process group of the resource matches it", Fix: f.fix("status")}
	for _, p := range f.Database.Status.ProcessList() {
		id := p.InstanceID()
		if p.Reporting() && f.isOurs(id) && !v1beta2.ProcessClass(p.ClassType).IsTester() && f.Cluster.ProcessGroup(v1beta2.ProcessGroupID(id)) == nil {
			finding.Subjects = append(finding.Subjects, process(p))
		}
	}
	return finding.IfAny(), ""
}
