package why

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// goingInput is a healthy cluster in which the PVC of storage-1 is being deleted.
func goingInput(t *testing.T) Input {
	t.Helper()
	in := HealthyInput(t)
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: in.Cluster.ProcessGroup("storage-1").PVCName(in.Cluster), DeletionTimestamp: new(metav1.NewTime(in.Now.Add(-time.Minute))), Finalizers: []string{"kubernetes.io/pvc-protection"},
	}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-1"}}
	in.Volumes = map[string]*corev1.PersistentVolumeClaim{claim.Name: claim}
	return in
}

func TestWhyNamesAPVCThatIsBeingDeletedAndItsReplacement(t *testing.T) {
	in := goingInput(t)
	in.BoundVolumes = map[string]*corev1.PersistentVolume{"pv-1": {Spec: corev1.PersistentVolumeSpec{PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete}}}
	v := NewReport(meta, in)
	if v.State != Blocked || len(v.Items) == 0 || v.Items[0].Subjects[0] != "storage-1" || v.Items[0].Since == nil {
		t.Fatalf("got %s, %+v", v.State, v.Items)
	}
	for _, words := range []string{"PVC sample-storage-1-data, which is being deleted for 60s", "held by finalizer kubernetes.io/pvc-protection", "volume pv-1 has the reclaim policy Delete"} {
		if !strings.Contains(v.Summary, words) {
			t.Errorf("the summary lacks %q: %s", words, v.Summary)
		}
	}
	// A volume that is not kept ends with the replacement.
	if len(v.Next) != 2 || !strings.Contains(v.Next[0], "patch pv pv-1") || !strings.Contains(v.Next[1], "fdb replace sample storage-1") {
		t.Errorf("next %q", v.Next)
	}
	in.BoundVolumes["pv-1"].Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	if next := NewReport(meta, in).Next; len(next) != 1 || !strings.Contains(next[0], "fdb replace sample storage-1") {
		t.Errorf("the volume is kept already: %q", next)
	}
}

func TestWhyReportsAnUnreadReclaimPolicyAsUnknown(t *testing.T) {
	in := goingInput(t)
	in.BoundVolumesHidden = "reading is forbidden"
	if v := NewReport(meta, in); !strings.Contains(v.Summary, "the reclaim policy of volume pv-1 is unknown: reading is forbidden") {
		t.Errorf("got %s", v.Summary)
	}
}

func TestWhyBeginsWithTheDeletionOfTheCluster(t *testing.T) {
	in := goingInput(t)
	in.Cluster.DeletionTimestamp, in.Cluster.Finalizers = new(metav1.NewTime(in.Now)), []string{"example.com/held"}
	v := NewReport(meta, in)
	if v.State != Blocked || !strings.HasPrefix(v.Summary, "cluster is being deleted") || !strings.Contains(v.Summary, "finalizer example.com/held holds it") {
		t.Errorf("got %s, %s", v.State, v.Summary)
	}
	if len(v.Next) != 1 || !strings.Contains(v.Next[0], "patch pv pv-1 -p") {
		t.Errorf("next %q", v.Next)
	}
}

// A cluster that does not last is not healthy, whatever its database reports, and begins with that.
func TestNothingThatIsBeingDeletedIsHealthy(t *testing.T) {
	asked := new(metav1.NewTime(time.Date(2026, 11, 20, 11, 0, 0, 0, time.UTC)))
	tests := map[string]struct {
		given      func(*Input)
		want, cell string
	}{
		"a PVC":       {func(*Input) {}, "PVC sample-storage-1-data is being deleted since ", "degraded (pvc-being-deleted)"},
		"the cluster": {func(in *Input) { in.Cluster.DeletionTimestamp = asked }, "FoundationDBCluster sample is being deleted since 2026-11-20T11:00:00Z", "degraded (being-deleted)"},
		"the namespace": {func(in *Input) {
			in.Namespace.Object = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "fdb", DeletionTimestamp: asked}}
		}, "Namespace fdb is being deleted since 2026-11-20T11:00:00Z", "degraded (being-deleted)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := goingInput(t)
			tc.given(&in)
			v := inspect.NewStatusView(meta, in.Facts)
			if v.State == inspect.StateHealthy || !strings.HasPrefix(v.Reasons[0], tc.want) || len(v.Deletions) == 0 {
				t.Errorf("got %s, %q", v.State, v.Reasons)
			}
			if v.Cell() != tc.cell {
				t.Errorf("lists show %q, want %q", v.Cell(), tc.cell)
			}
		})
	}
}

// What only a user can resolve about kept groups comes with the commands that resolve it.
func TestWhyPrintsPatchesForConflictsOfKeptGroups(t *testing.T) {
	const (
		patch   = "kubectl patch foundationdbcluster sample --type merge -p "
		without = patch + `{"spec":{"cancelReplacementsForInstance":["storage-2"]}}`
	)
	hold := func(stage plan.StageName, code plan.HoldCode, subjects ...string) planned.PlanHold {
		return planned.PlanHold{Stage: stage, HoldRecord: inspect.HoldRecord{Code: code, Subjects: subjects, Reason: "because", ManualIntervention: true}}
	}
	tests := map[string]struct {
		hold  planned.PlanHold
		given func(*Input)
		want  []string
	}{
		"a group differs":  {hold: hold(plan.StageReplaceMisconfiguredPods, plan.HoldKeptDiffer, "storage-1"), want: []string{without}},
		"it is too late":   {hold: hold(plan.StageCancelReplacements, plan.HoldTooLateToKeep, "storage-1"), want: []string{without}},
		"two lists differ": {hold: hold(plan.StageCancelReplacements, plan.HoldSpecContradiction, "storage-1"), want: []string{without, patch + `{"spec":{"processGroupsToRemove":[]}}`}},
		"more are kept than desired": {hold: hold(plan.StageChooseRemovals, plan.HoldSpecContradiction, "storage-1", "storage-2"), given: func(in *Input) {
			in.Cluster.Spec.ProcessCounts.Storage = 1
		}, want: []string{patch + `{"spec":{"cancelReplacementsForInstance":["storage-1"]}}`}},
	}
	for name, tc := range tests {
		for about, only := range map[string][]v1beta2.ProcessGroupID{"the cluster": nil, "the group": {"storage-1"}, "another group": {"storage-3"}} {
			t.Run(name+", asked about "+about, func(t *testing.T) {
				in := HealthyInput(t)
				in.Cluster.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{"storage-1", "storage-2"}
				in.Cluster.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{"storage-1"}
				if tc.given != nil {
					tc.given(&in)
				}
				in.Plan.Holds, in.Only = []planned.PlanHold{tc.hold}, only
				v := NewReport(meta, in)
				if about == "another group" {
					if len(v.Items) > 0 {
						t.Errorf("got %+v", v.Items)
					}
					return
				}
				if len(v.Items) != 1 || v.State != Blocked || v.Items[0].Subjects[0] != "storage-1" {
					t.Fatalf("got %+v", v.Items)
				}
				if next := v.Items[0].Next; len(next) <= len(tc.want) || !slices.Equal(next[:len(tc.want)], tc.want) {
					t.Errorf("next %q, want %q first", next, tc.want)
				}
			})
		}
	}
}

// A kept group that is still marked has the reason of the stage that would revert the mark.
func TestWhyExplainsAKeptGroupThatIsStillMarked(t *testing.T) {
	in := HealthyInput(t)
	in.Cluster.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{"storage-1"}
	in.Cluster.ProcessGroup("storage-1").MarkForRemoval(noon.Add(-time.Minute))
	in.Plan.Holds = []planned.PlanHold{{Stage: plan.StageCancelReplacements, HoldRecord: inspect.HoldRecord{Code: plan.HoldCheckRefused, Subjects: []string{"storage-1"}, Reason: "inclusion of storage-1 waits"}}}
	v := NewReport(meta, in)
	if len(v.Items) != 1 || v.Items[0].State != Waiting || v.Items[0].Reasons[0].Stage != plan.StageCancelReplacements {
		t.Errorf("got %+v", v.Items)
	}
}

// No replacement is announced of a group that the spec keeps.
func TestWhyAnnouncesNoReplacementOfAKeptGroup(t *testing.T) {
	in := HealthyInput(t)
	in.Cluster.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{"storage-3"}
	in.Cluster.ProcessGroup("storage-3").SetCondition(v1beta2.ConditionPodFailing, noon.Add(-30*time.Minute))
	v := NewReport(meta, in)
	if len(v.Items) == 0 || !strings.Contains(v.Items[0].Reasons[0].Message, "keeps it from being replaced") {
		t.Errorf("got %+v", v.Items)
	}
}
