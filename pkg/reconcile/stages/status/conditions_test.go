package status

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// judged returns the status of the first storage group after the facts were judged.
func judged(t *testing.T, s plan.Snapshot) *v1beta2.ProcessGroupStatus {
	t.Helper()
	id := stagestest.FirstOf(s, "storage").ProcessGroupID
	status, err := NewStatus(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range status.ProcessGroups {
		if g.ProcessGroupID == id {
			return g
		}
	}
	t.Fatalf("%s was removed", id)
	return nil
}

func conditionsOf(g *v1beta2.ProcessGroupStatus) []string {
	var names []string
	for _, c := range g.ProcessGroupConditions {
		names = append(names, string(c.Type))
	}
	slices.Sort(names)
	return names
}

func processWith(edit func(*fdb.Process)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { stagestest.EditProcess(s, stagestest.FirstOf(*s, "storage"), edit) }
}

func unresponsive(s *plan.Snapshot) { stagestest.DropProcess(s, stagestest.FirstOf(*s, "storage")) }

func allUnresponsive(s *plan.Snapshot) {
	s.Database.Status.Cluster.Processes = map[string]fdb.Process{}
}

func endsSince(ago time.Duration) func(*plan.Snapshot) {
	return stagestest.PodWith(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: stagestest.Noon.Add(-ago)} })
}

var excluded = processWith(func(p *fdb.Process) { p.Excluded = new(true) })

func TestConditions(t *testing.T) {
	const (
		missingPod       = string(v1beta2.ConditionMissingPod)
		missingPVC       = string(v1beta2.ConditionMissingPVC)
		missingProcesses = string(v1beta2.ConditionMissingProcesses)
		commandLine      = string(v1beta2.ConditionIncorrectCommandLine)
		podSpec          = string(v1beta2.ConditionIncorrectPodSpec)
		configMap        = string(v1beta2.ConditionIncorrectConfigMap)
		podMetadata      = string(v1beta2.ConditionIncorrectPodMetadata)
		sidecarImage     = string(v1beta2.ConditionIncorrectSidecarImage)
		unreachable      = string(v1beta2.ConditionSidecarUnreachable)
		failing          = string(v1beta2.ConditionPodFailing)
		pending          = string(v1beta2.ConditionPodPending)
		marked           = string(v1beta2.ConditionProcessIsMarkedAsExcluded)
		ioErrors         = string(v1beta2.ConditionProcessHasIOError)
		terminating      = string(v1beta2.ConditionResourcesTerminating)
	)
	type table map[string]struct {
		given func(*plan.Snapshot)
		has   []string
	}
	tests := map[string]table{
		"MissingPod": {
			"holds without a pod":                           {stagestest.LosePod, []string{missingPod}},
			"clears with one":                               {stagestest.Had(v1beta2.ConditionMissingPod), nil},
			"does not come to a group whose data has moved": {stagestest.All(stagestest.ExcludeFirst, excluded, stagestest.LosePod), []string{terminating}},
			"leaves conditions of the pod as they were":     {stagestest.All(stagestest.Had(v1beta2.ConditionIncorrectPodSpec, v1beta2.ConditionMissingProcesses), stagestest.LosePod), []string{podSpec, missingPod, missingProcesses}},
		},
		"ResourcesTerminating": {
			"holds while an excluded group's pod ends":      {stagestest.All(stagestest.ExcludeFirst, excluded, endsSince(time.Second)), []string{terminating}},
			"is never cleared":                              {stagestest.All(stagestest.ExcludeFirst, excluded, stagestest.Had(v1beta2.ConditionResourcesTerminating)), []string{terminating}},
			"does not come to a group that has to stay":     {endsSince(time.Second), nil},
			"does not come to a group whose data must move": {stagestest.All(stagestest.MarkFirst, stagestest.LosePod), []string{missingPod}},
		},
		"PodPending": {
			"holds while the pod is pending": {stagestest.PodWith(func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }), []string{pending}},
			"clears once it runs":            {stagestest.Had(v1beta2.ConditionPodPending), nil},
			"leaves failures as they were": {stagestest.All(stagestest.Had(v1beta2.ConditionPodFailing), stagestest.PodWith(func(p *corev1.Pod) {
				p.Status.Phase = corev1.PodPending
				p.Status.ContainerStatuses[0].Ready = false
			})), []string{failing, pending}},
		},
		"PodFailing": {
			"holds when the pod failed":                        {stagestest.PodWith(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), []string{failing}},
			"holds when a container is not ready":              {stagestest.PodWith(func(p *corev1.Pod) { p.Status.ContainerStatuses[1].Ready = false }), []string{failing}},
			"clears when all are ready":                        {stagestest.Had(v1beta2.ConditionPodFailing), nil},
			"waits while a pod ends":                           {endsSince(5 * time.Minute), nil},
			"holds when a pod does not end":                    {endsSince(5*time.Minute + time.Second), []string{failing}},
			"asks for nothing else of a pod that does not end": {stagestest.All(endsSince(time.Hour), unresponsive, stagestest.PodWith(func(p *corev1.Pod) { p.Labels = nil })), []string{failing}},
		},
		"MissingPVC": {
			"holds without a claim":   {stagestest.LoseClaim, []string{missingPVC}},
			"clears with one":         {stagestest.Had(v1beta2.ConditionMissingPVC), nil},
			"holds with wrong labels": {func(s *plan.Snapshot) { s.Volumes[stagestest.FirstOf(*s, "storage").PVCName(s.Cluster)].Labels = nil }, []string{missingPVC}},
			"does not ask what it was made of": {func(s *plan.Snapshot) {
				s.Volumes[stagestest.FirstOf(*s, "storage").PVCName(s.Cluster)].Annotations[v1beta2.AnnotationLastAppliedSpec] = "other"
			}, nil},
		},
		"MissingProcesses": {
			"holds when the process does not report":                  {unresponsive, []string{missingProcesses}},
			"holds when its entry has no command line":                {processWith(func(p *fdb.Process) { p.CommandLine = "" }), []string{missingProcesses}},
			"holds when its entry has no version":                     {processWith(func(p *fdb.Process) { p.Version = "" }), []string{missingProcesses}},
			"clears when it reports":                                  {stagestest.Had(v1beta2.ConditionMissingProcesses), nil},
			"stays as it was when no process reports":                 {allUnresponsive, nil},
			"stays as it was when no process reports, if it was true": {stagestest.All(stagestest.Had(v1beta2.ConditionMissingProcesses), allUnresponsive), []string{missingProcesses}},
			"keeps its first time":                                    {stagestest.All(unresponsive, stagestest.Had(v1beta2.ConditionMissingProcesses)), []string{missingProcesses}},
			"does not count a process of another data center": {stagestest.All(processWith(func(p *fdb.Process) { p.Locality[fdb.LocalityDCID] = "dc2" }), func(s *plan.Snapshot) {
				s.Cluster.Spec.DataCenter = "dc1"
				for id, p := range s.Database.Status.Cluster.Processes {
					if p.Locality[fdb.LocalityDCID] == "" {
						p.Locality[fdb.LocalityDCID] = "dc1"
						s.Database.Status.Cluster.Processes[id] = p
					}
				}
			}), []string{configMap, missingProcesses}},
		},
		"IncorrectCommandLine": {
			"holds with another argument":                       {processWith(func(p *fdb.Process) { p.CommandLine += " --knob_x=1" }), []string{commandLine}},
			"holds with another version":                        {processWith(func(p *fdb.Process) { p.Version = "7.1.67" }), []string{commandLine}},
			"takes a prerelease for its version":                {processWith(func(p *fdb.Process) { p.Version += "-PRERELEASE" }), nil},
			"clears when both are right":                        {stagestest.Had(v1beta2.ConditionIncorrectCommandLine), nil},
			"stays as it was while the process does not report": {stagestest.All(stagestest.Had(v1beta2.ConditionIncorrectCommandLine), unresponsive), []string{commandLine, missingProcesses}},
			"stays as it was while the pod reports nothing":     {stagestest.All(stagestest.Had(v1beta2.ConditionIncorrectCommandLine), stagestest.Report(func(r *plan.PodReport) { r.Variables = nil })), []string{commandLine}},
			"clears when there is no pod":                       {stagestest.All(stagestest.Had(v1beta2.ConditionIncorrectCommandLine), stagestest.LosePod), []string{missingPod}},
			"clears when the pod ends":                          {stagestest.All(stagestest.Had(v1beta2.ConditionIncorrectCommandLine), endsSince(time.Second)), nil},
		},
		"IncorrectPodSpec": {
			"holds when it was made from another spec": {stagestest.PodWith(func(p *corev1.Pod) { p.Annotations[v1beta2.AnnotationLastAppliedSpec] = "other" }), []string{podSpec}},
			"clears when it was not":                   {stagestest.Had(v1beta2.ConditionIncorrectPodSpec), nil},
		},
		"IncorrectConfigMap": {
			"holds until the pod has confirmed": {stagestest.PodWith(func(p *corev1.Pod) { p.Annotations[v1beta2.AnnotationLastAppliedConfigMap] = "old" }), []string{configMap}},
			"clears when it has":                {stagestest.Had(v1beta2.ConditionIncorrectConfigMap), nil},
		},
		"IncorrectPodMetadata": {
			"holds when a label is missing": {stagestest.PodWith(func(p *corev1.Pod) { delete(p.Labels, v1beta2.LabelProcessClass) }), []string{podMetadata}},
			"does not mind foreign labels":  {stagestest.PodWith(func(p *corev1.Pod) { p.Labels["theirs"] = "1" }), nil},
			"clears when all are there":     {stagestest.Had(v1beta2.ConditionIncorrectPodMetadata), nil},
		},
		"IncorrectSidecarImage": {
			"holds with another sidecar": {stagestest.PodWith(func(p *corev1.Pod) {
				for i := range p.Spec.Containers {
					if p.Spec.Containers[i].Name == v1beta2.ContainerSidecar {
						p.Spec.Containers[i].Image = "example.com/other:1"
					}
				}
			}), []string{sidecarImage}},
			"clears when there is none": {stagestest.Had(v1beta2.ConditionIncorrectSidecarImage), nil},
		},
		"SidecarUnreachable": {
			"holds when it could not be asked":              {stagestest.Report(func(r *plan.PodReport) { r.Unreachable = "timed out" }), []string{unreachable}},
			"clears when it answered":                       {stagestest.Had(v1beta2.ConditionSidecarUnreachable), nil},
			"stays as it was when the sidecar was not read": {stagestest.All(stagestest.Had(v1beta2.ConditionSidecarUnreachable), func(s *plan.Snapshot) { delete(s.PodFiles, stagestest.FirstPod(s).Name) }), []string{unreachable}},
		},
		"ProcessIsMarkedAsExcluded": {
			"holds when the process is excluded":                {excluded, []string{marked}},
			"clears when it is not":                             {stagestest.Had(v1beta2.ConditionProcessIsMarkedAsExcluded), nil},
			"stays as it was while the process does not report": {stagestest.All(stagestest.Had(v1beta2.ConditionProcessIsMarkedAsExcluded), unresponsive), []string{missingProcesses, marked}},
		},
		"ProcessHasIOError": {
			"holds after an error":    {processWith(func(p *fdb.Process) { p.Messages = []fdb.Message{{Name: "io_error"}} }), []string{ioErrors}},
			"holds after a timeout":   {processWith(func(p *fdb.Process) { p.Messages = []fdb.Message{{Name: "other"}, {Name: "io_timeout"}} }), []string{ioErrors}},
			"does not mind the rest":  {processWith(func(p *fdb.Process) { p.Messages = []fdb.Message{{Name: "slow"}} }), nil},
			"clears without messages": {stagestest.Had(v1beta2.ConditionProcessHasIOError), nil},
		},
		"under maintenance": {
			"nothing about the zone's groups changes": {stagestest.All(stagestest.UnderMaintenance("node-14"), unresponsive, stagestest.LosePod, stagestest.Had(v1beta2.ConditionPodPending)), []string{pending}},
			"groups of other zones are judged":        {stagestest.All(stagestest.UnderMaintenance("node-15"), unresponsive), []string{missingProcesses}},
			"an unknown fault domain is judged":       {stagestest.All(stagestest.UnderMaintenance(""), unresponsive), []string{missingProcesses}},
		},
		"spec lists": {
			"mark a group for removal": {func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{stagestest.FirstOf(*s, "storage").ProcessGroupID}
			}, nil},
		},
	}
	for name, cases := range tests {
		for claim, tc := range cases {
			t.Run(name+" "+claim, func(t *testing.T) {
				s := stagestest.HealthyCluster(t)
				tc.given(&s)
				if diff := cmp.Diff(tc.has, conditionsOf(judged(t, s))); diff != "" {
					t.Errorf("conditions (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestMaintenanceDoesNotHideMissingLogProcesses(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	g := stagestest.FirstOf(s, "log")
	stagestest.UnderMaintenance(string(g.FaultDomain))(&s)
	stagestest.DropProcess(&s, g)
	status, err := NewStatus(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range status.ProcessGroups {
		if got.ProcessGroupID == g.ProcessGroupID && !got.HasCondition(v1beta2.ConditionMissingProcesses) {
			t.Error("a log process that does not report is not missing")
		}
	}
}

func TestAConditionKeepsTheTimeItBegan(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	stagestest.All(unresponsive, stagestest.Had(v1beta2.ConditionMissingProcesses))(&s)
	if since, _ := judged(t, s).Condition(v1beta2.ConditionMissingProcesses); !since.Equal(stagestest.Noon.Add(-time.Hour)) {
		t.Errorf("missing since %s, want since an hour before noon", since)
	}
	s = stagestest.HealthyCluster(t)
	unresponsive(&s)
	if since, _ := judged(t, s).Condition(v1beta2.ConditionMissingProcesses); !since.Equal(stagestest.Noon) {
		t.Errorf("missing since %s, want since noon", since)
	}
}

func TestARevertedExclusionIsClearedFromTheStatus(t *testing.T) {
	tests := map[string]struct {
		given     func(*plan.Snapshot)
		forgotten bool
	}{
		"when all processes report and none is excluded":                 {func(*plan.Snapshot) {}, true},
		"but not while one is excluded":                                  {excluded, false},
		"when one does not report and no exclusion is listed":            {unresponsive, true},
		"when only its volume is left and no exclusion is listed":        {stagestest.LosePod, true},
		"but not while one does not report and its locality is excluded": {stagestest.All(unresponsive, listExclusion), false},
		"but not while one does not report and an address of it is excluded": {func(s *plan.Snapshot) {
			unresponsive(s)
			s.Database.Status.Cluster.Configuration.ExcludedServers = []fdb.ExcludedServer{{Address: stagestest.FirstOf(*s, "storage").Addresses[0]}}
		}, false},
		"but not while one does not report and the exclusions are unknown": {func(s *plan.Snapshot) {
			unresponsive(s)
			s.Database.Status.Cluster.Configuration = nil
		}, false},
		"but not when nothing of it is left": {func(s *plan.Snapshot) {
			delete(s.Volumes, stagestest.FirstOf(*s, "storage").PVCName(s.Cluster))
			stagestest.LosePod(s)
		}, false},
		"but not where exclusion was skipped": {func(s *plan.Snapshot) { stagestest.FirstOf(*s, "storage").ExclusionSkipped = true }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			stagestest.ExcludeFirst(&s)
			tc.given(&s)
			if got := judged(t, s).ExclusionTimestamp == nil; got != tc.forgotten {
				t.Errorf("forgotten: %t, want %t", got, tc.forgotten)
			}
		})
	}
}

func listExclusion(s *plan.Snapshot) {
	s.Database.Status.Cluster.Configuration.ExcludedServers = []fdb.ExcludedServer{{Locality: stagestest.FirstOf(*s, "storage").ExclusionString()}}
}

func TestRemovalListsOfTheSpecMarkGroupsForRemoval(t *testing.T) {
	list := func(s *plan.Snapshot) []v1beta2.ProcessGroupID {
		return []v1beta2.ProcessGroupID{stagestest.FirstOf(*s, "storage").ProcessGroupID}
	}
	tests := map[string]struct {
		given             func(*plan.Snapshot)
		marked, isSkipped bool
	}{
		"not without a list":      {func(*plan.Snapshot) {}, false, false},
		"to be drained":           {func(s *plan.Snapshot) { s.Cluster.Spec.ProcessGroupsToRemove = list(s) }, true, false},
		"to go without exclusion": {func(s *plan.Snapshot) { s.Cluster.Spec.ProcessGroupsToRemoveWithoutExclusion = list(s) }, true, true},
		"for good: a list that is emptied takes no mark back": {stagestest.MarkFirst, true, false},
		"not one that the spec keeps": {func(s *plan.Snapshot) {
			s.Cluster.Spec.ProcessGroupsToRemove = list(s)
			s.Cluster.Spec.ProcessGroupsToRemoveWithoutExclusion = list(s)
			stagestest.Kept(list(s)...)(s)
		}, false, false},
		"one that the spec keeps stays as it was marked": {stagestest.All(stagestest.MarkFirst, func(s *plan.Snapshot) {
			s.Cluster.Spec.ProcessGroupsToRemoveWithoutExclusion = list(s)
			stagestest.Kept(list(s)...)(s)
		}), true, false},
		"that were marked before to go without exclusion": {stagestest.All(stagestest.MarkFirst, func(s *plan.Snapshot) { s.Cluster.Spec.ProcessGroupsToRemoveWithoutExclusion = list(s) }), true, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			g := judged(t, s)
			if g.IsMarkedForRemoval() != tc.marked || g.ExclusionSkipped != tc.isSkipped || g.IsExcluded() != tc.isSkipped {
				t.Errorf("marked %t, skipped %t, excluded %t", g.IsMarkedForRemoval(), g.ExclusionSkipped, g.IsExcluded())
			}
			for _, other := range s.Groups() {
				if other.ProcessClass == "log" && other.IsMarkedForRemoval() {
					t.Errorf("%s is marked as well", other.ProcessGroupID)
				}
			}
		})
	}
}

func TestStatusNeverListsAConditionTwice(t *testing.T) {
	for seed := range uint64(40) {
		s := stagestest.AnySnapshot(t, seed)
		status, err := NewStatus(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range status.ProcessGroups {
			if names := conditionsOf(g); len(slices.Compact(slices.Clone(names))) != len(names) {
				t.Errorf("seed %d: %s has %s", seed, g.ProcessGroupID, strings.Join(names, ", "))
			}
		}
	}
}
