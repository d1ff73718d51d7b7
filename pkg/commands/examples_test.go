package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// notRunHere has the reasons why examples of commands are not run, besides those that are endless.
var notRunHere = map[string]string{
	"kubectl fdb dump":               "it writes files to the current directory; dump_file_test.go runs its flags",
	"kubectl fdb dump diff":          "needs dumps; TestDumpDiffShowsWhatChanged has them",
	"kubectl fdb failover":           "needs a database in two regions; TestARegionBecomesPrimaryAndBack has one",
	"kubectl fdb recover apply":      "needs the plan of a loss; TestCoordinatorsAreRecoveredAtNewPodAddresses has one",
	"kubectl fdb completion install": "writes beside the program; TestCompletionInstall has a directory for it",
}

// Help that does not work is worse than none: every command has an example, every flag a
// word of help, and no example is a mistake.
func TestHelpExamplesOfEveryCommandAreValid(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s --%s has no help", cmd.CommandPath(), f.Name)
			}
		})
		for _, child := range cmd.Commands() {
			visit(child)
		}
		switch {
		case cmd.HasSubCommands() && !cmd.HasExample() || cmd.Name() == "help": // it only groups others
		case notRunHere[cmd.CommandPath()] != "" || endless(cmd):
		default:
			t.Run(cmd.CommandPath(), func(t *testing.T) {
				t.Parallel()
				runExamples(t, cmd.Example)
			})
		}
	}
	visit(commands.NewRoot(commandstest.NewGiven(t).Environment()))
}

// writeManifests writes a kustomization of a cluster.
func writeManifests(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"cluster.yaml":       "apiVersion: apps.foundationdb.org/v1beta2\nkind: FoundationDBCluster\nmetadata: {name: other}\nspec: {version: 7.3.79}\n",
		"kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [cluster.yaml]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// endless reports whether a command goes on until it is ended, so that its own tests end it.
func endless(cmd *cobra.Command) bool {
	d, _ := declare.Of(cmd)
	return d.Endless
}

// runExamples runs the lines of one command one after the other.
func runExamples(t *testing.T, text string) {
	t.Helper()
	v := commandstest.NewVault(t)
	v.Answers(admin.Result{}, nil)
	if strings.Contains(text, "--contexts") {
		v.Sites = commandstest.OverSites(t, "dc1", "dc2", "dc3").Sites
	}
	rule := v1beta2.TaintReplacementOption{Key: new("example.com/maintenance"), DurationInSeconds: new(int64(60))}
	v.Cluster.Resource.Spec.AutomationOptions.Replacements.TaintReplacementOptions = []v1beta2.TaintReplacementOption{rule}
	v.Cluster.Taints = map[string][]corev1.Taint{v.Cluster.Nodes[0]: {{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoSchedule}}}
	dir, ran := t.TempDir(), 0
	writeManifests(t, filepath.Join(dir, "deploy", "prod"))
	writeManifests(t, filepath.Join(dir, "deploy"))
	for line := range strings.Lines(text) {
		words, to := v.ExampleWords(strings.TrimSpace(line), dir)
		if words == nil {
			continue
		}
		ran++
		limit := time.Second
		if to != "" {
			limit = time.Minute // other examples read the file
		}
		ctx, stop := v.Following(t.Context(), 100, limit)
		code := v.RunIn(ctx, words...)
		stop()
		nothingFails := strings.Contains(v.Err.String(), " matches (nothing was changed)")
		if code == exit.ExitInternal || code == exit.ExitUsage && !nothingFails {
			t.Errorf("%s: exit code %d: %s", strings.TrimSpace(line), code, &v.Err)
		}
		if to == "" {
			continue
		}
		if err := os.WriteFile(to, v.Out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if ran == 0 {
		t.Error("it has no example")
	}
}
