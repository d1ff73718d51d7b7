package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

func pod(labels map[string]string, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "c-storage-1", Labels: labels, ResourceVersion: version}}
}

func TestAFingerprintCoversEverythingThatAnActionDoes(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ids := []v1beta2.ProcessGroupID{"storage-1"}
	for name, pair := range map[string][2]Action{
		"the kind": {SetExcluded{Groups: ids}, KeepGroups{Groups: ids}},
		"an object that the JSON leaves out": {
			CreatePod{Group: "storage-1", Name: "c-storage-1", Object: pod(map[string]string{"a": "1"}, "")},
			CreatePod{Group: "storage-1", Name: "c-storage-1", Object: pod(map[string]string{"a": "2"}, "")},
		},
		"the data of a ConfigMap": {
			ApplyConfigMap{Name: "c-config", Object: &corev1.ConfigMap{Data: map[string]string{"cluster-file": "a"}}},
			ApplyConfigMap{Name: "c-config", Object: &corev1.ConfigMap{Data: map[string]string{"cluster-file": "b"}}},
		},
		"the value of a label": {
			PatchMetadata{Kind: KindPod, Name: "c-storage-1", Labels: map[string]string{"a": "1"}},
			PatchMetadata{Kind: KindPod, Name: "c-storage-1", Labels: map[string]string{"a": "2"}},
		},
		"the identity of a pod": {
			DeletePods{Pods: []PodOfGroup{{Group: "storage-1", Name: "c-storage-1", UID: "1"}}},
			DeletePods{Pods: []PodOfGroup{{Group: "storage-1", Name: "c-storage-1", UID: "2"}}},
		},
		"the identities of objects to delete": {
			DeleteGroupObjects{Group: "storage-1", Pod: "p", UIDs: map[string]types.UID{"p": "1"}},
			DeleteGroupObjects{Group: "storage-1", Pod: "p", UIDs: map[string]types.UID{"p": "2"}},
		},
		"whether a group goes undrained": {
			DeleteGroupObjects{Group: "storage-1", Pod: "p"}, DeleteGroupObjects{Group: "storage-1", Pod: "p", Undrained: true},
		},
		"an address": {
			RestartProcesses{Groups: ids, Addresses: []fdb.Address{{Host: "10.0.0.1", Port: 4501}}},
			RestartProcesses{Groups: ids, Addresses: []fdb.Address{{Host: "10.0.0.1", Port: 4503}}},
		},
		"a duration that the JSON leaves out": {
			StartMaintenance{Zone: "z", Duration: time.Minute}, StartMaintenance{Zone: "z", Duration: time.Hour},
		},
		"the length of a pause": {
			SetSkip{Pause: Pause{At: noon, Until: noon.Add(time.Hour)}}, SetSkip{Pause: Pause{At: noon, Until: noon.Add(2 * time.Hour)}},
		},
		"the version of the tools": {
			StartBackup{Version: fdb.Version{Major: 7, Minor: 3}}, StartBackup{Version: fdb.Version{Major: 7, Minor: 4}},
		},
		"that nothing could be restored afterwards": {
			StopBackup{Tag: "default"}, StopBackup{Tag: "default", NotRestorable: "it was moved"},
		},
	} {
		if Fingerprint(pair[0]) == Fingerprint(pair[1]) {
			t.Errorf("%s makes no difference", name)
		}
	}
}

func TestAFingerprintIgnoresTimesNotesAndDescriptions(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ids := []v1beta2.ProcessGroupID{"storage-1"}
	for name, pair := range map[string][2]Action{
		"the time of a mark": {MarkForRemoval{Groups: ids, At: noon}, MarkForRemoval{Groups: ids, At: noon.Add(time.Second)}},
		"when a pause begins": {
			SetSkip{Pause: Pause{At: noon, Until: noon.Add(time.Hour)}}, SetSkip{Pause: Pause{At: noon.Add(time.Minute), Until: noon.Add(61 * time.Minute)}},
		},
		"the resource version of an object": {
			CreatePod{Object: pod(nil, "1")}, CreatePod{Object: pod(nil, "2")},
		},
		"who denies an instance": {
			UpdateDenyList{Deny: []string{"dc1"}, Note: fdb.Denial{By: "a", At: noon}}, UpdateDenyList{Deny: []string{"dc1"}},
		},
		"the words of a refusal": {
			StopBackup{Tag: "default", NotRestorable: "30 of 60 s"}, StopBackup{Tag: "default", NotRestorable: "31 of 60 s"},
		},
		"the UID of the resource that an object belongs to": {
			ApplyAgents{Object: &appsv1.Deployment{ObjectMeta: ownedBy("1")}}, ApplyAgents{Object: &appsv1.Deployment{ObjectMeta: ownedBy("2")}},
		},
		"the command as text": {Configure{Command: "configure double"}, Configure{Command: "configure  double"}},
	} {
		if Fingerprint(pair[0]) != Fingerprint(pair[1]) {
			t.Errorf("%s makes a difference", name)
		}
	}
}

// ownedBy is the metadata of an object of a backup with a UID, which a label has too.
func ownedBy(uid types.UID) metav1.ObjectMeta {
	owner := metav1.OwnerReference{APIVersion: v1beta2.GroupVersion.String(), Kind: "FoundationDBBackup", Name: "nightly", UID: uid}
	return metav1.ObjectMeta{Name: "nightly-backup-agents", Labels: map[string]string{v1beta2.LabelBackupFor: string(uid)}, OwnerReferences: []metav1.OwnerReference{owner}}
}

func TestFingerprintDoesNotModifyItsAction(t *testing.T) {
	object := pod(map[string]string{"a": "1"}, "7")
	Fingerprint(CreatePod{Object: object})
	if object.ResourceVersion != "7" {
		t.Error("the resource version of the action's own object was deleted")
	}
}

func TestTheGroupsOfAnAction(t *testing.T) {
	type ids = []v1beta2.ProcessGroupID
	for name, tc := range map[string]struct {
		action Action
		want   ids
	}{
		"several":                {MarkForRemoval{Groups: ids{"log-1", "log-2"}}, ids{"log-1", "log-2"}},
		"those that are added":   {AddGroups{Groups: []NewGroup{{ID: "log-1"}, {ID: "log-2"}}}, ids{"log-1", "log-2"}},
		"those of deleted pods":  {DeletePods{Pods: []PodOfGroup{{Group: "log-1", Name: "c-log-1"}}}, ids{"log-1"}},
		"whose pod it is":        {CreatePod{Group: "log-1", Name: "c-log-1"}, ids{"log-1"}},
		"whose labels they are":  {PatchMetadata{Group: "log-1", Kind: KindPod, Name: "c-log-1"}, ids{"log-1"}},
		"whose spec is adopted":  {AdoptSpec{Group: "log-1", Kind: KindPod, Name: "c-log-1"}, ids{"log-1"}},
		"whose service it is":    {ApplyService{Group: "log-1", Name: "c-log-1"}, ids{"log-1"}},
		"none: the headless one": {ApplyService{Name: "c"}, nil},
		"none: the database":     {Configure{}, nil},
		"none: the status":       {WriteStatus{}, nil},
		"of all lists, once each": {
			ChangeLists{Add: map[fdb.SharedList][]v1beta2.ProcessGroupID{"a": {"log-2", "log-1"}}, Addresses: map[v1beta2.ProcessGroupID][]string{"log-1": nil}},
			ids{"log-1", "log-2"},
		},
	} {
		if diff := cmp.Diff(tc.want, GroupsOf(tc.action)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Exclusions are read where one may concern a group, and where none may.
func TestExclusionsAreReadOnlyForRemovedOrKeptGroups(t *testing.T) {
	at := metav1.Now()
	tests := map[string]struct {
		group v1beta2.ProcessGroupStatus
		keep  v1beta2.ProcessGroupID
		want  bool
	}{
		"a group that stays":           {group: v1beta2.ProcessGroupStatus{ProcessGroupID: "storage-1"}},
		"one that is removed":          {group: v1beta2.ProcessGroupStatus{ProcessGroupID: "storage-1", RemovalTimestamp: &at}, want: true},
		"one that the spec keeps":      {group: v1beta2.ProcessGroupStatus{ProcessGroupID: "storage-1"}, keep: "storage-1", want: true},
		"the spec keeps another group": {group: v1beta2.ProcessGroupStatus{ProcessGroupID: "storage-1"}, keep: "storage-2"},
	}
	for name, tc := range tests {
		c := &v1beta2.FoundationDBCluster{Status: v1beta2.FoundationDBClusterStatus{ProcessGroups: []*v1beta2.ProcessGroupStatus{&tc.group}}}
		if tc.keep != "" {
			c.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{tc.keep}
		}
		if got := ExclusionsMatter(c); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}
