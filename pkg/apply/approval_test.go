package apply

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestTheZeroApprovalPermitsNothing(t *testing.T) {
	for _, a := range []plan.Action{plan.Configure{}, plan.DeleteGroupObjects{}, plan.WriteStatus{}, plan.WriteBackupStatus{}, plan.WriteRestoreStatus{}} {
		if new(Approval).Permits("", a) {
			t.Errorf("permitted %s", plan.KindOf(a))
		}
	}
}

// The node of a pod is unknown at planning time, and recorded on it by the same pass.
func TestAPlanFileApprovalCoversMetadataOfCreatedObjects(t *testing.T) {
	var a Approval
	a.addFile(&planned.ApprovedPlan{Items: []planned.ApprovedItem{
		{Kind: "CreatePod", Details: []byte(`{"group": "storage-1", "name": "sample-storage-1"}`)},
		{Kind: "CreatePVC", Details: []byte(`{"group": "storage-1", "name": "sample-storage-1-data"}`)},
	}})
	for want, actions := range map[bool][]plan.Action{
		true: {
			plan.PatchMetadata{Kind: plan.KindPod, Name: "sample-storage-1"},
			plan.PatchMetadata{Kind: plan.KindPVC, Name: "sample-storage-1-data"},
			plan.SyncPodFiles{Group: "storage-1", Pod: "sample-storage-1"},
		},
		false: {
			plan.PatchMetadata{Kind: plan.KindPod, Name: "sample-storage-2"},
			plan.PatchMetadata{Kind: plan.KindPVC, Name: "sample-storage-1"},
			plan.SyncPodFiles{Group: "storage-1", Pod: "sample-storage-2"},
			plan.DeletePods{},
		},
	} {
		for _, action := range actions {
			if got := a.Permits("", action); got != want {
				t.Errorf("permitted %t, want %t: %s", got, want, action.Describe())
			}
		}
	}
}

// replacement is the forecast of a replacement of storage-1 by a new process group.
func replacement() *planned.Forecast {
	one, other := v1beta2.ProcessGroupID("storage-1"), v1beta2.ProcessGroupID("storage-8")
	return &planned.Forecast{Phases: []planned.ForecastPhase{
		{Stage: "AddProcessGroups", Kind: "AddGroups", Groups: ids(other), New: ids(other), Classes: map[v1beta2.ProcessClass]int{"storage": 1}},
		{Stage: "AddPods", Kind: "CreatePod", Groups: ids(other), New: ids(other)},
		{Stage: "ExcludeInstances", Kind: "Exclude", Groups: ids(one)},
		{Stage: "RemovePods", Kind: "DeleteGroupObjects", Groups: ids(one)},
		{Stage: "UpdateConfigMap", Kind: "ApplyConfigMap", Groups: ids()},
		{Stage: "UpdateDatabaseConfiguration", Kind: "Configure", Groups: ids(), Commands: []string{"configure logs=4"}},
	}}
}

func ids(all ...v1beta2.ProcessGroupID) []v1beta2.ProcessGroupID { return all }

func created(id v1beta2.ProcessGroupID, class v1beta2.ProcessClass) plan.AddGroups {
	return plan.AddGroups{Groups: []plan.NewGroup{{ID: id, Class: class}}}
}

// An approval of a forecast covers what the forecast has, about the same process groups, and
// nothing else.
func TestAnApprovalCoversOnlyForecastActions(t *testing.T) {
	for name, c := range map[string]struct {
		stage  plan.StageName
		action plan.Action
		want   bool
	}{
		"the exclusion":                         {"ExcludeInstances", plan.Exclude{Groups: ids("storage-1"), Targets: []string{"10.1.0.1"}}, true},
		"the exclusion of another group":        {"ExcludeInstances", plan.Exclude{Groups: ids("storage-2")}, false},
		"the exclusion of one more group":       {"ExcludeInstances", plan.Exclude{Groups: ids("storage-1", "storage-2")}, false},
		"the exclusion by another stage":        {"ChangeDenyList", plan.Exclude{Groups: ids("storage-1")}, false},
		"its objects":                           {"RemovePods", plan.DeleteGroupObjects{Group: "storage-1", Pod: "p"}, true},
		"its objects, undrained":                {"RemovePods", plan.DeleteGroupObjects{Group: "storage-1", Pod: "p", Undrained: true}, false},
		"a kind that no pass was to do":         {"ChangeCoordinators", plan.ChangeCoordinators{}, false},
		"the ConfigMap":                         {"UpdateConfigMap", plan.ApplyConfigMap{}, true},
		"the command for the database":          {"UpdateDatabaseConfiguration", plan.Configure{Command: "configure logs=4"}, true},
		"another command for the database":      {"UpdateDatabaseConfiguration", plan.Configure{Command: "configure single"}, false},
		"a new group of the class":              {"AddProcessGroups", created("storage-8", "storage"), true},
		"a new group with another ID":           {"AddProcessGroups", created("storage-77", "storage"), true},
		"a new group of another class":          {"AddProcessGroups", created("log-8", "log"), false},
		"a pod of a group that was not created": {"AddPods", plan.CreatePod{Group: "storage-77"}, false},
		"a pod of the group of the forecast":    {"AddPods", plan.CreatePod{Group: "storage-8"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := Approval{approved: true, later: foreseen{forecast: replacement()}}
			if got := a.Permits(c.stage, c.action); got != c.want {
				t.Errorf("permitted: %t, want %t", got, c.want)
			}
		})
	}
}

// The IDs of new process groups are drawn again: the ones that were created take the place of
// those of the forecast, and no more are created than it has.
func TestAnApprovalCoversCreatedGroupsInPlaceOfForecastOnes(t *testing.T) {
	a := Approval{approved: true, later: foreseen{forecast: replacement()}}
	added := created("storage-77", "storage")
	if !a.Permits("AddProcessGroups", added) {
		t.Fatal("the new group is not permitted")
	}
	a.Carried(reconcile.ActionDone{Stage: "AddProcessGroups", Action: added})
	if !a.Permits("AddPods", plan.CreatePod{Group: "storage-77"}) {
		t.Error("its pod is not permitted")
	}
	if a.Permits("ExcludeInstances", plan.Exclude{Groups: ids("storage-77")}) {
		t.Error("its exclusion is permitted, and the forecast excludes no new group")
	}
	if !a.Permits("AddProcessGroups", added) {
		t.Error("adding the same group again is not permitted")
	}
	if a.Permits("AddProcessGroups", created("storage-78", "storage")) {
		t.Error("a second new group is permitted, the forecast has one")
	}
}

// Another approval replaces the forecast, and another spec voids it.
func TestANewApprovalOrSpecVoidsTheForecast(t *testing.T) {
	exclude := plan.Exclude{Groups: ids("storage-1")}
	a := Approval{}
	a.About(Identity{"1", 1})
	a.Add(planned.PlanView{Forecast: replacement()})
	if !a.Permits("ExcludeInstances", exclude) {
		t.Fatal("the forecast is not permitted")
	}
	a.Passed()
	if !a.Permits("ExcludeInstances", exclude) {
		t.Error("the forecast ended with the first pass")
	}
	a.Add(planned.PlanView{})
	if a.Permits("ExcludeInstances", exclude) {
		t.Error("the forecast outlived the next approval")
	}
	a.Add(planned.PlanView{Forecast: replacement()})
	a.About(Identity{"1", 2})
	if a.Permits("ExcludeInstances", exclude) {
		t.Error("the forecast outlived the spec it was made for")
	}
}
