package live_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// operator is a ready Deployment of the operator in a namespace of its own.
func operator(edit func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "operators", Name: "manager"},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "proxy", Image: "example.com/proxy:1"},
			{Name: "manager", Image: "docker.io/foundationdb/fdb-kubernetes-operator:v2.30.0"},
		}}}},
		Status: appsv1.DeploymentStatus{ReadyReplicas: 1},
	}
	if edit != nil {
		edit(d)
	}
	return d
}

func manager(d *appsv1.Deployment) *corev1.Container { return &d.Spec.Template.Spec.Containers[1] }

func watching(namespace string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		manager(d).Env = []corev1.EnvVar{{Name: "OTHER", Value: "x"}, {Name: "WATCH_NAMESPACE", Value: namespace}}
	}
}

// election is the operator's leader-election Lease, renewed a while ago.
func election(ago time.Duration, edit func(*coordinationv1.Lease)) *coordinationv1.Lease {
	l := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "operators", Name: "fdb-kubernetes-operator"},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("manager-0"), LeaseDurationSeconds: ptr.To[int32](15), RenewTime: new(metav1.NewMicroTime(sim.Noon.Add(-ago))),
		},
	}
	if edit != nil {
		edit(l)
	}
	return l
}

func TestTheOperatorGateFailsIfAnOperatorWatchesTheNamespace(t *testing.T) {
	tests := map[string]struct {
		objects []client.Object
		passes  bool
	}{
		"no operator runs": {nil, true},
		"an operator that does not say what it watches":         {[]client.Object{operator(nil)}, false},
		"an operator that watches all namespaces":               {[]client.Object{operator(watching(""))}, false},
		"an operator that watches this namespace":               {[]client.Object{operator(watching("fdb"))}, false},
		"an operator that watches another namespace":            {[]client.Object{operator(watching("other"))}, true},
		"an operator that watches its own, another":             {[]client.Object{operator(ownNamespace)}, true},
		"an operator that watches its own, which is this":       {[]client.Object{operator(func(d *appsv1.Deployment) { ownNamespace(d); d.Namespace = "fdb" })}, false},
		"an operator with a flag to watch this":                 {[]client.Object{operator(func(d *appsv1.Deployment) { manager(d).Args = []string{"--watch-namespace=fdb"} })}, false},
		"an operator with a flag of two words to watch another": {[]client.Object{operator(func(d *appsv1.Deployment) { manager(d).Args = []string{"-watch-namespace", "other"} })}, true},
		"an operator whose namespace is kept elsewhere": {[]client.Object{operator(func(d *appsv1.Deployment) {
			manager(d).Env = []corev1.EnvVar{{Name: "WATCH_NAMESPACE", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{Key: "x"}}}}
		})}, false},
		"an operator from a private registry, by digest": {[]client.Object{operator(func(d *appsv1.Deployment) {
			manager(d).Image = "registry.local:5000/mirror/fdb-kubernetes-operator@sha256:0123"
		})}, false},
		"an operator without a ready pod":                                   {[]client.Object{operator(func(d *appsv1.Deployment) { d.Status.ReadyReplicas = 0 })}, true},
		"a ready Deployment of something else":                              {[]client.Object{operator(func(d *appsv1.Deployment) { manager(d).Image = "fdb-kubernetes-operator-docs:1" })}, true},
		"a leader-election Lease renewed just now":                          {[]client.Object{election(time.Second, nil)}, false},
		"one renewed a whole term ago":                                      {[]client.Object{election(15*time.Second, nil)}, false},
		"one that ran out":                                                  {[]client.Object{election(16*time.Second, nil)}, true},
		"one that does not say its term":                                    {[]client.Object{election(14*time.Second, func(l *coordinationv1.Lease) { l.Spec.LeaseDurationSeconds = nil })}, false},
		"one that was released":                                             {[]client.Object{election(time.Second, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = new("") })}, true},
		"one with a longer name":                                            {[]client.Object{election(time.Second, func(l *coordinationv1.Lease) { l.Name = "x." + l.Name })}, false},
		"one of something else":                                             {[]client.Object{election(time.Second, func(l *coordinationv1.Lease) { l.Name = "cert-manager" })}, true},
		"a renewed Lease beside an operator that watches another namespace": {[]client.Object{operator(watching("other")), election(time.Second, nil)}, true},
		"a renewed Lease elsewhere than an operator that watches another": {
			[]client.Object{operator(watching("other")), election(time.Second, func(l *coordinationv1.Lease) { l.Namespace = "elsewhere" })}, false,
		},
		"a renewed Lease while the Deployment is just not ready": {
			[]client.Object{operator(func(d *appsv1.Deployment) { d.Status.ReadyReplicas = 0 }), election(time.Second, nil)}, false,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newField(t, sample(), tc.objects...)
			f.observe(plan.ClusterResource)
			checks, err := f.cluster.Gates(t.Context(), live.GateOptions{})
			if err != nil || len(checks) != 1 || checks[0].Gate != plan.GateOperator || checks[0].Evidence == "" {
				t.Fatalf("got %v and %v, want one check with evidence", checks, err)
			}
			if checks[0].OK != tc.passes {
				t.Errorf("passes: %t, want %t (%s)", checks[0].OK, tc.passes, checks[0].Evidence)
			}
			beside, err := f.cluster.Gates(t.Context(), live.GateOptions{Coexist: true})
			if err != nil || !beside[0].OK {
				t.Errorf("with --coexist: %v and %v", beside, err)
			}
			if strings.Contains(beside[0].Evidence, "--coexist") == tc.passes {
				t.Errorf("with --coexist the evidence is %q", beside[0].Evidence)
			}
			if writes := f.log.writes(); len(writes) > 0 {
				t.Errorf("asking wrote %v", writes)
			}
		})
	}
}

func TestAWrongClockRefusesChangesUnlessItIsOverridden(t *testing.T) {
	for name, difference := range map[string]plan.ClockFacts{
		"a day ahead":     {Compared: true, Known: true, Ahead: 24 * time.Hour},
		"a minute behind": {Compared: true, Known: true, Ahead: -time.Minute},
		"unknown":         {Compared: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, sample())
			f.cluster.ClockDifference = func() plan.ClockFacts { return difference }
			f.observe(plan.ClusterResource)
			checks, err := f.cluster.Gates(t.Context(), live.GateOptions{Coexist: true})
			if err != nil || len(checks) != 2 || checks[1].Gate != plan.GateClock || checks[1].OK {
				t.Fatalf("got %v and %v, want a refusal of G-CLOCK", checks, err)
			}
			f.cluster.Overrides = map[plan.Gate]string{plan.GateClock: "no time server here"}
			checks, err = f.cluster.Gates(t.Context(), live.GateOptions{})
			if err != nil || !checks[1].OK || !strings.Contains(checks[1].Evidence, "no time server here") {
				t.Errorf("overridden: %v and %v", checks, err)
			}
		})
	}
}

func ownNamespace(d *appsv1.Deployment) {
	manager(d).Env = []corev1.EnvVar{{Name: "WATCH_NAMESPACE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}}}}
}

func TestForbiddenOperatorReadsCountAsARunningOperator(t *testing.T) {
	for _, hidden := range []string{"list DeploymentList", "list LeaseList"} {
		f := newField(t, sample())
		f.observe(plan.ClusterResource)
		f.log.refuse = func(request string) error {
			if request == hidden {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "them"}, "", errors.New("RBAC"))
			}
			return nil
		}
		checks, err := f.cluster.Gates(t.Context(), live.GateOptions{})
		if err != nil || checks[0].OK || !strings.Contains(checks[0].Evidence, "forbidden") {
			t.Errorf("%s forbidden: %v and %v, want a refusal that reports it", hidden, checks, err)
		}
		if checks, err = f.cluster.Gates(t.Context(), live.GateOptions{Coexist: true}); err != nil || !checks[0].OK {
			t.Errorf("%s forbidden, with --coexist: %v and %v", hidden, checks, err)
		}
	}
}

func TestTheOperatorGateReportsSpecFieldsThatOperatorsIgnore(t *testing.T) {
	const kept, packed = "ignores spec.cancelReplacementsForInstance", "ignores spec.distributionConfig"
	annotate := func(name, value string) func(*v1beta2.FoundationDBCluster) {
		return func(c *v1beta2.FoundationDBCluster) { c.Annotations = map[string]string{name: value} }
	}
	tests := map[string]struct {
		given   func(*v1beta2.FoundationDBCluster)
		without bool // no operator
		want    []string
	}{
		"none of the fields": {given: func(*v1beta2.FoundationDBCluster) {}},
		"both in the spec": {given: func(c *v1beta2.FoundationDBCluster) {
			c.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{"storage-1"}
			c.Spec.DistributionConfig = &v1beta2.DistributionConfig{Enabled: new(true), DesiredFaultDomains: new(3)}
		}, want: []string{kept, packed}},
		"one as an annotation":                               {given: annotate(v1beta2.AnnotationCancelReplacements, "storage-1"), want: []string{kept}},
		"a failure detector, which works beside an operator": {given: annotate(v1beta2.AnnotationFailureDetectionCronJob, `{"enabled":true}`)},

		"no operator": {given: annotate(v1beta2.AnnotationCancelReplacements, "storage-1"), without: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster, objects := sample(), []client.Object{operator(nil)}
			tc.given(cluster)
			if tc.without {
				objects = nil
			}
			f := newField(t, cluster, objects...)
			f.observe(plan.ClusterResource)
			for _, coexist := range []bool{false, true} {
				checks, err := f.cluster.Gates(t.Context(), live.GateOptions{Coexist: coexist})
				if err != nil {
					t.Fatal(err)
				}
				for _, words := range []string{kept, packed} {
					if got := strings.Contains(checks[0].Evidence, words); got != slices.Contains(tc.want, words) {
						t.Errorf("coexist %t: %q has %q: %t", coexist, checks[0].Evidence, words, got)
					}
				}
			}
		})
	}
}

func TestTheOperatorGatePassesWithoutRequestsIfSpecSkipIsTrue(t *testing.T) {
	cluster := sample()
	cluster.Spec.Skip = true
	f := newField(t, cluster, operator(nil), election(time.Second, nil))
	f.observe(plan.ClusterResource)
	f.log.reset()
	checks, err := f.cluster.Gates(t.Context(), live.GateOptions{})
	if err != nil || !checks[0].OK || !strings.Contains(checks[0].Evidence, "spec.skip") {
		t.Errorf("got %v and %v", checks, err)
	}
	if got := f.log.all(); !slices.Equal(got, []string{"get Namespace fdb"}) { // of the gate G-DELETION
		t.Errorf("made the requests %v", got)
	}
}

func TestNoPassActsOnAClusterThatIsBeingDeleted(t *testing.T) {
	asked := new(metav1.NewTime(sim.Noon.Add(-time.Hour)))
	held := func(c *v1beta2.FoundationDBCluster) {
		c.DeletionTimestamp, c.Finalizers = asked, []string{"example.com/held"}
	}
	namespace := func(deleted *metav1.Time) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "fdb", DeletionTimestamp: deleted, Finalizers: []string{"example.com/slow"}}}
	}
	tests := map[string]struct {
		resource  func(*v1beta2.FoundationDBCluster)
		namespace *corev1.Namespace
		reason    string
		evidence  string
		passes    bool
	}{
		"neither is being deleted":         {namespace: namespace(nil), passes: true},
		"a namespace that cannot be found": {passes: true},
		"the resource is being deleted": {
			resource: held, evidence: "FoundationDBCluster sample is being deleted since " + asked.UTC().Format(time.RFC3339) + ", held by finalizer example.com/held; all pods and PVCs go with it when it is removed",
		},
		"the namespace is being deleted": {namespace: namespace(asked), evidence: "Namespace fdb is being deleted since "},
		"a user overrides it":            {resource: held, reason: "moving the data", evidence: "; overridden: moving the data", passes: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := sample()
			if tc.resource != nil {
				tc.resource(cluster)
			}
			var objects []client.Object
			if tc.namespace != nil {
				objects = append(objects, tc.namespace)
			}
			f := newField(t, cluster, objects...)
			f.cluster.Overrides = map[plan.Gate]string{plan.GateDeletion: tc.reason}
			f.observe(plan.ClusterResource)
			checks, err := f.cluster.Gates(t.Context(), live.GateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			refused, is := plan.Decision{Checks: checks}.Refused()
			if is == tc.passes || is && refused.Gate != plan.GateDeletion || !strings.Contains(checks[len(checks)-1].Evidence, tc.evidence) {
				t.Errorf("got %v, want passed %t, %q", checks, tc.passes, tc.evidence)
			}
		})
	}
}

func TestOnlyVolumesOfDeletedPVCsAreRead(t *testing.T) {
	claim := func(name, volume string, deleted *metav1.Time) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: name, Labels: sample().MatchLabels(), DeletionTimestamp: deleted, Finalizers: []string{"kubernetes.io/pvc-protection"}},
			Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: volume},
		}
	}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-1"}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete}}
	asked := new(metav1.NewTime(sim.Noon))
	f := newField(t, sample(), claim("sample-storage-1-data", "pv-1", asked), claim("sample-storage-2-data", "pv-2", nil), volume)
	f.log.reset()
	s := f.observe(plan.ClusterResource | plan.Volumes)
	if policy, known := safety.PolicyOf(s, s.Volumes["sample-storage-1-data"]); !known || policy != corev1.PersistentVolumeReclaimDelete {
		t.Errorf("the policy is %q, known %t", policy, known)
	}
	if got := f.log.all(); !slices.Contains(got, "get PersistentVolume pv-1") || slices.Contains(got, "get PersistentVolume pv-2") {
		t.Errorf("made the requests %v", got)
	}
}

func TestAGateThatCannotBeCheckedIsAnUnreachableError(t *testing.T) {
	for _, request := range []string{"list DeploymentList", "list LeaseList"} {
		f := newField(t, sample())
		f.observe(plan.ClusterResource)
		f.log.refuse = func(r string) error {
			if r == request {
				return apierrors.NewServiceUnavailable("etcd is down")
			}
			return nil
		}
		_, err := f.cluster.Gates(t.Context(), live.GateOptions{Coexist: true})
		if _, ok := errors.AsType[*reconcile.UnreachableError](err); !ok {
			t.Errorf("%s: got %v, want unreachable", request, err)
		}
	}
}

func TestAPassWritesNothingWhileAnOperatorIsActive(t *testing.T) {
	f := newField(t, sample(), operator(nil))
	p := reconcile.Pass{
		Stages: clusterStages(), Observer: f.cluster, Actor: f.cluster, Seed: 42, Report: func(reconcile.Event) {},
		Gates: func(ctx context.Context) ([]plan.Check, error) { return f.cluster.Gates(ctx, live.GateOptions{}) },
	}
	done, err := p.Run(t.Context())
	if err != nil || refusedBy(done.Stopped) != plan.GateOperator {
		t.Errorf("stopped by %v (%v), want %s", done.Stopped, err, plan.GateOperator)
	}
	if writes := f.log.writes(); len(writes) > 0 {
		t.Errorf("wrote %v", writes)
	}
}
