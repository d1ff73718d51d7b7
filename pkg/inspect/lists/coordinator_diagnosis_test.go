package lists

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// CoordinatorPods are the facts of a database that does not answer, with the
// pods of its coordinators, which run where they ran.
func CoordinatorPods(t *testing.T) (f inspect.Facts, pods []*corev1.Pod) {
	t.Helper()
	f = unanswered(t)
	f.Volumes = map[string]*corev1.PersistentVolumeClaim{}
	cs, err := fdb.ParseConnectionString(f.Cluster.Status.ConnectionString)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cs.Coordinators {
		g := f.GroupAt("", c)
		if g == nil {
			t.Fatalf("no process is at %s", c)
		}
		pod := f.Pod(g)
		pod.Status.PodIP, pod.Status.ContainerStatuses[0].Ready = c.Host, true
		pod.Status.ContainerStatuses[0].Name = v1beta2.ContainerMain
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		f.Volumes[g.PVCName(f.Cluster)] = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: g.PVCName(f.Cluster)}}
		pods = append(pods, pod)
	}
	return f, pods
}

func TestCoordinatorDiagnosisDistinguishesDownMovedAndLost(t *testing.T) {
	removed := func(f inspect.Facts, pod *corev1.Pod) { delete(f.Pods, pod.Name) }
	moved := func(_ inspect.Facts, pod *corev1.Pod) {
		pod.Status.PodIP = "10.9.9." + pod.Status.PodIP[len(pod.Status.PodIP)-1:]
	}
	lost := func(f inspect.Facts, pod *corev1.Pod) {
		delete(f.Pods, pod.Name)
		delete(f.Volumes, pod.Name+"-data")
	}
	service := func(f inspect.Facts, pod *corev1.Pod) {
		source := v1beta2.PublicIPSourceService
		f.Cluster.Spec.Routing.PublicIPSource = &source
		delete(f.Pods, pod.Name)
	}
	forgotten := func(f inspect.Facts, pod *corev1.Pod) {
		for _, g := range f.Groups() {
			if g.PodName(f.Cluster) == pod.Name {
				g.Addresses = nil
			}
		}
	}
	tests := map[string]struct {
		one, two func(inspect.Facts, *corev1.Pod)
		want     CoordinatorCase
		fate     CoordinatorState // of the first
	}{
		"all run, and none answers":                    {want: QuorumDown},
		"one has moved, and two are a quorum":          {one: moved, want: QuorumDown, fate: CoordinatorMoved},
		"two have moved":                               {one: moved, two: moved, want: QuorumMoved, fate: CoordinatorMoved},
		"two are lost, and will have other IPs":        {one: removed, two: removed, want: QuorumMoved, fate: CoordinatorMoved},
		"two are lost, and services keep their IPs":    {one: service, two: service, want: QuorumDown, fate: CoordinatorDown},
		"two are lost with their volumes":              {one: lost, two: lost, want: QuorumLost, fate: CoordinatorLost},
		"one has moved, and one is lost for good":      {one: moved, two: lost, want: QuorumMoved, fate: CoordinatorMoved},
		"two belong to no process group of the status": {one: forgotten, two: forgotten, want: QuorumLost, fate: CoordinatorUnknown},
		"one is lost, and one is unknown":              {one: lost, two: forgotten, want: QuorumLost, fate: CoordinatorLost},
		"one is lost, and two can still be a quorum":   {one: lost, want: QuorumDown, fate: CoordinatorLost},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f, pods := CoordinatorPods(t)
			for i, edit := range []func(inspect.Facts, *corev1.Pod){tc.one, tc.two} {
				if edit != nil {
					edit(f, pods[i])
				}
			}
			v := NewCoordinatorDiagnosisView(meta, f)
			if v.Case != tc.want || v.Quorum != 2 {
				t.Errorf("case %s, quorum %d, want %s: %+v", v.Case, v.Quorum, tc.want, v.Items)
			}
			if tc.fate != "" && v.Items[0].State != tc.fate {
				t.Errorf("the first %s, want %s: %+v", v.Items[0].State, tc.fate, v.Items[0])
			}
		})
	}
}

// A document of a database that is unavailable still has which coordinators answer.
func TestAReachableCoordinatorIsNotReportedAsMoved(t *testing.T) {
	f, pods := CoordinatorPods(t)
	f.Database = healthy(t).Database
	f.Database.Status.Client.Coordinators.QuorumReachable = false
	pods[0].Status.PodIP = "10.9.9.9"
	v := NewCoordinatorDiagnosisView(meta, f)
	if v.Items[0].State != CoordinatorReachable || v.Source != inspect.SourceLive {
		t.Errorf("%+v", v)
	}
}
