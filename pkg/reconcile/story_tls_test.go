package reconcile_test

import (
	"io"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// A cluster goes to TLS without a moment in which a server cannot find the others: all
// servers listen both ways first, then coordinators are known by their TLS addresses, and
// only then the plain listeners go. Until coordinators have moved, no pod is touched, so
// what else the spec changes of pods comes after that.
func TestTLSIsEnabledOnARunningCluster(t *testing.T) {
	st := newStory(t, 13, withCertificates)
	steps := stepsOf(st.w)
	st.heading("TLS is switched on, and storage pods get another environment")
	st.spec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.MainContainer.EnableTLS = true
		storage := certificates()
		storage.Spec.Containers[0].Env = append(storage.Spec.Containers[0].Env, corev1.EnvVar{Name: "TZ", Value: "UTC"})
		s.Processes[v1beta2.ProcessClassStorage] = v1beta2.ProcessSettings{PodTemplate: storage}
	})
	st.times(4, 10*time.Second)
	st.heading("ten minutes after the restart")
	st.w.Tick(10 * time.Minute)
	st.times(3, 5*time.Second)
	st.heading("with more time between passes")
	st.run(5*time.Minute, always)
	if want := []string{"restart", "coordinators", "pods"}; !slices.Equal((*steps)[:len(want)], want) {
		t.Errorf("began with %v, want %v", (*steps)[:len(want)], want)
	}
	if diff := cmp.Diff([]string{":tls"}, listenersOf(t, st.w)); diff != "" {
		t.Errorf("kinds of listeners (-want +got):\n%s", diff)
	}
	if !st.w.FDB.Databases()[0].EveryKeyOnAtLeast(2) {
		t.Error("data has too few replicas")
	}
	st.ends()
}

// And back again, which is the same in the other direction.
func TestTLSIsDisabledOnARunningCluster(t *testing.T) {
	w := oldAndQuiet(t, 14, func(c *v1beta2.FoundationDBCluster) {
		withCertificates(c)
		c.Spec.MainContainer.EnableTLS = true
	})
	steps := stepsOf(w)
	changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) { s.MainContainer.EnableTLS = false })
	settle(t, w, 90, io.Discard)
	if want := []string{"restart", "coordinators", "restart"}; !slices.Equal(*steps, want) {
		t.Errorf("went by %v, want %v", *steps, want)
	}
	if diff := cmp.Diff([]string{""}, listenersOf(t, w)); diff != "" {
		t.Errorf("kinds of listeners (-want +got):\n%s", diff)
	}
}

// listenersOf are the endings of all addresses of servers and coordinators, each once:
// nothing for a plain one.
func listenersOf(t *testing.T, w *sim.Cluster) []string {
	t.Helper()
	var seen plan.Snapshot
	if err := w.Observe(t.Context(), &seen, plan.Database); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, c := range w.FDB.Databases()[0].ConnectionString().Coordinators {
		kinds[ending(c)] = true
	}
	for _, p := range seen.Database.Status.ProcessList() {
		addresses, err := fdb.PublicAddresses(p.CommandLine)
		if err != nil {
			kinds[err.Error()] = true
		}
		for _, a := range addresses {
			kinds[ending(a)] = true
		}
	}
	return slices.Sorted(maps.Keys(kinds))
}

func ending(a fdb.Address) string {
	if a.TLS {
		return ":tls"
	}
	return ""
}

// Without certificates every server would end at once, and none would come back. The
// database stays up, a user is prompted, and a spec that goes back is followed.
func TestTLSIsNotEnabledWithoutCertificates(t *testing.T) {
	w := oldAndQuiet(t, 15, nil)
	steps := stepsOf(w)
	changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) { s.MainContainer.EnableTLS = true })
	for range 5 {
		w.Tick(11 * time.Minute)
		pass(t, w, func(reconcile.Event) {})
	}
	if done := pass(t, w, func(reconcile.Event) {}); done.Outcome != reconcile.Blocked || len(*steps) > 0 {
		t.Errorf("ends %s after %v, want a user to be asked", done.Outcome, *steps)
	}
	changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) { s.MainContainer.EnableTLS = false })
	settle(t, w, 20, io.Discard)
	if len(*steps) > 0 || !w.Resource.Status.Health.Available {
		t.Errorf("available %t after %v", w.Resource.Status.Health.Available, *steps)
	}
}

// stepsOf names what is done to servers, one word each.
func stepsOf(w *sim.Cluster) *[]string {
	var steps []string
	w.Refuse = func(a plan.Action) error {
		switch a.(type) { //nolint:gochecksumtype // the rest do nothing to servers
		case plan.RestartProcesses:
			steps = append(steps, "restart")
		case plan.ChangeCoordinators:
			steps = append(steps, "coordinators")
		case plan.DeletePods, plan.MarkForRemoval, plan.Exclude:
			steps = append(steps, "pods")
		}
		return nil
	}
	return &steps
}

// withCertificates gives all pods what servers and tools need for TLS. That comes before
// TLS is switched on: a server without a certificate cannot listen with TLS.
func withCertificates(c *v1beta2.FoundationDBCluster) {
	c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {PodTemplate: certificates()}}
}

func certificates() *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Volumes: []corev1.Volume{{Name: "certs", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "certs"}}}},
		Containers: []corev1.Container{{
			Name: v1beta2.ContainerMain,
			Env: []corev1.EnvVar{
				{Name: v1beta2.EnvTLSCertificateFile, Value: "/certs/tls.crt"},
				{Name: v1beta2.EnvTLSKeyFile, Value: "/certs/tls.key"},
				{Name: v1beta2.EnvTLSCAFile, Value: "/certs/ca.crt"},
			},
			VolumeMounts: []corev1.VolumeMount{{Name: "certs", MountPath: "/certs"}},
		}},
	}}
}
