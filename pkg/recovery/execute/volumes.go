package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

// reserveVolumes removes the UID of the deleted PVC from each volume of the plan. Its name stays, so
// that no other PVC can be bound to the volume.
func (r Run) reserveVolumes(ctx context.Context, p recovery.Plan) error {
	for _, b := range p.Bind {
		v, err := r.volume(ctx, b)
		if err != nil {
			return err
		}
		done, err := r.reserved(ctx, p.Namespace, b, v)
		if err != nil {
			return fmt.Errorf("volume %s: %w", b.Volume, err)
		}
		if done {
			continue
		}
		if err := r.reserve(ctx, v); err != nil {
			return fmt.Errorf("reserve volume %s: %w", b.Volume, err)
		}
	}
	return nil
}

func (r Run) volume(ctx context.Context, b recovery.Binding) (*corev1.PersistentVolume, error) {
	v := &corev1.PersistentVolume{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: b.Volume}, v); err != nil {
		return nil, fmt.Errorf("read volume %s: %w", b.Volume, err)
	}
	return v, nil
}

// reserved reports whether a volume is reserved for the PVC already, or bound to it. It returns an
// error for a volume that belongs to anything else.
func (r Run) reserved(ctx context.Context, namespace string, b recovery.Binding, v *corev1.PersistentVolume) (bool, error) {
	ref := v.Spec.ClaimRef
	switch {
	case string(v.UID) != b.VolumeUID:
		return false, fmt.Errorf("its UID is %s, not %s", v.UID, b.VolumeUID)
	case ref == nil || ref.Namespace != namespace || ref.Name != b.PVC:
		return false, fmt.Errorf("it does not belong to PVC %s/%s", namespace, b.PVC)
	case v.DeletionTimestamp != nil || v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain:
		return false, fmt.Errorf("its reclaim policy is %s, Retain required, or it is being deleted", v.Spec.PersistentVolumeReclaimPolicy)
	case ref.UID == "":
		return true, nil
	case v.Status.Phase == corev1.VolumeReleased && string(ref.UID) == b.ClaimUID:
		return false, nil
	}
	claim := &corev1.PersistentVolumeClaim{}
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: b.PVC}, claim); err != nil {
		return false, fmt.Errorf("it is %s, and was claimed by another PVC: %w", v.Status.Phase, err)
	}
	if claim.UID != ref.UID || claim.Spec.VolumeName != b.Volume {
		return false, fmt.Errorf("it is %s, and belongs to the PVC with UID %s", v.Status.Phase, ref.UID)
	}
	return true, nil
}

// reserve changes one volume, unless it changed since it was read, and verifies the change.
func (r Run) reserve(ctx context.Context, v *corev1.PersistentVolume) error {
	if err := r.Held(ctx); err != nil {
		return err
	}
	if err := r.unclaim(ctx, v); err != nil {
		return err
	}
	now := &corev1.PersistentVolume{}
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(v), now); err != nil {
		return err
	}
	if now.Spec.ClaimRef == nil || now.Spec.ClaimRef.UID != "" {
		return errors.New("it is not reserved after it was written")
	}
	return nil
}

// unclaim removes the UID of the deleted PVC from a volume, unless it changed since it was read.
func (r Run) unclaim(ctx context.Context, v *corev1.PersistentVolume) error {
	before := v.DeepCopy()
	v.Spec.ClaimRef.UID, v.Spec.ClaimRef.ResourceVersion = "", ""
	return r.Client.Patch(ctx, v, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// createPVCs creates the PVCs of the plan as a pass would, but each with the name of its volume, and
// waits until all are bound to these.
func (r Run) createPVCs(ctx context.Context, p recovery.Plan) error {
	return r.poll(ctx, func(ctx context.Context) (string, error) {
		var s plan.Snapshot
		if err := r.Cluster.Observe(ctx, &s, clusterstages.AddPVCs.Reads); err != nil {
			return "", err
		}
		waits, err := unbound(s, p.Bind)
		if err != nil || len(waits) == 0 {
			return "", err
		}
		missing, err := clusterstages.MissingPVCs(s)
		if err != nil {
			return "", err
		}
		for _, create := range missing {
			if err := r.createPVC(ctx, p.Bind, create); err != nil {
				return "", err
			}
		}
		return phrase.Count(len(waits), "PVC") + " not bound: " + phrase.List(waits), nil
	})
}

// unbound returns the PVCs that do not exist or are not bound yet. One of another volume is an error.
func unbound(s plan.Snapshot, bind []recovery.Binding) ([]string, error) {
	var waits []string
	for _, b := range bind {
		claim := s.Volumes[b.PVC]
		switch {
		case claim == nil:
			waits = append(waits, b.PVC)
		case claim.Spec.VolumeName != b.Volume:
			return nil, fmt.Errorf("PVC %s exists with volume %q, %s required", b.PVC, claim.Spec.VolumeName, b.Volume)
		case claim.Status.Phase != corev1.ClaimBound:
			waits = append(waits, b.PVC)
		}
	}
	return waits, nil
}

// createPVC creates one PVC of the plan; others are left to a pass.
func (r Run) createPVC(ctx context.Context, bind []recovery.Binding, created plan.CreatePVC) error {
	bound, err := r.bound(ctx, bind, created)
	if err != nil || bound == nil {
		return err
	}
	return r.Cluster.Act(ctx, *bound)
}

// bound returns a PVC of the plan as it is created for its volume; nil for any other.
func (r Run) bound(ctx context.Context, bind []recovery.Binding, created plan.CreatePVC) (*plan.CreatePVC, error) {
	i := slices.IndexFunc(bind, func(b recovery.Binding) bool { return b.PVC == created.Name })
	if i < 0 {
		return nil, nil
	}
	v, err := r.volume(ctx, bind[i])
	if err != nil {
		return nil, err
	}
	created.Object = boundTo(created.Object, v)
	return &created, nil
}

// boundTo returns a PVC that only this volume satisfies: it has the volume's class, and requests no more
// than its capacity. The hash of the spec that it records stays the one of a pass.
func boundTo(claim *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) *corev1.PersistentVolumeClaim {
	claim = claim.DeepCopy()
	claim.Spec.VolumeName, claim.Spec.StorageClassName = v.Name, &v.Spec.StorageClassName
	capacity, known := v.Spec.Capacity[corev1.ResourceStorage]
	if requested := claim.Spec.Resources.Requests[corev1.ResourceStorage]; known && requested.Cmp(capacity) > 0 {
		claim.Spec.Resources.Requests[corev1.ResourceStorage] = capacity
	}
	return claim
}

// rebuildStatus writes the connection string and the process groups to an empty status, as a pass does
// with what it finds, and reads them back.
func (r Run) rebuildStatus(ctx context.Context, p recovery.Plan) error {
	var s plan.Snapshot
	if err := r.Cluster.Observe(ctx, &s, plan.ClusterResource); err != nil {
		return err
	}
	if s.Cluster.Status.ConnectionString == "" {
		if err := r.Cluster.Act(ctx, plan.SetConnectionString{ConnectionString: p.From}); err != nil {
			return err
		}
	}
	if missing := notInStatus(s, p.Rebuild); len(missing) > 0 {
		if err := r.Cluster.Act(ctx, plan.AddGroups{Groups: missing, At: r.Clock.Now()}); err != nil {
			return err
		}
	}
	if err := r.Cluster.Observe(ctx, &s, plan.ClusterResource); err != nil {
		return err
	}
	if missing := notInStatus(s, p.Rebuild); len(missing) > 0 || s.Cluster.Status.ConnectionString == "" {
		return fmt.Errorf("the status lacks %s after it was written", phrase.Count(len(missing), "process group"))
	}
	return nil
}

func notInStatus(s plan.Snapshot, all []recovery.Rebuilt) []plan.NewGroup {
	var missing []plan.NewGroup
	for _, g := range all {
		id := v1beta2.ProcessGroupID(g.ID)
		if !slices.ContainsFunc(s.Groups(), func(known *v1beta2.ProcessGroupStatus) bool { return known.ProcessGroupID == id }) {
			missing = append(missing, plan.NewGroup{ID: id, Class: v1beta2.ProcessClass(g.Class)})
		}
	}
	return missing
}
