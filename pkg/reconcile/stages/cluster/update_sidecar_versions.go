package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// UpdateSidecarVersions changes the sidecars of pods to a version with another protocol, in place.
// They copy the new fdbserver binary to the pod, whose processes run the old version until all
// restart at once. It runs after the clients were checked, and before the pods are checked for the
// files that they need.
//
// A pod of another image type than the spec's is left alone, as in the operator, but here that is
// reported: its processes would otherwise block the upgrade silently.
//
// An upgrade that is reverted before the restart leaves pods that were created from the current
// spec, except for their sidecar. The operator keeps such a cluster unreconciled forever; here
// the sidecar is reverted in place.
var UpdateSidecarVersions = plan.Stage{
	Name:  plan.StageUpdateSidecarVersions,
	Reads: plan.ClusterResource | plan.Pods,
	Decide: func(s plan.Snapshot) plan.Decision {
		switch {
		case !s.Cluster.IsBeingUpgraded():
			return revertSidecars(s)
		case !s.Cluster.IsBeingUpgradedIncompatibly():
			return plan.Decision{}
		}
		var d plan.Decision
		var others []string
		for _, g := range s.Groups() {
			pod := podThatStays(s, g)
			if pod == nil {
				continue
			}
			want, err := objects.SidecarImage(s.Cluster, g.ProcessClass)
			if err != nil {
				return readings.InvalidSpec(err)
			}
			switch have := readings.SidecarImage(pod); {
			case objects.ImageTypeOf(pod) != s.Cluster.ImageType():
				others = append(others, pod.Name)
			case have != "" && have != want:
				d.Actions = append(d.Actions, plan.SetSidecarImage{PodOfGroup: readings.ThisPod(g, pod), Container: v1beta2.ContainerSidecar, Image: want})
			}
		}
		if len(d.Actions) > 0 {
			d.Why = "their pods need the fdbserver binary of version " + s.Cluster.Spec.Version
		}
		if len(others) > 0 {
			d.Hold = &plan.Hold{Code: plan.HoldImageTypeDiffers, Manual: true, Reason: fmt.Sprintf(
				"%s are not of image type %s, so their sidecars cannot be upgraded; revert spec.imageType until the upgrade is over",
				readings.SomeOf(others), s.Cluster.ImageType())}
		}
		return d
	},
}

// podThatStays returns a group's pod; nil when it has none, or the pod is being removed.
func podThatStays(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) *corev1.Pod {
	pod := s.Pod(g)
	if pod == nil || pod.DeletionTimestamp != nil || g.IsRemovable() || g.HasCondition(v1beta2.ConditionResourcesTerminating) {
		return nil
	}
	return pod
}

// revertSidecars returns pods that differ in nothing else to the sidecar that they were created
// with. A pod that was created from another spec gets it when it is recreated.
func revertSidecars(s plan.Snapshot) plan.Decision {
	d := plan.Decision{}
	hashes := objects.RememberedSpecHashes(s.Cluster, s.Hashes)
	for _, g := range s.Groups() {
		pod := podThatStays(s, g)
		if pod == nil || objects.ImageTypeOf(pod) != s.Cluster.ImageType() {
			continue
		}
		want, err := objects.SidecarImage(s.Cluster, g.ProcessClass)
		if err != nil {
			return readings.InvalidSpec(err)
		}
		if have := readings.SidecarImage(pod); have == "" || have == want {
			continue
		}
		made, err := hashes.Of(g)
		if err != nil {
			return readings.InvalidSpec(err)
		}
		if pod.Annotations[v1beta2.AnnotationLastAppliedSpec] == made {
			d.Actions = append(d.Actions, plan.SetSidecarImage{PodOfGroup: readings.ThisPod(g, pod), Container: v1beta2.ContainerSidecar, Image: want})
		}
	}
	if len(d.Actions) > 0 {
		d.Why = "their pods were created with it, and the upgrade was reverted"
	}
	return d
}
