package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// TestTLSVariablesAreFoundInParametersAndPods looks for a variable in custom parameters and in the pod that runs.
func TestTLSVariablesAreFoundInParametersAndPods(t *testing.T) {
	const variable = "FDB_TLS_CERTIFICATE_FILE"
	parameter := func(text v1beta2.FoundationDBCustomParameter) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			s.Cluster.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
				v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{text}},
			}
		}
	}
	inPod := func(container string, v corev1.EnvVar) func(*plan.Snapshot) {
		return stagestest.OnePod(func(p *corev1.Pod) {
			for i := range p.Spec.Containers {
				if p.Spec.Containers[i].Name == container {
					p.Spec.Containers[i].Env = append(p.Spec.Containers[i].Env, v)
				}
			}
		})
	}
	for name, tc := range map[string]struct {
		given func(*plan.Snapshot)
		want  bool
	}{
		"nowhere":                        {func(*plan.Snapshot) {}, false},
		"a custom parameter":             {parameter("tls_certificate_file=/x"), true},
		"a custom parameter with dashes": {parameter("tls-certificate-file = /x"), true},
		"another custom parameter":       {parameter("tls_key_file=/x"), false},
		"a value of the pod":             {inPod(v1beta2.ContainerMain, corev1.EnvVar{Name: variable, Value: "/x"}), true},
		"a value from elsewhere":         {inPod(v1beta2.ContainerMain, corev1.EnvVar{Name: variable, ValueFrom: &corev1.EnvVarSource{}}), true},
		"an empty value":                 {inPod(v1beta2.ContainerMain, corev1.EnvVar{Name: variable}), false},
		"another variable of the pod":    {inPod(v1beta2.ContainerMain, corev1.EnvVar{Name: "FDB_TLS_KEY_FILE", Value: "/x"}), false},
		"another container":              {inPod(v1beta2.ContainerSidecar, corev1.EnvVar{Name: variable, Value: "/x"}), false},
		"no pod":                         {func(s *plan.Snapshot) { clear(s.Pods) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			g := s.Cluster.ProcessGroup(stagestest.OneGroup)
			if got := objects.SetsTLSFile(s.Cluster, g.ProcessClass, s.Pod(g), variable); got != tc.want {
				t.Errorf("%t, want %t", got, tc.want)
			}
		})
	}
}

// TestARestartListsEachProcessGroupOnce restarts two processes of one group and one of another.
func TestARestartListsEachProcessGroupOnce(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	process := func(id string, port int) fdb.Process {
		return fdb.Process{Address: fdb.Address{Host: "10.1.0.1", Port: port}, Locality: map[string]string{fdb.LocalityInstanceID: id}}
	}
	got := restartOf(s, []fdb.Process{process("log-1", 4501), process("log-1", 4503), process("log-2", 4501)}).(plan.RestartProcesses)
	if diff := cmp.Diff([]v1beta2.ProcessGroupID{"log-1", "log-2"}, got.Groups); diff != "" || len(got.Addresses) != 3 {
		t.Errorf("%d addresses, groups (-want +got):\n%s", len(got.Addresses), diff)
	}
}

// TestAServiceThatDiffersIsUpdatedToTheDesiredSpec changes one field of a service, and checks the new object.
func TestAServiceThatDiffersIsUpdatedToTheDesiredSpec(t *testing.T) {
	want := desiredService{Service: &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{
		Selector: map[string]string{"a": "b"}, Ports: []corev1.ServicePort{{Name: "tls", Port: 4500}}, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
	}}}
	for name, tc := range map[string]struct {
		have    func(*corev1.Service)
		changes bool
	}{
		"nothing":          {func(*corev1.Service) {}, false},
		"another port":     {func(s *corev1.Service) { s.Spec.Ports[0].Port = 4501 }, true},
		"no port":          {func(s *corev1.Service) { s.Spec.Ports = nil }, true},
		"another selector": {func(s *corev1.Service) { s.Spec.Selector = map[string]string{"a": "c"} }, true},
	} {
		have := want.DeepCopy()
		tc.have(have)
		action, changes := serviceAction(have, want)
		got := action.(plan.ApplyService)
		if changes != tc.changes || got.Verb != plan.UpdateService {
			t.Errorf("%s: %s, %t; want %t", name, got.Verb, changes, tc.changes)
		}
		if diff := cmp.Diff(want.Spec, got.Object.Spec); diff != "" {
			t.Errorf("%s: spec (-want +got):\n%s", name, diff)
		}
	}
}
