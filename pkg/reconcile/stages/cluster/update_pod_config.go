package cluster

import (
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// UpdatePodConfig makes sure that every pod uses the current cluster file and monitor configuration,
// and records on the pod which one it has confirmed. One outdated pod never blocks another. Groups
// that are marked for removal keep what they have: see readings.KeepsItsConfig.
var UpdatePodConfig = plan.Stage{
	Name:  plan.StageUpdatePodConfig,
	Reads: plan.ClusterResource | plan.Pods | plan.ConfigMap | plan.PodFiles,
	Decide: func(s plan.Snapshot) plan.Decision {
		var d plan.Decision
		var outdated, invalid readings.Waits
		files := podFiles{readings.ConfigHashes{}, readings.NewMonitorConfigurations()}
		for _, g := range s.Groups() {
			if readings.KeepsItsConfig(s.Cluster, g) {
				continue
			}
			actions, reason, err := files.sync(s, g)
			if objects.IsPodValue(err) {
				invalid.Add(g.ProcessGroupID, "%s", err)
				continue
			}
			if err != nil {
				return readings.InvalidSpec(err)
			}
			d.Actions = append(d.Actions, actions...)
			if reason != "" {
				outdated.Add(g.ProcessGroupID, "%s %s", g.ProcessGroupID, reason)
			}
		}
		if len(d.Actions) > 0 {
			d.Why = "pods have to load, or to confirm, the current configuration"
		}
		d.Hold = outdated.Hold(plan.HoldPodConfigStale, "", plan.PodDelay)
		if left := invalid.Hold(plan.HoldAnnotationInvalid, "", 0); left != nil && d.Hold == nil {
			left.Manual = true
			d.Hold = left
		}
		return d
	},
}

// podFiles are the files that pods of a decision should have.
type podFiles struct {
	hashes         readings.ConfigHashes
	configurations readings.MonitorConfigurations
}

// sync updates one pod's files. The reason is empty once the pod has confirmed them, or when
// there is no pod.
func (f podFiles) sync(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) (actions []plan.Action, reason string, err error) {
	pod := s.Pod(g)
	if pod == nil || pod.DeletionTimestamp != nil || g.IsRemovable() {
		return nil, "", nil
	}
	if err := objects.ValidatePod(pod, g.ProcessClass); err != nil {
		return nil, "", err
	}
	want, err := f.hashes.Of(s, g, pod)
	if err != nil {
		return nil, "", err
	}
	confirmedBefore := pod.Annotations[v1beta2.AnnotationLastAppliedConfigMap] == want
	if confirmedBefore && !readings.IncompatibleUpgrade(s.Cluster) {
		return nil, "", nil
	}
	if s.ConfigMap == nil {
		return nil, "waits for the ConfigMap", nil
	}
	if pod.Status.Phase != corev1.PodRunning {
		return nil, "does not run yet", nil
	}
	outdated, err := f.configurations.OutdatedFiles(s, g, pod)
	if err != nil {
		return nil, "", err
	}
	if len(outdated) == 0 && s.PodFiles[pod.Name].Unreachable == "" {
		if confirmedBefore {
			return nil, "", nil
		}
		return []plan.Action{confirmed(g, pod, want)}, "", nil
	}
	source, err := objects.ConfigMap(s.Cluster)
	if err != nil {
		return nil, "", err
	}
	if len(readings.DifferingKeys(s.ConfigMap, source)) > 0 { // its update failed
		return nil, "waits for the ConfigMap", nil
	}
	actions, reason = nudge(s, g, pod, outdated)
	return actions, reason, nil
}

func confirmed(g *v1beta2.ProcessGroupStatus, pod *corev1.Pod, hash string) plan.Action {
	a := plan.PatchMetadata{
		Group: g.ProcessGroupID, Kind: plan.KindPod, Name: pod.Name,
		Annotations: map[string]string{v1beta2.AnnotationLastAppliedConfigMap: hash},
	}
	if _, nudged := pod.Annotations[v1beta2.AnnotationOutdatedConfigMapSeen]; nudged {
		a.Remove = []string{v1beta2.AnnotationOutdatedConfigMapSeen}
	}
	return a
}

// nudge makes a pod read its mounted ConfigMap again. Any change of a pod makes the kubelet refresh
// its mounts, which otherwise can take more than a minute.
func nudge(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod, outdated []string) ([]plan.Action, string) {
	var actions []plan.Action
	files := s.PodFiles[pod.Name]
	if objects.ImageTypeOf(pod) == v1beta2.ImageTypeSplit && files.Unreachable == "" && len(outdated) > 0 {
		actions = append(actions, plan.SyncPodFiles{Group: g.ProcessGroupID, Pod: pod.Name, Files: outdated})
	}
	if s.Now.Sub(lastNudge(pod)) >= nudgeInterval {
		actions = append(actions, plan.PatchMetadata{
			Group: g.ProcessGroupID, Kind: plan.KindPod, Name: pod.Name,
			Annotations: map[string]string{v1beta2.AnnotationOutdatedConfigMapSeen: strconv.FormatInt(s.Now.Unix(), 10)},
		})
	}
	if files.Unreachable != "" {
		return actions, "is unreachable: " + files.Unreachable
	}
	return actions, "has not loaded " + strings.Join(outdated, " and ")
}

// nudgeInterval is the minimum time between two nudges of a pod.
const nudgeInterval = 15 * time.Second

func lastNudge(pod *corev1.Pod) time.Time {
	seconds, err := strconv.ParseInt(pod.Annotations[v1beta2.AnnotationOutdatedConfigMapSeen], 10, 64)
	if err != nil {
		return time.Time{} // missing or invalid: nudge again
	}
	return time.Unix(seconds, 0)
}

// UpdateConfigMap reconciles the ConfigMap that every pod mounts: the cluster file and one monitor
// configuration per process class. Other labels and annotations on it stay.
var UpdateConfigMap = plan.Stage{
	Name:  plan.StageUpdateConfigMap,
	Reads: plan.ClusterResource | plan.ConfigMap | plan.Pods | plan.Volumes | plan.Services,
	Decide: func(s plan.Snapshot) plan.Decision {
		if lost := readings.LostDatabase(s); lost != nil {
			return plan.Decision{Hold: lost} // the ConfigMap may have the last copy of the cluster file
		}
		want, err := objects.ConfigMap(s.Cluster)
		if err != nil {
			return readings.InvalidSpec(err)
		}
		if s.ConfigMap == nil {
			return plan.Decision{
				Why:     "pods mount it and it does not exist",
				Actions: []plan.Action{plan.ApplyConfigMap{Name: want.Name, Object: want, Create: true}},
			}
		}
		merged := s.ConfigMap.DeepCopy()
		merged.Data = want.Data
		relabeled := readings.MergeMetadata(&merged.ObjectMeta, want.ObjectMeta)
		keys := readings.DifferingKeys(s.ConfigMap, want)
		if len(keys) == 0 && !relabeled {
			return plan.Decision{}
		}
		return plan.Decision{
			Why:     "it differs from the spec and the status",
			Actions: []plan.Action{plan.ApplyConfigMap{Name: want.Name, Keys: keys, Object: merged}},
		}
	},
}

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
