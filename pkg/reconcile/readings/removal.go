package readings

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// Has reports whether a decision has an action of type A.
func Has[A plan.Action](d plan.Decision) bool {
	return slices.ContainsFunc(d.Actions, func(a plan.Action) bool { _, is := a.(A); return is })
}

// Narrowed returns a decision whose actions of type A do only what narrow leaves of them; those of which it
// leaves nothing are dropped. Without an action the decision has no reason for one.
func Narrowed[A plan.Action](d plan.Decision, narrow func(A) (left A, some bool)) plan.Decision {
	var actions []plan.Action
	for _, action := range d.Actions {
		if a, is := action.(A); is {
			left, some := narrow(a)
			if !some {
				continue
			}
			action = left
		}
		actions = append(actions, action)
	}
	if d.Actions = actions; len(actions) == 0 {
		d.Why = ""
	}
	return d
}

// VolumesGoing collects the process groups whose pods a stage would take down, and keeps because their
// volumes would end with them. The zero value has none.
type VolumesGoing struct {
	groups  []string
	reasons []string
}

// Keeps reports whether the pod of a group has to stay for its volume, and collects the group if so.
func (v *VolumesGoing) Keeps(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	c := safety.VolumeStays(s, g)
	if c.OK {
		return false
	}
	v.groups = append(v.groups, string(g.ProcessGroupID))
	v.reasons = append(v.reasons, fmt.Sprintf("%s: %s", g.ProcessGroupID, c.Evidence))
	return true
}

// Has reports whether a group was collected.
func (v *VolumesGoing) Has(g *v1beta2.ProcessGroupStatus) bool {
	return slices.Contains(v.groups, string(g.ProcessGroupID))
}

// Hold returns the hold for the collected groups; nil without any. No pass may end their pods, and none
// marks them for removal: a user replaces them, or keeps the volumes.
func (v *VolumesGoing) Hold() *plan.Hold {
	n := len(v.groups)
	if n == 0 {
		return nil
	}
	return &plan.Hold{Code: plan.HoldVolumeGoing, Manual: true, Subjects: v.groups, Reason: fmt.Sprintf(
		"%s %s not deleted, because the data on the %s would be lost with %s: %s; replace %s",
		phrase.Count(n, "pod"), phrase.Is(n), phrase.Either(n, "volume", "volumes"), phrase.Either(n, "it", "them"),
		SomeOf(v.reasons), phrase.Either(n, "this process group", "these process groups"))}
}

// HoldBefore returns the hold for the collected groups, and another one without any: what requires a
// user comes before what only takes time.
func (v *VolumesGoing) HoldBefore(other *plan.Hold) *plan.Hold {
	if h := v.Hold(); h != nil {
		return h
	}
	return other
}

// LeftoverObjects are the objects that a group still has.
type LeftoverObjects struct {
	Pod     *corev1.Pod
	Claim   *corev1.PersistentVolumeClaim
	Service *corev1.Service
}

// Foreign returns the name of an object that has the group's name and another group's labels:
// names of objects omit the prefix of an ID. It is empty for none.
func (o LeftoverObjects) Foreign(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) string {
	for _, object := range o.all() {
		if id := object.GetLabels()[c.ProcessGroupIDLabels()[0]]; id != string(g.ProcessGroupID) {
			return object.GetName()
		}
	}
	return ""
}

// Ending reports whether all of the objects are being deleted.
func (o LeftoverObjects) Ending() bool {
	return !slices.ContainsFunc(o.all(), func(object metav1.Object) bool { return object.GetDeletionTimestamp() == nil })
}

func (o LeftoverObjects) all() []metav1.Object {
	var all []metav1.Object
	if o.Pod != nil {
		all = append(all, o.Pod)
	}
	if o.Claim != nil {
		all = append(all, o.Claim)
	}
	if o.Service != nil {
		all = append(all, o.Service)
	}
	return all
}

// SuperfluousService returns the cluster's own headless service where the spec needs none.
func SuperfluousService(s plan.Snapshot) *corev1.Service {
	service := s.Services[s.Cluster.HeadlessServiceName()]
	if service == nil || objects.HeadlessService(s.Cluster) != nil || !isOwn(s.Cluster, service) {
		return nil
	}
	return service
}

// isOwn reports whether an object was created for this very cluster: it has its labels, and
// this resource controls it.
func isOwn(c *v1beta2.FoundationDBCluster, object metav1.Object) bool {
	for key, value := range c.MatchLabels() {
		if object.GetLabels()[key] != value {
			return false
		}
	}
	return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return owner.Kind == "FoundationDBCluster" && owner.UID == c.UID && c.UID != ""
	})
}
