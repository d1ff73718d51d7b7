package sim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Begin implements reconcile.Actor.
func (w *Cluster) Begin(context.Context) error {
	if w.LeaseHolder != "" {
		return &reconcile.HeldError{What: "lease", Holder: w.LeaseHolder}
	}
	return nil
}

// Lock implements reconcile.Actor.
func (w *Cluster) Lock(context.Context) error {
	if w.LockHolder != "" {
		return &reconcile.HeldError{What: "database lock", Holder: w.LockHolder}
	}
	if err := w.takeLock(); err != nil {
		return err
	}
	w.locked = true
	if w.OnLock != nil {
		w.OnLock(w)
	}
	return nil
}

// End implements reconcile.Actor.
func (w *Cluster) End(context.Context) error {
	if w.locked {
		w.releaseLock()
	}
	w.locked = false
	return nil
}

// LoseLock gives the database's lock to another control-plane instance during a pass.
func (w *Cluster) LoseLock(to string) {
	w.locked, w.LockHolder = false, to
}

// Locked reports whether a pass holds the lock now.
func (w *Cluster) Locked() bool { return w.locked }

// Act implements reconcile.Actor.
func (w *Cluster) Act(ctx context.Context, a plan.Action) error {
	w.mu.Lock() // the engine runs some actions at the same time
	defer w.mu.Unlock()
	if err := w.begin(a); err != nil {
		return err
	}
	own, is := a.(plan.ClusterAction)
	if !is {
		return unsupported(a)
	}
	switch a := own.(type) {
	case plan.WriteStatus, plan.AddGroups, plan.SetConnectionString, plan.MarkForRemoval, plan.KeepGroups, plan.SetExcluded:
		edit := a.(plan.Edit) // all of them are edits
		w.Resource.Status = edit.Apply(plan.Snapshot{Cluster: w.Resource}).Cluster.Status
		return nil
	case plan.SetPriorities:
		after := a.Apply(plan.Snapshot{Cluster: w.Resource, OtherClusters: plan.OtherClusterFacts{All: w.Others}})
		w.Resource.Spec, w.Others = after.Cluster.Spec, after.OtherClusters.All
		w.Resource.Generation++
		return nil
	case plan.SetSkip:
		w.setSkip(a)
		return nil
	case plan.RecordFailures:
		metav1.SetMetaDataAnnotation(&w.Resource.ObjectMeta, v1beta2.AnnotationFailuresSeen, a.Value())
		return nil
	case plan.ApplyFailureDetector:
		w.Detector = a.Object.DeepCopy()
		return nil
	case plan.DeleteFailureDetector:
		w.Detector = nil
		return nil
	case plan.CordonNode:
		return w.editNode(a.Node, a.Edit)
	case plan.UncordonNode:
		return w.editNode(a.Node, a.Edit)
	case plan.ApplyConfigMap, plan.ApplyService, plan.CreatePVC, plan.CreatePod, plan.PatchMetadata, plan.AdoptSpec, plan.RecordTaints,
		plan.SyncPodFiles, plan.SetSidecarImage, plan.DeletePods, plan.DeleteService, plan.DeleteGroupObjects,
		plan.ApplyDisruptionBudget, plan.DeleteDisruptionBudget, plan.SetTolerations, plan.EvictAgent:
		return w.changeObjects(a)
	case plan.Configure, plan.ChangeCoordinators, plan.Exclude, plan.Include, plan.IncludeAndForget, plan.RestartProcesses:
		return w.changeDatabase(ctx, a)
	case plan.StartMaintenance, plan.EndMaintenance, plan.ForgetMaintenance, plan.UpdateDenyList, plan.HoldLock, plan.ReleaseLock, plan.AnnounceUpgrade, plan.WithdrawUpgrade, plan.ChangeLists:
		return w.coordinate(ctx, a)
	}
	return nil
}

func unsupported(a plan.Action) error { return fmt.Errorf("unsupported action: %s", a.Describe()) }

// begin refuses what a test refuses and what needs the lock, and keeps the action for the test.
func (w *Cluster) begin(a plan.Action) error {
	w.lowest = nil
	if w.Crash > 0 && len(w.Acted)+1 >= w.Crash {
		return ErrCrashed
	}
	if w.Refuse != nil {
		if err := w.Refuse(a); err != nil {
			return err
		}
	}
	if err := w.rejects(a); err != nil {
		return err
	}
	if plan.EffectOf(a).Locked && !w.locked {
		return fmt.Errorf("%s without the lock", a.Describe())
	}
	if quiet := plan.EffectOf(a).Cooldown; quiet > 0 {
		w.cooldownUntil = w.Now().Add(quiet)
	}
	if !w.observed || w.keepsActions {
		w.Acted = append(w.Acted, a)
	}
	return nil
}

// changeObjects changes the objects of process groups, and what runs in their pods.
func (w *Cluster) changeObjects(a plan.Action) error {
	switch a := a.(type) { //nolint:gochecksumtype // Act has all
	case plan.ApplyConfigMap:
		w.ConfigMap = a.Object.DeepCopy()
	case plan.ApplyService:
		w.applyService(a.Name, a.Object)
	case plan.CreatePVC:
		w.Volumes[a.Name] = a.Object.DeepCopy()
		w.Volumes[a.Name].CreationTimestamp = metav1.NewTime(w.Now())
	case plan.CreatePod:
		w.createPod(a)
	case plan.PatchMetadata:
		return w.patch(a)
	case plan.AdoptSpec:
		return w.patch(a.Patch())
	case plan.RecordTaints:
		return w.patch(a.Patch())
	case plan.SyncPodFiles:
		return w.syncPodFiles(a)
	case plan.SetSidecarImage:
		return w.setImage(a)
	case plan.DeletePods:
		for _, pod := range a.Pods {
			w.deletePod(pod.Name)
		}
	case plan.DeleteService:
		delete(w.Services, a.Name)
	case plan.ApplyDisruptionBudget:
		w.DisruptionBudgets[a.Name] = a.Object.DeepCopy()
	case plan.DeleteDisruptionBudget:
		delete(w.DisruptionBudgets, a.Name)
	case plan.SetTolerations:
		return w.setTolerations(a)
	case plan.EvictAgent:
		delete(w.Agents, a.Name)
	case plan.DeleteGroupObjects:
		w.deletePod(a.Pod)
		switch {
		case a.Claim == "":
		case w.Pods[a.Pod] != nil: // it does not terminate, and protects the PVC
			w.DeleteClaim(a.Claim)
		default:
			w.loseVolume(a.Claim)
		}
		delete(w.Services, a.Service)
	}
	return nil
}

// changeDatabase has the program do what the action has fdbcli do.
func (w *Cluster) changeDatabase(ctx context.Context, a plan.Action) error {
	switch a := a.(type) { //nolint:gochecksumtype // Act has all
	case plan.Configure:
		return w.configure(ctx, a)
	case plan.ChangeCoordinators:
		return w.changeCoordinators(ctx, a)
	case plan.Exclude:
		return w.exclude(ctx, a.Targets, client.Exclusion{})
	case plan.Include:
		return w.include(ctx, a.Targets)
	case plan.IncludeAndForget:
		if len(a.Targets) > 0 {
			if err := w.include(ctx, a.Targets); err != nil {
				return err
			}
		}
		w.Resource.Status = a.DropRecords(plan.Snapshot{Cluster: w.Resource}).Cluster.Status
	case plan.RestartProcesses:
		return w.restart(ctx, a)
	}
	return nil
}

func (w *Cluster) editNode(name string, edit func(*corev1.Node)) error {
	node := w.nodes()[name]
	if node == nil {
		return fmt.Errorf("node %s not found", name)
	}
	edit(node)
	if w.Cordoned == nil {
		w.Cordoned = map[string]bool{}
	}
	if w.Taints == nil {
		w.Taints = map[string][]corev1.Taint{}
	}
	if w.NodeAnnotations == nil {
		w.NodeAnnotations = map[string]map[string]string{}
	}
	w.Cordoned[name], w.Taints[name], w.NodeAnnotations[name] = node.Spec.Unschedulable, node.Spec.Taints, node.Annotations
	return nil
}

// ReadNodes does nothing: nodes are always read here.
func (*Cluster) ReadNodes() {}

func (w *Cluster) setSkip(a plan.SetSkip) {
	if w.Resource.Annotations == nil {
		w.Resource.Annotations = map[string]string{}
	}
	for name, value := range a.Annotations() {
		if value == nil {
			delete(w.Resource.Annotations, name)
		} else {
			w.Resource.Annotations[name] = *value
		}
	}
	if w.Resource.Spec.Skip != a.Skip {
		w.Resource.Spec.Skip = a.Skip
		w.Resource.Generation++
	}
}

func (w *Cluster) createPod(a plan.CreatePod) {
	pod := a.Object.DeepCopy()
	pod.CreationTimestamp = metav1.NewTime(w.Now())
	w.Pods[a.Name] = pod
}

func (w *Cluster) patch(a plan.PatchMetadata) error {
	var meta *metav1.ObjectMeta
	if a.Kind == plan.KindPVC && w.Volumes[a.Name] != nil {
		meta = &w.editedVolume(a.Name).ObjectMeta
	} else if a.Kind == plan.KindPod && w.Pods[a.Name] != nil {
		meta = &w.edited(a.Name).ObjectMeta
	}
	if meta == nil {
		return fmt.Errorf("%s does not exist", a.Subject())
	}
	if meta.Labels == nil {
		meta.Labels = map[string]string{}
	}
	if meta.Annotations == nil {
		meta.Annotations = map[string]string{}
	}
	maps.Copy(meta.Labels, a.Labels)
	maps.Copy(meta.Annotations, a.Annotations)
	for _, key := range a.Remove {
		delete(meta.Annotations, key)
	}
	return nil
}

func (w *Cluster) setTolerations(a plan.SetTolerations) error {
	if w.Pods[a.Name] == nil {
		return fmt.Errorf("pod %s does not exist", a.Name)
	}
	a.Edit(w.edited(a.Name))
	return nil
}

func (w *Cluster) setImage(a plan.SetSidecarImage) error {
	if w.Pods[a.Name] == nil {
		return fmt.Errorf("pod %s does not exist", a.Name)
	}
	pod := w.edited(a.Name)
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == a.Container {
			pod.Spec.Containers[i].Image = a.Image
		}
	}
	return nil
}

// claimSuffix is what the name of a PVC has and that of its pod has not.
const claimSuffix = "-data"

// loseVolume deletes a PVC with its data.
func (w *Cluster) loseVolume(claim string) {
	delete(w.Volumes, claim)
	w.LoseDisk(strings.TrimSuffix(claim, claimSuffix))
}

// DeleteClaim deletes a PVC as a user does: it is protected while its pod exists, and ends with it.
func (w *Cluster) DeleteClaim(name string) {
	claim := w.Volumes[name]
	if claim == nil || claim.DeletionTimestamp != nil {
		return
	}
	w.editedVolume(name).DeletionTimestamp = new(metav1.NewTime(w.Now()))
	if w.Pods[strings.TrimSuffix(name, claimSuffix)] == nil {
		w.loseVolume(name)
	}
}

// LoseDisk destroys the data on the volume of a pod. The volume itself stays, and the pod's
// processes start again within a second, with an empty disk.
func (w *Cluster) LoseDisk(pod string) {
	for n := 1; n <= maxServersPerPod; n++ {
		w.FDB.LoseData(w.DataKey(pod, n))
	}
	delete(w.Files, pod)
}

// maxServersPerPod bounds the processes of one simulated pod.
const maxServersPerPod = 4

// DataKey identifies the data directory of a pod's n-th process.
func (w *Cluster) DataKey(pod string, n int) string { return fmt.Sprintf("%d/%s/%d", w.number, pod, n) }

// configure configures what the action has fdbcli configure.
func (w *Cluster) configure(ctx context.Context, a plan.Configure) error {
	tokens, err := a.Configuration.TokensOf(a.Part)
	if err != nil {
		return fmt.Errorf("make the settings: %w", err)
	}
	if a.New {
		tokens = append([]string{"new"}, tokens...)
	}
	return w.configureTo(ctx, tokens)
}

// configureTo configures what words of configure say.
func (w *Cluster) configureTo(ctx context.Context, words []string) error {
	request, err := client.ParseConfigure(slices.DeleteFunc(words, func(word string) bool { return word == "" }))
	if err != nil {
		return fmt.Errorf("parse %s: %w", strings.Join(words, " "), err)
	}
	return w.change(ctx, func(c *client.Client) error {
		_, err := c.Configure(request)
		return err
	})
}

// exclude excludes targets in a way.
func (w *Cluster) exclude(ctx context.Context, targets []string, e client.Exclusion) (err error) {
	if e.Targets, err = client.Targets(targets); err != nil {
		return fmt.Errorf("parse targets: %w", err)
	}
	return w.change(ctx, func(c *client.Client) error {
		_, err := c.Exclude(e)
		return err
	})
}

func (w *Cluster) include(ctx context.Context, texts []string) error {
	targets, err := client.Targets(texts)
	if err != nil {
		return fmt.Errorf("parse targets: %w", err)
	}
	return w.change(ctx, func(c *client.Client) error { return c.Include(client.Inclusion{Targets: targets}) })
}

func (w *Cluster) changeCoordinators(ctx context.Context, a plan.ChangeCoordinators) error {
	err := w.change(ctx, func(c *client.Client) error {
		_, err := c.ChangeCoordinators(client.Coordination{Addresses: a.Coordinators})
		return err
	})
	if err != nil {
		return err
	}
	status, err := w.status(ctx)
	if err != nil {
		return err
	}
	if status.Cluster.ConnectionString == "" {
		return fmt.Errorf("read the new connection string: the status document has none")
	}
	w.Resource.Status.ConnectionString = status.Cluster.ConnectionString
	return nil
}

// Try returns the response of the API server to a dry run: that of Refuse.
func (w *Cluster) Try(_ context.Context, a plan.Action) (tried bool, err error) {
	if w.Refuse == nil {
		return true, nil
	}
	return true, w.Refuse(a)
}
