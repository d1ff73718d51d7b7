package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestEachFacetIsObserved(t *testing.T) {
	f := settled(t)
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.LockOptions.DisableLocks = new(bool)
		s.ProcessGroupIDPrefix = "dc1"
	})
	// One object of each kind is another cluster's.
	for _, o := range []client.Object{&corev1.Pod{}, &corev1.PersistentVolumeClaim{}, &corev1.Service{}} {
		o.SetNamespace(key.Namespace)
		o.SetName("foreign")
		o.SetLabels(map[string]string{v1beta2.LabelClusterName: "another"})
		if err := f.api.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	s := f.observe(plan.Everything)
	got := map[string]any{
		"pods": len(s.Pods), "claims": len(s.Volumes), "services": slices.Collect(maps.Keys(s.Services)), "config map": s.ConfigMap.Name,
		"pod files": len(s.PodFiles), "available": s.Database.Available(), "coordination read": s.Coordination.Read, "nodes": len(s.Nodes),
		"time": s.Now, "status as of": s.Database.AsOf,
	}
	now := f.cluster.Clock.Now().UTC()
	want := map[string]any{
		"pods": 16, "claims": 7, "services": []string{"sample"}, "config map": "sample-config",
		"pod files": 16, "available": true, "coordination read": true, "nodes": 0,
		"time": now, "status as of": now,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
	for name, report := range s.PodFiles {
		if report.Variables[v1beta2.EnvInstanceID] == "" || report.Configuration == "" {
			t.Errorf("%s reports %+v", name, report)
		}
	}
}

func TestADatabaseThatRepeatsItsDocumentIsUnreachable(t *testing.T) {
	f := settled(t)
	f.nodes.FDB.Databases()[0].SetFaults(fdbsim.Faults{StaleStatus: true})
	for _, tc := range []struct {
		after time.Duration
		stale bool
	}{{0, false}, {fdb.StaleAfter - time.Second, false}, {2 * time.Second, true}, {time.Hour, true}} {
		f.tick(tc.after)
		if d := f.observe(plan.Database).Database; (d.Unreachable == plan.StaleDocument) != tc.stale || (d.Status == nil) != tc.stale {
			t.Errorf("%s later: %q", tc.after, d.Unreachable)
		}
	}
	f.nodes.FDB.Databases()[0].SetFaults(fdbsim.Faults{})
	if d := f.observe(plan.Database).Database; d.Status == nil {
		t.Errorf("no answer once the document changes: %s", d.Unreachable)
	}
}

func TestOnlyTheRequestedFacetIsReadAgain(t *testing.T) {
	f := settled(t)
	tests := map[plan.Facet][]string{
		plan.ClusterResource: {"get FoundationDBCluster sample"},
		plan.Volumes:         {"list PersistentVolumeClaimList"},
		plan.Services:        {"list ServiceList"},
		plan.ConfigMap:       {"get ConfigMap sample-config"},
		plan.Pods:            {"list PodList"},
		plan.PodFiles:        nil,
		plan.Nodes:           nil, // no rule of the spec looks at taints
	}
	for facet, want := range tests {
		s := f.observe(plan.Everything)
		f.log.reset()
		if err := f.cluster.Observe(t.Context(), &s, facet); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, f.log.all()); diff != "" {
			t.Errorf("requests for %s (-want +got):\n%s", facet, diff)
		}
	}
}

func TestNodesAreReadIfTheSpecHasTaintRules(t *testing.T) {
	cluster := sample()
	taint, duration := "maintenance", int64(60)
	cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions = []v1beta2.TaintReplacementOption{{Key: &taint, DurationInSeconds: &duration}}
	f := newField(t, cluster, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}})
	if s := f.observe(plan.Nodes); s.Nodes["node-1"] == nil {
		t.Errorf("observed the nodes %v, want node-1", s.Nodes)
	}
}

func TestAForbiddenNodeListDoesNotFailTheRead(t *testing.T) {
	cluster := sample()
	cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions = []v1beta2.TaintReplacementOption{{Key: new("maintenance"), DurationInSeconds: new(int64(60))}}
	f := newField(t, cluster)
	f.log.refuse = func(request string) error {
		if request == "list NodeList" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("RBAC"))
		}
		return nil
	}
	s := f.observe(plan.Nodes)
	if s.Nodes != nil || !strings.Contains(s.NodesHidden, "forbidden") {
		t.Errorf("observed %v, hidden because %q", s.Nodes, s.NodesHidden)
	}
	f.log.refuse = nil
	if s := f.observe(plan.Nodes); s.Nodes == nil || s.NodesHidden != "" {
		t.Errorf("once allowed, observed %v, hidden because %q", s.Nodes, s.NodesHidden)
	}
}

func TestAMissingConfigMapIsObservedAsNone(t *testing.T) {
	f := newField(t, sample())
	f.log.reset()
	if s := f.observe(plan.ConfigMap); s.ConfigMap != nil {
		t.Errorf("observed %v, want none", s.ConfigMap)
	}
	if diff := cmp.Diff([]string{"get FoundationDBCluster sample", "get ConfigMap sample-config"}, f.log.all()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// Objects come in pages, and each page arrives as JSON that is read into the list
// it was requested with.
func TestAllPagesOfAListAreRead(t *testing.T) {
	f := newField(t, sample())
	pages := [][]string{{"a", "b"}, {"c", "d"}, {"e"}}
	var requested []string
	f.log.answer = func(list client.ObjectList, o client.ListOptions) error {
		if o.Limit != 500 || o.Namespace != key.Namespace || o.LabelSelector.String() != v1beta2.LabelClusterName+"=sample" {
			return fmt.Errorf("asked with limit %d in namespace %q for %s", o.Limit, o.Namespace, o.LabelSelector)
		}
		requested = append(requested, o.Continue)
		if len(requested) > len(pages) {
			return errors.New("asked for more pages than there are")
		}
		n := len(requested) - 1
		return json.Unmarshal(page(pages[n], n, n == len(pages)-1), list)
	}
	s := f.observe(plan.Pods)
	if diff := cmp.Diff([]string{"", "page-1", "page-2"}, requested); diff != "" {
		t.Errorf("asked for pages (-want +got):\n%s", diff)
	}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		if s.Pods[name] == nil || s.Pods[name].Name != name {
			t.Errorf("pod %s is %v", name, s.Pods[name])
		}
	}
}

func page(names []string, n int, last bool) []byte {
	items := make([]string, len(names))
	for i, name := range names {
		items[i] = fmt.Sprintf(`{"metadata":{"name":%q}}`, name)
	}
	next := fmt.Sprintf(`"continue":"page-%d"`, n+1)
	if last {
		next = `"resourceVersion":"9"` // the API server leaves an empty token out
	}
	return fmt.Appendf(nil, `{"metadata":{%s},"items":[%s]}`, next, strings.Join(items, ","))
}

func TestObservingAMissingResourceReturnsNotFound(t *testing.T) {
	f := newField(t, sample())
	f.cluster.Key.Name = "other"
	var s plan.Snapshot
	err := f.cluster.Observe(t.Context(), &s, plan.ClusterResource)
	if missing, ok := errors.AsType[*live.NotFoundError](err); !ok || missing.Key.Name != "other" {
		t.Errorf("got %v, want a NotFoundError for other", err)
	}
}

func TestObservingAnInvalidResourceReadsEverythingAndReportsItsErrors(t *testing.T) {
	cluster := sample()
	cluster.Spec.Version = "nonsense"
	f := newField(t, cluster)
	var s plan.Snapshot
	if err := f.cluster.Observe(t.Context(), &s, plan.Everything); err != nil {
		t.Fatal(err)
	}
	if len(s.InvalidSpec) != 1 || s.InvalidSpec[0].Field != "spec.version" || !strings.Contains(s.InvalidSpec[0].Message, "nonsense") {
		t.Errorf("got the errors %+v, want one about the version", s.InvalidSpec)
	}
	if s.Pods == nil {
		t.Error("the objects were not read")
	}
}

func TestWhichAPIServerErrorsCountAsUnreachable(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	refused := &url.Error{Op: "Get", URL: "https://api/", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
	tests := map[string]struct {
		err         error
		unreachable bool
	}{
		"a refused connection is unreachable":         {refused, true},
		"an unknown host is unreachable":              {&url.Error{Op: "Get", URL: "https://api/", Err: &net.DNSError{Name: "api"}}, true},
		"a timeout of the client is unreachable":      {&url.Error{Op: "Get", URL: "https://api/", Err: context.DeadlineExceeded}, true},
		"503 is unreachable":                          {apierrors.NewServiceUnavailable("etcd is down"), true},
		"504 is unreachable":                          {apierrors.NewTimeoutError("took too long", 1), true},
		"a server timeout is unreachable":             {apierrors.NewServerTimeout(pods, "list", 1), true},
		"500 is unreachable":                          {apierrors.NewInternalError(errors.New("no leader")), true},
		"403 is a user's decision":                    {apierrors.NewForbidden(pods, "", errors.New("RBAC")), false},
		"401 is a user's decision":                    {apierrors.NewUnauthorized("who are you"), false},
		"429 is passed on":                            {apierrors.NewTooManyRequests("slow down", 1), false},
		"an unknown error is passed on":               {errors.New("surprise"), false},
		"a token that ran out between pages is known": {apierrors.NewResourceExpired("too old"), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, request := range []string{"get FoundationDBCluster", "list PodList", "list PersistentVolumeClaimList", "list ServiceList", "get ConfigMap"} {
				f := newField(t, sample())
				f.log.refuse = func(r string) error {
					if strings.HasPrefix(r, request) {
						return tc.err
					}
					return nil
				}
				var s plan.Snapshot
				err := f.cluster.Observe(t.Context(), &s, plan.Everything)
				if !errors.Is(err, tc.err) {
					t.Errorf("%s: got %v, want the cause", request, err)
				}
				if _, unreachable := errors.AsType[*reconcile.UnreachableError](err); unreachable != tc.unreachable {
					t.Errorf("%s: unreachable %t, want %t: %v", request, unreachable, tc.unreachable, err)
				}
				if apierrors.IsForbidden(tc.err) && !apierrors.IsForbidden(err) {
					t.Errorf("%s: %v no longer reports forbidden", request, err)
				}
				if kind := strings.TrimSuffix(strings.TrimPrefix(request, "list "), "List"); strings.HasPrefix(request, "list ") && !strings.Contains(err.Error(), "list "+kind+"s: ") {
					t.Errorf("%v does not name %ss", err, kind)
				}
			}
		})
	}
}

// annotatePods sets an annotation of every pod.
func (f *field) annotatePods(key, value string) {
	f.t.Helper()
	pods := &corev1.PodList{}
	if err := f.api.List(f.t.Context(), pods, client.InNamespace(sample().Namespace)); err != nil {
		f.t.Fatal(err)
	}
	for i := range pods.Items {
		pods.Items[i].Annotations[key] = value
		if err := f.api.Update(f.t.Context(), &pods.Items[i]); err != nil {
			f.t.Fatal(err)
		}
	}
}

// ofAnother is a document of an available database whose one process is no process group's.
func ofAnother(connectionString string) string {
	return fmt.Sprintf(`{"client": {"database_status": {"available": true}}, "cluster": {"connection_string": %q, "recovery_state": {"name": "fully_recovered"},
		"processes": {"a": {"address": "10.9.9.9:4501", "command_line": "fdbserver", "version": "7.3.79", "locality": {"instance_id": "other-1"}, "roles": [{"role": "master"}]}}}}`, connectionString)
}

// TestAStatusDocumentIsKeptAfterAnExternalCoordinatorChange keeps the document of the cluster's own
// database whose connection string was changed by other means.
func TestAStatusDocumentIsKeptAfterAnExternalCoordinatorChange(t *testing.T) {
	f := settled(t)
	own, err := fdb.ParseConnectionString(f.resource().Status.ConnectionString)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"other coordinators": own.Description + ":abcdefgh@10.9.9.9:4501", "another description": "other:" + own.ID + "@10.9.9.9:4501",
		"a common coordinator": "other:abcdefgh@" + own.Coordinators[0].String(), "unreadable": "nonsense",
	} {
		f.program = func(admin.Command) (admin.Result, error) { return admin.Result{Stdout: []byte(ofAnother(text))}, nil }
		if s := f.observe(plan.ClusterResource | plan.Database); s.Database.Status == nil {
			t.Errorf("%s: %s", name, s.Database.Unreachable)
		}
	}
}

func TestAnUnreachableDatabaseIsObservedWithItsReason(t *testing.T) {
	says := func(stdout string, exit int) func(*field) {
		return func(f *field) {
			f.program = func(admin.Command) (admin.Result, error) {
				return admin.Result{Stdout: []byte(stdout), ExitCode: exit}, nil
			}
		}
	}
	faulty := func(faults fdbsim.Faults) func(*field) {
		return func(f *field) { f.nodes.FDB.Databases()[0].SetFaults(faults) }
	}
	tests := map[string]struct {
		given       func(*field)
		notQueried  string
		unreachable string
	}{
		"there is no cluster file": {
			given:      func(f *field) { f.setStatus(func(s *v1beta2.FoundationDBClusterStatus) { s.ConnectionString = "" }) },
			notQueried: "there is no cluster file yet",
		},
		"no running pod can run fdbcli": {
			given: func(f *field) {
				if err := f.api.DeleteAllOf(f.t.Context(), &corev1.Pod{}, client.InNamespace(key.Namespace)); err != nil {
					f.t.Fatal(err)
				}
			}, notQueried: "no running pod can run fdbcli",
		},
		"no pod has a cluster file": {
			given: func(f *field) {
				f.program = func(c admin.Command) (admin.Result, error) {
					f.t.Errorf("runs %v", c)
					return admin.Result{}, nil
				}
				f.annotatePods(v1beta2.AnnotationCurrentConfiguration, `{"version": "7.3.79", "runServers": false}`)
			}, notQueried: "no running pod has received the cluster file yet",
		},
		"no pod can be reached": {
			given: func(f *field) {
				f.program = func(admin.Command) (admin.Result, error) {
					return admin.Result{}, &admin.TransportError{Where: "pod x", Err: errors.New("no route")}
				}
			}, unreachable: "no route",
		},
		"the answer is no document":           {given: says("nonsense", 0), unreachable: "reading status"},
		"fdbcli gives up":                     {given: says("", 1), unreachable: "reading status"},
		"the document timed out":              {given: faulty(fdbsim.Faults{StatusTimeout: true}), unreachable: "did not collect all of it"},
		"the document was late":               {given: faulty(fdbsim.Faults{StatusDeadline: true}), unreachable: "its collection exceeded the deadline"},
		"the document is of another database": {given: says(ofAnother("other:abcdefgh@10.9.9.9:4501"), 0), unreachable: "is of another database"},
		"the document is available and lists no process": {
			given:       says(`{"client":{"database_status":{"available":true}},"cluster":{"recovery_state":{"name":"fully_recovered"}}}`, 0),
			unreachable: "did not collect all of it",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := settled(t)
			tc.given(f)
			s := f.observe(plan.ClusterResource | plan.Database)
			if s.Database.Status != nil || s.Database.Available() {
				t.Error("there is a status document")
			}
			if incomplete := strings.Contains(tc.unreachable, "collect"); (s.Database.Partial != nil) != incomplete {
				t.Errorf("partial document: %v, want %t", s.Database.Partial, incomplete)
			}
			for what, pair := range map[string][2]string{"not asked": {s.Database.NotQueried, tc.notQueried}, "unreachable": {s.Database.Unreachable, tc.unreachable}} {
				if !strings.Contains(pair[0], pair[1]) || (pair[0] == "") != (pair[1] == "") {
					t.Errorf("%s: %q, want %q", what, pair[0], pair[1])
				}
			}
		})
	}
}

// A database that never answers costs the patience, and not the pass.
func TestADatabaseThatDoesNotRespondTimesOutAsUnreachable(t *testing.T) {
	f := settled(t)
	f.cluster.StatusTimeout = 10 * time.Millisecond
	f.cluster.Transport = func(*corev1.Pod) admin.Transport { return hangs{"nowhere"} }
	if s := f.observe(plan.Database); s.Database.Unreachable == "" {
		t.Error("a database that never answers is not unreachable")
	}
}

func TestAnInterruptedReadDoesNotMarkTheDatabaseUnreachable(t *testing.T) {
	f := settled(t)
	f.cluster.Transport = func(*corev1.Pod) admin.Transport { return hangs{"nowhere"} }
	s := f.observe(plan.ClusterResource | plan.Pods)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.cluster.Observe(ctx, &s, plan.Database); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	if s.Database.Unreachable != "" {
		t.Errorf("the snapshot reports %q", s.Database.Unreachable)
	}
}

func TestCoordinationIsUnknownWhereItCannotBeRead(t *testing.T) {
	f := settled(t)
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) { s.LockOptions.DisableLocks = new(bool) })
	f.cluster.Transport = func(*corev1.Pod) admin.Transport { return lostSessions{podTransport{f, "any"}} }
	if s := f.observe(plan.ClusterResource | plan.Coordination); s.Coordination.Read {
		t.Error("coordination counts as read")
	}
}

// lostSessions runs tools, but never a session.
type lostSessions struct{ podTransport }

func (lostSessions) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, &admin.TransportError{Where: "nowhere", Err: errors.New("no route")}
}

// hangs is a pod in which no tool ends before its context does.
type hangs struct{ pod string }

func (h hangs) Run(ctx context.Context, _ admin.Command) (admin.Result, error) {
	<-ctx.Done()
	return admin.Result{}, &admin.TransportError{Started: true, Where: h.pod, Err: ctx.Err()}
}

func (h hangs) Open(ctx context.Context, _ admin.Command) (*admin.Session, error) {
	<-ctx.Done()
	return nil, &admin.TransportError{Started: true, Where: h.pod, Err: ctx.Err()}
}

// What a view reads through pods has one limit. What was not read by then is unknown, and why that
// is names the pods.
func TestToolsThatHangInAllPodsEndTogetherAtTheLimitOfTheView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := settled(t)
		f.cluster.Transport = func(pod *corev1.Pod) admin.Transport { return hangs{"pod " + pod.Name} }
		s := f.observe(plan.ClusterResource | plan.Pods)
		ctx, done := live.Limited(t.Context(), 30*time.Second)
		defer done()
		began := time.Now()
		if err := f.cluster.Observe(ctx, &s, plan.Database|plan.Coordination|plan.PodFiles); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("took %s", took)
		}
		if !strings.HasPrefix(s.Database.Unreachable, "no answer within 30s: the tool did not end in pod sample-") || strings.Count(s.Database.Unreachable, "pod sample-") != 3 {
			t.Errorf("the status is unknown because of %q", s.Database.Unreachable)
		}
		if s.Database.Status != nil || s.Coordination.ExclusionsRead || s.Coordination.Read {
			t.Errorf("something was read: %+v", s.Coordination)
		}
	})
}

// A database that was never created is read in two steps, which share the limit.
func TestTheFilesOfPodsAndTheStatusShareTheLimitOfTheView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := settled(t)
		f.setStatus(func(s *v1beta2.FoundationDBClusterStatus) { s.Configured, s.RunningVersion = false, "7.3.63" })
		f.cluster.Transport = func(pod *corev1.Pod) admin.Transport { return hangs{"pod " + pod.Name} }
		s := f.observe(plan.ClusterResource | plan.Pods)
		ctx, done := live.Limited(t.Context(), 30*time.Second)
		defer done()
		began := time.Now()
		if err := f.cluster.Observe(ctx, &s, plan.Database); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 30*time.Second || s.Database.Why() == "" {
			t.Errorf("took %s, unknown because of %q", took, s.Database.Why())
		}
		if s.Database.DataDirs == nil || len(s.Database.DataDirs.Unread) != len(s.Pods) {
			t.Errorf("the pods whose files are unknown are not named: %+v", s.Database.DataDirs)
		}
	})
}

func TestAnInterruptedObservationIsAnError(t *testing.T) {
	f := settled(t)
	s := f.observe(plan.ClusterResource | plan.Pods)
	limited, done := live.Limited(t.Context(), time.Hour)
	defer done()
	ctx, cancel := context.WithCancel(limited)
	f.cluster.Transport = func(pod *corev1.Pod) admin.Transport { cancel(); return hangs{pod.Name} }
	if err := f.cluster.Observe(ctx, &s, plan.Database|plan.Coordination); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
