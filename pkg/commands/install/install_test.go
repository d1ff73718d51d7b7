package install

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// given is an API server and a user in front of it.
type given struct {
	api      client.Client
	env      *session.Env
	out      bytes.Buffer
	input    string
	terminal bool
	changes  int
}

func newGiven(t *testing.T, objects ...client.Object) *given {
	t.Helper()
	g := &given{}
	known := runtime.NewScheme()
	if err := errors.Join(rbacv1.AddToScheme(known), corev1.AddToScheme(known)); err != nil {
		t.Fatal(err)
	}
	g.api = fake.NewClientBuilder().WithScheme(known).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if _, event := o.(*corev1.Event); !event {
				g.changes++
			}
			if u, is := o.(*unstructured.Unstructured); is && u.GetKind() == kindCRD { // as the API server does
				condition := map[string]any{"type": "Established", "status": "True"}
				if err := unstructured.SetNestedSlice(u.Object, []any{condition}, "status", "conditions"); err != nil {
					return err
				}
			}
			return c.Create(ctx, o, options...)
		},
	}).Build()
	variables := map[string]string{"XDG_STATE_HOME": t.TempDir()}
	kube := genericclioptions.NewConfigFlags(false)
	*kube.Namespace = "fdb"
	g.env = &session.Env{
		IOStreams:  genericiooptions.IOStreams{In: strings.NewReader(""), Out: &g.out, ErrOut: &g.out},
		Kube:       kube,
		Clock:      clocktesting.NewFakeClock(time.Now()),
		Getenv:     func(name string) string { return variables[name] },
		Random:     func() uint64 { return 42 },
		IsTerminal: func(any) bool { return g.terminal },
		Client:     func() (client.Client, error) { return g.api, nil },
	}
	return g
}

func (g *given) run(t *testing.T, args ...string) error {
	t.Helper()
	g.out.Reset()
	g.env.In = strings.NewReader(g.input)
	cmd := NewInstall(g.env)
	cmd.SetArgs(args)
	cmd.SetOut(&g.out)
	cmd.SetErr(&g.out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.ExecuteContext(t.Context())
}

func definitions(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	all, err := objectsIn("crd")
	if err != nil || len(all) != 3 {
		t.Fatalf("%d definitions: %v", len(all), err)
	}
	return all
}

func TestInstallCRDsIsIdempotent(t *testing.T) {
	g := newGiven(t)
	if err := g.run(t, "crds", "--dry-run"); err != nil || g.changes != 0 || strings.Count(g.out.String(), string(missing)) != 3 {
		t.Errorf("dry run: %v, %d changes\n%s", err, g.changes, &g.out)
	}
	if err := g.run(t, "crds", "--yes"); err != nil || g.changes != 3 {
		t.Errorf("%v, %d changes\n%s", err, g.changes, &g.out)
	}
	if err := g.run(t, "crds", "--yes"); err != nil || g.changes != 3 || strings.Contains(g.out.String(), "created") {
		t.Errorf("again: %v, %d changes\n%s", err, g.changes, &g.out)
	}
}

// A definition with fewer fields would delete data of resources, so existing ones are left alone.
func TestInstallNeverChangesExistingCRDs(t *testing.T) {
	newer, older := definitions(t)[0], definitions(t)[1]
	if err := unstructured.SetNestedField(newer.Object, "more", "spec", "names", "another"); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(older.Object, "Cluster", "spec", "scope"); err != nil {
		t.Fatal(err)
	}
	g := newGiven(t, newer, older)
	err := g.run(t, "crds", "--yes")
	if exit.Code(err) != exit.ExitConflict || !strings.Contains(err.Error(), older.GetName()) || strings.Contains(err.Error(), newer.GetName()) {
		t.Errorf("error: %v", err)
	}
	if g.changes != 1 {
		t.Errorf("%d changes, want the missing one", g.changes)
	}
	for _, object := range []*unstructured.Unstructured{newer, older} {
		found := object.DeepCopy()
		if err := g.api.Get(t.Context(), client.ObjectKeyFromObject(object), found); err != nil || !contains(found.Object["spec"], object.Object["spec"]) {
			t.Errorf("%s was changed: %v", object.GetName(), err)
		}
	}
}

func TestNothingIsInstalledWithoutApproval(t *testing.T) {
	g := newGiven(t)
	if err := g.run(t, "crds"); exit.Code(err) != exit.ExitUnconfirmed || g.changes != 0 {
		t.Errorf("no terminal: %v, %d changes", err, g.changes)
	}
	g.terminal, g.input = true, "n\n"
	if err := g.run(t, "crds"); exit.Code(err) != exit.ExitUnconfirmed || g.changes != 0 {
		t.Errorf("declined: %v, %d changes", err, g.changes)
	}
	g.input = "y\n"
	if err := g.run(t, "crds"); err != nil || g.changes != 3 {
		t.Errorf("approved: %v, %d changes", err, g.changes)
	}
}

func TestRolesAreInstalledInTheNamespace(t *testing.T) {
	g := newGiven(t)
	if err := g.run(t, "rbac", "read", "reconcile", "--yes"); err != nil {
		t.Fatal(err)
	}
	role := &unstructured.Unstructured{}
	role.SetAPIVersion("rbac.authorization.k8s.io/v1")
	role.SetKind("Role")
	if err := g.api.Get(t.Context(), client.ObjectKey{Namespace: "fdb", Name: "kubectl-fdb-read"}, role); err != nil {
		t.Error(err)
	}
	if err := g.run(t, "rbac", "reads", "--yes"); exit.Code(err) != exit.ExitUsage {
		t.Errorf("an unknown role: %v", err)
	}
	if err := g.run(t, "rbac"); err != nil || !strings.Contains(g.out.String(), "reconcile\n") {
		t.Errorf("%v\n%s", err, &g.out)
	}
}

// Every manifest is printed as objects, without an API server.
func TestInstallPrintWorksWithoutAnAPIServer(t *testing.T) {
	g := newGiven(t)
	g.env.Client = func() (client.Client, error) { return nil, errors.New("no API server") }
	for args, kinds := range map[string][]string{"crds": {kindCRD}, "rbac " + strings.Join(roleNames(), " "): {"Role", "ClusterRole"}} {
		if err := g.run(t, append(strings.Fields(args), "--print")...); err != nil {
			t.Fatal(err)
		}
		printed, err := parse(g.out.Bytes())
		if err != nil || len(printed) == 0 {
			t.Fatalf("%s: %d objects: %v", args, len(printed), err)
		}
		for _, object := range printed {
			if !strings.Contains(strings.Join(kinds, " "), object.GetKind()) || object.GetNamespace() != "" {
				t.Errorf("%s %s in namespace %q", object.GetKind(), object.GetName(), object.GetNamespace())
			}
		}
	}
	if len(roleNames()) < 10 {
		t.Errorf("only %d roles", len(roleNames()))
	}
}

// An API server that drops part of a manifest has not installed it.
func TestInstallReadsBackTheStoredObjects(t *testing.T) {
	g := newGiven(t)
	g.api = interceptor.NewClient(g.api.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if u, is := o.(*unstructured.Unstructured); is {
				u.Object["rules"] = []any{}
			}
			return c.Create(ctx, o, options...)
		},
	})
	if err := g.run(t, "rbac", "read", "--yes"); err == nil || !strings.Contains(err.Error(), string(different)) {
		t.Errorf("error: %v", err)
	}
	g.api = interceptor.NewClient(g.api.(client.WithWatch), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return apierrors.NewServiceUnavailable("no answer")
		},
	})
	if err := g.run(t, "crds", "--yes"); err == nil {
		t.Error("no error without an answer")
	}
}

func TestContains(t *testing.T) {
	m := func(pairs ...any) map[string]any {
		all := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i].(string)] = pairs[i+1]
		}
		return all
	}
	for name, c := range map[string]struct {
		have, want any
		ok         bool
	}{
		"equal":              {m("a", int64(1)), m("a", 1.0), true},
		"more":               {m("a", 1, "b", 2), m("a", 1), true},
		"less":               {m("a", 1), m("a", 1, "b", 2), false},
		"another value":      {m("a", 1), m("a", 2), false},
		"another type":       {m("a", "x"), m("a", m("b", 1)), false},
		"a list":             {[]any{1, m("a", 1, "b", 2)}, []any{1, m("a", 1)}, true},
		"a longer list":      {[]any{1, 2}, []any{1}, false},
		"no list":            {nil, []any{1}, false},
		"an empty list":      {nil, []any{}, true},
		"another order":      {[]any{2, 1}, []any{1, 2}, false},
		"an empty map, none": {nil, m(), true},
	} {
		if got := contains(c.have, c.want); got != c.ok {
			t.Errorf("%s: %t", name, got)
		}
	}
}
