package commands_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// hinted is a command line in a hint, a "next:" or an "undo:" line.
var hinted = regexp.MustCompile(`(?m)(?:^|[ :])(kubectl (?:fdb )?[^;\n(]*--context [^;\n]*)`)

// hintsIn returns the command lines that were printed, as words.
func hintsIn(t *testing.T, text string) (all [][]string) {
	t.Helper()
	for _, found := range hinted.FindAllStringSubmatch(text, -1) {
		var words []string
		for _, word := range commandstest.ExampleWord.FindAllString(found[1], -1) {
			words = append(words, strings.Trim(word, `'"`))
		}
		all = append(all, words)
	}
	return all
}

// A hint that is copied must be carried out in the same place and as the same user.
func TestHintsKeepTheFlagsOfTheConnection(t *testing.T) {
	lines := map[string][]string{
		"status -n nowhere":           nil,
		"auth":                        nil,
		"why sample":                  nil,
		"can delete sample GROUP":     nil,
		"describe pg GROUP -c sample": nil,
		"cordon node-77 -c sample --evacuate=none": nil,
		"cordon node-1 -c sample":                  nil,
		"reconcile sample --yes":                   {"create pods"},
		"pause sample":                             nil,
		"exclude sample GROUP --yes":               nil,
	}
	for line, denied := range lines {
		t.Run(line, func(t *testing.T) {
			g := commandstest.Up(t)
			g.Denied = denied
			file := g.Kubeconfig()
			typed := []string{"--kubeconfig", file, "--context", "test", "--user", "u1", "--as", "bob", "--as-group", "g1", "--as-group", "g2", "--token", "secret"}
			g.Cluster.Resource.Status.ProcessGroups[1].MarkForRemoval(g.Cluster.Now())
			id := string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID)
			g.Run(append(strings.Fields(strings.ReplaceAll(line, "GROUP", id)), typed...)...)
			printed := g.Out.String() + g.Err.String()
			if strings.Contains(printed, "secret") {
				t.Errorf("a token is printed: %s", printed)
			}
			hints := hintsIn(t, printed)
			if len(hints) == 0 {
				t.Fatalf("no command is printed: %s", printed)
			}
			g.Denied = nil
			for _, words := range hints {
				for _, flag := range [][]string{{"--kubeconfig", file}, {"--context", "test"}, {"--user", "u1"}, {"--as", "bob"}, {"--as-group", "g1"}, {"--as-group", "g2"}} {
					if i := slices.Index(words, flag[0]); i < 0 || !slices.Contains(words, flag[1]) {
						t.Errorf("%v lacks %v", words, flag)
					}
				}
				if words[1] != "fdb" {
					continue
				}
				if code := g.Run(words[2:]...); code == exit.ExitInternal || code == exit.ExitUsage {
					t.Errorf("%v: exit code %d: %s", words, code, &g.Err)
				}
			}
		})
	}
}
