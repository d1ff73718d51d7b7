package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

// lost is a cluster that lost all pods. Those that are created run at once, at their former addresses.
type lost struct {
	t      *testing.T
	seen   plan.Snapshot
	client client.Client
	held   bool
	steps  []string
	// fails is the step that fails once, lies the one that is not kept although it succeeds, pending the
	// pods that never run.
	fails   string
	lies    string
	pending func(pod string) bool
	// terminating are reads until a pod is removed, by its name.
	terminating map[string]int
}

func newLost(t *testing.T, volumes ...client.Object) *lost {
	t.Helper()
	s := stagestest.HealthyCluster(t)
	s.Pods = map[string]*corev1.Pod{}
	for _, v := range s.Volumes {
		v.Spec.VolumeName = "pv-" + v.Name
		v.Status.Phase = corev1.ClaimBound
	}
	return &lost{t: t, seen: s, client: fake.NewClientBuilder().WithObjects(volumes...).Build(), pending: func(string) bool { return false }, terminating: map[string]int{}}
}

func (l *lost) Begin(context.Context) error { l.held = true; return nil }
func (l *lost) Lock(context.Context) error  { return errors.New("no lock is taken without a database") }
func (l *lost) End(context.Context) error   { l.held = false; return nil }

func (l *lost) heldNow(context.Context) error {
	if !l.held {
		return errors.New("the Lease was lost")
	}
	return nil
}

func (l *lost) Observe(_ context.Context, s *plan.Snapshot, _ plan.Facet) error {
	for name, reads := range l.terminating {
		if l.terminating[name]--; reads == 0 {
			delete(l.seen.Pods, name)
			delete(l.terminating, name)
		}
	}
	*s = l.seen
	return nil
}

func (l *lost) Act(ctx context.Context, a plan.Action) error {
	if err := l.heldNow(ctx); err != nil {
		return err
	}
	if l.fails != "" && strings.HasPrefix(a.Describe(), l.fails) {
		l.fails = ""
		return errors.New("lost the connection")
	}
	if l.lies != "" && strings.HasPrefix(a.Describe(), l.lies) {
		return nil
	}
	switch a := any(a).(type) {
	case plan.CreatePod:
		if l.seen.Pods[a.Name] != nil {
			return fmt.Errorf("pod %s already exists", a.Name)
		}
		pod := a.Object.DeepCopy()
		pod.Status.Phase = corev1.PodRunning
		if l.pending(a.Name) {
			pod.Status.Phase = corev1.PodPending
		}
		l.seen.Pods[a.Name] = pod
		l.steps = append(l.steps, a.Name)
	case plan.CreatePVC:
		claim := a.Object.DeepCopy()
		claim.Status.Phase = corev1.ClaimBound
		l.seen.Volumes[a.Name] = claim
		l.steps = append(l.steps, a.Name+" "+claim.Spec.VolumeName)
	case plan.AddGroups:
		l.seen = a.Apply(l.seen)
		l.steps = append(l.steps, a.Describe())
	case plan.SetConnectionString:
		l.seen = a.Apply(l.seen)
		l.steps = append(l.steps, a.ConnectionString)
	case plan.ApplyConfigMap, plan.ApplyService:
	default:
		return fmt.Errorf("unexpected action %T", a)
	}
	return nil
}

func (l *lost) read(ctx context.Context) (recovery.Facts, plan.Snapshot, error) {
	c := l.seen.Cluster
	f := recovery.Facts{UID: "1", Recorded: c.Status.ConnectionString, ConfigMap: c.Status.ConnectionString}
	s, err := fdb.ParseConnectionString(f.Recorded)
	if err != nil {
		return f, l.seen, err
	}
	for _, a := range s.Coordinators {
		f.Coordinators = append(f.Coordinators, recovery.Coordinator{Address: a.Coordinator()})
		f.Queried = append(f.Queried, a.Coordinator())
	}
	running := 0
	for _, g := range l.seen.Groups() {
		group := recovery.Group{ID: string(g.ProcessGroupID), Class: string(g.ProcessClass), Stateful: g.ProcessClass.IsStateful(), Addresses: g.Addresses, Names: recovery.Names{Pod: g.PodName(c), PVC: g.PVCName(c)}}
		if v := l.seen.Volumes[g.PVCName(c)]; v != nil {
			group.PVC, group.Volume, group.PVCPhase = v.Name, v.Spec.VolumeName, string(v.Status.Phase)
		}
		if pod := l.seen.Pods[g.PodName(c)]; pod != nil {
			group.Pod, group.PodUID, group.Phase = pod.Name, string(pod.UID), string(pod.Status.Phase)
			if pod.DeletionTimestamp != nil {
				group.Phase = "Terminating"
			}
			group.Now, group.Files = g.Addresses, &datadir.Files{ClusterFile: f.Recorded}
			if pod.Status.Phase == corev1.PodRunning {
				running++
			}
		}
		f.Groups = append(f.Groups, group)
	}
	available := running == len(f.Groups)
	f.Quorum, f.Available = new(available), new(available)
	for _, v := range l.volumes(ctx) {
		if v.Status.Phase == corev1.VolumeReleased || v.Spec.ClaimRef.UID == "" {
			f.Released = append(f.Released, recovery.ReleasedVolume{Name: v.Name, UID: string(v.UID), PVC: v.Spec.ClaimRef.Name, ClaimUID: string(v.Spec.ClaimRef.UID), Policy: string(v.Spec.PersistentVolumeReclaimPolicy)})
		}
	}
	return f, l.seen, nil
}

func (l *lost) volumes(ctx context.Context) []corev1.PersistentVolume {
	all := &corev1.PersistentVolumeList{}
	if err := l.client.List(ctx, all); err != nil {
		l.t.Fatal(err)
	}
	return all.Items
}

func (l *lost) plan() recovery.Plan {
	l.t.Helper()
	f, _, err := l.read(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	p, err := recovery.NewPlan("sample", "fdb", f, func(words ...string) string { return strings.Join(words, " ") })
	if err != nil || !p.Handled {
		l.t.Fatalf("%v: %+v", err, p)
	}
	return p
}

func (l *lost) apply(p recovery.Plan) error {
	l.t.Helper()
	ctx, clock := impatient(l.t)
	r := Run{
		Cluster: l, Read: l.read, Held: l.heldNow, Client: l.client, Report: func(recovery.Step, time.Time, error) {}, Clock: clock,
		Tool: func(*corev1.Pod, string) (admin.Transport, error) { return nil, errors.New("no file is written") },
	}
	return r.Apply(ctx, p)
}

func TestRecoverCreatesTheSamePodsAsAPass(t *testing.T) {
	l := newLost(t)
	want := map[string]plan.Action{}
	for _, a := range clusterstages.AddPods.Decide(l.seen).Actions {
		want[a.(plan.CreatePod).Name] = a
	}
	p := l.plan()
	if err := l.apply(p); err != nil || l.held {
		t.Fatalf("%v, Lease held: %t", err, l.held)
	}
	if len(l.steps) != len(want) || len(p.Create) != len(want) {
		t.Errorf("created %v of %d", l.steps, len(want))
	}
	for name, a := range want {
		if got := l.seen.Pods[name]; got == nil || got.Annotations["foundationdb.org/last-applied-spec"] != a.(plan.CreatePod).Object.Annotations["foundationdb.org/last-applied-spec"] {
			t.Errorf("%s is another one: %v", name, got)
		}
	}
	if n := slices.IndexFunc(p.Create, func(c recovery.Creation) bool { return !c.Coordinator }); n < 1 || !slices.ContainsFunc(p.Create[:n], func(c recovery.Creation) bool { return c.Pod == l.steps[0] }) {
		t.Errorf("%v are created first, of %+v", l.steps, p.Create)
	}
}

func TestRecoverCreatesOnlyCoordinatorPodsUntilAQuorumRuns(t *testing.T) {
	l := newLost(t)
	p := l.plan()
	l.pending = func(string) bool { return true }
	if err := l.apply(p); err == nil {
		t.Error("no error")
	}
	for _, c := range p.Create {
		if slices.Contains(l.steps, c.Pod) != c.Coordinator {
			t.Errorf("%+v, created: %v", c, l.steps)
		}
	}
}

func TestRecoveryWaitsForATerminatingPod(t *testing.T) {
	l := newLost(t)
	g := stagestest.FirstOf(l.seen, "storage")
	name := g.PodName(l.seen.Cluster)
	now := metav1.Now()
	l.seen.Pods[name] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, DeletionTimestamp: &now}}
	p := l.plan()
	l.terminating[name] = 20
	if err := l.apply(p); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(l.steps, name) {
		t.Errorf("%s was not created: %v", name, l.steps)
	}
}

// A run that failed at any step is repeated with the same plan, and completes.
func TestRecoverApplyCompletesAfterAFailedPodCreation(t *testing.T) {
	for _, at := range []string{"create pod", "create PVC"} {
		l := newLost(t, releasedFor(t, 1)...)
		dropClaims(l, 1)
		p := l.plan()
		l.fails = at
		if err := l.apply(p); err == nil || l.held {
			t.Fatalf("%s: %v, Lease held: %t", at, err, l.held)
		}
		if err := l.apply(p); err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		if len(l.steps) != len(p.Create)+1 {
			t.Errorf("%s: %v", at, l.steps)
		}
		if err := l.apply(p); err != nil || len(l.steps) != len(p.Create)+1 {
			t.Errorf("%s: again %v, %v", at, l.steps, err)
		}
	}
}

// released are the released volumes of so many storage process groups.
func releasedFor(t *testing.T, n int) []client.Object {
	t.Helper()
	s := stagestest.HealthyCluster(t)
	var all []client.Object
	for _, g := range s.Groups() {
		if g.ProcessClass == "storage" && len(all) < n {
			all = append(all, releasedVolume(g.PVCName(s.Cluster)))
		}
	}
	return all
}

func releasedVolume(pvc string) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-" + pvc, UID: "uid"}}
	v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "fdb", Name: pvc, UID: "claim", ResourceVersion: "7"}
	v.Spec.StorageClassName = "fast"
	v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	v.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	v.Status.Phase = corev1.VolumeReleased
	return v
}

func dropClaims(l *lost, n int) {
	for _, g := range l.seen.Groups() {
		if g.ProcessClass == "storage" && n > 0 {
			delete(l.seen.Volumes, g.PVCName(l.seen.Cluster))
			n--
		}
	}
}

func TestRecreatedPVCsAreBoundToTheirFormerVolumes(t *testing.T) {
	l := newLost(t, releasedFor(t, 2)...)
	before := l.seen.Volumes[stagestest.FirstOf(l.seen, "storage").PVCName(l.seen.Cluster)].Annotations
	dropClaims(l, 2)
	p := l.plan()
	if err := l.apply(p); err != nil {
		t.Fatal(err)
	}
	for _, b := range p.Bind {
		claim := l.seen.Volumes[b.PVC]
		size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
		if claim.Spec.VolumeName != b.Volume || *claim.Spec.StorageClassName != "fast" || size.String() != "1Gi" {
			t.Errorf("%+v", claim.Spec)
		}
		if key := "foundationdb.org/last-applied-spec"; claim.Annotations[key] != before[key] || before[key] == "" {
			t.Errorf("a pass would replace the process group: %v, %v", claim.Annotations, before)
		}
	}
	for _, v := range l.volumes(l.t.Context()) {
		if v.Spec.ClaimRef.UID != "" || v.Spec.ClaimRef.ResourceVersion != "" || v.Spec.ClaimRef.Name == "" || v.Spec.ClaimRef.Namespace != "fdb" {
			t.Errorf("%+v", v.Spec.ClaimRef)
		}
	}
}

func TestOnlyReleasedVolumesOfThePlanAreReserved(t *testing.T) {
	of := recovery.Binding{PVC: "sample-storage-1-data", Volume: "pv-sample-storage-1-data", VolumeUID: "uid", ClaimUID: "claim"}
	owner := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: of.PVC, UID: "new"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: of.Volume}}
	tests := map[string]struct {
		edit func(*corev1.PersistentVolume)
		with []client.Object
		lost bool
		// want is part of the error; empty for none. kept is whether the volume stays as it is.
		want string
		kept bool
	}{
		"released by the PVC":             {edit: func(*corev1.PersistentVolume) {}},
		"reserved before":                 {edit: func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = ""; v.Status.Phase = corev1.VolumeAvailable }, kept: true},
		"bound by the plan":               {edit: func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = "new"; v.Status.Phase = corev1.VolumeBound }, with: []client.Object{owner}, kept: true},
		"bound by something else":         {edit: func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = "newer"; v.Status.Phase = corev1.VolumeBound }, with: []client.Object{owner}, want: "belongs to the PVC with UID newer", kept: true},
		"bound to a PVC that was removed": {edit: func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeBound }, want: "was claimed by another PVC", kept: true},
		"released by another PVC since":   {edit: func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = "newer" }, want: "was claimed by another PVC", kept: true},
		"of another namespace":            {edit: func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.Namespace = "other" }, want: "does not belong to PVC fdb/sample-storage-1-data", kept: true},
		"of another PVC":                  {edit: func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.Name = "other" }, want: "does not belong to PVC", kept: true},
		"of no PVC":                       {edit: func(v *corev1.PersistentVolume) { v.Spec.ClaimRef = nil }, want: "does not belong to PVC", kept: true},
		"another volume of this name":     {edit: func(v *corev1.PersistentVolume) { v.UID = "other" }, want: "its UID is other", kept: true},
		"one that can be deleted": {edit: func(v *corev1.PersistentVolume) {
			v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
		}, want: "Retain required", kept: true},
		"without the Lease": {edit: func(*corev1.PersistentVolume) {}, lost: true, want: "the Lease was lost", kept: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := releasedVolume(of.PVC)
			tc.edit(v)
			l := newLost(t, append(tc.with, v)...)
			l.held = !tc.lost
			err := Run{Client: l.client, Held: l.heldNow}.reserveVolumes(t.Context(), recovery.Plan{Namespace: "fdb", Bind: []recovery.Binding{of}})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			now := l.volumes(l.t.Context())[0]
			if reserved := now.Spec.ClaimRef != nil && now.Spec.ClaimRef.UID == "" && v.Spec.ClaimRef.UID != ""; reserved == tc.kept {
				t.Errorf("%+v", now.Spec.ClaimRef)
			}
		})
	}
}

func TestRecoveryStopsIfAPVCIsBoundToAnotherVolume(t *testing.T) {
	l := newLost(t, releasedFor(t, 1)...)
	dropClaims(l, 1)
	p := l.plan()
	l.held = true
	l.seen.Volumes[p.Bind[0].PVC] = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: p.Bind[0].PVC}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-9"}}
	if err := (Run{Cluster: l, Client: l.client, Held: l.heldNow}).createPVCs(t.Context(), p); err == nil || len(l.steps) > 0 {
		t.Errorf("%v after %v", err, l.steps)
	}
	if _, moved := errors.AsType[*MovedError](l.apply(p)); !moved || len(l.steps) > 0 {
		t.Errorf("not refused, after %v", l.steps)
	}
}

func TestRebuildStatusIsIdempotent(t *testing.T) {
	l := newLost(t)
	l.held = true
	l.seen.Cluster = l.seen.Cluster.DeepCopy()
	l.seen.Cluster.Status.ConnectionString, l.seen.Cluster.Status.ProcessGroups = "", nil
	p := recovery.Plan{From: from, Rebuild: []recovery.Rebuilt{{ID: "storage-1", Class: "storage"}, {ID: "log-2", Class: "log"}}}
	run := Run{Cluster: l, Clock: instant{FakeClock: clocktesting.NewFakeClock(time.Now())}}
	for range 2 {
		if err := run.rebuildStatus(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.seen.Cluster.Status; got.ConnectionString != from || len(got.ProcessGroups) != 2 || len(l.steps) != 2 {
		t.Errorf("%+v after %v", got, l.steps)
	}
}

// What follows relies on the status: one that was not kept ends the run.
func TestARebuiltStatusIsReadBack(t *testing.T) {
	for _, lie := range []string{"", "add ", "set the connection string"} {
		l := newLost(t)
		l.held, l.lies = true, lie
		l.seen.Cluster = l.seen.Cluster.DeepCopy()
		l.seen.Cluster.Status.ConnectionString, l.seen.Cluster.Status.ProcessGroups = "", nil
		run := Run{Cluster: l, Clock: instant{FakeClock: clocktesting.NewFakeClock(time.Now())}}
		err := run.rebuildStatus(t.Context(), recovery.Plan{From: from, Rebuild: []recovery.Rebuilt{{ID: "storage-1", Class: "storage"}}})
		if (err == nil) != (lie == "") {
			t.Errorf("without effect of %q: %v", lie, err)
		}
	}
}
