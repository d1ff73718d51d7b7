package reconcile_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/forecast/trial"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// claimSuffix is what the name of a PVC has and that of its pod has not.
const claimSuffix = "-data"

// storageQuota rejects PVCs beyond a total request, as a ResourceQuota does. The pod of a rejected
// PVC cannot be scheduled.
func storageQuota(w *sim.Cluster, limit string) {
	most := resource.MustParse(limit)
	w.Unschedulable = map[string]bool{}
	w.Refuse = func(a plan.Action) error {
		create, is := a.(plan.CreatePVC)
		if !is {
			return nil
		}
		var used resource.Quantity
		for _, claim := range w.Volumes {
			used.Add(claim.Spec.Resources.Requests[corev1.ResourceStorage])
		}
		requested := create.Object.Spec.Resources.Requests[corev1.ResourceStorage]
		total, pod := used.DeepCopy(), strings.TrimSuffix(create.Name, claimSuffix)
		if total.Add(requested); total.Cmp(most) <= 0 {
			delete(w.Unschedulable, pod)
			return nil
		}
		w.Unschedulable[pod] = true
		return fmt.Errorf("exceeded quota: storage, requested: requests.storage=%s, used: requests.storage=%s, limited: requests.storage=%s", &requested, &used, &most)
	}
}

func claimsOf(size string) func(*v1beta2.FoundationDBClusterSpec) {
	return func(s *v1beta2.FoundationDBClusterSpec) {
		s.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassStorage: {
			VolumeClaimTemplate: &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
			}},
		}}
	}
}

// idsOfClass are the process groups of a class in the resource.
func idsOfClass(w *sim.Cluster, class v1beta2.ProcessClass) []v1beta2.ProcessGroupID {
	var ids []v1beta2.ProcessGroupID
	for _, g := range w.Resource.Status.ProcessGroups {
		if g.ProcessClass == class {
			ids = append(ids, g.ProcessGroupID)
		}
	}
	return ids
}

// stuckForQuota is a cluster of three storage groups whose volumes should be larger, beyond the
// quota: all three are marked, their replacements are pending, and one of the three is excluded.
func stuckForQuota(st *story) (old []v1beta2.ProcessGroupID) {
	st.t.Helper()
	storageQuota(st.w, "1000G") // four volumes of logs and three of storage, at 128G each, and 104G
	old = idsOfClass(st.w, v1beta2.ProcessClassStorage)
	st.heading("the desired volumes are of 256G, and the quota has no room for them")
	st.spec(claimsOf("256G"))
	st.times(2, 30*time.Second)
	for range 8 {
		if len(st.w.FDB.Databases()[0].Excluded()) > 0 {
			break
		}
		st.pass()
		st.w.Tick(time.Minute)
	}
	var marked []v1beta2.ProcessGroupID
	pending := 0
	for _, g := range st.w.Resource.Status.ProcessGroups {
		if g.IsMarkedForRemoval() {
			marked = append(marked, g.ProcessGroupID)
		}
		if st.w.Pods[g.PodName(st.w.Resource)].Spec.NodeName == "" {
			pending++
		}
	}
	if excluded := st.w.FDB.Databases()[0].Excluded(); !slices.Equal(marked, old) || pending != 3 || len(excluded) != 1 {
		st.t.Fatalf("marked %v of %v, %d pods pending, excluded %v:%s", marked, old, pending, excluded, st.text.String())
	}
	return old
}

// Worked example of the field: three storage groups with volumes of 128G should have 256G, all at
// once, and the quota is used up. The user sets 128G again and keeps the three. The first pass
// includes the excluded one and reverts all marks; the replacements, which never ran, leave.
func TestCanceledReplacementsFreeTheStorageQuota(t *testing.T) {
	st := newStory(t, 31, nil)
	old := stuckForQuota(st)
	st.w.Tick(10 * time.Minute) // since the recovery of the exclusion
	before := st.w.FDB.Databases()[0].Generation()
	st.heading("the user sets 128G again, and keeps %v", old)
	st.spec(claimsOf("128G"))
	st.spec(trial.Keep(old...))
	first := len(st.w.Acted)
	st.run(5*time.Minute, func() bool { return len(idsOfClass(st.w, v1beta2.ProcessClassStorage)) == 3 })
	st.wantFreed(old)
	if n := st.w.FDB.Databases()[0].Generation() - before; n > 2*generationsPerRecovery {
		t.Errorf("%d recoveries, at most 2 expected", n/generationsPerRecovery)
	}
	var does []string
	for _, a := range st.w.Acted[first:] {
		switch a.(type) { //nolint:gochecksumtype // the others are not about the three
		case plan.Include, plan.KeepGroups, plan.MarkForRemoval:
			does = append(does, plan.KindOf(a))
		}
	}
	if want := []string{"Include", "KeepGroups", "MarkForRemoval"}; !slices.Equal(does, want) {
		t.Errorf("did %v, want %v", does, want)
	}
	st.ends()
}

// generationsPerRecovery is by how much a recovery raises the generation of the database.
const generationsPerRecovery = 2

// wantFreed asserts the end: the old groups, no exclusion, no pending pod, and the quota is free.
func (st *story) wantFreed(old []v1beta2.ProcessGroupID) {
	st.t.Helper()
	if got := idsOfClass(st.w, v1beta2.ProcessClassStorage); !slices.Equal(got, old) {
		st.t.Errorf("storage groups %v, want %v", got, old)
	}
	if excluded := st.w.FDB.Databases()[0].Excluded(); len(excluded) > 0 {
		st.t.Errorf("still excluded: %v", excluded)
	}
	for name, pod := range st.w.Pods {
		if pod.Status.Phase != corev1.PodRunning {
			st.t.Errorf("pod %s is %s", name, pod.Status.Phase)
		}
	}
	for name := range st.w.Volumes {
		if st.w.Pods[strings.TrimSuffix(name, claimSuffix)] == nil {
			st.t.Errorf("PVC %s is left", name)
		}
	}
	if !st.w.FDB.Databases()[0].EveryKeyOnAtLeast(2) {
		st.t.Error("data has too few replicas")
	}
}

// With the volumes still desired at 256G the three stay as well, and every pass reports that they
// differ: only a user can resolve that.
func TestKeptGroupsThatDifferFromTheSpecBlockThePass(t *testing.T) {
	st := newStory(t, 31, nil)
	old := stuckForQuota(st)
	st.w.Tick(10 * time.Minute)
	st.spec(trial.Keep(old...))
	var done reconcile.PassDone
	for range 40 {
		done = st.pass()
		st.w.Tick(5 * time.Minute)
	}
	st.wantFreed(old)
	if done.Outcome != reconcile.Blocked {
		t.Errorf("the last pass ended %s", done.Outcome)
	}
	if g := st.w.Resource.Status.Generations; g.Reconciled == st.w.Resource.Generation {
		t.Error("the generation counts as reconciled")
	}
	const says = "3 process groups differ from the spec, and spec.cancelReplacementsForInstance keeps them"
	if !strings.Contains(st.text.String(), says) {
		t.Errorf("no pass reports %q:%s", says, st.text.String())
	}

	st.spec(trial.Keep())
	st.w.Refuse, st.w.Unschedulable = nil, nil
	st.run(10*time.Minute, func() bool { return st.w.Resource.Status.Generations.Reconciled == st.w.Resource.Generation })
	for _, id := range old {
		if st.w.Resource.ProcessGroup(id) != nil {
			t.Errorf("%s is still there after it was taken off the list", id)
		}
	}
}

// A group whose PVC is being deleted is lost; the others of the list are kept.
func TestAGroupWhosePVCIsDeletedIsNotKept(t *testing.T) {
	st := newStory(t, 31, nil)
	old := stuckForQuota(st)
	st.w.Tick(10 * time.Minute)
	late := old[1]
	st.w.DeleteClaim(st.w.Resource.ProcessGroup(late).PVCName(st.w.Resource))
	st.spec(claimsOf("128G"))
	st.spec(trial.Keep(old...))
	st.w.Refuse = nil // the quota is raised, and pods find their nodes later
	if done := st.pass(); done.Outcome != reconcile.Blocked {
		t.Errorf("the pass ended %s", done.Outcome)
	}
	says := fmt.Sprintf("%s cannot be kept: its PVC is being deleted", late)
	if !strings.Contains(st.text.String(), says) {
		t.Errorf("the pass does not report %q:%s", says, st.text.String())
	}
	for _, id := range old {
		if marked := st.w.Resource.ProcessGroup(id).IsMarkedForRemoval(); marked != (id == late) {
			t.Errorf("%s is marked: %t", id, marked)
		}
	}
	st.w.Unschedulable = nil
	st.run(5*time.Minute, func() bool { return st.w.Resource.ProcessGroup(late) == nil })
	for _, id := range []v1beta2.ProcessGroupID{old[0], old[2]} {
		if st.w.Resource.ProcessGroup(id) == nil {
			t.Errorf("%s was removed", id)
		}
	}
	if n := len(idsOfClass(st.w, v1beta2.ProcessClassStorage)); n != 3 {
		t.Errorf("%d storage groups, want 3", n)
	}
}

// However early the plugin dies while it reverts replacements, the same command again ends in the
// same state, and no group is unmarked and excluded in between.
func TestRevertingReplacementsFinishesIfKilled(t *testing.T) {
	begin := func() (*story, []v1beta2.ProcessGroupID) {
		st := newStory(t, 31, nil)
		old := stuckForQuota(st)
		st.w.Tick(10 * time.Minute)
		st.spec(claimsOf("128G"))
		st.spec(trial.Keep(old...))
		return st, old
	}
	whole, old := begin()
	first := len(whole.w.Acted)
	freed := func(st *story) func() bool {
		return func() bool { return len(idsOfClass(st.w, v1beta2.ProcessClassStorage)) == 3 }
	}
	whole.run(5*time.Minute, freed(whole))
	for n := first + 1; n <= len(whole.w.Acted); n++ {
		st, _ := begin()
		runUntilKilled(t, st.w, n)
		st.wantNoneKeptAndExcluded(old)
		st.run(5*time.Minute, freed(st))
		st.wantFreed(old)
		if diff := differences(whole.w, st.w); diff != "" {
			t.Errorf("killed before action %d: %s", n, diff)
		}
	}
}

func (st *story) wantNoneKeptAndExcluded(ids []v1beta2.ProcessGroupID) {
	st.t.Helper()
	excluded := st.w.FDB.Databases()[0].Excluded()
	for _, id := range ids {
		if g := st.w.Resource.ProcessGroup(id); !g.IsMarkedForRemoval() && slices.Contains(excluded, g.ExclusionString()) {
			st.t.Errorf("%s is unmarked and excluded", id)
		}
	}
}

// Two control-plane instances exclude together. A group that one of them keeps is off all lists,
// and the other neither excludes nor includes it.
func TestAKeptGroupIsRemovedFromTheSharedLists(t *testing.T) {
	s := instances(t, 32, globally, "kc1", "kc2")
	ids := map[string]v1beta2.ProcessGroupID{}
	for _, name := range s.names {
		w := s.clusters[name]
		id := idsOfClass(w, v1beta2.ProcessClassStorage)[0]
		ids[name] = id
		changeSpec(w, func(spec *v1beta2.FoundationDBClusterSpec) { spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{id} })
	}
	for _, name := range s.names { // announced, and not excluded yet
		pass(t, s.clusters[name], func(reconcile.Event) {})
	}
	first := s.clusters[s.names[0]]
	if !first.Resource.ProcessGroup(ids[s.names[0]]).IsMarkedForRemoval() {
		t.Fatal("the group of kc1 is not marked")
	}
	changeSpec(first, func(spec *v1beta2.FoundationDBClusterSpec) {
		spec.ProcessGroupsToRemove, spec.CancelReplacementsForInstance = nil, []v1beta2.ProcessGroupID{ids[s.names[0]]}
	})
	before := s.acted()
	s.settle(60, io.Discard)
	s.wantNothingListed()
	for _, a := range s.actedSince(before) {
		if exclude, is := a.(plan.Exclude); is && slices.Contains(exclude.Groups, ids[s.names[0]]) {
			t.Errorf("the kept group was excluded: %s", a.Describe())
		}
	}
	if g := first.Resource.ProcessGroup(ids[s.names[0]]); g == nil || g.IsMarkedForRemoval() {
		t.Errorf("the kept group: %+v", g)
	}
	if s.clusters[s.names[1]].Resource.ProcessGroup(ids[s.names[1]]) != nil {
		t.Error("the group of kc2 was not removed")
	}
}
