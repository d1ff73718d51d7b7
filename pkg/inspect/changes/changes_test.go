package changes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// side returns the facts about a cluster. Its nodes exist, and its exclusions and locks were read.
func side(g inspecttest.Given) *Side {
	s := &Side{
		Moment:     Moment{At: inspecttest.Noon, Context: "prod"},
		Facts:      inspect.Facts{Snapshot: g.Snapshot, Gaps: g.Gaps, Desired: g.Desired, Recorded: g.Recorded, Lease: inspect.Lease{Read: true}},
		Exclusions: &plan.CoordinationFacts{}, Shared: &plan.CoordinationFacts{Read: true},
	}
	s.Facts.Nodes = map[string]*corev1.Node{}
	for _, pod := range s.Facts.Pods {
		s.Facts.Nodes[pod.Spec.NodeName] = &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		}
	}
	return s
}

func words(v View) string {
	var b strings.Builder
	value := func(text *string) string {
		if text == nil {
			return "nil"
		}
		return *text
	}
	for _, c := range v.Items {
		fmt.Fprintf(&b, "%s %s %s %s: %s to %s\n", c.Kind, c.Section, c.Object, c.Field, value(c.Before), value(c.After))
	}
	return b.String()
}

func TestDumpDiffReportsEachChangedField(t *testing.T) {
	for name, row := range map[string]struct {
		change func(s *Side)
		want   string
	}{
		"nothing": {func(*Side) {}, ""},
		"time passes": {func(s *Side) {
			s.Moment.At = s.Moment.At.Add(time.Hour)
			s.Facts.Now = s.Facts.Now.Add(time.Hour)
		}, ""},
		"another cluster of the same name":     {func(s *Side) { s.Facts.Cluster.UID = "another" }, "added spec  metadata.uid: nil to another\n"},
		"a number of the spec":                 {func(s *Side) { s.Facts.Cluster.Spec.ProcessCounts.Storage = 6 }, "changed spec  processCounts.storage: 5 to 6\n"},
		"a field of the spec that was not set": {func(s *Side) { s.Facts.Cluster.Spec.Skip = true }, "changed availability  skip: false to true\nadded spec  skip: nil to true\n"},
		"a container of the spec, by its name": {func(s *Side) {
			template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "foundationdb", Env: []corev1.EnvVar{{Name: "A", Value: "1"}}}}}}
			s.Facts.Cluster.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {PodTemplate: template}}
		}, "added spec  processes.general.podTemplate.spec.containers[foundationdb].env[A].name: nil to A\nadded spec  processes.general.podTemplate.spec.containers[foundationdb].env[A].value: nil to 1\nadded spec  processes.general.podTemplate.spec.containers[foundationdb].name: nil to foundationdb\n"},
		"the running version": {func(s *Side) { s.Facts.Cluster.Status.RunningVersion = "7.3.80" }, "changed versions  running: 7.3.79 to 7.3.80\n"},
		"a setting of the database": {func(s *Side) {
			other := *s.Facts.Database.Status.Cluster.Configuration
			other.RedundancyMode = "triple"
			s.Facts.Database.Status.Cluster.Configuration = &other
		}, "changed configuration  redundancy_mode: double to triple\n"},
		"a process group that left": {func(s *Side) {
			s.Facts.Cluster.Status.ProcessGroups = s.Facts.Cluster.Status.ProcessGroups[1:]
		}, "removed process-groups GROUP : nil to nil\nremoved nodes NODE : nil to nil\n"},
		"a process that reports no more": {func(s *Side) {
			inspecttest.Unresponsiveness(s.Facts.Snapshot, s.Facts.Cluster.Status.ProcessGroups[0].ProcessGroupID, time.Minute)
		}, "changed availability  processesReported: 12 to 11\nchanged availability  state: healthy to degraded\nchanged availability  zonesThatMayFail: 1 to 0\nchanged process-groups GROUP conditions: [] to [\"MissingProcesses\"]\nchanged process-groups GROUP processes: 1 to 0\n"},
		"a condition": {func(s *Side) {
			s.Facts.Cluster.Status.ProcessGroups[0].SetCondition(v1beta2.ConditionPodFailing, inspecttest.Noon)
		}, "changed availability  state: healthy to degraded\nchanged process-groups GROUP conditions: [] to [\"PodFailing\"]\n"},
		"a mark for removal": {func(s *Side) {
			s.Facts.Cluster.Status.ProcessGroups[0].RemovalTimestamp = &metav1.Time{Time: inspecttest.Noon}
		}, "changed process-groups GROUP exclusion: none to pending\nchanged process-groups GROUP markedForRemoval: false to true\n"},
		"a pod that was recreated": {func(s *Side) { s.pod().UID = types.UID("other") }, "changed pods POD uid:  to other\n"},
		"a pod that failed":        {func(s *Side) { s.pod().Status.Phase = corev1.PodFailed }, "changed availability  state: healthy to degraded\nchanged pods POD phase: Running to Failed\n"},
		"another image":            {func(s *Side) { s.pod().Spec.Containers[0].Image = "other" }, "changed pods POD image[foundationdb]: foundationdb/fdb-kubernetes-monitor:7.3.79 to other\n"},
		"a node that was cordoned": {func(s *Side) { s.Facts.Nodes[s.pod().Spec.NodeName].Spec.Unschedulable = true }, "changed nodes NODE unschedulable: false to true\n"},
		"a kubelet that reports no more": {func(s *Side) {
			s.Facts.Nodes[s.pod().Spec.NodeName].Status.Conditions[0].Status = corev1.ConditionUnknown
		}, "changed nodes NODE ready: true to Unknown\n"},
		"a node that was deleted": {func(s *Side) { delete(s.Facts.Nodes, s.pod().Spec.NodeName) }, "removed nodes NODE : nil to nil\n"},
		"an exclusion":            {func(s *Side) { s.Exclusions.Exclusions = []string{"10.1.0.1"} }, "added exclusions 10.1.0.1 : nil to nil\n"},
		"a lock": {func(s *Side) {
			s.Shared.Lock = &fdb.Lock{Owner: "dc1", Start: inspecttest.Noon, End: inspecttest.Noon.Add(time.Hour)}
		}, "added locks  owner: nil to dc1\nchanged locks  state: free to held\n"},
		"a denied owner": {func(s *Side) { s.Shared.DenyList = []string{"dc2"} }, "added locks  denied[dc2]: nil to true\n"},
		"a run": {func(s *Side) {
			s.Facts.Lease = inspect.Lease{Read: true, Holder: "me", Until: inspecttest.Noon.Add(time.Hour)}
		}, "changed locks  leaseHolder:  to me\n"},
		"locks that could not be read":   {func(s *Side) { s.Shared = nil }, "unknown locks  : nil to nil\n"},
		"nodes that could not be read":   {func(s *Side) { s.Facts.Nodes, s.Facts.NodesHidden = nil, "forbidden" }, "unknown nodes  : nil to nil\n"},
		"a Lease that could not be read": {func(s *Side) { s.Facts.Lease = inspect.Lease{} }, "unknown locks  leaseHolder:  to nil\n"},
		"an ID of a connection string":   {func(s *Side) { s.Facts.Cluster.Spec.SeedConnectionString = "sample:other@127.0.2.11:4501" }, ""},
		"a coordinator of the seed":      {func(s *Side) { s.Facts.Cluster.Spec.SeedConnectionString = "sample:abc@127.0.2.12:4501" }, "changed spec  seedConnectionString: sample:***@127.0.2.11:4501 to sample:***@127.0.2.12:4501\n"},
		"an ID of the coordinators' file": {func(s *Side) {
			s.Facts.Cluster.Status.ConnectionString = "sample:other@127.0.2.11:4501,127.0.2.12:4501,127.0.2.13:4501"
		}, ""},
	} {
		before, after := side(inspecttest.Healthy(t)), side(inspecttest.Healthy(t))
		for _, s := range []*Side{before, after} {
			s.Facts.Cluster.Spec.SeedConnectionString = "sample:abc@127.0.2.11:4501"
		}
		row.change(after)
		v := New(inspect.Metadata{}, *before, *after)
		group := before.Facts.Cluster.Status.ProcessGroups[0]
		want := strings.NewReplacer("GROUP", string(group.ProcessGroupID), "POD", group.PodName(before.Facts.Cluster), "NODE", before.pod().Spec.NodeName).Replace(row.want)
		if diff := cmp.Diff(want, words(v)); diff != "" {
			t.Errorf("%s\n%s", name, diff)
		}
		if n := strings.Count(want, "\n") - strings.Count(want, "unknown "); v.Differences != n {
			t.Errorf("%s: %d differences, want %d", name, v.Differences, n)
		}
	}
}

// A new process group has no addresses until its pod has some.
func TestAProcessGroupWithoutAddressesIsNoDifference(t *testing.T) {
	before, after := side(inspecttest.Healthy(t)), side(inspecttest.Healthy(t))
	for _, s := range []*Side{before, after} {
		s.Facts.Cluster.Status.ProcessGroups[0].Addresses = nil
	}
	if diff := cmp.Diff("", words(New(inspect.Metadata{}, *before, *after))); diff != "" {
		t.Error(diff)
	}
}

// pod returns the pod of the first process group.
func (s *Side) pod() *corev1.Pod {
	return s.Facts.Pods[s.Facts.Cluster.Status.ProcessGroups[0].PodName(s.Facts.Cluster)]
}

func TestFieldsOfAnUnresponsiveDatabaseAreUnknownNotDifferent(t *testing.T) {
	healthy, down := side(inspecttest.Healthy(t)), side(inspecttest.Unanswered(t))
	for _, s := range []*Side{healthy, down} {
		s.Facts.Gaps = healthy.Facts.Gaps
	}
	down.Exclusions, down.Shared = nil, nil
	v := New(inspect.Metadata{}, *healthy, *down)
	for _, c := range v.Items {
		unknown := c.Section == Configuration || c.Section == Exclusions || c.Section == Locks || c.Field == "available" || c.Field == "reachable" || c.Field == "processes" || c.Section == Versions && c.Field == "processes"
		if unknown && c.Kind != Unknown {
			t.Errorf("%+v", c)
		}
	}
	twice := New(inspect.Metadata{}, *down, *down)
	if twice.Differences != 0 || len(twice.Items) == 0 {
		t.Errorf("%d differences of what is unknown twice, %d items", twice.Differences, len(twice.Items))
	}
}

func TestDumpDiffWarnsOfDifferentContextsAndWrongOrder(t *testing.T) {
	before, after := side(inspecttest.Healthy(t)), side(inspecttest.Healthy(t))
	after.Moment = Moment{At: inspecttest.Noon.Add(-time.Hour), Context: "other"}
	want := []string{"the first facts are newer than the second ones", "the facts are of two contexts: prod and other"}
	if diff := cmp.Diff(want, New(inspect.Metadata{}, *before, *after).Warnings); diff != "" {
		t.Error(diff)
	}
}
