package dump_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/changes"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func diffOf(t *testing.T, g *commandstest.Given) changes.View {
	t.Helper()
	var v changes.View
	if err := json.Unmarshal(g.Out.Bytes(), &v); err != nil {
		t.Fatalf("%v: %s%s", err, &g.Out, &g.Err)
	}
	return v
}

func TestDumpDiffOfAnUnchangedClusterIsEmpty(t *testing.T) {
	g := commandstest.Dumpable(t)
	g.Frozen()
	one, two := g.Dumped(), g.Dumped()
	if code := g.Run("dump", "diff", one, "-o", "json"); code != exit.ExitDone || diffOf(t, g).Differences != 0 {
		t.Errorf("a dump and now: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.Run("dump", "diff", one, two); code != exit.ExitDone || !strings.HasPrefix(g.Out.String(), "0 differences from "+one+" (2026-") {
		t.Errorf("two dumps: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

func TestDumpDiffIgnoresRedactedSecrets(t *testing.T) {
	g := commandstest.NewGiven(t)
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: v1beta2.ContainerMain, Env: []corev1.EnvVar{{Name: "AWS_SECRET_ACCESS_KEY", Value: "hunter2template"}}}}}}
	g.Cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {PodTemplate: template}}
	if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	commandstest.Readable(g).Frozen()
	path := g.Dumped()
	if code := g.Run("dump", "diff", path, "-o", "json"); code != exit.ExitDone || strings.Contains(g.Out.String(), "hunter2") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

func TestDumpDiffShowsWhatChanged(t *testing.T) {
	g := commandstest.Dumpable(t)
	g.Frozen()
	before := g.Dumped()
	group := g.Cluster.Resource.Status.ProcessGroups[0]
	pod := g.Cluster.Pods[group.PodName(g.Cluster.Resource)]
	pod.UID = types.UID("recreated")
	g.Cluster.Resource.Spec.ProcessCounts.Storage = 4
	group.SetCondition(v1beta2.ConditionPodFailing, g.Cluster.Now())
	after := g.Dumped()
	for name, args := range map[string][]string{"a dump and now": {before}, "two dumps": {before, after}, "with a name": {before, after, "-c", "sample", "-n", "fdb"}} {
		if code := g.Run(append([]string{"dump", "diff", "-o", "json"}, args...)...); code != exit.ExitNo {
			t.Errorf("%s: exit code %d: %s", name, code, &g.Err)
		}
		found := map[string]string{}
		for _, c := range diffOf(t, g).Items {
			if c.After != nil {
				found[string(c.Section)+" "+c.Object+" "+c.Field] = *c.After
			}
		}
		if found["spec  processCounts.storage"] != "4" || found["pods "+pod.Name+" uid"] != "recreated" {
			t.Errorf("%s: %v", name, found)
		}
	}
	g.Connect, g.Tool, g.Objects, g.Cluster.Resource, g.Now = nil, nil, nil, nil, nil // nothing but the dumps can answer
	if code := g.Run("dump", "diff", before, after); code != exit.ExitNo || !regexp.MustCompile(`(?m)^spec +- +processCounts.storage +changed +3 +4$`).MatchString(g.Out.String()) {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.Run("dump", "diff", before, after, "-o", "name"); code != exit.ExitNo || !strings.Contains(g.Out.String(), "spec/sample\n") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

func TestDumpDiffRejectsInvalidDumpsAndArguments(t *testing.T) {
	g := commandstest.Dumpable(t)
	g.Frozen()
	path := g.Dumped("--max-log-bytes", "0")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, content []byte) string {
		at := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(at, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return at
	}
	foreign, truncated := file("foreign", []byte("apiVersion: v1\n")), file("truncated", whole[:len(whole)/2])
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"a foreign file":      {[]string{foreign}, foreign + ": not a dump of kubectl fdb"},
		"a truncated file":    {[]string{path, truncated}, truncated + ": dump is truncated or damaged"},
		"no file":             {[]string{"missing"}, "missing: open missing: no such file or directory"},
		"another cluster":     {[]string{path, "-c", "other"}, path + ": the dump has no such cluster: it has fdb/sample"},
		"another namespace":   {[]string{path, "-n", "other"}, path + ": the dump has no such cluster: it has fdb/sample"},
		"no dump":             {nil, "invalid arguments"},
		"three dumps":         {[]string{path, path, path}, "invalid arguments"},
		"an unknown format":   {[]string{path, "-o", "pdf"}, "-o must be one of"},
		"a dump of this dump": {[]string{path, "--from", path}, "--from conflicts with dump diff"},
	} {
		env := g.Environment()
		g.Err.Reset()
		env.Client = func() (client.Client, error) {
			t.Errorf("%s: the API server was opened", name)
			return nil, errors.New("opened")
		}
		if code := commands.Run(t.Context(), env, append([]string{"dump", "diff"}, row.args...)); code != exit.ExitUsage || !strings.HasPrefix(g.Err.String(), "error: "+row.want) {
			t.Errorf("%s: exit code %d: %s", name, code, &g.Err)
		}
	}
}

func TestDumpDiffReportsUnreadDataAsUnknownNotDifferent(t *testing.T) {
	g := commandstest.Dumpable(t)
	g.Frozen()
	g.NodesHidden = apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("RBAC"))
	path := g.Dumped()
	if code := g.Run("dump", "diff", path); code != exit.ExitUnreachable || !strings.Contains(g.Out.String(), "0 differences") || !regexp.MustCompile(`(?m)^nodes +- +- +unknown +\? +\?$`).MatchString(g.Out.String()) {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}
