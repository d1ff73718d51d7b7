package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/dump"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/dumps"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// leaves returns all commands that do something, by name.
func leaves(root *cobra.Command) map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Runnable() {
			all[strings.TrimPrefix(c.CommandPath(), "kubectl fdb ")] = c
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk(root)
	return all
}

func TestOnlyReadOnlyCommandsAcceptADump(t *testing.T) {
	g := newGiven(t)
	env := g.environment()
	env.Client = func() (client.Client, error) { t.Error("the API server was opened"); return nil, errors.New("opened") }
	root := newRoot(env)
	all := leaves(root)
	for _, name := range commandsOfDumps(root) {
		if name != "plan" && slices.Contains([]string{"reconcile", "replace", "restart", "drain", "exclude", "include", "cordon", "dump", "exec", "cli"}, name) {
			t.Errorf("command %q must not read a dump", name)
		}
	}
	for name, cmd := range all {
		if readsDumps(cmd) {
			continue
		}
		env.Global.From = filepath.Join(t.TempDir(), "none")
		err := readFromDump(env, cmd)
		if exit.Code(err) != exit.ExitUsage || !strings.Contains(fmt.Sprint(err), dumps.ReadOnlyMessage) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestFromConflictsWithCommandsAndFlagsThatNeedACluster(t *testing.T) {
	for line, want := range map[string]string{
		"reconcile sample --yes":    "error: --from conflicts with reconcile: a dump is read-only",
		"dump sample":               "error: --from conflicts with dump: a dump is read-only",
		"cli sample -- status":      "error: --from conflicts with cli: a dump is read-only",
		"status sample --watch":     "error: --from conflicts with --watch: a dump does not change",
		"status --context other":    "error: --from conflicts with --context: a dump has one API server and one database for each cluster",
		"status --transport native": "error: --from conflicts with --transport: a dump has one API server and one database for each cluster",
	} {
		g := newGiven(t)
		words, program, _ := strings.Cut(line, " -- ")
		args := append(strings.Fields(words), "--from", "missing")
		if program != "" {
			args = append(args, "--", program)
		}
		if code := g.run(args...); code != exit.ExitUsage || !strings.HasPrefix(g.err.String(), want) {
			t.Errorf("%s: exit code %d, %s", line, code, &g.err)
		}
	}
}

func TestCompletionReadsADumpAndNotTheAPIServer(t *testing.T) {
	g := dumpable(t)
	g.frozen()
	path := g.dumped()
	group := string(g.cluster.Resource.Status.ProcessGroups[0].ProcessGroupID)
	foreign := filepath.Join(t.TempDir(), "foreign")
	if err := os.WriteFile(foreign, []byte("apiVersion: v1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	complete := func(words ...string) string {
		t.Helper()
		g.out.Reset()
		env := g.environment()
		env.Client = func() (client.Client, error) { t.Error("the API server was opened"); return nil, errors.New("opened") }
		Run(t.Context(), env, append([]string{"__complete"}, words...))
		return g.out.String()
	}
	for name, row := range map[string]struct {
		words []string
		want  string
	}{
		"clusters":                      {[]string{"status", "--from", path, ""}, "sample\n"},
		"clusters, with an equals sign": {[]string{"status", "--from=" + path, ""}, "sample\n"},
		"process groups":                {[]string{"why", "--from", path, "sample", ""}, group + "\n"},
		"process groups of logs":        {[]string{"logs", "--from", path, "sample", ""}, group + "\n"},
		"nodes":                         {[]string{"can", "drain", "--from", path, ""}, "node-1\n"},
		"zones":                         {[]string{"get", "process-groups", "sample", "--from", path, "--zone", ""}, "node-1\n"},
		"namespaces":                    {[]string{"status", "--from", path, "-n", ""}, "fdb\n"},
		"nothing of a foreign file":     {[]string{"status", "--from", foreign, ""}, ":4\n"},
		"nothing where no dump is read": {[]string{"restart", "--from", path, ""}, ":4\n"},
	} {
		if got := complete(row.words...); !strings.HasPrefix(got, row.want) && !strings.Contains(got, "\n"+row.want) {
			t.Errorf("%s: no %q in %s", name, row.want, got)
		}
	}
}

func TestFromAnUnreadableDumpPrintsOneError(t *testing.T) {
	g := dumpable(t)
	whole, err := os.ReadFile(g.dumped("--max-log-bytes", "0"))
	if err != nil {
		t.Fatal(err)
	}
	for want, content := range map[string][]byte{
		"not a dump of kubectl fdb":     []byte("apiVersion: v1\n"),
		"dump is truncated or damaged":  whole[:len(whole)/2],
		"dump is truncated or damaged:": whole[:len(whole)-20],
	} {
		path := filepath.Join(t.TempDir(), "dump")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if code := g.run("status", "sample", "--from", path); code != exit.ExitUsage || !strings.HasPrefix(g.err.String(), "error: --from "+path+": "+want) || strings.Count(g.err.String(), "\n") != 1 {
			t.Errorf("%s: exit code %d, %s", want, code, &g.err)
		}
	}
	if code := g.run("status", "sample", "--from", ""); code != exit.ExitUsage || g.err.String() != "error: --from must be the path of a dump\n" {
		t.Errorf("exit code %d, %s", code, &g.err)
	}
}

func TestDumpChecksItsFlagsBeforeItReads(t *testing.T) {
	directory := t.TempDir()
	existing := filepath.Join(directory, "existing")
	if err := os.WriteFile(existing, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"sample -f " + existing:                 "--file " + existing + ": file already exists",
		"sample -f " + directory:                "--file " + directory + ": must be a file, not a directory",
		"sample -f " + directory + "/missing/f": "--file " + directory + "/missing/f: directory " + directory + "/missing not found",
		"sample --duration -1s":                 "--duration must not be negative: -1s",
		"sample --max-log-bytes many":           `invalid --max-log-bytes "many": must be a number of bytes such as 1048576, 64Mi or 1Gi`,
		"sample --max-log-bytes -1":             `invalid --max-log-bytes "-1": must be a number of bytes such as 1048576, 64Mi or 1Gi`,
		"sample -A":                             "-A conflicts with a cluster name",
	} {
		g := newGiven(t)
		if code := g.run(append([]string{"dump"}, strings.Fields(line)...)...); code != exit.ExitUsage || !strings.HasPrefix(g.err.String(), "error: "+want) {
			t.Errorf("%s: exit code %d, %s", line, code, &g.err)
		}
	}
	if content, err := os.ReadFile(existing); err != nil || string(content) != "precious" {
		t.Errorf("the file was changed: %q, %v", content, err)
	}
}

func TestForceReplacesADumpOnlyWithACompleteOne(t *testing.T) {
	g := dumpable(t)
	path := g.dumped()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	opened := g.tool
	g.tool = func(pod *corev1.Pod, container string) (admin.Transport, error) {
		cancel(&exit.InterruptedError{Signal: os.Interrupt})
		return opened(pod, container)
	}
	if code := g.runIn(ctx, "dump", "sample", "-f", path, "--force", "--duration", "0"); code == exit.ExitDone {
		t.Errorf("an interrupted dump: exit code %d", code)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("an interrupted dump changed the file: %v", err)
	}
	if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
		t.Errorf("an interrupted dump left files: %v, %v", all, err)
	}
	g.tool = opened
	if code := g.run("dump", "sample", "-f", path, "--force", "--duration", "0"); code != exit.ExitDone {
		t.Errorf("exit code %d: %s", code, &g.err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestTheDumpManifestListsUnreadDataWithReasons(t *testing.T) {
	g := dumpable(t)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("RBAC"))
	g.nodesHidden = forbidden
	g.tool = func(*corev1.Pod, string) (admin.Transport, error) { return nil, errors.New("no route to pods") }
	d := dumpAt(t, g.dumped())
	var what []string
	for _, u := range d.Manifest.Unread {
		if u.Reason == "" {
			t.Errorf("%s has no reason", u.What)
		}
		what = append(what, u.What)
	}
	pod := g.cluster.Resource.Status.ProcessGroups[0].PodName(g.cluster.Resource)
	for _, want := range []string{"list nodes in all namespaces", "trace files of pod fdb/" + pod, "status document 0 of cluster fdb/sample"} {
		if !slices.Contains(what, want) {
			t.Errorf("the manifest lacks %q: %q", want, what)
		}
	}
	if !strings.Contains(g.err.String(), "warning: not in the dump: list nodes in all namespaces: ") {
		t.Errorf("no warning: %s", &g.err)
	}
}

func TestADumpHasLogsTracesStatusDocumentsAndViews(t *testing.T) {
	g := dumpable(t)
	for _, pod := range g.cluster.Pods {
		for i := range pod.Status.ContainerStatuses {
			pod.Status.ContainerStatuses[i].RestartCount = 1
		}
	}
	group := g.cluster.Resource.Status.ProcessGroups[0]
	pod := group.PodName(g.cluster.Resource)
	path := filepath.Join(t.TempDir(), "d")
	if code := g.run("dump", "sample", "-f", path, "--duration", "20s"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.err)
	}
	d := dumpAt(t, path)
	statuses := 0
	for name := range d.Files {
		if strings.HasPrefix(name, "status/fdb/sample/") {
			statuses++
		}
	}
	if statuses != 3 {
		t.Errorf("%d status documents in 20 s", statuses)
	}
	for _, name := range []string{
		"logs/fdb/" + pod + "/foundationdb.log", "logs/fdb/" + pod + "/foundationdb.previous.log", "traces/fdb/" + pod + "/trace.10.1.0.1.4501.xml",
		"views/fdb/sample/status.txt", "views/fdb/sample/why.txt", "views/fdb/sample/plan.txt", "views/fdb/sample/check.txt", "audit.jsonl",
	} {
		if len(d.Files[name]) == 0 {
			t.Errorf("the dump lacks %s", name)
		}
	}
	g.run("why", "sample", "--from", path)
	if diff := cmp.Diff(string(d.Files["views/fdb/sample/why.txt"]), g.out.String()+g.err.String()); diff != "" {
		t.Error(diff)
	}
}

func TestADumpHasNoAuditOfAnotherClusterOfTheSameName(t *testing.T) {
	g := dumpable(t)
	if len(dumpAt(t, g.dumped()).Files[dumps.AuditFile]) == 0 {
		t.Fatal("the dump lacks the audit")
	}
	remake(g.cluster.Resource)
	if text := dumpAt(t, g.dumped()).Files[dumps.AuditFile]; len(text) > 0 {
		t.Errorf("the audit of the deleted cluster: %s", text)
	}
}

func TestLogsOfADumpAreBounded(t *testing.T) {
	g := dumpable(t)
	d := dumpAt(t, g.dumped("--max-log-bytes", "2000"))
	size := 0
	for name, content := range d.Files {
		if strings.HasPrefix(name, "logs/") || strings.HasPrefix(name, "traces/") {
			size += len(content)
		}
	}
	if size == 0 || size > 2000+2000 { // redaction can make a text longer
		t.Errorf("%d bytes", size)
	}
	pod := g.cluster.Resource.Status.ProcessGroups[0].PodName(g.cluster.Resource)
	name := "logs/fdb/" + pod + "/foundationdb.log"
	if d.Omitted[name] == 0 || len(d.Files[name]) > 100 {
		t.Errorf("%d bytes of %s are left, %d are omitted", len(d.Files[name]), name, d.Omitted[name])
	}
}

func TestStatusOfAllNamespacesListsTheClusterOfADump(t *testing.T) {
	g := dumpable(t)
	path := g.dumped()
	if code := g.run("status", "-A", "--from", path, "-o", "name"); code != exit.ExitDone || g.out.String() != "foundationdbcluster/sample\n" {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
}

func TestADumpOfAllNamespacesIsReadableForAllNamespaces(t *testing.T) {
	g := dumpable(t)
	g.frozen()
	want := g.run("status", "-A")
	out := g.out.String()
	path := filepath.Join(t.TempDir(), "all")
	if code := g.run("dump", "-A", "-f", path, "--duration", "0"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.err)
	}
	g.connect, g.tool, g.objects, g.cluster.Resource, g.now = nil, nil, nil, nil, nil
	if code := g.run("status", "-A", "--from", path); code != want || g.out.String() != out {
		t.Errorf("exit code %d, want %d: %s", code, want, cmp.Diff(out, g.out.String()))
	}
	if code := g.run("operations", "list", "-A", "--from", path); code != exit.ExitDone {
		t.Errorf("exit code %d: %s", code, &g.err)
	}
}

func TestADumpWrittenByAWatchIsComplete(t *testing.T) {
	g := dumpable(t)
	g.frozen()
	path := filepath.Join(t.TempDir(), "sample-20261120T120000Z.tar.zst")
	key := types.NamespacedName{Namespace: "fdb", Name: "sample"}
	env := g.environment()
	for range 2 { // the second one replaces the first
		if err := dump.Writer(Run)(t.Context(), env.Beside(io.Discard), key, path, 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	if d := dumpAt(t, path); len(d.Files["views/fdb/sample/why.txt"]) == 0 {
		t.Error("the dump has no views")
	}
	if code := g.run("status", "sample", "--from", path); code != exit.ExitDone {
		t.Errorf("exit code %d: %s", code, &g.err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := dump.Writer(Run)(ctx, env.Beside(io.Discard), key, path+".other", 1<<20); err == nil {
		t.Error("an interrupted dump is no error")
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}

// A dump answers like an API server that cannot answer now, which is read again after a second.
func TestWhatADumpDoesNotHaveIsReadOnce(t *testing.T) {
	g := dumpable(t)
	d, err := dumps.Open(g.dumped())
	if err != nil {
		t.Fatal(err)
	}
	d.Lists = slices.DeleteFunc(d.Lists, func(l dumps.List) bool { return l.Resource == "pods" })
	var file bytes.Buffer
	if err := dumps.Write(&file, d); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "without-pods")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		code := g.run("status", "sample", "--from", path)
		if code == exit.ExitDone || !strings.Contains(g.err.String(), "not in the dump: ") {
			t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("waited %s for another answer", took)
		}
	})
}
