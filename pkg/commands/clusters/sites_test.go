package clusters_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

var threeSites = []string{"--contexts", "dc1,dc2,dc3"}

func three(t *testing.T) *commandstest.Given {
	t.Helper()
	return commandstest.OverSites(t, "dc1", "dc2", "dc3")
}

func sitesFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sites.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Every row breaks one thing of three sites that are read without an error.
func TestSitesThatAreNotThoseOfOneDatabaseAreRefused(t *testing.T) {
	g := three(t)
	tests := map[string]struct {
		given func(dc2 *commandstest.Given)
		args  []string
		want  int
		says  string
	}{
		"an unknown context":               {args: []string{"--contexts", "dc1,dc4"}, want: exit.ExitUsage, says: `site dc4: context "dc4" not found: must be one of dc1, dc2, dc3, test`},
		"a context twice":                  {args: []string{"--contexts", "dc1,dc1"}, want: exit.ExitUsage, says: "--contexts: site dc1: duplicate name"},
		"a context without a name":         {args: []string{"--contexts", "dc1,"}, want: exit.ExitUsage, says: "--contexts: site 2: context is required"},
		"one context besides":              {args: []string{"--contexts", "dc1,dc2", "--context", "dc3"}, want: exit.ExitUsage, says: "--contexts conflicts with --context"},
		"a file besides":                   {args: []string{"--contexts", "dc1", "--sites", "x"}, want: exit.ExitUsage, says: "--contexts conflicts with --sites"},
		"a file that does not exist":       {args: []string{"--sites", "/does/not/exist"}, want: exit.ExitUsage, says: "sites file /does/not/exist: "},
		"all namespaces":                   {args: append([]string{"-A"}, threeSites...), want: exit.ExitUsage, says: "--contexts and --sites conflict with -A"},
		"a context without permissions":    {given: func(g *commandstest.Given) { g.Down = forbidden() }, want: exit.ExitForbidden, says: "site dc2: forbidden: foundationdbclusters"},
		"a context of the same API server": {given: func(g *commandstest.Given) { g.Objects[0].SetUID("server-dc1") }, want: exit.ExitUsage, says: "sites dc1 and dc2 are the same Kubernetes cluster"},
		"the same resource":                {given: func(g *commandstest.Given) { g.Cluster.Resource.UID = "of-dc1" }, want: exit.ExitUsage, says: "sites dc1 and dc2 are the same FoundationDBCluster"},
		"another database":                 {given: func(g *commandstest.Given) { g.Cluster.Resource.Status.ConnectionString = "other:abc@10.0.0.1:4501" }, want: exit.ExitUsage, says: "are of two databases: "},
		"no connection string": {given: func(g *commandstest.Given) {
			g.Cluster.Resource.Status.ConnectionString, g.Cluster.Resource.Spec.SeedConnectionString = "", ""
		}, want: exit.ExitUsage, says: "site dc2: FoundationDBCluster sample-dc2 has no connection string"},
		"an equal prefix":  {given: func(g *commandstest.Given) { g.Cluster.Resource.Spec.ProcessGroupIDPrefix = "dc1" }, want: exit.ExitUsage, says: `sites dc1 and dc2: spec.processGroupIDPrefix must differ, both have "dc1"`},
		"no such resource": {args: []string{"--sites", sitesFile(t, "sites:\n- {context: dc1}\n- {context: dc2, cluster: sample-dc9}\n")}, want: exit.ExitUsage, says: "site dc2: FoundationDBCluster sample-dc9 not found in namespace fdb"},
		"an unknown field": {args: []string{"--sites", sitesFile(t, "sites:\n- {context: dc1, zone: a}\n")}, want: exit.ExitUsage, says: `unknown field "zone"`},
		"no site":          {args: []string{"--sites", sitesFile(t, "sites: []\n")}, want: exit.ExitUsage, says: "at least one site is required"},
		"the same site":    {args: []string{"--sites", sitesFile(t, "sites:\n- {name: a, context: dc1}\n- {name: b, context: dc1}\n")}, want: exit.ExitUsage, says: "site b: is the same as a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dc2 := g.Sites["dc2"]
			resource, server := dc2.Cluster.Resource.DeepCopy(), dc2.Objects[0].GetUID()
			defer func() {
				dc2.Cluster.Resource, dc2.Down = resource, nil
				dc2.Objects[0].SetUID(server)
			}()
			if tc.given != nil {
				tc.given(dc2)
			}
			args := tc.args
			if args == nil {
				args = threeSites
			}
			for _, command := range [][]string{{"get", "clusters"}, {"status"}} {
				if code := g.Run(append(command, args...)...); code != tc.want || !strings.Contains(g.Err.String(), tc.says) || g.Out.Len() > 0 {
					t.Errorf("%v: exit code %d, want %d: %s%s", command, code, tc.want, &g.Out, &g.Err)
				}
				if lines := strings.Count(g.Err.String(), "error: "); lines != 1 {
					t.Errorf("%v: %d errors: %s", command, lines, &g.Err)
				}
			}
		})
	}
}

func forbidden() error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "foundationdbclusters"}, "sample-dc2", errors.New("RBAC"))
}

// sameDescription is a connection string of which nothing but the description is that of another.
func sameDescription(connection string) string {
	description, _, _ := strings.Cut(connection, ":")
	return description + ":other@10.9.9.9:4501"
}

func TestGetClustersOverSitesHasARowForEach(t *testing.T) {
	g := three(t)
	if code := g.Run(append([]string{"get", "clusters"}, threeSites...)...); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	for i, line := range slices.Collect(strings.Lines(g.Out.String())) {
		want := []string{"SITE   NAMESPACE   NAME", "dc1    fdb         sample-dc1", "dc2    fdb         sample-dc2", "dc3    fdb         sample-dc3"}[i]
		if !strings.HasPrefix(line, want) || strings.Contains(line, "UNREAD") {
			t.Errorf("line %d is not that of %q: %s", i, want, line)
		}
	}
}

func TestAnUnreadSiteIsARowWithTheReason(t *testing.T) {
	g := three(t)
	g.Sites["dc2"].Down = commandstest.Refused("dc2.example:6443")
	const reason = "the connection to the server dc2.example:6443 was refused"
	tests := map[string]struct {
		args    []string
		on, err []string
	}{
		"a table":        {on: []string{"dc2    fdb         -            ?         unread", reason, "dc3    fdb         sample-dc3"}},
		"sorted":         {args: []string{"--sort-by", "NAME"}, on: []string{"unread", reason, "sample-dc3"}},
		"JSON":           {args: []string{"-o", "json"}, on: []string{`"unread": [`, `"site": "dc2"`, `"site": "dc3"`, reason}},
		"names":          {args: []string{"-o", "name"}, on: []string{"sample-dc3"}, err: []string{"warning: site dc2 could not be read: ", reason}},
		"custom columns": {args: []string{"-o", "custom-columns=SITE,NAME"}, on: []string{"dc3"}, err: []string{"site dc2 could not be read"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if code := g.Run(slices.Concat([]string{"get", "clusters"}, threeSites, tc.args)...); code != exit.ExitUnreachable {
				t.Errorf("exit code %d: %s", code, &g.Err)
			}
			contains(t, "stdout", g.Out.String(), tc.on)
			contains(t, "stderr", g.Err.String(), tc.err)
		})
	}
}

func contains(t *testing.T, stream, text string, all []string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("no %q on %s:\n%s", want, stream, text)
		}
	}
}

// What follows does not show that a site is missing.
func TestStatusOverSitesNamesAnUnreadSiteFirst(t *testing.T) {
	g := three(t)
	g.Sites["dc2"].Down = commandstest.Refused("dc2.example:6443")
	if code := g.Run(append([]string{"status"}, threeSites...)...); code != exit.ExitUnreachable {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
	if want := "2 of 3 sites read\nunread: dc2: the connection to the server dc2.example:6443 was refused"; !strings.HasPrefix(g.Out.String(), want) {
		t.Errorf("does not begin with %q:\n%s", want, &g.Out)
	}
	contains(t, "stdout", g.Out.String(), []string{"site dc1: fdb/sample-dc1", "site dc3: fdb/sample-dc3"})
	for _, site := range g.Sites {
		site.Down = commandstest.Refused("any.example:6443")
	}
	if code := g.Run(append([]string{"status"}, threeSites...)...); code != exit.ExitUnreachable || !strings.HasPrefix(g.Out.String(), "0 of 3 sites read\nunread: dc1: ") {
		t.Errorf("without any site: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

// counted counts the reads of the database's status.
type counted struct {
	commandstest.Simulated
	reads *atomic.Int32
}

func (c counted) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets&plan.Database != 0 {
		c.reads.Add(1)
	}
	return c.Simulated.Observe(ctx, into, facets)
}

func TestStatusOverSitesReadsTheDatabaseOnce(t *testing.T) {
	g, reads := three(t), new(atomic.Int32)
	for _, site := range g.Sites {
		site.Connect = func() (session.Session, error) {
			return counted{commandstest.Simulated{Cluster: site.Cluster, G: site}, reads}, nil
		}
	}
	if code := g.Run(append([]string{"status"}, threeSites...)...); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if n := reads.Load(); n != 1 {
		t.Errorf("%d reads of the database", n)
	}
	for title, times := range map[string]int{"Database": 1, "Coordinators": 1, "Process groups": 3, "Locks": 3} {
		if n := strings.Count(g.Out.String(), "\n"+title+"  "); n != times {
			t.Errorf("%d sections %s, want %d:\n%s", n, title, times, &g.Out)
		}
	}
}

// The reason may be that site alone.
func TestTheDatabaseIsReadAtAnotherSiteIfItDoesNotAnswerAtOne(t *testing.T) {
	g := three(t)
	commandstest.WithSilentStorage(g.Sites["dc1"])
	if code := g.Run(append([]string{"status"}, threeSites...)...); code != exit.ExitUnreachable && code != exit.ExitDone {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
	contains(t, "stdout", g.Out.String(), []string{"Available       yes", "site dc2: fdb/sample-dc2"})
}

func TestStatusOverSitesWarnsOfContradictingSpecs(t *testing.T) {
	g := three(t)
	g.Sites["dc2"].Cluster.Resource.Spec.Version = "7.3.80"
	code := g.Run(append([]string{"status"}, threeSites...)...)
	if want := "3 of 3 sites read\nwarning: spec.version differs: 7.3.79 at dc1, 7.3.80 at dc2, 7.3.79 at dc3\n"; code != exit.ExitNo || !strings.HasPrefix(g.Out.String(), want) {
		t.Errorf("exit code %d, does not begin with %q:\n%s", code, want, &g.Out)
	}
}

func TestTheFileOfSitesNamesThem(t *testing.T) {
	g := three(t)
	file := sitesFile(t, "sites:\n- {name: berlin, context: dc1, namespace: fdb, cluster: sample-dc1}\n- {context: dc2}\n")
	if code := g.Run("get", "clusters", "--sites", file, "-o", "custom-columns=SITE,NAME", "--no-headers"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	if diff := cmp.Diff("berlin   sample-dc1\ndc2      sample-dc2\n", g.Out.String()); diff != "" {
		t.Error(diff)
	}
	g.Env[sites.Variable] = file
	if g.Run("get", "clusters", "-o", "name"); g.Out.String() != "foundationdbcluster/sample-dc1\nfoundationdbcluster/sample-dc2\n" {
		t.Errorf("with %s: %s%s", sites.Variable, &g.Out, &g.Err)
	}
	if code := g.Run("get", "clusters", "-o", "name", "--context", "test"); code != exit.ExitDone || strings.Contains(g.Out.String(), "dc2") {
		t.Errorf("with one context: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.Run("status", "sample-dc9", "--sites", file); code != exit.ExitUsage || !strings.Contains(g.Err.String(), "the command line names cluster sample-dc9, the sites file sample-dc1") {
		t.Errorf("with another name: exit code %d: %s", code, &g.Err)
	}
}

func TestContextsAreCompletedAfterEachComma(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Sites = map[string]*commandstest.Given{"dc1": nil, "dc2": nil}
	g.Run("__complete", "status", "--contexts", "dc1,")
	if want := "dc1,dc2\ndc1,test\n"; !strings.HasPrefix(g.Out.String(), want) {
		t.Errorf("%q, want %q", &g.Out, want)
	}
}

func TestASiteThatMissedAChangeOfAllCoordinatorsIsOfTheSameDatabase(t *testing.T) {
	g := three(t)
	status := &g.Sites["dc2"].Cluster.Resource.Status
	status.ConnectionString = sameDescription(status.ConnectionString)
	if code := g.Run(append([]string{"get", "clusters"}, threeSites...)...); code != exit.ExitDone {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

func TestTwoDatabasesOfOneDescriptionAreRefused(t *testing.T) {
	g := three(t)
	other := commandstest.Up(t).Cluster
	c := other.Resource
	c.Name, c.UID, c.Spec.ProcessGroupIDPrefix = "sample-dc2", "of-other", "dc2"
	c.Status.ConnectionString = sameDescription(g.Sites["dc1"].Cluster.Resource.Status.ConnectionString)
	g.Sites["dc2"].Cluster = other
	if code := g.Run(append([]string{"get", "clusters"}, threeSites...)...); code != exit.ExitUsage || !strings.Contains(g.Err.String(), "or of one whose coordinators were changed") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}
