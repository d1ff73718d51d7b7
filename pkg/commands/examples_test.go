package commands

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
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
	visit(newRoot(newGiven(t).environment()))
}

// endless reports whether a command goes on until it is ended, so that its own tests end it.
func endless(cmd *cobra.Command) bool {
	d, _ := session.Declared(cmd)
	return d.Endless
}

// runExamples runs the lines of one command one after the other.
func runExamples(t *testing.T, text string) {
	t.Helper()
	v := newVault(t)
	v.answers(admin.Result{}, nil)
	rule := v1beta2.TaintReplacementOption{Key: new("example.com/maintenance"), DurationInSeconds: new(int64(60))}
	v.cluster.Resource.Spec.AutomationOptions.Replacements.TaintReplacementOptions = []v1beta2.TaintReplacementOption{rule}
	v.cluster.Taints = map[string][]corev1.Taint{v.cluster.Nodes[0]: {{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoSchedule}}}
	dir, ran := t.TempDir(), 0
	for line := range strings.Lines(text) {
		words, to := v.exampleWords(strings.TrimSpace(line), dir)
		if words == nil {
			continue
		}
		ran++
		limit := time.Second // what goes on and on has shown enough then
		if to != "" {
			limit = time.Minute // other examples read the file
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), limit, &exit.InterruptedError{Signal: os.Interrupt})
		code := v.runIn(ctx, words...)
		cancel()
		nothingFails := strings.Contains(v.err.String(), " matches (nothing was changed)")
		if code == exit.ExitInternal || code == exit.ExitUsage && !nothingFails {
			t.Errorf("%s: exit code %d: %s", strings.TrimSpace(line), code, &v.err)
		}
		if to == "" {
			continue
		}
		if err := os.WriteFile(to, v.out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if ran == 0 {
		t.Error("it has no example")
	}
}

var (
	exampleLine = regexp.MustCompile(`^(?:source <\()?kubectl[ -]fdb ([^|>)]*)[|)]?(?:> (\S+))?`)
	exampleWord = regexp.MustCompile(`(?:[^\s"]|"[^"]*")+`)
	exampleID   = regexp.MustCompile(`\b(storage|log)-\d+\b`)
)

// exampleWords are the arguments of an example, about what there is here, and the file that
// its output goes to. There are none in other lines.
func (v *vault) exampleWords(line, dir string) (words []string, to string) {
	parts := exampleLine.FindStringSubmatch(line)
	if parts == nil {
		return nil, ""
	}
	first := map[string]*v1beta2.ProcessGroupStatus{}
	for _, g := range v.cluster.Resource.Status.ProcessGroups {
		if first[string(g.ProcessClass)] == nil {
			first[string(g.ProcessClass)] = g
		}
	}
	here := strings.NewReplacer("sample-cluster", "sample", "sample-backup", "nightly", "sample-restore", "again", "nightly-again", "again",
		"10.1.0.7:4501", first["storage"].Addresses[0], ":8080", ":0", "2026-11-21T12", "2026-11-20T12", "plan.json", filepath.Join(dir, "plan.json"), "man1", filepath.Join(dir, "man1"), "report.xml", filepath.Join(dir, "report.xml"), "sample.tar.zst", filepath.Join(dir, "sample.tar.zst"),
		"maintenance on sample-cluster node-3", "maintenance on sample "+string(first["storage"].FaultDomain))
	text := parts[1]
	if !strings.Contains(text, ":removed") { // a removed group
		text = exampleID.ReplaceAllStringFunc(text, func(id string) string {
			class, _, _ := strings.Cut(id, "-")
			return string(first[class].ProcessGroupID)
		})
	}
	for _, word := range exampleWord.FindAllString(here.Replace(text), -1) {
		words = append(words, strings.ReplaceAll(word, `"`, ""))
	}
	if parts[2] != "" {
		to = filepath.Join(dir, parts[2])
	}
	return words, to
}
