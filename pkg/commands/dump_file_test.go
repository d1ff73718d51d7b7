package commands_test

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
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/dump"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/dumps"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestOnlyReadOnlyCommandsAcceptADump(t *testing.T) {
	g := commandstest.NewGiven(t)
	env := g.Environment()
	env.Client = func() (client.Client, error) { t.Error("the API server was opened"); return nil, errors.New("opened") }
	root := commands.NewRoot(env)
	all := commandstest.Leaves(root)
	for _, name := range commands.CommandsOfDumps(root) {
		if name != "plan" && slices.Contains([]string{"reconcile", "replace", "restart", "drain", "exclude", "include", "cordon", "dump", "exec", "cli"}, name) {
			t.Errorf("command %q must not read a dump", name)
		}
	}
	for name, cmd := range all {
		if commands.ReadsDumps(cmd) {
			continue
		}
		env.Global.From = filepath.Join(t.TempDir(), "none")
		err := commands.ReadFromDump(env, cmd)
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
		g := commandstest.NewGiven(t)
		words, program, _ := strings.Cut(line, " -- ")
		args := append(strings.Fields(words), "--from", "missing")
		if program != "" {
			args = append(args, "--", program)
		}
		if code := g.Run(args...); code != exit.ExitUsage || !strings.HasPrefix(g.Err.String(), want) {
			t.Errorf("%s: exit code %d, %s", line, code, &g.Err)
		}
	}
}

func TestCompletionReadsADumpAndNotTheAPIServer(t *testing.T) {
	g := commandstest.Dumpable(t)
	g.Frozen()
	path := g.Dumped()
	group := string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID)
	foreign := filepath.Join(t.TempDir(), "foreign")
	if err := os.WriteFile(foreign, []byte("apiVersion: v1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	complete := func(words ...string) string {
		t.Helper()
		g.Out.Reset()
		env := g.Environment()
		env.Client = func() (client.Client, error) { t.Error("the API server was opened"); return nil, errors.New("opened") }
		commands.Run(t.Context(), env, append([]string{"__complete"}, words...))
		return g.Out.String()
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
	g := commandstest.Dumpable(t)
	whole, err := os.ReadFile(g.Dumped("--max-log-bytes", "0"))
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
		if code := g.Run("status", "sample", "--from", path); code != exit.ExitUsage || !strings.HasPrefix(g.Err.String(), "error: --from "+path+": "+want) || strings.Count(g.Err.String(), "\n") != 1 {
			t.Errorf("%s: exit code %d, %s", want, code, &g.Err)
		}
	}
	if code := g.Run("status", "sample", "--from", ""); code != exit.ExitUsage || g.Err.String() != "error: --from must be the path of a dump\n" {
		t.Errorf("exit code %d, %s", code, &g.Err)
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
		g := commandstest.NewGiven(t)
		if code := g.Run(append([]string{"dump"}, strings.Fields(line)...)...); code != exit.ExitUsage || !strings.HasPrefix(g.Err.String(), "error: "+want) {
			t.Errorf("%s: exit code %d, %s", line, code, &g.Err)
		}
	}
	if content, err := os.ReadFile(existing); err != nil || string(content) != "precious" {
		t.Errorf("the file was changed: %q, %v", content, err)
	}
}

func TestForceReplacesADumpOnlyWithACompleteOne(t *testing.T) {
	g := commandstest.Dumpable(t)
	path := g.Dumped()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	opened := g.Tool
	g.Tool = func(pod *corev1.Pod, container string) (admin.Transport, error) {
		cancel(&exit.InterruptedError{Signal: os.Interrupt})
		return opened(pod, container)
	}
	if code := g.RunIn(ctx, "dump", "sample", "-f", path, "--force", "--duration", "0"); code == exit.ExitDone {
		t.Errorf("an interrupted dump: exit code %d", code)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("an interrupted dump changed the file: %v", err)
	}
	if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
		t.Errorf("an interrupted dump left files: %v, %v", all, err)
	}
	g.Tool = opened
	if code := g.Run("dump", "sample", "-f", path, "--force", "--duration", "0"); code != exit.ExitDone {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestTheDumpManifestListsUnreadDataWithReasons(t *testing.T) {
	g := commandstest.Dumpable(t)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("RBAC"))
	g.NodesHidden = forbidden
	g.Tool = func(*corev1.Pod, string) (admin.Transport, error) { return nil, errors.New("no route to pods") }
	d := commandstest.DumpAt(t, g.Dumped())
	var what []string
	for _, u := range d.Manifest.Unread {
		if u.Reason == "" {
			t.Errorf("%s has no reason", u.What)
		}
		what = append(what, u.What)
	}
	pod := g.Cluster.Resource.Status.ProcessGroups[0].PodName(g.Cluster.Resource)
	for _, want := range []string{"list nodes in all namespaces", "trace files of pod fdb/" + pod, "status document 0 of cluster fdb/sample"} {
		if !slices.Contains(what, want) {
			t.Errorf("the manifest lacks %q: %q", want, what)
		}
	}
	if !strings.Contains(g.Err.String(), "warning: not in the dump: list nodes in all namespaces: ") {
		t.Errorf("no warning: %s", &g.Err)
	}
}

func TestADumpHasLogsTracesStatusDocumentsAndViews(t *testing.T) {
	g := commandstest.Dumpable(t)
	for _, pod := range g.Cluster.Pods {
		for i := range pod.Status.ContainerStatuses {
			pod.Status.ContainerStatuses[i].RestartCount = 1
		}
	}
	group := g.Cluster.Resource.Status.ProcessGroups[0]
	pod := group.PodName(g.Cluster.Resource)
	path := filepath.Join(t.TempDir(), "d")
	if code := g.Run("dump", "sample", "-f", path, "--duration", "20s"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	d := commandstest.DumpAt(t, path)
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
	g.Run("why", "sample", "--from", path)
	if diff := cmp.Diff(string(d.Files["views/fdb/sample/why.txt"]), g.Out.String()+g.Err.String()); diff != "" {
		t.Error(diff)
	}
}

func TestADumpHasNoAuditOfAnotherClusterOfTheSameName(t *testing.T) {
	g := commandstest.Dumpable(t)
	if len(commandstest.DumpAt(t, g.Dumped()).Files[dumps.AuditFile]) == 0 {
		t.Fatal("the dump lacks the audit")
	}
	commandstest.Remake(g.Cluster.Resource)
	if text := commandstest.DumpAt(t, g.Dumped()).Files[dumps.AuditFile]; len(text) > 0 {
		t.Errorf("the audit of the deleted cluster: %s", text)
	}
}

func TestLogsOfADumpAreBounded(t *testing.T) {
	g := commandstest.Dumpable(t)
	d := commandstest.DumpAt(t, g.Dumped("--max-log-bytes", "2000"))
	size := 0
	for name, content := range d.Files {
		if strings.HasPrefix(name, "logs/") || strings.HasPrefix(name, "traces/") {
			size += len(content)
		}
	}
	if size == 0 || size > 2000+2000 { // redaction can make a text longer
		t.Errorf("%d bytes", size)
	}
	pod := g.Cluster.Resource.Status.ProcessGroups[0].PodName(g.Cluster.Resource)
	name := "logs/fdb/" + pod + "/foundationdb.log"
	if d.Omitted[name] == 0 || len(d.Files[name]) > 100 {
		t.Errorf("%d bytes of %s are left, %d are omitted", len(d.Files[name]), name, d.Omitted[name])
	}
}

func TestStatusOfAllNamespacesListsTheClusterOfADump(t *testing.T) {
	g := commandstest.Dumpable(t)
	path := g.Dumped()
	if code := g.Run("status", "-A", "--from", path, "-o", "name"); code != exit.ExitDone || g.Out.String() != "foundationdbcluster/sample\n" {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

func TestADumpOfAllNamespacesIsReadableForAllNamespaces(t *testing.T) {
	g := commandstest.Dumpable(t)
	g.Frozen()
	want := g.Run("status", "-A")
	out := g.Out.String()
	path := filepath.Join(t.TempDir(), "all")
	if code := g.Run("dump", "-A", "-f", path, "--duration", "0"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	g.Connect, g.Tool, g.Objects, g.Cluster.Resource, g.Now = nil, nil, nil, nil, nil
	if code := g.Run("status", "-A", "--from", path); code != want || g.Out.String() != out {
		t.Errorf("exit code %d, want %d: %s", code, want, cmp.Diff(out, g.Out.String()))
	}
	if code := g.Run("operations", "list", "-A", "--from", path); code != exit.ExitDone {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
}

func TestADumpWrittenByAWatchIsComplete(t *testing.T) {
	g := commandstest.Dumpable(t)
	g.Frozen()
	path := filepath.Join(t.TempDir(), "sample-20261120T120000Z.tar.zst")
	key := types.NamespacedName{Namespace: "fdb", Name: "sample"}
	env := g.Environment()
	for range 2 { // the second one replaces the first
		if err := dump.Writer(commands.Run)(t.Context(), env.Beside(io.Discard), key, path, 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	if d := commandstest.DumpAt(t, path); len(d.Files["views/fdb/sample/why.txt"]) == 0 {
		t.Error("the dump has no views")
	}
	if code := g.Run("status", "sample", "--from", path); code != exit.ExitDone {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := dump.Writer(commands.Run)(ctx, env.Beside(io.Discard), key, path+".other", 1<<20); err == nil {
		t.Error("an interrupted dump is no error")
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}

// A dump answers like an API server that cannot answer now, which is read again after a second.
func TestWhatADumpDoesNotHaveIsReadOnce(t *testing.T) {
	g := commandstest.Dumpable(t)
	d, err := dumps.Open(g.Dumped())
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
		code := g.Run("status", "sample", "--from", path)
		if code == exit.ExitDone || !strings.Contains(g.Err.String(), "not in the dump: ") {
			t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("waited %s for another answer", took)
		}
	})
}
