package stages

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// updateSidecarVersions gives pods the sidecar of a version that speaks another protocol,
// in place. It hands the new servers over to the pod, which go on in the old version until
// all of them are restarted at once. It comes after the clients were judged, and before
// the pods are asked whether they have what they need.
//
// A pod of another image type than the spec's is left alone, as in the operator, but here
// that is said: its servers would keep the upgrade waiting without a word.
//
// An upgrade that is taken back before the restart leaves pods that were made from the
// very spec that is wanted now, except for their sidecar. The operator keeps such a cluster
// unreconciled for ever; here the sidecar is set back in place.
var updateSidecarVersions = plan.Stage{
	Name:  plan.StageUpdateSidecarVersions,
	Reads: plan.Record | plan.Pods,
	Decide: func(s plan.Snapshot) plan.Decision {
		switch {
		case !s.Cluster.IsBeingUpgraded():
			return setSidecarsBack(s)
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
				return contradiction(err)
			}
			switch have := sidecarImage(pod); {
			case objects.ImageTypeOf(pod) != s.Cluster.ImageType():
				others = append(others, pod.Name)
			case have != "" && have != want:
				d.Actions = append(d.Actions, plan.SetSidecarImage{PodOfGroup: thisPod(g, pod), Container: v1beta2.ContainerSidecar, Image: want})
			}
		}
		if len(d.Actions) > 0 {
			d.Why = "their pods need the servers of version " + s.Cluster.Spec.Version
		}
		if len(others) > 0 {
			d.Hold = &plan.Hold{Code: plan.HoldImageTypeDiffers, Human: true, Reason: fmt.Sprintf(
				"%s are not of image type %s, so their sidecars cannot be upgraded; change spec.imageType back until the upgrade is over",
				someOf(others), s.Cluster.ImageType())}
		}
		return d
	},
}

// podThatStays is a group's pod; nil when there is none, or none any more soon.
func podThatStays(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) *corev1.Pod {
	pod := s.Pod(g)
	if pod == nil || pod.DeletionTimestamp != nil || g.IsGone() || g.HasCondition(v1beta2.ConditionResourcesTerminating) {
		return nil
	}
	return pod
}

// setSidecarsBack gives pods of which nothing else differs the sidecar that they were made
// with. A pod that was made from another spec gets it when it is made anew.
func setSidecarsBack(s plan.Snapshot) plan.Decision {
	d := plan.Decision{}
	hashes := objects.NewSpecHashes(s.Cluster)
	for _, g := range s.Groups() {
		pod := podThatStays(s, g)
		if pod == nil || objects.ImageTypeOf(pod) != s.Cluster.ImageType() {
			continue
		}
		want, err := objects.SidecarImage(s.Cluster, g.ProcessClass)
		if err != nil {
			return contradiction(err)
		}
		if have := sidecarImage(pod); have == "" || have == want {
			continue
		}
		made, err := hashes.Of(g)
		if err != nil {
			return contradiction(err)
		}
		if pod.Annotations[v1beta2.AnnotationLastAppliedSpec] == made {
			d.Actions = append(d.Actions, plan.SetSidecarImage{PodOfGroup: thisPod(g, pod), Container: v1beta2.ContainerSidecar, Image: want})
		}
	}
	if len(d.Actions) > 0 {
		d.Why = "their pods were made with it, and the upgrade was taken back"
	}
	return d
}
