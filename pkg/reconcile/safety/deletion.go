package safety

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Deletion is an object that takes the cluster with it when Kubernetes removes it.
type Deletion struct {
	// Kind is FoundationDBCluster or Namespace.
	Kind string
	Name string
	// Since is when the deletion was requested.
	Since time.Time
	// Finalizers keep the object until they are removed; empty for those of the namespace itself, which
	// is removed once it is empty.
	Finalizers []string
}

// Deletions returns which objects are being deleted that take the cluster with them.
func Deletions(s plan.Snapshot) []Deletion {
	var all []Deletion
	add := func(kind string, o metav1.Object) {
		if since := o.GetDeletionTimestamp(); since != nil {
			all = append(all, Deletion{Kind: kind, Name: o.GetName(), Since: since.Time, Finalizers: o.GetFinalizers()})
		}
	}
	if s.Cluster != nil {
		add("FoundationDBCluster", s.Cluster)
	}
	if n := s.Namespace.Object; n != nil {
		add("Namespace", n)
	}
	return all
}

// Text returns what is being deleted, since when, what holds it, and what goes with it.
func (d Deletion) Text() string {
	text := fmt.Sprintf("%s %s is being deleted since %s", d.Kind, d.Name, d.Since.UTC().Format(time.RFC3339))
	if len(d.Finalizers) > 0 {
		text += fmt.Sprintf(", held by %s %s", phrase.Either(len(d.Finalizers), "finalizer", "finalizers"), phrase.List(d.Finalizers))
	}
	return text + "; all pods and PVCs go with it when it is removed"
}

// NotDeleted checks whether neither the FoundationDBCluster nor its namespace is being deleted. A user
// may override it. A namespace that cannot be read refuses new objects by itself if it is.
func NotDeleted(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckNotDeleted, Question: "is neither the FoundationDBCluster nor its namespace being deleted?", Gate: plan.GateDeletion}
	deletions := Deletions(s)
	words := make([]string, len(deletions))
	for i, d := range deletions {
		words[i] = d.Text()
	}
	c.Evidence = strings.Join(words, "; ")
	switch reason := s.Overrides[plan.GateDeletion]; {
	case len(deletions) > 0 && reason != "":
		c.OK, c.Evidence = true, c.Evidence+"; overridden: "+reason
	case len(deletions) > 0:
	case s.Namespace.Hidden != "":
		c.OK, c.Evidence = true, "the FoundationDBCluster is not; the namespace is unknown: "+s.Namespace.Hidden
	default:
		c.OK, c.Evidence = true, "neither is"
	}
	return c
}

// PolicyOf returns the reclaim policy of the volume of a PVC that is being deleted. It is known only if
// the volume could be read.
func PolicyOf(s plan.Snapshot, claim *corev1.PersistentVolumeClaim) (policy corev1.PersistentVolumeReclaimPolicy, known bool) {
	volume := s.BoundVolumes[claim.Spec.VolumeName]
	if volume == nil {
		return "", false
	}
	return volume.Spec.PersistentVolumeReclaimPolicy, true
}
