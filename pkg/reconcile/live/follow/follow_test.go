package follow_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live/follow"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// followed is what a Follower over a Kubernetes cluster in memory reported.
type followed struct {
	*follow.Follower
	api client.WithWatch

	mu      sync.Mutex
	changes []plan.Facet
	problem []plan.Facet
}

func byName(o client.Object) []string { return []string{o.GetName()} }

func following(t *testing.T, facets plan.Facet, refuse map[string]error, objects ...client.Object) *followed {
	t.Helper()
	f := &followed{}
	list := func(ctx context.Context, c client.WithWatch, l client.ObjectList, o ...client.ListOption) error {
		f.mu.Lock()
		err := refuse[l.GetObjectKind().GroupVersionKind().Kind]
		f.mu.Unlock()
		if err != nil {
			return err
		}
		return c.List(ctx, l, o...)
	}
	f.api = fake.NewClientBuilder().WithScheme(scheme(t)).WithStatusSubresource(&v1beta2.FoundationDBCluster{}).WithObjects(objects...).
		WithIndex(&v1beta2.FoundationDBCluster{}, "metadata.name", byName).WithIndex(&corev1.ConfigMap{}, "metadata.name", byName).
		WithInterceptorFuncs(interceptor.Funcs{List: list}).Build()
	f.Follower = &follow.Follower{
		Client: f.api, Key: key, Facets: facets,
		Changed: func(facet plan.Facet) { f.note(&f.changes, facet) },
		Problem: func(facet plan.Facet, _ error) { f.note(&f.problem, facet) },
	}
	return f
}

func (f *followed) note(list *[]plan.Facet, facet plan.Facet) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(*list, facet) {
		*list = append(*list, facet)
	}
}

// reported waits until nothing moves and returns what was reported since the last time.
func (f *followed) reported() (changes []plan.Facet) {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	changes, f.changes = f.changes, nil
	return changes
}

func member(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: key.Namespace, Name: name, Labels: sample().MatchLabels()}
}

func TestAFollowerReportsChangedFacets(t *testing.T) {
	tainted := sample()
	tainted.Spec.AutomationOptions.Replacements.TaintReplacementOptions = []v1beta2.TaintReplacementOption{{}}
	tests := map[string]struct {
		resource *v1beta2.FoundationDBCluster
		change   func(ctx context.Context, c client.Client) error
		want     []plan.Facet
	}{
		"nothing at first": {change: func(context.Context, client.Client) error { return nil }},
		"a changed spec": {change: func(ctx context.Context, c client.Client) error {
			r := sample()
			r.Generation, r.ResourceVersion = 2, ""
			return errors.Join(c.Get(ctx, key, r), edit(ctx, c, r, func() { r.Generation = 2 }))
		}, want: []plan.Facet{plan.ClusterResource}},
		"a changed status, which passes write themselves": {change: func(ctx context.Context, c client.Client) error {
			r := sample()
			if err := c.Get(ctx, key, r); err != nil {
				return err
			}
			r.Status.Configured = true
			return c.Status().Update(ctx, r)
		}},
		"a new pod": {change: func(ctx context.Context, c client.Client) error {
			return c.Create(ctx, &corev1.Pod{ObjectMeta: member("p2")})
		}, want: []plan.Facet{plan.Pods}},
		"a changed pod": {change: func(ctx context.Context, c client.Client) error {
			p := &corev1.Pod{ObjectMeta: member("p")}
			return edit(ctx, c, p, func() { p.Annotations = map[string]string{"a": "b"} })
		}, want: []plan.Facet{plan.Pods}},
		"a pod that was deleted": {change: func(ctx context.Context, c client.Client) error {
			return c.Delete(ctx, &corev1.Pod{ObjectMeta: member("p")})
		}, want: []plan.Facet{plan.Pods}},
		"a new claim": {change: func(ctx context.Context, c client.Client) error {
			return c.Create(ctx, &corev1.PersistentVolumeClaim{ObjectMeta: member("v")})
		}, want: []plan.Facet{plan.Volumes}},
		"a new service": {change: func(ctx context.Context, c client.Client) error {
			return c.Create(ctx, &corev1.Service{ObjectMeta: member("s")})
		}, want: []plan.Facet{plan.Services}},
		"a new ConfigMap": {change: func(ctx context.Context, c client.Client) error {
			return c.Create(ctx, &corev1.ConfigMap{ObjectMeta: member("sample-config")})
		}, want: []plan.Facet{plan.ConfigMap}},
		"a tainted node, where the spec has no rules about taints": {change: taint},
		"a tainted node, where it has":                             {resource: tainted, change: taint, want: []plan.Facet{plan.Nodes}},
		"a node that reports that it lives": {resource: tainted, change: func(ctx context.Context, c client.Client) error {
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
			return edit(ctx, c, n, func() { n.Annotations = map[string]string{"seen": "now"} })
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := tc.resource
				if cluster == nil {
					cluster = sample()
				}
				f := following(t, plan.Everything, nil, cluster.DeepCopy(), &corev1.Pod{ObjectMeta: member("p")}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
				f.Follow(t.Context(), cluster)
				defer f.Stop()
				if got := f.reported(); len(got) > 0 {
					t.Fatalf("notified of %v before anything changed", got)
				}
				if err := tc.change(t.Context(), f.api); err != nil {
					t.Fatal(err)
				}
				if got := f.reported(); !slices.Equal(tc.want, got) {
					t.Errorf("notified of %v, want %v", got, tc.want)
				}
			})
		})
	}
}

func edit(ctx context.Context, c client.Client, o client.Object, change func()) error {
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	change()
	return c.Update(ctx, o)
}

func taint(ctx context.Context, c client.Client) error {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	return edit(ctx, c, n, func() { n.Spec.Taints = []corev1.Taint{{Key: "maintenance", Effect: corev1.TaintEffectNoSchedule}} })
}

// A backup is followed with its agents, whose deployment changes when they become ready. What
// a pass writes into the status of a resource wakes no pass.
func TestAFollowerReportsChangesOfBackupsRestoresAndAgents(t *testing.T) {
	b := &v1beta2.FoundationDBBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: key.Namespace, Generation: 1}}
	ready := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Name: "nightly-backup-agents", Namespace: key.Namespace, Labels: map[string]string{v1beta2.LabelBackupFor: "b"},
	}}
	tests := map[string]struct {
		change func(ctx context.Context, c client.Client) error
		want   []plan.Facet
	}{
		"a new backup": {func(ctx context.Context, c client.Client) error {
			return c.Create(ctx, &v1beta2.FoundationDBBackup{ObjectMeta: metav1.ObjectMeta{Name: "weekly", Namespace: key.Namespace}})
		}, []plan.Facet{plan.Backup}},
		"a changed backup": {func(ctx context.Context, c client.Client) error {
			changed := b.DeepCopy()
			return errors.Join(c.Get(ctx, client.ObjectKeyFromObject(b), changed), edit(ctx, c, changed, func() { changed.Generation = 2 }))
		}, []plan.Facet{plan.Backup}},
		"a backup's status": {func(ctx context.Context, c client.Client) error {
			changed := b.DeepCopy()
			err := c.Get(ctx, client.ObjectKeyFromObject(b), changed)
			changed.Status.AgentCount = 2
			return errors.Join(err, c.Update(ctx, changed))
		}, nil},
		"a new restore": {func(ctx context.Context, c client.Client) error {
			return c.Create(ctx, &v1beta2.FoundationDBRestore{ObjectMeta: metav1.ObjectMeta{Name: "again", Namespace: key.Namespace}})
		}, []plan.Facet{plan.Restore}},
		"agents that are ready": {func(ctx context.Context, c client.Client) error {
			changed := ready.DeepCopy()
			err := c.Get(ctx, client.ObjectKeyFromObject(ready), changed)
			changed.Status.ReadyReplicas = 2
			return errors.Join(err, c.Update(ctx, changed))
		}, []plan.Facet{plan.Agents}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := following(t, plan.Backup|plan.Restore|plan.Agents, nil, sample(), b.DeepCopy(), ready.DeepCopy())
				f.Follow(t.Context(), sample())
				defer f.Stop()
				f.reported()
				if err := tc.change(t.Context(), f.api); err != nil {
					t.Fatal(err)
				}
				if got := f.reported(); !slices.Equal(tc.want, got) {
					t.Errorf("notified of %v, want %v", got, tc.want)
				}
			})
		})
	}
}

func TestAFollowerFollowsTheCurrentLabelsOfTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := sample()
		f := following(t, plan.Pods, nil, cluster.DeepCopy())
		defer f.Stop()
		f.Follow(t.Context(), cluster)
		cluster.Spec.Labels.MatchLabels = map[string]string{"app": "db"}
		f.Follow(t.Context(), cluster)
		f.Follow(t.Context(), cluster)
		f.reported()
		if err := f.api.Create(t.Context(), &corev1.Pod{ObjectMeta: member("p")}); err != nil {
			t.Fatal(err)
		}
		if got := f.reported(); !slices.Equal([]plan.Facet{plan.Pods}, got) {
			t.Errorf("notified of %v", got)
		}
	})
}

func TestAFollowerListsOnlyResourcesOfItsCluster(t *testing.T) {
	var mu sync.Mutex
	requested := map[string]string{}
	api := fake.NewClientBuilder().WithScheme(scheme(t)).WithInterceptorFuncs(interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, l client.ObjectList, o ...client.ListOption) error {
			options := (&client.ListOptions{}).ApplyOptions(o)
			raw := options.AsListOptions()
			mu.Lock()
			defer mu.Unlock()
			requested[l.GetObjectKind().GroupVersionKind().Kind] = options.Namespace + " " + raw.LabelSelector + raw.FieldSelector
			return errors.New("no")
		},
	}).Build()
	f := &follow.Follower{Client: api, Key: key, Facets: plan.Everything | plan.EverythingOfBackups, Changed: func(plan.Facet) {}, Problem: func(plan.Facet, error) {}}
	synctest.Test(t, func(t *testing.T) {
		f.Follow(t.Context(), sample())
		synctest.Wait()
		f.Stop()
	})
	belongs := "fdb foundationdb.org/fdb-cluster-name=sample"
	want := map[string]string{
		"FoundationDBClusterList": "fdb metadata.name=sample", "PodList": belongs, "PersistentVolumeClaimList": belongs,
		"ServiceList": belongs, "ConfigMapList": "fdb metadata.name=sample-config",
		"FoundationDBBackupList": "fdb ", "FoundationDBRestoreList": "fdb ", "DeploymentList": "fdb foundationdb.org/backup-for",
	}
	if diff := cmp.Diff(want, requested); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAFollowerReportsAForbiddenListAndRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuse := map[string]error{"PodList": errors.New("forbidden")}
		f := following(t, plan.Pods|plan.Services, refuse, sample())
		f.Follow(t.Context(), sample())
		defer f.Stop()
		f.reported()
		f.mu.Lock()
		if !slices.Equal(f.problem, []plan.Facet{plan.Pods}) {
			t.Errorf("trouble with %v", f.problem)
		}
		delete(refuse, "PodList")
		f.mu.Unlock()
		time.Sleep(2 * time.Minute)
		f.reported()
		if err := f.api.Create(t.Context(), &corev1.Pod{ObjectMeta: member("p")}); err != nil {
			t.Fatal(err)
		}
		if got := f.reported(); !slices.Equal([]plan.Facet{plan.Pods}, got) {
			t.Errorf("notified of %v", got)
		}
	})
}

// TestAFollowerReportsWhatChangedBeforeItBegan has a pod change between the read of a pass and the beginning of the watch.
func TestAFollowerReportsWhatChangedBeforeItBegan(t *testing.T) {
	pod := func() *corev1.Pod { return &corev1.Pod{ObjectMeta: member("p")} }
	for name, tc := range map[string]struct {
		change func(ctx context.Context, c client.Client) error
		unread bool
		want   []plan.Facet
	}{
		"nothing changed": {change: func(context.Context, client.Client) error { return nil }},
		"a pod changed": {change: func(ctx context.Context, c client.Client) error {
			p := pod()
			return edit(ctx, c, p, func() { p.Annotations = map[string]string{"a": "b"} })
		}, want: []plan.Facet{plan.Pods}},
		"a pod was created": {change: func(ctx context.Context, c client.Client) error {
			return c.Create(ctx, &corev1.Pod{ObjectMeta: member("p2")})
		}, want: []plan.Facet{plan.Pods}},
		"the only pod was deleted": {change: func(ctx context.Context, c client.Client) error {
			return c.Delete(ctx, pod())
		}, want: []plan.Facet{plan.Pods}},
		"a pod was created, of pods that were not read": {unread: true, change: func(ctx context.Context, c client.Client) error {
			return c.Create(ctx, &corev1.Pod{ObjectMeta: member("p2")})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := following(t, plan.Pods|plan.Volumes, nil, sample(), pod())
				read := &corev1.PodList{}
				if err := f.api.List(t.Context(), read); err != nil {
					t.Fatal(err)
				}
				if err := tc.change(t.Context(), f.api); err != nil {
					t.Fatal(err)
				}
				if !tc.unread {
					f.Since(plan.Pods, []client.Object{&read.Items[0]})
				}
				f.Follow(t.Context(), sample())
				defer f.Stop()
				if got := f.reported(); !slices.Equal(tc.want, got) {
					t.Errorf("notified of %v, want %v", got, tc.want)
				}
			})
		})
	}
}

// A watch that broke is followed by a list: what changed in between is told, and
// nothing when nothing did.
func TestAnExpiredWatchReportsChangesMissedInBetween(t *testing.T) {
	for name, change := range map[string]bool{"a pod came in between": true, "nothing did": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var watches []*watch.FakeWatcher
				f := following(t, plan.Pods, nil, sample())
				f.Client = interceptor.NewClient(f.api, interceptor.Funcs{
					Watch: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
						mu.Lock()
						defer mu.Unlock()
						watches = append(watches, watch.NewFake())
						return watches[len(watches)-1], nil
					},
				})
				f.Follow(t.Context(), sample())
				defer f.Stop()
				f.reported()
				if change {
					if err := f.api.Create(t.Context(), &corev1.Pod{ObjectMeta: member("p")}); err != nil {
						t.Fatal(err)
					}
				}
				expired := metav1.Status{Status: metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired}
				watches[0].Error(&expired)
				time.Sleep(2 * time.Minute)
				if got := f.reported(); (len(got) > 0) != change {
					t.Errorf("notified of %v", got)
				}
			})
		})
	}
}
