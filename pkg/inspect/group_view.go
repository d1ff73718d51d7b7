package inspect

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// GroupListView is the document of `get process-groups`.
type GroupListView struct {
	Document
	Items []GroupView `json:"items"`
	// Unread are the sites that cannot be read; absent where all items are of one API server, or all sites were read.
	Unread []UnreadSite `json:"unread,omitempty"`
}

// NewGroupsOfAll makes the document of the process groups of several clusters.
func NewGroupsOfAll(m Metadata, now time.Time) GroupListView {
	return GroupListView{Document: NewDocument("ProcessGroupList", m, now, SourceLive), Items: []GroupView{}}
}

// Add adds those of one cluster.
func (v *GroupListView) Add(one GroupListView) {
	for _, warning := range one.Warnings {
		v.Warnings = append(v.Warnings, one.Metadata.Subject()+": "+warning)
	}
	for _, g := range one.Items {
		g.Site, g.Namespace, g.Cluster = one.Metadata.Site, one.Metadata.Namespace, one.Metadata.Cluster
		v.Items = append(v.Items, g)
	}
}

// Complete adds to a document of an older release, which has them only elsewhere, what is wrong with the nodes of the process
// groups, and whether their conditions are known.
func (v *GroupListView) Complete(nodes NodeListView) {
	problems := map[string]NodeProblem{}
	for _, n := range nodes.Items {
		problems[n.Name] = n.problem()
	}
	for i := range v.Items {
		g := &v.Items[i]
		g.NodeProblem = cmp.Or(g.NodeProblem, problems[g.Node])
		g.ConditionsUnknown = g.ConditionsUnknown || v.Source == SourceResource
	}
}

// GroupView is one process group.
type GroupView struct {
	// Site is only there in lists of several sites; Namespace and Cluster in lists of several clusters.
	Site      string `json:"site,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Cluster   string `json:"cluster,omitempty"`

	ID    string `json:"id"`
	Class string `json:"class"`
	// Pod is the pod's name, whether or not the pod exists.
	Pod string `json:"pod"`
	// PodPhase is empty when there is no pod.
	PodPhase string `json:"podPhase,omitempty"`
	// Labels are those of its pod; absent without a pod, and in documents of other commands than get.
	Labels map[string]string `json:"labels,omitempty"`
	Node   string            `json:"node,omitempty"`
	Zone   string            `json:"zone,omitempty"`
	DC     string            `json:"dc,omitempty"`
	// Addresses are the processes' addresses; those in the status when none reports.
	Addresses []string `json:"addresses"`
	// Processes is how many report; null when the database does not list them.
	Processes *int `json:"processes"`
	// Roles are null when the database does not report them all.
	Roles []string `json:"roles" schema:"nullable"`
	// Coordinator is by the coordinators of the database, or of the connection string while it
	// does not answer; null when neither is known.
	Coordinator *bool `json:"coordinator"`
	// CoordinatorReachable is whether the group's coordinator answers; absent where it has none,
	// and where that is unknown.
	CoordinatorReachable *bool           `json:"coordinatorReachable,omitempty"`
	Conditions           []ConditionView `json:"conditions"`
	// ConditionsUnknown is true while nothing can evaluate the conditions: those listed are of the last
	// status update, and the process group may have others.
	ConditionsUnknown bool `json:"conditionsUnknown,omitempty"`
	// NodeProblem is what is wrong with the node of its pod, or with the one that its missing pod ran on;
	// absent for a node that is ready, and where that is unknown.
	NodeProblem NodeProblem `json:"nodeProblem,omitempty"`
	// PodProblem is what Kubernetes reports about the pod while the conditions are unknown; absent elsewhere.
	PodProblem ProblemCode `json:"podProblem,omitempty"`
	// LastReport is what its processes reported before the database stopped listing them; absent elsewhere,
	// and in the documents of commands that read once.
	LastReport *LastReport `json:"lastReport,omitempty"`
	Exclusion  Exclusion   `json:"exclusion"`
	// RemovalSince is when the group was marked for removal; null when it was not.
	RemovalSince *time.Time `json:"removalSince"`
	// Kept is true for a group that spec.cancelReplacementsForInstance keeps from being replaced.
	Kept bool `json:"kept,omitempty"`
	// UptimeSeconds is that of the process that started last.
	UptimeSeconds *float64 `json:"uptimeSeconds"`
	// PVC is empty for classes without one.
	PVC   string `json:"pvc,omitempty"`
	Image string `json:"image,omitempty"`
	// DistributionKey is the one that the pod was created with; empty where it was not packed.
	DistributionKey string `json:"distributionKey,omitempty"`
	// StoredBytes is what storage roles hold.
	StoredBytes *int64 `json:"storedBytes"`
	// SpaceUsed is the share of its fullest disk, from 0 to 1, that is not available to its log and storage roles; null
	// where it keeps no data, and where that is unknown.
	SpaceUsed *float64 `json:"spaceUsed"`
	// LagSeconds is the worst of the storage roles.
	LagSeconds *float64 `json:"lagSeconds"`
	Restarts   *int     `json:"restarts"`

	// Proven is set once a pass has proven that the group is drained.
	Proven bool `json:"-"`
}

// LastReport is what the processes of a process group reported last.
type LastReport struct {
	// AsOf is when that was.
	AsOf          time.Time       `json:"asOf"`
	Roles         []string        `json:"roles" schema:"nullable"`
	UptimeSeconds *float64        `json:"uptimeSeconds"`
	Conditions    []ConditionView `json:"conditions"`
}

// ConditionView is one condition and since when it holds.
type ConditionView struct {
	Type string `json:"type"`
	// Since is null while nothing dates the condition.
	Since *time.Time `json:"since"`
	// Source is what dates a condition of processes that do not run: the end of the container, the
	// deletion of the pod, the readiness of the node, or the first pass that found it, which is
	// later than its start. Empty for other conditions, and without a time.
	Source safety.OutageSource `json:"source,omitempty"`
}

// Exclusion is the progress of the exclusion of a group.
type Exclusion string

// The states of an exclusion.
const (
	NotExcluded Exclusion = "none"
	// ExclusionPending is marked for removal and not excluded yet.
	ExclusionPending Exclusion = "pending"
	// ExclusionRequested is in force, and its progress is unknown.
	ExclusionRequested Exclusion = "requested"
	// ExclusionMoving still has data or roles.
	ExclusionMoving Exclusion = "moving"
	// ExclusionUnverified has no roles any more, which alone proves nothing.
	ExclusionUnverified Exclusion = "unverified"
	// ExclusionSafe is proven by the same observation.
	ExclusionSafe Exclusion = "safe"
	// ExclusionUnknown is of a database that does not report its exclusions.
	ExclusionUnknown Exclusion = "unknown"
	// ExclusionSkipped is removed without being excluded.
	ExclusionSkipped Exclusion = "skipped"
)

// NewGroupListView makes the document of all process groups.
func NewGroupListView(m Metadata, f Facts) GroupListView {
	v := GroupListView{Document: NewDocument("ProcessGroupList", m, f.Now, f.Judged().Source), Items: []GroupView{}}
	v.Warnings = append(v.Warnings, f.Warnings...)
	if why := f.UnknownReason("roles, uptime and data"); why != "" {
		v.Warnings = append(v.Warnings, why)
	}
	coordinators := f.Coordinators().Items
	for _, g := range f.Groups() {
		v.Items = append(v.Items, f.group(g, coordinators))
	}
	v.Items = worstFirst(v.Items)
	return v
}

// Labels are those of the pods: none of a process group without one.
func (v GroupListView) Labels() []map[string]string {
	return labelsOf(v.Items, func(g GroupView) map[string]string { return g.Labels })
}

// Labeled returns the list with the labels of the pods.
func (v GroupListView) Labeled(f Facts) GroupListView {
	for i, g := range v.Items {
		v.Items[i].Labels = map[string]string{}
		if pod := f.Pods[g.Pod]; pod != nil {
			v.Items[i].Labels = knownLabels(pod.Labels)
		}
	}
	return v
}

func labelsOf[T any](items []T, labels func(T) map[string]string) []map[string]string {
	all := make([]map[string]string, len(items))
	for i, item := range items {
		all[i] = labels(item)
	}
	return all
}

// knownLabels returns labels that were read: none are not nil, which is unknown.
func knownLabels(labels map[string]string) map[string]string {
	if labels == nil {
		return map[string]string{}
	}
	return labels
}

// Group returns a process group.
func (f Facts) Group(g *v1beta2.ProcessGroupStatus) GroupView {
	return f.group(g, f.Coordinators().Items)
}

func (f Facts) group(g *v1beta2.ProcessGroupStatus, coordinators []CoordinatorView) GroupView {
	v := GroupView{
		ID: string(g.ProcessGroupID), Class: string(g.ProcessClass), Pod: g.PodName(f.Cluster),
		Zone: f.ZoneOf(g), Addresses: OrEmpty(slices.Clone(g.Addresses)), Conditions: f.ConditionsOf(g), Exclusion: f.Exclusion(g), Proven: g.IsExcluded(),
	}
	v.ConditionsUnknown = f.Judged().Source == SourceResource
	if node, lost := f.lostNodeOf(g); lost {
		v.NodeProblem = node.problem()
	}
	if pod := f.Pod(g); v.ConditionsUnknown && (pod == nil || !serves(pod)) {
		v.PodProblem = f.podProblem(g)
	}
	v.Kept = f.Cluster.KeepsFromReplacement(g.ProcessGroupID)
	if g.RemovalTimestamp != nil {
		v.RemovalSince = Known(g.RemovalTimestamp.Time)
	}
	if g.ProcessClass.IsStateful() {
		v.PVC = g.PVCName(f.Cluster)
	}
	v.pod(f.Pod(g))
	if f.Database.Status.ListsProcesses() {
		v.processes(f.Database.Status, f.ProcessesOf(g))
	}
	f.coordinates(&v, g, coordinators)
	return v
}

// ConditionsOf returns the conditions, the oldest first, and last those with an unknown start.
func (f Facts) ConditionsOf(g *v1beta2.ProcessGroupStatus) []ConditionView {
	views := []ConditionView{}
	for _, c := range g.ProcessGroupConditions {
		views = append(views, f.condition(g, c.Type))
	}
	stable.Sort(views, func(a, b ConditionView) int {
		if n := CompareTimes(a.Since, b.Since); n != 0 {
			return n
		}
		return strings.Compare(a.Type, b.Type)
	})
	return views
}

func (f Facts) condition(g *v1beta2.ProcessGroupStatus, t v1beta2.ProcessGroupConditionType) ConditionView {
	since, _ := f.firstSeen(g, t)
	if !isOutage(t) {
		return ConditionView{Type: string(t), Since: Known(since)}
	}
	o := safety.OutageOf(f.Snapshot, g, since)
	return ConditionView{Type: string(t), Since: Known(o.Since), Source: o.Source}
}

// podProblem returns what Kubernetes reports about the pod of a process group; empty for what its node or its database
// explains.
func (f Facts) podProblem(g *v1beta2.ProcessGroupStatus) ProblemCode {
	t := f.ProblemOf(g)
	if t == nil || t.Key.Code == ProblemNode || t.Key.Code == ProblemNotReporting {
		return ""
	}
	return t.Key.Code
}

func (v *GroupView) pod(pod *corev1.Pod) {
	if pod == nil {
		return
	}
	v.PodPhase, v.Node = string(pod.Status.Phase), pod.Spec.NodeName
	v.DistributionKey = objects.DistributionKeyOf(pod)
	restarts := 0
	for _, c := range pod.Status.ContainerStatuses {
		restarts += int(c.RestartCount)
	}
	v.Restarts = &restarts
	v.Image = readings.MainImage(pod)
}

func (v *GroupView) processes(s *fdb.Status, reporting []fdb.Process) {
	n, coordinator := len(reporting), slices.ContainsFunc(reporting, s.IsCoordinator)
	v.Processes, v.Coordinator = &n, &coordinator
	if n > 0 {
		v.Addresses = nil
	}
	var roles []string
	for _, p := range reporting {
		v.Addresses = append(v.Addresses, p.Address.HostPort())
		v.DC = phrase.Or(v.DC, p.DC())
		if uptime, ok := p.Uptime(); ok && (v.UptimeSeconds == nil || uptime.Seconds() < *v.UptimeSeconds) {
			seconds := uptime.Seconds()
			v.UptimeSeconds = &seconds
		}
		for _, r := range p.Roles {
			roles = append(roles, r.Role)
			v.Role(r)
		}
	}
	if s.RolesKnown() {
		slices.Sort(roles)
		v.Roles = OrEmpty(slices.Compact(roles))
	}
}

func (v *GroupView) Role(r fdb.Role) {
	if used := r.SpaceUsed(); used != nil && (v.SpaceUsed == nil || *used > *v.SpaceUsed) {
		v.SpaceUsed = used
	}
	if r.Role != fdb.RoleStorage {
		return
	}
	if r.StoredBytes != nil {
		sum := *r.StoredBytes
		if v.StoredBytes != nil {
			sum += *v.StoredBytes
		}
		v.StoredBytes = &sum
	}
	if r.DataLag != nil && r.DataLag.Seconds != nil && (v.LagSeconds == nil || *r.DataLag.Seconds > *v.LagSeconds) {
		v.LagSeconds = r.DataLag.Seconds
	}
}

// Exclusion returns the progress of a group's exclusion, for `get process-groups` and
// `exclusion status` alike. What a pass recorded does not count: after a recovery it must be
// proven again.
func (f Facts) Exclusion(g *v1beta2.ProcessGroupStatus) Exclusion {
	state := f.exclusionInForce(g)
	if state != ExclusionRequested {
		return state
	}
	proof, processes := safety.Drained(f.Snapshot, g), f.ProcessesOf(g)
	if len(processes) == 0 {
		return f.progressWithout(proof, g.Addresses)
	}
	return f.exclusionProgress(proof, processes...)
}

// IsExcludedInDatabase reports whether the status document has an exclusion in force for
// the group, by locality or by any of its addresses.
func (f Facts) IsExcludedInDatabase(g *v1beta2.ProcessGroupStatus) bool {
	if f.Database.Status == nil {
		return false
	}
	if slices.ContainsFunc(f.ProcessesOf(g), fdb.Process.IsExcluded) {
		return true
	}
	for _, target := range f.Database.Status.ExcludedTargets() {
		if target == g.ExclusionString() || slices.ContainsFunc(g.Addresses, func(a string) bool { return target == a || HostOf(target) == a }) {
			return true
		}
	}
	return false
}

// HostOf returns the host of an address, and "" for a target that is no address.
func HostOf(target string) string {
	a, err := fdb.ParseAddress(target)
	if err != nil {
		return ""
	}
	return a.Host
}

// Has reports whether the group has a condition.
func (v GroupView) Has(condition string) bool {
	return slices.ContainsFunc(v.Conditions, func(c ConditionView) bool { return c.Type == condition })
}

// IsExcluded reports whether an exclusion is in force or was.
func (e Exclusion) IsExcluded() bool {
	return e != NotExcluded && e != ExclusionPending && e != ExclusionUnknown
}
