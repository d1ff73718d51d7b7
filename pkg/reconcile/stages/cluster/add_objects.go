package cluster

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
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

// AddPVCs creates the PVC of every stateful process group without one, also of a group that
// is marked for removal but not yet excluded: without a process its data cannot be moved.
//
// A group that had a PVC gets no empty one that hides what was lost: not while its pod still runs with
// the volume, and not before the database shows that it needs nothing of that volume. The operator
// creates the PVC at once.
var AddPVCs = plan.Stage{
	Name:  plan.StageAddPVCs,
	Reads: plan.ClusterResource | plan.Pods | plan.Volumes,
	More:  plan.Database,
	Matters: func(s plan.Snapshot) bool {
		lost, _ := lostVolumes(s)
		return len(lost) > 0
	},
	Decide: func(s plan.Snapshot) plan.Decision {
		var d plan.Decision
		lost, inUse := lostVolumes(s)
		for _, g := range s.Groups() {
			if !lacksPVC(s, g) || inUse.Has(g) || lost[g] && !mayStartEmpty(s, g, &d) {
				continue
			}
			create, err := createPVC(s, g)
			if err != nil {
				return readings.InvalidSpec(err)
			}
			d.Actions = append(d.Actions, create)
		}
		if len(d.Actions) > 0 {
			d.Why = "stateful process groups without a PVC"
		}
		d.Hold = inUse.HoldBefore(d.Hold)
		return d
	},
}

// MissingPVCs returns the PVCs of all stateful process groups without one, also of those that lost theirs: for a
// recovery, which binds them to the volumes that they had.
func MissingPVCs(s plan.Snapshot) ([]plan.CreatePVC, error) {
	var all []plan.CreatePVC
	for _, g := range s.Groups() {
		if !lacksPVC(s, g) {
			continue
		}
		create, err := createPVC(s, g)
		if err != nil {
			return nil, err
		}
		all = append(all, create)
	}
	return all, nil
}

func createPVC(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) (plan.CreatePVC, error) {
	want, err := objects.PersistentVolumeClaim(s.Cluster, g)
	if err != nil {
		return plan.CreatePVC{}, err
	}
	return plan.CreatePVC{Group: g.ProcessGroupID, Name: want.Name, Object: want}, nil
}

func lacksPVC(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return g.ProcessClass.IsStateful() && !g.IsRemovable() && s.Volumes[g.PVCName(s.Cluster)] == nil
}

// lostVolumes returns the groups of a database whose PVCs were deleted, and apart those whose pods still
// run with the volumes. Only a group whose pod had an address ever had a volume, and one of class coordinator has no data.
func lostVolumes(s plan.Snapshot) (lost map[*v1beta2.ProcessGroupStatus]bool, inUse readings.VolumesGoing) {
	lost = map[*v1beta2.ProcessGroupStatus]bool{}
	for _, g := range s.Groups() {
		if !lacksPVC(s, g) || g.ProcessClass == v1beta2.ProcessClassCoordinator || len(g.Addresses) == 0 || !s.Cluster.Status.Configured {
			continue
		}
		if pod := s.Pod(g); pod != nil && pod.Status.Phase == corev1.PodRunning {
			inUse.Keeps(s, g)
			continue
		}
		lost[g] = true
	}
	return lost, inUse
}

// mayStartEmpty reports whether a group that lost its volume may get an empty one; else it adds what
// the group waits for.
func mayStartEmpty(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, d *plan.Decision) bool {
	c := safety.DataElsewhere(s, g)
	d.Checks = append(d.Checks, c)
	if c.OK {
		return true
	}
	id := string(g.ProcessGroupID)
	if d.Hold == nil {
		d.Hold = &plan.Hold{Code: plan.HoldVolumeLost, RetryAfter: plan.PodDelay, Reason: fmt.Sprintf(
			"PVC %s of %s no longer exists, and no empty one is created: %s; bind its volume again if that still exists, or replace the process group without exclusion",
			g.PVCName(s.Cluster), id, c.Evidence)}
	}
	d.Hold.Subjects = append(d.Hold.Subjects, id)
	d.Hold.Manual = d.Hold.Manual || s.Database.Available()
	return false
}

// AddServices creates the headless service that gives pods their DNS names, and one service
// per process group where the spec takes public addresses from services.
var AddServices = plan.Stage{
	Name:  plan.StageAddServices,
	Reads: plan.ClusterResource | plan.Services,
	Decide: func(s plan.Snapshot) plan.Decision {
		var d plan.Decision
		for _, want := range desiredServices(s) {
			if a, needed := serviceAction(s.Services[want.Name], want); needed {
				d.Actions = append(d.Actions, a)
			}
		}
		if len(d.Actions) > 0 {
			d.Why = "services are missing or differ from the spec"
		}
		return d
	},
}

// desiredService is a service that the spec requires; group is empty for the headless one.
type desiredService struct {
	group v1beta2.ProcessGroupID
	*corev1.Service
}

func desiredServices(s plan.Snapshot) []desiredService {
	var desired []desiredService
	if headless := objects.HeadlessService(s.Cluster); headless != nil {
		desired = append(desired, desiredService{"", headless})
	}
	for _, g := range s.Groups() {
		if g.IsRemovable() {
			continue
		}
		if service := objects.GroupService(s.Cluster, g); service != nil {
			desired = append(desired, desiredService{g.ProcessGroupID, service})
		}
	}
	return desired
}

// serviceAction returns the action that reconciles a service. An IP family is immutable, so
// a service of another family is replaced.
func serviceAction(have *corev1.Service, want desiredService) (plan.Action, bool) {
	if have == nil {
		return plan.ApplyService{Group: want.group, Name: want.Name, Object: want.Service, Verb: plan.CreateService}, true
	}
	if len(want.Spec.IPFamilies) > 0 && (len(have.Spec.IPFamilies) == 0 || have.Spec.IPFamilies[0] != want.Spec.IPFamilies[0]) {
		return plan.ApplyService{Group: want.group, Name: want.Name, Object: want.Service, Verb: plan.ReplaceService}, true
	}
	merged := have.DeepCopy()
	changed := readings.MergeMetadata(&merged.ObjectMeta, want.ObjectMeta)
	if !maps.Equal(have.Spec.Selector, want.Spec.Selector) {
		merged.Spec.Selector = want.Spec.Selector
		changed = true
	}
	if !samePorts(have.Spec.Ports, want.Spec.Ports) {
		merged.Spec.Ports = want.Spec.Ports
		changed = true
	}
	return plan.ApplyService{Group: want.group, Name: want.Name, Object: merged, Verb: plan.UpdateService}, changed
}

// samePorts compares only the fields that this tool sets; the API server defaults the others.
func samePorts(have, want []corev1.ServicePort) bool {
	return slices.EqualFunc(have, want, func(a, b corev1.ServicePort) bool {
		return a.Name == b.Name && a.Port == b.Port
	})
}

// RemoveServices deletes the headless service once the spec needs none. Services of process
// groups are deleted together with their groups.
//
// The operator deletes any service with the cluster's name; here it has to be the cluster's
// own, since a user's service may well have that name. And it stays as long as a coordinator
// has a DNS name: without the service the name could not be resolved, and the database would
// be unavailable.
var RemoveServices = plan.Stage{
	Name:  plan.StageRemoveServices,
	Reads: plan.ClusterResource | plan.Services,
	Decide: func(s plan.Snapshot) plan.Decision {
		service := readings.SuperfluousService(s)
		if service == nil || service.DeletionTimestamp != nil {
			return plan.Decision{}
		}
		if named := namedCoordinators(s.Cluster); len(named) > 0 {
			return plan.WaitBehind(coordinatorRetry, plan.HoldCoordinatorNames, fmt.Sprintf("service %s stays until no coordinator is addressed by DNS name: %s", service.Name, readings.SomeOf(named)))
		}
		return plan.Decision{
			Why:     "no pod needs a DNS name any more",
			Actions: []plan.Action{plan.DeleteService{Name: service.Name, UID: service.UID}},
		}
	},
}

// namedCoordinators returns the coordinators with a DNS name in the status' cluster file. An
// unreadable cluster file may name any.
func namedCoordinators(c *v1beta2.FoundationDBCluster) []string {
	if c.Status.ConnectionString == "" {
		return nil
	}
	connection, err := fdb.ParseConnectionString(c.Status.ConnectionString)
	if err != nil {
		return []string{err.Error()}
	}
	var named []string
	for _, coordinator := range connection.Coordinators {
		if !coordinator.IsIP() {
			named = append(named, coordinator.HostPort())
		}
	}
	return named
}
