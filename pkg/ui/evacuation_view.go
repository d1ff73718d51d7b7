package ui

import (
	"cmp"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// EvacuationView is what is evacuated from nodes, and when.
type EvacuationView struct{ Items []EvacuatedGroup }

// EvacuatedGroup is one process group on a node that is evacuated.
type EvacuatedGroup struct {
	Node  string
	Group GroupView
	// Rule is the key of the taint that causes the replacement; empty without one.
	Rule string
	// Detected and Replaced are the ends of the rule's two timers, if the taint is set now;
	// nil where they never end, or no taint causes a replacement.
	Detected, Replaced *time.Time
	// Elsewhere is whether a replacement fits on another node.
	Elsewhere safety.Fit
}

// NewEvacuationView makes the view of the groups whose pods are on the nodes. The taint is the
// one that is to be set; nil for none. Each group is evaluated as if it were the only one.
func NewEvacuationView(f Facts, nodes []string, taint *corev1.Taint, places safety.Places) EvacuationView {
	var v EvacuationView
	for _, g := range f.Staying() {
		pod := f.Pod(g)
		if pod == nil || !slices.Contains(nodes, pod.Spec.NodeName) {
			continue
		}
		item := EvacuatedGroup{Node: pod.Spec.NodeName, Group: f.group(g), Elsewhere: places.Elsewhere(pod)}
		if taint != nil {
			item.leaveBy(f, taint)
		}
		v.Items = append(v.Items, item)
	}
	return v
}

func (g *EvacuatedGroup) leaveBy(f Facts, taint *corev1.Taint) {
	detected, ever := safety.TaintClock{Since: f.Now, Rules: f.Cluster.TaintPatience(taint.Key)}.Due()
	if !ever {
		return
	}
	g.Rule = taint.Key
	g.Detected, g.Replaced = &detected, afterTaint(detected, f.Cluster.TaintReplacementTime())
}

// WriteEvacuation writes the table.
func WriteEvacuation(w io.Writer, v EvacuationView) error {
	t := Table{Header: []string{"NODE", "GROUP", "CLASS", "COORD", "DATA", "RULE", "DETECT-AT", "REPLACE-AT", "FITS"}}
	for _, item := range v.Items {
		g := item.Group
		t.Rows = append(t.Rows, []string{
			item.Node, g.ID, g.Class, coordinates(g.Coordinator), phrase.BytesOr(g.StoredBytes, phrase.UnknownCell), cmp.Or(item.Rule, phrase.Nothing), moment(item.Detected), moment(item.Replaced), fits(item.Elsewhere),
		})
	}
	return t.Write(w)
}

func fits(f safety.Fit) string {
	switch {
	case f.Fits == nil:
		return phrase.UnknownCell + " (" + f.Reason + ")"
	case *f.Fits:
		return "yes"
	default:
		return "no (" + f.Reason + ")"
	}
}

func coordinates(b *bool) string {
	switch {
	case b == nil:
		return phrase.UnknownCell
	case *b:
		return "yes"
	default:
		return phrase.Nothing
	}
}

func moment(t *time.Time) string {
	if t == nil {
		return phrase.Nothing
	}
	return t.UTC().Format(time.RFC3339)
}
