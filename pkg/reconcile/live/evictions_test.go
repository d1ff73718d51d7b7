package live_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// refuseLists refuses to list one kind.
func refuseLists(list string) func(string) error {
	return func(request string) error {
		if request == "list "+list {
			return apierrors.NewForbidden(schema.GroupResource{Resource: list}, "", errors.New("RBAC"))
		}
		return nil
	}
}

func TestAllBudgetsOfTheNamespaceAreObserved(t *testing.T) {
	budget := func(namespace, name string) client.Object {
		return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	f := newField(t, sample(), budget("fdb", "a"), budget("fdb", "b"), budget("elsewhere", "c"))
	s := f.observe(plan.DisruptionBudgets)
	if got := slices.Sorted(maps.Keys(s.DisruptionBudgets)); !slices.Equal(got, []string{"a", "b"}) || s.DisruptionBudgetsHidden != "" {
		t.Errorf("observed %v, hidden because %q", got, s.DisruptionBudgetsHidden)
	}
	f.log.refuse = refuseLists("PodDisruptionBudgetList")
	if s := f.observe(plan.DisruptionBudgets); s.DisruptionBudgets != nil || !strings.Contains(s.DisruptionBudgetsHidden, "manifests/rbac/disruption-budgets.yaml") {
		t.Errorf("observed %v, hidden because %q", s.DisruptionBudgets, s.DisruptionBudgetsHidden)
	}
}

func TestADisruptionBudgetIsCreatedUpdatedAndDeleted(t *testing.T) {
	f := newField(t, sample())
	f.begin()
	c := f.observe(plan.ClusterResource).Cluster
	want := objects.DisruptionBudget(c, 6)
	act := func(a plan.Action) {
		t.Helper()
		if err := f.cluster.Act(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	act(plan.ApplyDisruptionBudget{Name: want.Name, Object: want, Create: true})
	if err := f.cluster.Act(t.Context(), plan.ApplyDisruptionBudget{Name: want.Name, Object: want, Create: true}); err == nil {
		t.Error("a budget that another client created is overwritten")
	}
	have := f.observe(plan.DisruptionBudgets).DisruptionBudgets[want.Name]
	if diff := cmp.Diff(want.Spec, have.Spec); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	stale := have.DeepCopy()
	have.Spec.MinAvailable.IntVal = 7
	act(plan.ApplyDisruptionBudget{Name: have.Name, Object: have})
	if err := f.cluster.Act(t.Context(), plan.ApplyDisruptionBudget{Name: stale.Name, Object: stale}); !apierrors.IsConflict(err) {
		t.Errorf("a change of another client is overwritten: %v", err)
	}
	if got := f.observe(plan.DisruptionBudgets).DisruptionBudgets[want.Name].Spec.MinAvailable.IntVal; got != 7 {
		t.Errorf("%d pods must stay", got)
	}
	act(plan.DeleteDisruptionBudget{Name: want.Name})
	if s := f.observe(plan.DisruptionBudgets); len(s.DisruptionBudgets) > 0 {
		t.Errorf("left %v", s.DisruptionBudgets)
	}
}

func toleration(key string, seconds int64) corev1.Toleration {
	return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds}
}

func TestTolerationsOfARunningPodAreSetAndReverted(t *testing.T) {
	const unready = corev1.TaintNodeNotReady
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: "p", UID: "u1", Annotations: map[string]string{"other": "stays"}},
		Spec:       corev1.PodSpec{Tolerations: []corev1.Toleration{{Key: "other", Operator: corev1.TolerationOpExists}, toleration(unready, 300)}},
	}
	bare := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: "bare", UID: "u2"}}
	f := newField(t, sample(), pod, bare)
	f.begin()
	get := func(name string) *corev1.Pod {
		t.Helper()
		got := &corev1.Pod{}
		if err := f.api.Get(t.Context(), client.ObjectKey{Namespace: "fdb", Name: name}, got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	fifteen := map[string]*int64{unready: new(int64(15))}
	before := map[string]*int64{unready: new(int64(300))}
	set := func(name string) plan.SetTolerations {
		return plan.SetTolerations{Name: name, UID: get(name).UID, Observed: get(name), Seconds: fifteen, Before: before}
	}
	stale := set("p")
	for _, name := range []string{"p", "bare"} {
		f.log.reset()
		if err := f.cluster.Act(t.Context(), set(name)); err != nil {
			t.Fatal(err)
		}
		if reads := f.log.those("get"); len(reads) > 0 && slices.Contains(reads, "get Pod "+name) {
			t.Errorf("needs a permission that no pass has: %v", reads)
		}
		got := get(name)
		seconds, changed := plan.TolerationsBefore(got)
		if last := got.Spec.Tolerations[len(got.Spec.Tolerations)-1]; *last.TolerationSeconds != 15 || !changed || *seconds[unready] != 300 {
			t.Errorf("%s: %+v, before %v", name, got.Spec.Tolerations, seconds)
		}
	}
	if err := f.cluster.Act(t.Context(), stale); err == nil {
		t.Error("a list that has changed since is overwritten")
	}
	other := set("p")
	other.UID = "u0"
	if err := f.cluster.Act(t.Context(), other); err == nil {
		t.Error("another pod of the same name is changed")
	}
	if err := f.cluster.Act(t.Context(), plan.SetTolerations{Name: "p", UID: "u1", Observed: get("p"), Seconds: before}); err != nil {
		t.Fatal(err)
	}
	got := get("p")
	if diff := cmp.Diff(pod.Spec.Tolerations, got.Spec.Tolerations); diff != "" || !maps.Equal(pod.Annotations, got.Annotations) {
		t.Errorf("reverted to %v, %v", got.Spec.Tolerations, got.Annotations)
	}
}

func TestBackupAgentPodsAreReadForAllBackupsOfACluster(t *testing.T) {
	backupOf := func(name, cluster string) client.Object {
		return &v1beta2.FoundationDBBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: name}, Spec: v1beta2.FoundationDBBackupSpec{ClusterName: cluster}}
	}
	podOf := func(name, backup string) client.Object {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: name, Labels: map[string]string{v1beta2.LabelDeploymentName: backup + "-backup-agents"}}}
	}
	f := newField(t, sample(), backupOf("daily", "sample"), backupOf("hourly", "sample"), backupOf("daily-2", "another"),
		podOf("a", "daily"), podOf("b", "hourly"), podOf("c", "daily-2"))
	s := f.observe(plan.Agents)
	if got := slices.Sorted(maps.Keys(s.Agents.Pods)); !slices.Equal(got, []string{"a", "b"}) || s.Agents.Hidden != "" {
		t.Errorf("observed %v, hidden because %q", got, s.Agents.Hidden)
	}
	f.begin()
	if err := f.cluster.Act(t.Context(), plan.EvictAgent{Name: "a", Deployment: "daily-backup-agents"}); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(f.observe(plan.Agents).Agents.Pods)); !slices.Equal(got, []string{"b"}) {
		t.Errorf("after an eviction %v", got)
	}
	f.log.refuse = refuseLists("FoundationDBBackupList")
	if s := f.observe(plan.Agents); !strings.Contains(s.Agents.Hidden, "manifests/rbac/backups.yaml") {
		t.Errorf("hidden because %q", s.Agents.Hidden)
	}
}

// evictor answers requests of the eviction API, and notes their UIDs.
type evictor struct {
	client.Client

	answer  error
	evicted []types.UID
}

func (e *evictor) SubResource(string) client.SubResourceClient { //nolint:ireturn // the shape of the client
	return evictions{e.Client.SubResource("eviction"), e}
}

type evictions struct {
	client.SubResourceClient

	of *evictor
}

func (e evictions) Create(ctx context.Context, pod, eviction client.Object, _ ...client.SubResourceCreateOption) error {
	uid := *eviction.(*policyv1.Eviction).DeleteOptions.Preconditions.UID
	e.of.evicted = append(e.of.evicted, uid)
	if e.of.answer != nil {
		return e.of.answer
	}
	return e.of.Delete(ctx, pod)
}

// budgetRefuses is the answer of the API server where a disruption budget allows no eviction.
func budgetRefuses(budget string) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: policyv1.DisruptionBudgetCause, Message: "The disruption budget " + budget + " needs 3 healthy pods and has 3 currently",
	})
	return err
}

func TestEvictionsRespectDisruptionBudgets(t *testing.T) {
	const pod, claim = "pod storage-1", "claim storage-1-data"
	pods := plan.DeletePods{Pods: []plan.PodOfGroup{{Group: "storage-1", Name: "storage-1", UID: pod}}, Evict: true}
	group := plan.DeleteGroupObjects{Group: "storage-1", Pod: "storage-1", Claim: "storage-1-data", UIDs: map[string]types.UID{"storage-1": pod, "storage-1-data": claim}, Evict: true}
	agent := plan.EvictAgent{Name: "storage-1", UID: pod, Evict: true}
	tests := map[string]struct {
		action plan.Action
		answer error
		left   []string
		// waits is part of what the stage waits for, fails of the error if it is none.
		waits, fails string
	}{
		"a pod is evicted":                        {action: pods, left: []string{claim}},
		"a pod of agents is evicted":              {action: agent, left: []string{claim}},
		"a group's objects go with its pod":       {action: group},
		"a pod that was removed":                  {action: group, answer: apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "storage-1"), left: []string{pod}},
		"a budget refuses":                        {action: pods, answer: budgetRefuses("apps"), left: []string{pod, claim}, waits: "The disruption budget apps needs 3 healthy pods"},
		"a budget refuses, and nothing else goes": {action: group, answer: budgetRefuses("apps"), left: []string{pod, claim}, waits: "The disruption budget apps"},
		"a webhook refuses":                       {action: agent, answer: apierrors.NewTooManyRequests("admission webhook denied the request: not drained", 0), left: []string{pod, claim}, waits: "not drained"},
		"another pod of that name":                {action: pods, answer: apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "storage-1", errors.New("uid")), left: []string{pod, claim}, fails: "evict pod storage-1: Operation cannot be fulfilled"},
		"two budgets of one pod":                  {action: pods, answer: apierrors.NewInternalError(errors.New("more than one PodDisruptionBudget")), left: []string{pod, claim}, fails: "evict pod storage-1: Internal error"},
		"no permission":                           {action: pods, answer: apierrors.NewForbidden(schema.GroupResource{Resource: "pods/eviction"}, "storage-1", errors.New("rbac")), left: []string{pod, claim}, fails: "is forbidden"},
		"no answer":                               {action: pods, answer: errors.New("connection reset"), left: []string{pod, claim}, fails: "evict pod storage-1: the outcome is unknown: connection reset"},
		"an API server that gave up":              {action: pods, answer: apierrors.NewTimeoutError("etcd", 1), left: []string{pod, claim}, fails: "the outcome is unknown"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{
				&corev1.Pod{ObjectMeta: identified("storage-1", pod)}, &corev1.PersistentVolumeClaim{ObjectMeta: identified("storage-1-data", claim)},
			}
			f := newField(t, sample(), objects...)
			e := &evictor{Client: f.cluster.Client, answer: tc.answer}
			f.cluster.Client = e
			f.begin()
			err := f.cluster.Act(t.Context(), tc.action)
			var notYet *reconcile.NotYetError
			switch waits := errors.As(err, &notYet); {
			case waits != (tc.waits != ""), err != nil && !waits && !strings.Contains(err.Error(), tc.fails), (err != nil) != (tc.waits+tc.fails != ""):
				t.Errorf("got %v, want a wait for %q or the error %q", err, tc.waits, tc.fails)
			case waits && (notYet.Hold.Code != plan.HoldEvictionRefused || !strings.Contains(notYet.Hold.Detail, tc.waits) || notYet.Hold.RetryAfter == 0):
				t.Errorf("got %+v, want a hold for %q", notYet.Hold, tc.waits)
			}
			if diff := cmp.Diff([]types.UID{pod}, e.evicted); diff != "" {
				t.Errorf("evicted (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.left, stillThere(t, f, objects)); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

// Without the flag nothing is evicted.
func TestPodDeletionsIgnoreDisruptionBudgetsByDefault(t *testing.T) {
	f := newField(t, sample(), &corev1.Pod{ObjectMeta: identified("storage-1", "pod storage-1")})
	e := &evictor{Client: f.cluster.Client, answer: budgetRefuses("apps")}
	f.cluster.Client = e
	f.begin()
	if err := f.cluster.Act(t.Context(), plan.DeletePods{Pods: []plan.PodOfGroup{{Group: "storage-1", Name: "storage-1", UID: "pod storage-1"}}}); err != nil || len(e.evicted) != 0 {
		t.Errorf("evicted %v, error %v", e.evicted, err)
	}
}
