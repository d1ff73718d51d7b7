package commandstest

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// OverSites is a reconciled database with a resource in each of several Kubernetes clusters, whose kubeconfig contexts have
// these names, and a user whose kubeconfig has all of them.
func OverSites(t *testing.T, names ...string) *Given {
	t.Helper()
	user := NewGiven(t)
	user.Sites = map[string]*Given{}
	for i, name := range names {
		g := NewGiven(t)
		if i > 0 {
			g.Cluster = joined(t, user.Sites[names[0]].Cluster, g.Cluster.Resource)
			g.Clock = &ClusterClock{Cluster: g.Cluster}
		}
		c := g.Cluster.Resource
		c.Name, c.UID = "sample-"+name, types.UID("of-"+name)
		c.Spec.ProcessGroupIDPrefix, c.Spec.LockOptions.DisableLocks = name, new(bool)
		g.Objects = []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: types.UID("server-" + name)}}}
		if code := g.Run("reconcile", c.Name, "--yes", "--wait"); code != exit.ExitDone {
			t.Fatalf("site %s: exit code %d: %s%s", name, code, &g.Out, &g.Err)
		}
		user.Sites[name] = g
	}
	user.Clock = user.Sites[names[0]].Clock
	return user
}

// joined is a Kubernetes cluster of its own with a resource of the same database.
func joined(t *testing.T, first *sim.Cluster, resource *v1beta2.FoundationDBCluster) *sim.Cluster {
	t.Helper()
	resource.Spec.SeedConnectionString = first.Resource.Status.ConnectionString
	w, err := first.Join(resource)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Refused is what requests meet where no API server listens.
func Refused(server string) error {
	return &url.Error{Op: "Get", URL: "https://" + server + "/api", Err: syscall.ECONNREFUSED}
}

func (g *Given) openClient() (client.Client, error) {
	if g.Down != nil {
		return nil, g.Down
	}
	return g.Client(), nil
}

// elsewhere returns the environment of another context.
func (g *Given) elsewhere(p session.Place) *session.Env {
	g.T.Helper()
	at := g.Sites[p.Context]
	if at == nil {
		at = g
	}
	e := at.Environment()
	*e.Kube.KubeConfig, *e.Kube.Context, *e.Kube.Namespace = g.Kubeconfig(), p.Context, p.Namespace
	return e
}

// contexts are those of the kubeconfig.
func (g *Given) contexts() string {
	var all []string
	for _, name := range append([]string{"test"}, slices.Sorted(maps.Keys(g.Sites))...) {
		all = append(all, "{name: "+name+", context: {cluster: test, namespace: fdb}}")
	}
	return strings.Join(all, ", ")
}

// LoseSite makes the API server of a site unreachable.
func (g *Given) LoseSite(site string) { g.Sites[site].Down = Refused(site + ".example:6443") }
