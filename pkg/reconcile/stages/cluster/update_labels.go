package cluster

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// UpdateLabels adds missing labels and annotations to pods and PVCs and corrects wrong ones; it
// never removes others. Labels and annotations are changed in one patch, where the operator needs
// two passes.
var UpdateLabels = plan.Stage{
	Name:  plan.StageUpdateLabels,
	Reads: plan.ClusterResource | plan.Pods | plan.Volumes,
	Decide: func(s plan.Snapshot) plan.Decision {
		var d plan.Decision
		missing := objects.NewGroupMetadata(s.Cluster)
		for _, g := range s.Groups() {
			if g.IsRemovable() {
				continue
			}
			d.Actions = append(d.Actions, podMetadata(s, g, missing)...)
			d.Actions = append(d.Actions, claimMetadata(s, g, missing)...)
		}
		if len(d.Actions) > 0 {
			d.Why = "labels or annotations of the spec are missing or differ"
		}
		return d
	},
}

func podMetadata(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, missing *objects.GroupMetadata) []plan.Action {
	pod := s.Pod(g)
	if pod == nil {
		return nil
	}
	labels, annotations := missing.OfPod(g, pod)
	return metadataPatch(g.ProcessGroupID, plan.KindPod, pod.Name, labels, annotations)
}

func claimMetadata(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, missing *objects.GroupMetadata) []plan.Action {
	have := s.Volumes[g.PVCName(s.Cluster)]
	if have == nil || !g.ProcessClass.IsStateful() {
		return nil
	}
	labels, annotations := missing.OfClaim(g, have)
	return metadataPatch(g.ProcessGroupID, plan.KindPVC, have.Name, labels, annotations)
}

func metadataPatch(id v1beta2.ProcessGroupID, kind plan.ObjectKind, name string, labels, annotations map[string]string) []plan.Action {
	if len(labels) == 0 && len(annotations) == 0 {
		return nil
	}
	return []plan.Action{plan.PatchMetadata{Group: id, Kind: kind, Name: name, Labels: labels, Annotations: annotations}}
}
