package inspect

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// NodeListView is the document of `get nodes`: the nodes of a cluster's pods, and the effect
// of their taints.
type NodeListView struct {
	Document
	// Hidden is why nodes could not be read; empty when they could.
	Hidden string     `json:"hidden,omitempty"`
	Items  []NodeView `json:"items"`
}

// NodeView is one node. Fields of the Node object are null when it could not be read.
type NodeView struct {
	Name string `json:"name"`
	// Labels are those of the node; absent without any, and where the node cannot be read.
	Labels map[string]string `json:"labels,omitempty"`
	// Zones are the fault domains of the process groups on it.
	Zones []string `json:"zones"`
	// Exists is false for a deleted node that pods refer to.
	Exists        *bool `json:"exists"`
	Ready         *bool `json:"ready"`
	Unschedulable *bool `json:"unschedulable"`
	// Taints have the form of kubectl: KEY=VALUE:EFFECT.
	Taints []string `json:"taints"`
	// MatchedRules are the rules of the spec that match one of the taints.
	MatchedRules []TaintRuleView `json:"matchedRules"`
	// TaintedSince is since when a taint with a rule is known; null without one, and as long
	// as neither Kubernetes nor a pass has recorded it.
	TaintedSince *time.Time `json:"taintedSince"`
	// DetectAt is when the first rule ends; passes record that as NodeTaintReplacing. Null
	// where it is unknown, or never.
	DetectAt *time.Time `json:"detectAt"`
	// Never is true where every matched rule allows its taint forever.
	Never bool `json:"never,omitempty"`
	// ReplaceAt is when passes may replace the node's process groups, by the timers; null also
	// where replacements are off.
	ReplaceAt     *time.Time `json:"replaceAt"`
	ProcessGroups []string   `json:"processGroups"`
	// FormerProcessGroups ran on the node and have no pod now; absent for none.
	FormerProcessGroups []string       `json:"formerProcessGroups,omitempty"`
	Coordinators        int            `json:"coordinators"`
	Classes             map[string]int `json:"classes"`
	// Note is why timers do not run; empty where they do.
	Note string `json:"note,omitempty"`
}

// TaintRuleView is a rule of spec.automationOptions.replacements.taintReplacementOptions,
// by the key of the taint that it matches.
type TaintRuleView struct {
	Key     string `json:"key"`
	Seconds int64  `json:"seconds"`
	// Since is since when the key is known to be on the node; absent where no pass has recorded it.
	Since *time.Time `json:"since,omitempty"`
	// DetectAt is when the rule ends; absent where that is unknown, or never.
	DetectAt *time.Time `json:"detectAt,omitempty"`
	// Never is true for a rule that never ends.
	Never bool `json:"never,omitempty"`
}

func (v TaintRuleView) isUnseen() bool { return v.Since == nil && !v.Never }

// NewNodeListView makes the document of the nodes that the cluster's pods run on, and of those without its
// pods that explain why pods are missing or pending.
func NewNodeListView(m Metadata, f Facts) NodeListView {
	return f.nodeList(m, slices.Values(slices.AppendSeq(f.nodesBeside(), maps.Keys(f.GroupsByNode()))))
}

// NewAllNodesView makes the document of all nodes that could be read.
func NewAllNodesView(m Metadata, f Facts) NodeListView {
	names := slices.AppendSeq(f.nodesBeside(), maps.Keys(f.GroupsByNode())) // pods may run on nodes that could not be read
	return f.nodeList(m, slices.Values(slices.AppendSeq(names, maps.Keys(f.Nodes))))
}

// Labels are those of the nodes: none of a deleted one.
func (v NodeListView) Labels() []map[string]string {
	return labelsOf(v.Items, func(n NodeView) map[string]string { return n.Labels })
}

func (f Facts) nodeList(m Metadata, of iter.Seq[string]) NodeListView {
	v := NodeListView{Document: NewDocument("NodeList", m, f.Now, SourceLive), Hidden: f.NodesHidden, Items: []NodeView{}}
	v.Warnings = append(v.Warnings, f.Warnings...)
	v.Warnings = append(v.Warnings, f.CoordinatorWarnings()...)
	if v.Hidden != "" {
		v.Warnings = append(v.Warnings, "taints and rules were not evaluated: "+v.Hidden)
	}
	on, former, coordinators := f.GroupsByNode(), f.formerGroups(), f.coordinatorGroups()
	for _, name := range slices.Compact(slices.Sorted(of)) {
		node := f.Node(name, on[name], coordinators)
		node.FormerProcessGroups = former[name]
		v.Items = append(v.Items, node)
	}
	return v
}

// GroupsByNode are the process groups by the node that their pod runs on.
func (f Facts) GroupsByNode() map[string][]*v1beta2.ProcessGroupStatus {
	on := map[string][]*v1beta2.ProcessGroupStatus{}
	for _, g := range f.Groups() {
		if pod := f.Pod(g); pod != nil && pod.Spec.NodeName != "" {
			on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], g)
		}
	}
	return on
}

// coordinatorGroups are the process groups that have a coordinator.
func (f Facts) coordinatorGroups() []string {
	var groups []string
	for _, c := range f.Coordinators().Items {
		if id := f.Coordinator(c).Group; id != "" {
			groups = append(groups, id)
		}
	}
	return groups
}

func (f Facts) Node(name string, groups []*v1beta2.ProcessGroupStatus, coordinators []string) NodeView {
	v := NodeView{Name: name, Zones: []string{}, ProcessGroups: []string{}, Classes: map[string]int{}}
	for _, g := range groups {
		if zone := f.ZoneOf(g); zone != "" && !slices.Contains(v.Zones, zone) {
			v.Zones = append(v.Zones, zone)
		}
		v.ProcessGroups = append(v.ProcessGroups, string(g.ProcessGroupID))
		v.Classes[string(g.ProcessClass)]++
		if slices.Contains(coordinators, string(g.ProcessGroupID)) {
			v.Coordinators++
		}
	}
	if f.NodesHidden != "" {
		return v
	}
	node := f.Nodes[name]
	exists := node != nil
	v.Exists, v.Labels = &exists, map[string]string{}
	if exists {
		v.Labels = knownLabels(node.Labels)
		v.conditions(node)
		f.judgeTaints(&v, node, groups)
	}
	return v
}

func (v *NodeView) conditions(node *corev1.Node) {
	v.Unschedulable = &node.Spec.Unschedulable
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionUnknown {
			ready := c.Status == corev1.ConditionTrue
			v.Ready = &ready
		}
	}
	v.Taints, v.MatchedRules = []string{}, []TaintRuleView{}
	for _, taint := range node.Spec.Taints {
		v.Taints = append(v.Taints, taint.ToString())
	}
}

// judgeTaints finds the rules that match the node's taints, and when their timers end, with the
// ages that a pass would use. A taint that no pass has recorded counts from the next one.
func (f Facts) judgeTaints(v *NodeView, node *corev1.Node, groups []*v1beta2.ProcessGroupStatus) {
	clocks := f.clocksOn(node, groups)
	for _, clock := range clocks {
		for _, seconds := range clock.Rules {
			v.MatchedRules = append(v.MatchedRules, newTaintRuleView(clock, seconds))
		}
	}
	if len(v.MatchedRules) == 0 || len(groups) == 0 {
		return
	}
	v.Never = !slices.ContainsFunc(v.MatchedRules, func(r TaintRuleView) bool { return !r.Never })
	v.TaintedSince = Known(oldest(clocks))
	if slices.ContainsFunc(v.MatchedRules, TaintRuleView.isUnseen) {
		v.Note = "no pass has recorded the taint yet; its timers begin with the next one"
	}
	at, due := safety.TaintsDue(clocks)
	if !due {
		return
	}
	v.DetectAt = &at
	if !f.Cluster.ReplacementsEnabled() {
		v.Note = "replacements are off (automationOptions.replacements.enabled)"
		return
	}
	replacing := f.notedSince(groups, v1beta2.ConditionNodeTaintReplacing)
	if replacing.IsZero() {
		replacing = at
	}
	v.ReplaceAt = AfterTaint(replacing, f.Cluster.TaintReplacementTime())
}

// clocksOn returns the ages of a node's taints, each by the process group on it that has had
// the taint for the longest.
func (f Facts) clocksOn(node *corev1.Node, groups []*v1beta2.ProcessGroupStatus) []safety.TaintClock {
	clocks := safety.TaintClocks(f.Cluster, node, &corev1.Pod{}, time.Time{})
	for _, g := range groups {
		detected := f.notedSince([]*v1beta2.ProcessGroupStatus{g}, v1beta2.ConditionNodeTaintDetected)
		for i, clock := range safety.TaintClocks(f.Cluster, node, f.Pod(g), detected) {
			clocks[i].Since = earlier(clocks[i].Since, clock.Since)
		}
	}
	return clocks
}

func oldest(clocks []safety.TaintClock) (since time.Time) {
	for _, clock := range clocks {
		since = earlier(since, clock.Since)
	}
	return since
}

func newTaintRuleView(clock safety.TaintClock, seconds int64) TaintRuleView {
	v := TaintRuleView{Key: clock.Key, Seconds: seconds, Since: Known(clock.Since)}
	at, ever := safety.TaintRuleOver(clock.Since, seconds)
	v.Never = !ever
	if ever && v.Since != nil {
		v.DetectAt = &at
	}
	return v
}

// AfterTaint returns a moment so much later; nil for never, and where no timestamp can express it.
func AfterTaint(at time.Time, later time.Duration) *time.Time {
	if later >= v1beta2.Never {
		return nil
	}
	after, ever := safety.TaintRuleOver(at, int64(later/time.Second))
	if !ever {
		return nil
	}
	return &after
}

// notedSince returns since when any of the groups has a condition in the stored status; zero
// when none has.
func (f Facts) notedSince(groups []*v1beta2.ProcessGroupStatus, condition v1beta2.ProcessGroupConditionType) time.Time {
	var first time.Time
	for _, g := range groups {
		if f.Recorded != nil {
			g = f.Recorded.ProcessGroup(g.ProcessGroupID)
		}
		if g == nil {
			continue
		}
		if at, has := g.Condition(condition); has {
			first = earlier(first, at)
		}
	}
	return first
}

// earlier returns the earlier of two times, ignoring a zero one.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// Text returns the rule as a sentence about its key.
func (v TaintRuleView) Text() string {
	if v.Never {
		return v.Key + " never causes a replacement"
	}
	return fmt.Sprintf("%s is allowed for %ds", v.Key, v.Seconds)
}

// Never is the word for a timer that does not end.
const Never = "never"
