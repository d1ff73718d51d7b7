package cluster

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// AdoptSpecs adopts pods and PVCs as they are: it records the current spec as the one they
// were created from, so that nothing is recreated or replaced. It reports where an object
// differs from that spec: such a difference is not rolled out until the spec changes again.
//
// It is part of a pass only when a user requests it, for a cluster that another tool, or
// another version of the Kubernetes types, created.
var AdoptSpecs = plan.Stage{
	Name:  plan.StageAdoptSpecs,
	Reads: plan.ClusterResource | plan.Pods | plan.Volumes,
	Decide: func(s plan.Snapshot) plan.Decision {
		var d plan.Decision
		hashes := objects.RememberedSpecHashes(s.Cluster, s.Hashes)
		for _, g := range s.Remaining() {
			actions, err := adopt(s, g, hashes)
			if err != nil {
				return readings.InvalidSpec(err)
			}
			d.Actions = append(d.Actions, actions...)
		}
		if len(d.Actions) > 0 {
			d.Why = "a user requested to adopt these objects as they are"
		}
		return d
	},
}

func adopt(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, hashes *objects.SpecHashes) ([]plan.Action, error) {
	pod, err := adoptPod(s, g, hashes)
	if err != nil {
		return nil, err
	}
	claim, err := adoptClaim(s, g)
	return append(pod, claim...), err
}

func adoptPod(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, hashes *objects.SpecHashes) ([]plan.Action, error) {
	pod := s.Pod(g)
	if pod == nil || pod.DeletionTimestamp != nil {
		return nil, nil
	}
	hash, err := hashes.Of(g)
	if err != nil || pod.Annotations[v1beta2.AnnotationLastAppliedSpec] == hash {
		return nil, err
	}
	want, err := objects.PodSpec(s.Cluster, g)
	if err != nil {
		return nil, err
	}
	return adopted(g.ProcessGroupID, plan.KindPod, pod.Name, hash, want, pod.Spec)
}

func adoptClaim(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) ([]plan.Action, error) {
	have := s.Volumes[g.PVCName(s.Cluster)]
	if have == nil || have.DeletionTimestamp != nil || !g.ProcessClass.IsStateful() {
		return nil, nil
	}
	want, err := objects.PersistentVolumeClaim(s.Cluster, g)
	if err != nil {
		return nil, err
	}
	hash := want.Annotations[v1beta2.AnnotationLastAppliedSpec]
	if have.Annotations[v1beta2.AnnotationLastAppliedSpec] == hash {
		return nil, nil
	}
	return adopted(g.ProcessGroupID, plan.KindPVC, have.Name, hash, want.Spec, have.Spec)
}

func adopted(id v1beta2.ProcessGroupID, kind plan.ObjectKind, name, hash string, want, have any) ([]plan.Action, error) {
	differences, err := objects.SpecDifferences(want, have)
	if err != nil {
		return nil, fmt.Errorf("adopt %s %s: %w", kind, name, err)
	}
	return []plan.Action{plan.AdoptSpec{Group: id, Kind: kind, Name: name, Hash: hash, Differences: differences}}, nil
}
