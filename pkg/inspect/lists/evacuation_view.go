package lists

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// EvacuationView is what is evacuated from nodes, and when.
type EvacuationView struct{ Items []EvacuatedGroup }

// EvacuatedGroup is one process group on a node that is evacuated.
type EvacuatedGroup struct {
	Node  string
	Group inspect.GroupView
	// Rule is the key of the taint that causes the replacement; empty without one.
	Rule string
	// Detected and Replaced are the ends of the rule's two timers, if the taint is set now;
	// nil where they never end, or no taint causes a replacement.
	Detected, Replaced *time.Time
	// Elsewhere is whether a replacement fits on another node.
	Elsewhere safety.Fit
}

// NewEvacuationView makes the view of the groups whose pods are on the nodes. The taint is the
// one that is to be set; nil for none. Groups that have to share a fault domain are evaluated
// together, each other as if it were the only one.
func NewEvacuationView(f inspect.Facts, nodes []string, taint *corev1.Taint, places safety.Places) EvacuationView {
	var v EvacuationView
	var pods []*corev1.Pod
	for _, g := range f.Remaining() {
		pod := f.Pod(g)
		if pod == nil || !slices.Contains(nodes, pod.Spec.NodeName) {
			continue
		}
		item := EvacuatedGroup{Node: pod.Spec.NodeName, Group: f.Group(g)}
		pods = append(pods, pod)
		if taint != nil {
			item.leaveBy(f, taint)
		}
		v.Items = append(v.Items, item)
	}
	for i, fit := range places.ElsewhereTogether(pods) {
		v.Items[i].Elsewhere = fit
	}
	return v
}

func (g *EvacuatedGroup) leaveBy(f inspect.Facts, taint *corev1.Taint) {
	detected, ever := safety.TaintClock{Since: f.Now, Rules: f.Cluster.TaintDelays(taint.Key)}.Due()
	if !ever {
		return
	}
	g.Rule = taint.Key
	g.Detected, g.Replaced = &detected, inspect.AfterTaint(detected, f.Cluster.TaintReplacementTime())
}

// Moment formats a time in UTC; nil is shown as absent.
func Moment(t *time.Time) string {
	if t == nil {
		return phrase.Nothing
	}
	return t.UTC().Format(time.RFC3339)
}
