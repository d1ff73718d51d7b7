package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// AddPods creates the pod of every process group without one, also of a group that is
// marked for removal but not yet excluded: without a process its data cannot be moved. While the PVC of
// a group is being deleted its pod is not created: Kubernetes starts none with it, and it would get the
// PVC that follows, which is empty.
var AddPods = plan.Stage{
	Name:  plan.StageAddPods,
	Reads: plan.ClusterResource | plan.Pods | plan.Volumes | plan.ConfigMap | plan.Services,
	Decide: func(s plan.Snapshot) plan.Decision {
		groups := withoutPod(s)
		if len(groups) == 0 {
			return plan.Decision{}
		}
		if s.ConfigMap == nil {
			return plan.Wait(plan.PodDelay, plan.HoldConfigMapMissing, "pods cannot be created: their ConfigMap does not exist yet")
		}
		var d plan.Decision
		for _, g := range groups {
			if name := g.PVCName(s.Cluster); isGoing(s.Volumes[name]) {
				d.Hold = &plan.Hold{
					Code: plan.HoldVolumeGoing, Subjects: []string{string(g.ProcessGroupID)}, RetryAfter: plan.PodDelay,
					Reason: fmt.Sprintf("the pod of %s is not created while PVC %s is being deleted", g.ProcessGroupID, name),
				}
				continue
			}
			pod, err := newPod(s, g)
			if err != nil {
				return readings.InvalidSpec(err)
			}
			if pod == nil {
				d.Hold = &plan.Hold{
					Code:       plan.HoldServiceAddressMissing,
					Reason:     fmt.Sprintf("the pod of %s cannot be created: its public IP comes from its service, which has no cluster IP yet", g.ProcessGroupID),
					RetryAfter: plan.PodDelay,
				}
				continue
			}
			d.Actions = append(d.Actions, plan.CreatePod{Group: g.ProcessGroupID, Name: pod.Name, Object: pod})
		}
		if len(d.Actions) > 0 {
			d.Why = "process groups without a pod"
		}
		return d
	},
}

func isGoing(claim *corev1.PersistentVolumeClaim) bool {
	return claim != nil && claim.DeletionTimestamp != nil
}

func withoutPod(s plan.Snapshot) []*v1beta2.ProcessGroupStatus {
	var groups []*v1beta2.ProcessGroupStatus
	for _, g := range s.Groups() {
		if s.Pod(g) == nil && !g.IsRemovable() {
			groups = append(groups, g)
		}
	}
	return groups
}

// newPod returns a group's pod, or nil while the group's service has no cluster IP, which
// the pod has to announce as its public address.
func newPod(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) (*corev1.Pod, error) {
	pod, err := objects.Pod(s.Cluster, g)
	if err != nil {
		return nil, err
	}
	hash, err := objects.ConfigMapHash(s.Cluster, objects.DesiredLaunch(s.Cluster, g.ProcessClass))
	if err != nil {
		return nil, err
	}
	objects.RecordConfigMap(pod, hash)
	if !s.Cluster.PublicIPFromService() {
		return pod, nil
	}
	service := s.Services[pod.Name]
	if service == nil || service.Spec.ClusterIP == "" || service.Spec.ClusterIP == corev1.ClusterIPNone {
		return nil, nil
	}
	objects.RecordPublicIP(pod, service.Spec.ClusterIP)
	return pod, nil
}
