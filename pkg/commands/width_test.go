package commands_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// terminalWidths are those that all output has to fit.
var terminalWidths = []int{60, 80, 120, 200}

// Every command is run as its help shows, so that a new one is measured as well.
func TestTheOutputOfEveryCommandFitsTheTerminal(t *testing.T) {
	eachCommand(commands.NewRoot(commandstest.NewGiven(t).Environment()), func(cmd *cobra.Command) {
		if cmd.HasSubCommands() && !cmd.HasExample() || cmd.Name() == "help" || anyWidth(cmd) {
			return
		}
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			t.Parallel()
			fitExamples(t, cmd.Example)
		})
	})
}

// anyWidth reports whether the output of a command is not laid out, or not to be had here. Its help is.
func anyWidth(cmd *cobra.Command) bool {
	d, _ := declare.Of(cmd)
	return d.Prints != "" || d.Endless || declare.PathOf(cmd) == "recover apply" // which needs the plan of a loss
}

// fitExamples runs those examples of one command that print text.
func fitExamples(t *testing.T, text string) {
	t.Helper()
	v := commandstest.NewVault(t)
	v.Answers(admin.Result{}, nil)
	ran := 0
	for line := range strings.Lines(text) {
		words, to := v.ExampleWords(strings.TrimSpace(line), t.TempDir())
		if words == nil || to != "" || forPrograms(words) || slices.Contains(words, "--plan") || strings.Contains(line, ">(") {
			continue
		}
		if words[0] == "dump" && words[1] != "diff" && !slices.Contains(words, "-f") { // it would write to the current directory
			continue
		}
		ran++
		for _, width := range terminalWidths {
			v.ShowsWithin(width, words...)
		}
	}
	if ran == 0 {
		t.Error("it has no example that prints text")
	}
}

// forPrograms reports whether a command line asks for a format that is never laid out.
func forPrograms(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		return arg == "-o" || arg == "--string" || arg == "--print" || strings.HasPrefix(arg, "-o=") || strings.HasPrefix(arg, "--output")
	})
}

func TestAllHelpFitsTheTerminal(t *testing.T) {
	g := commandstest.NewGiven(t)
	eachCommand(commands.NewRoot(g.Environment()), func(cmd *cobra.Command) {
		args := append(strings.Fields(strings.TrimPrefix(cmd.CommandPath(), "kubectl fdb")), "--help")
		for _, width := range terminalWidths {
			g.ShowsWithin(width, args...)
		}
	})
}

// Prose that was wrapped for another width is filled again, and flags are described in a column.
func TestHelpIsWrappedToTheTerminalWidth(t *testing.T) {
	g := commandstest.NewGiven(t)
	_, _ = g.OnTerminal(t.Context(), 60, "reconcile", "--help")
	cmd, _, err := commands.NewRoot(g.Environment()).Find([]string{"reconcile"})
	if err != nil {
		t.Fatal(err)
	}
	if help := g.Out.String(); !strings.Contains(help, strings.TrimSpace(strings.SplitN(layout.Reflow(cmd.Long, 60), "\n\n", 2)[0])) || !strings.Contains(help, "\n"+strings.Repeat(" ", 16)+"If true, approve without a prompt\n") {
		t.Errorf("got\n%s", help)
	}
}

// manyGroups is a cluster of 85 process groups with long names, in trouble: a node is tainted, a
// pod and a process are lost, and more is desired than there is.
func manyGroups(t *testing.T) (g *commandstest.Given, storage string) {
	t.Helper()
	w, err := sim.New(&v1beta2.FoundationDBCluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta2.GroupVersion.String(), Kind: "FoundationDBCluster"},
		ObjectMeta: metav1.ObjectMeta{Name: "orders-of-the-payments-team", Namespace: "fdb", UID: "1", Generation: 1},
		Spec: v1beta2.FoundationDBClusterSpec{
			Version: "7.3.79", ProcessGroupIDPrefix: "europe-west1-production",
			ProcessCounts: v1beta2.ProcessCounts{Storage: 70, Log: 9, Stateless: 6},
		},
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 15 {
		w.Nodes = append(w.Nodes, "gke-production-europe-west1-pool-"+strconv.Itoa(n))
	}
	g = &commandstest.Given{T: t, Cluster: w, Env: map[string]string{"XDG_STATE_HOME": t.TempDir(), "TERM": "xterm-256color"}, Clock: &commandstest.ClusterClock{Cluster: w}}
	name := w.Resource.Name
	for _, width := range terminalWidths {
		g.ShowsWithin(width, "plan", name)
	}
	code, tooLong := g.OnTerminal(t.Context(), 80, "reconcile", name, "--yes", "--wait")
	if code != exit.ExitDone || len(tooLong) > 0 {
		t.Fatalf("exit code %d, too long %v: %s", code, tooLong, &g.Err)
	}
	groups := w.Resource.Status.ProcessGroups
	if len(groups) < 85 {
		t.Fatalf("%d process groups", len(groups))
	}
	storage = string(groups[len(groups)-1].ProcessGroupID)
	key := "example.com/maintenance"
	w.Resource.Spec.AutomationOptions.Replacements.TaintReplacementOptions = []v1beta2.TaintReplacementOption{{Key: &key, DurationInSeconds: new(int64(60))}}
	w.Resource.Spec.ProcessCounts.Storage, w.Resource.Generation = 75, 2
	w.Taints = map[string][]corev1.Taint{w.Nodes[0]: {{Key: key, Effect: corev1.TaintEffectNoSchedule}}}
	pods := slices.Sorted(maps.Keys(w.Pods))
	w.KillServers(pods[len(pods)-1])
	for _, pod := range pods[:4] {
		w.KillPod(pod)
	}
	g.Evaluated = []plan.Check{{Gate: plan.GateOperator, Question: "is no operator running in this namespace or in any other that watches it?", Evidence: "the deployment fdb-kubernetes-operator-controller-manager has 1 ready pod"}}
	return g, storage
}

func TestTheOutputAboutManyProcessGroupsFitsTheTerminal(t *testing.T) {
	g, storage := manyGroups(t)
	name, node := g.Cluster.Resource.Name, g.Cluster.Nodes[0]
	commands := [][]string{
		{"status", "-A"},
		{"describe", "process-group", name, storage},
		{"can", "delete", name, storage},
		{"can", "drain", node, "-c", name},
		{"can", "replace", name, storage},
		{"can", "restart", name, "--class", "storage"},
		{"can", "upgrade", name, "--to", "7.3.80"},
		{"plan", name, "-v", "1"},
		{"wait", name, "--for", "reconciled", "--timeout", "1s"},
		{"exclusion", "status", name, "--all"},
		{"connection-string", "drift", name},
		{"maintenance", "status", name},
		{"replace", name, storage, "--dry-run"},
		{"drain", node, "-c", name, "--dry-run"},
		{"cordon", node, "-c", name, "--dry-run"},
		{"restart", name, "--class", "storage", "--dry-run"},
		{"exclude", name, storage, "--dry-run"},
		{"coordinators", "change", name, "--dry-run"},
		{"reconcile", name, "--dry-run"},
		{"reconcile", name},
		{"replace", name, "europe-west1-production-storage-0"},
		{"reconcile", name, "--yes"},
	}
	for _, view := range []string{"status", "describe", "why", "check", "events", "plan", "version"} {
		commands = append(commands, []string{view, name})
	}
	for _, noun := range []string{"clients", "configuration", "coordinators", "exclusions", "locks", "nodes", "process-groups", "processes"} {
		commands = append(commands, []string{"get", noun, name})
	}
	for _, gates := range [][]plan.Check{nil, g.Evaluated} {
		g.Evaluated = gates
		for _, args := range commands {
			for _, width := range terminalWidths {
				if args[0] == "reconcile" && slices.Contains(args, "--yes") && gates == nil && width > terminalWidths[0] {
					continue // it would change what the others show
				}
				if slices.Equal(args, []string{"version", name}) {
					args = []string{"version"}
				}
				g.ShowsWithin(width, args...)
			}
		}
	}
}

// What programs read, and what -o wide shows, is on a narrow terminal what it is in a pipe.
func TestMachineReadableAndWideOutputIsNotWrapped(t *testing.T) {
	g := commandstest.Up(t)
	for _, args := range [][]string{
		{"get", "process-groups", "sample", "-o", "wide"},
		{"get", "process-groups", "sample", "-o", "json"},
		{"get", "process-groups", "sample", "-o", "yaml"},
		{"get", "process-groups", "sample", "-o", "custom-columns=ID:.id,POD:.pod,ROLES:.roles,ADDRESSES:.addresses,CONDITIONS:.conditions"},
		{"check", "sample", "-o", "markdown"},
		{"connection-string", "show", "sample"},
		{"get", "configuration", "sample", "--string"},
		{"auth", "role", "--for", "status"},
		{"completion", "bash"},
	} {
		g.Run(args...)
		piped := g.Out.String()
		_, tooLong := g.OnTerminal(t.Context(), 60, args...)
		if got := g.Out.String(); len(strings.Split(got, "\n")) != len(strings.Split(piped, "\n")) || got == "" { // ages differ
			t.Errorf("%s: on a terminal\n%s\nin a pipe\n%s", strings.Join(args, " "), got, piped)
		}
		if strings.HasSuffix(args[len(args)-1], "wide") && len(tooLong) == 0 {
			t.Errorf("%s has no long line: it proves nothing", strings.Join(args, " "))
		}
	}
}

// An error of JSON stays one line.
func TestAnErrorAsJSONIsNotWrapped(t *testing.T) {
	g := commandstest.Up(t)
	g.OnTerminal(t.Context(), 60, "status", "nothing-of-that-name", "-o", "json")
	if n := strings.Count(g.Err.String(), "\n"); n != 1 {
		t.Errorf("%d lines: %s", n, &g.Err)
	}
}
