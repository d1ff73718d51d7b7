package inspect

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// FormerNodes returns the names of the nodes on which the missing pod of a process group may have run: the
// node that its zone is named after, or else the nodes that were read and are in its zone. A group that has
// a pod, or that is to have none, has no former nodes.
func (f Facts) FormerNodes(g *v1beta2.ProcessGroupStatus) []string {
	zone := string(g.FaultDomain)
	if f.Pod(g) != nil || g.IsMarkedForRemoval() || zone == "" {
		return nil
	}
	if zonesAreNodes(f.Cluster) {
		return []string{zone}
	}
	var names []string
	for name, node := range f.Nodes {
		if node != nil && node.Labels[f.Cluster.FaultDomainKey()] == zone {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// zonesAreNodes reports whether the zone of a process is the name of the node of its pod.
func zonesAreNodes(c *v1beta2.FoundationDBCluster) bool {
	switch c.FaultDomainKey() {
	case v1beta2.FaultDomainKeyNone, v1beta2.FaultDomainKeyKubernetesCluster:
		return false
	default:
		return c.FaultDomainValueFrom() == "spec.nodeName"
	}
}

// lostFormerNode returns the former node of a group that explains why its pod does not exist: the node is
// not ready, no longer exists, or has a taint that evicts the pods of the group.
func (f Facts) lostFormerNode(g *v1beta2.ProcessGroupStatus) (lostNode, bool) {
	for _, name := range f.FormerNodes(g) {
		if node, lost := f.lost(name); lost {
			return node, true
		}
		if node, evicts := f.evicting(name, g.ProcessClass); evicts {
			return node, true
		}
	}
	return lostNode{}, false
}

// evicting returns a node with a taint by which Kubernetes evicts the pods of a class.
func (f Facts) evicting(name string, class v1beta2.ProcessClass) (lostNode, bool) {
	node := f.Nodes[name]
	if node == nil {
		return lostNode{}, false
	}
	var tolerations []corev1.Toleration
	if template := f.Cluster.Settings(class).PodTemplate; template != nil {
		tolerations = template.Spec.Tolerations
	}
	taint := safety.EvictingTaint(node, tolerations)
	if taint == nil {
		return lostNode{}, false
	}
	lost := lostNode{name: name, taint: taint.ToString()}
	if taint.TimeAdded != nil {
		lost.since = taint.TimeAdded.Time
	}
	return lost, true
}

// lostNode is a node that does not work.
type lostNode struct {
	name    string
	since   time.Time // zero for unknown
	deleted bool      // the node no longer exists
	taint   string    // that evicts pods, as KEY=VALUE:EFFECT; empty for none
	reason  string    // why it is not ready, in the words of Kubernetes
}

// command returns the arguments of a kubectl command that shows more of the node.
func (n lostNode) command() []string {
	if n.deleted {
		return []string{"get", "nodes"}
	}
	return []string{"describe", "node", n.name}
}

// NodeProblem is what is wrong with a node.
type NodeProblem string

// What can be wrong with a node.
const (
	NodeNotReady NodeProblem = "not-ready"
	// NodeDeleted no longer exists.
	NodeDeleted NodeProblem = "not-found"
	// NodeEvicts has a taint by which Kubernetes evicts the pods of the process group.
	NodeEvicts NodeProblem = "evicting"
)

func (n lostNode) problem() NodeProblem {
	switch {
	case n.deleted:
		return NodeDeleted
	case n.taint != "":
		return NodeEvicts
	default:
		return NodeNotReady
	}
}

// words returns what is wrong with the node.
func (n lostNode) words() string {
	switch {
	case n.deleted:
		return "no longer exists"
	case n.taint != "":
		return "has the taint " + n.taint + " that evicts its pods"
	default:
		return "is not ready"
	}
}

// formerNode adds to the problem of a missing pod where it ran, and what is wrong with that node.
func (f Facts) formerNode(g *v1beta2.ProcessGroupStatus, t *Problem) *Problem {
	lost, explained := f.lostFormerNode(g)
	if explained {
		t.Message += "; it ran on node " + lost.name + ", which " + lost.words()
		t.Key.Node, t.Key.Taint = lost.name, lost.taint
		if !lost.deleted {
			t.Command = []string{"describe", "node", lost.name}
		}
		return t
	}
	if former := f.certainFormerNodes(g); len(former) > 0 {
		t.Message += "; it ran on node " + former[0]
		t.Key.Node = former[0]
		if f.Nodes[former[0]].Spec.Unschedulable {
			t.Message += ", which is cordoned"
		}
	}
	return t
}

// nodesBeside returns the nodes without pods of the cluster that matter for it: those on which missing pods
// ran, and, while a pod is not scheduled, those that are closed to it.
func (f Facts) nodesBeside() []string {
	var names []string
	for _, g := range f.Groups() {
		names = append(names, f.certainFormerNodes(g)...)
		if pod := f.Pod(g); pod != nil && pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil {
			names = append(names, f.closedTo(pod)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// certainFormerNodes returns the former node of a group where it is one, or the one that explains the loss.
func (f Facts) certainFormerNodes(g *v1beta2.ProcessGroupStatus) []string {
	if lost, is := f.lostFormerNode(g); is {
		return []string{lost.name}
	}
	former := f.FormerNodes(g)
	if len(former) != 1 || f.Nodes[former[0]] == nil {
		return nil
	}
	return former
}

// closedTo returns the nodes that a pod selects and that are cordoned or tainted against it.
func (f Facts) closedTo(pod *corev1.Pod) []string {
	var names []string
	for name, node := range f.Nodes {
		if node != nil && safety.ClosedTo(node, pod) {
			names = append(names, name)
		}
	}
	return names
}

// formerGroups are the process groups without a pod by the node on which they ran.
func (f Facts) formerGroups() map[string][]string {
	on := map[string][]string{}
	for _, g := range f.Groups() {
		for _, name := range f.certainFormerNodes(g) {
			on[name] = append(on[name], string(g.ProcessGroupID))
		}
	}
	return on
}

// Notes returns what is to be known of a node beside its row.
func (v NodeView) Notes() []string {
	var notes []string
	if v.Note != "" {
		notes = append(notes, v.Note)
	}
	if n := len(v.FormerProcessGroups); n > 0 {
		notes = append(notes, strings.Join([]string{phrase.Some(v.FormerProcessGroups, MostNamed), "ran here and", phrase.Has(n), "no pod now"}, " "))
	}
	return notes
}

// ToleranceView is how many more zones may fail.
type ToleranceView struct {
	Origin
	// Mode is the redundancy mode in the spec.
	Mode string `json:"mode"`
	// Desired is how many zones may fail in a reconciled cluster.
	Desired int `json:"desired"`
	// Zones is how many zones may fail now without loss of data: the least of what
	// the database reports and of what is left without processes that stopped reporting less
	// than two minutes ago.
	// Null when the database does not report it.
	Zones *int `json:"zones"`
	// ZonesAvailable is the same without loss of availability.
	ZonesAvailable *int `json:"zonesAvailable"`
	// Reported is Zones as the database reports it. For about a minute after a storage
	// process died, it is too high.
	Reported *int `json:"reported"`
	// ZonesNotReporting are the zones with processes that hold data and do not report.
	ZonesNotReporting []string `json:"zonesNotReporting"`
}

func (f Facts) Tolerance() ToleranceView {
	v := ToleranceView{
		Origin: f.FromDatabase(), Mode: f.Desired.RedundancyMode, Desired: f.Cluster.FaultTolerance(),
		ZonesNotReporting: []string{},
	}
	if f.Database.Status == nil {
		return v
	}
	v.ZonesNotReporting = OrEmpty(f.ZonesNotReporting())
	if reported := f.Database.Status.Cluster.FaultTolerance; reported != nil && f.Database.Available() {
		left := max(0, v.Desired-len(f.zonesNotReporting(f.mayBeUnnoticed)))
		v.Reported = reported.WithoutLosingData
		v.Zones = leastOf(reported.WithoutLosingData, left)
		v.ZonesAvailable = leastOf(reported.WithoutLosingAvailability, left)
	}
	return v
}

func leastOf(reported *int, most int) *int {
	if reported == nil {
		return nil
	}
	n := max(0, min(*reported, most))
	return &n
}

// ZonesNotReporting returns the zones of processes that hold data and do not report. The status
// of the resource lists them: they reported in that zone and are not excluded. The database
// itself takes about a minute to miss a storage process.
func (f Facts) ZonesNotReporting() []string {
	return f.zonesNotReporting(func(*v1beta2.ProcessGroupStatus) bool { return true })
}

// noticedAfter is longer than the database takes to count a storage process as lost, which is 66 to
// 70 s. From then on what it reports is right, also once the data is complete without the process.
const noticedAfter = 2 * time.Minute

// mayBeUnnoticed reports whether the database may still count the processes of a group that do not report.
func (f Facts) mayBeUnnoticed(g *v1beta2.ProcessGroupStatus) bool {
	since := f.Outage(g).Since
	return since.IsZero() || f.Now.Sub(since) < noticedAfter
}

func (f Facts) zonesNotReporting(counts func(*v1beta2.ProcessGroupStatus) bool) []string {
	var zones []string
	for _, g := range f.Groups() {
		if !f.keepsData(g) || !f.isNotReporting(g) || !counts(g) {
			continue
		}
		if zone := string(g.FaultDomain); !slices.Contains(zones, zone) {
			zones = append(zones, zone)
		}
	}
	slices.Sort(zones)
	return zones
}

// keepsData reports whether a group may hold data that counts: one without a zone
// never reported, so it never got any.
func (f Facts) keepsData(g *v1beta2.ProcessGroupStatus) bool {
	return g.ProcessClass.IsStateful() && g.ProcessClass != v1beta2.ProcessClassCoordinator && !g.IsExcluded() && g.FaultDomain != ""
}
