package commands_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
)

// k9sPlugin is what K9s knows of a plugin.
type k9sPlugin struct {
	ShortCut    string   `json:"shortCut"`
	Description string   `json:"description"`
	Dangerous   bool     `json:"dangerous"`
	Scopes      []string `json:"scopes"`
	Command     string   `json:"command"`
	Background  bool     `json:"background"`
	Args        []string `json:"args"`
}

// line is the command of the plugin that kubectl runs, as words; nil for none.
func (p k9sPlugin) line() []string {
	text := strings.Join(append([]string{p.Command}, p.Args...), " ")
	if p.Command == "sh" && len(p.Args) > 3 && p.Args[0] == "-c" {
		text = regexp.MustCompile(` 2>&1 \||;`).Split(p.Args[1], 2)[0]
		text = strings.Replace(text, `"$@"`, strings.Join(p.Args[3:], " "), 1)
	}
	if words := strings.Fields(text); len(words) > 2 && words[0] == "kubectl" && words[1] == "fdb" {
		return words[2:]
	}
	return nil
}

// readOnly are the commands of plugins that K9s may offer in its read-only mode.
var readOnly = []string{"why", "status", "plan", "get process-groups", "history", "watch", "backup status", "restore status", "can drain"}

func k9sPlugins(t *testing.T) map[string]k9sPlugin {
	t.Helper()
	text, err := os.ReadFile("../../manifests/k9s/plugins.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Plugins map[string]k9sPlugin `json:"plugins"`
	}
	if err := yaml.UnmarshalStrict(text, &file); err != nil || len(file.Plugins) < 5 {
		t.Fatalf("%d plugins: %v", len(file.Plugins), err)
	}
	return file.Plugins
}

// Every key of K9s runs a command that exists, with arguments that it takes; what changes something
// is offered only outside of the read-only mode, and prompts.
func TestK9sPluginsRunCommandsThatExist(t *testing.T) {
	keys := map[string]string{}
	// K9s binds these keys itself before it loads plugins, and loads none of a file with one of them: it sorts tables
	// of any resource by name, age and, of all namespaces, namespace; and nodes also by their columns.
	taken := map[string][]string{"": {"Shift-N", "Shift-A", "Shift-P"}, "nodes": {"Shift-R", "Shift-C", "Shift-M", "Shift-O"}}
	for name, p := range k9sPlugins(t) {
		words := p.line()
		root := commands.NewRoot(commandstest.NewGiven(t).Environment())
		cmd, rest, err := root.Find(words)
		if err != nil || cmd == root || len(words) == 0 {
			t.Errorf("%s runs %q: %v", name, words, err)
			continue
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		path := strings.TrimPrefix(cmd.CommandPath(), root.CommandPath()+" ")
		if reads := slices.Contains(readOnly, path); reads == p.Dangerous || slices.Contains(words, "--yes") || slices.Contains(words, "-y") {
			t.Errorf("%s: %s is dangerous: %t, and must prompt", name, path, p.Dangerous)
		}
		if p.Background || p.Description == "" || !slices.Contains(words, "$CONTEXT") || slices.Contains(p.Scopes, "nodes") == slices.Contains(words, "$NAMESPACE") {
			t.Errorf("%s runs %q for %v", name, words, p.Scopes)
		}
		for _, scope := range p.Scopes {
			if other := keys[scope+" "+p.ShortCut]; other != "" {
				t.Errorf("%s and %s have the same key for %s", name, other, scope)
			}
			keys[scope+" "+p.ShortCut] = name
			if slices.Contains(taken[""], p.ShortCut) || slices.Contains(taken[scope], p.ShortCut) {
				t.Errorf("%s: K9s has another action for %s of %s", name, p.ShortCut, scope)
			}
		}
	}
}

// stubs record what they are run with: kubectl prints to both streams, less what it reads.
var stubs = map[string]string{
	"kubectl": "#!/bin/sh\necho \"$@\" >> kubectl.ran\necho out\necho err >&2\nexit 1\n",
	"less":    "#!/bin/sh\necho \"$@\" >> less.ran\ncat >> less.read\n",
}

// A name of a context is any text: as a part of a script it would be run.
func TestK9sPluginsNameNoVariableInAScript(t *testing.T) {
	variable := regexp.MustCompile(`\$[A-Za-z0-9]`)
	for name, p := range k9sPlugins(t) {
		for i, arg := range p.Args {
			if i > 0 && p.Args[i-1] == "-c" && variable.MatchString(arg) {
				t.Errorf("%s: the script %q has a variable", name, arg)
			}
		}
	}
}

// K9s replaces the variables in the arguments, and runs the command. What kubectl prints to either stream is
// shown, also when it fails, until a key is pressed.
func TestK9sPluginsRunInAShell(t *testing.T) {
	bin := t.TempDir()
	for name, script := range stubs {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	selected := strings.NewReplacer("$NAMESPACE", "prod", "$NAME", "orders", "$CONTEXT", "east;touch$IFS-pwned")
	for name, p := range k9sPlugins(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var args []string
			for _, arg := range p.Args {
				args = append(args, selected.Replace(arg))
			}
			cmd := exec.CommandContext(t.Context(), p.Command, args...)
			cmd.Dir, cmd.Stdin = dir, strings.NewReader("\n")
			out, err := cmd.CombinedOutput()
			if p.Command == "sh" && err != nil {
				t.Errorf("%v: %s", err, out)
			}
			recorded := func(file string) string {
				text, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				return string(text)
			}
			if got, want := recorded("kubectl.ran"), selected.Replace(strings.Join(append([]string{"fdb"}, p.line()...), " "))+"\n"; got != want {
				t.Errorf("runs kubectl %q, want %q", got, want)
			}
			shown := string(out)
			if strings.Contains(strings.Join(args, " "), "less") {
				if recorded("less.ran") != "-R\n" || shown != "" {
					t.Errorf("runs less %q, and prints %q beside it", recorded("less.ran"), shown)
				}
				shown = recorded("less.read")
			}
			for _, line := range []string{"out\n", "err\n"} {
				if !strings.Contains(shown, line) {
					t.Errorf("does not show %q: %q", line, shown)
				}
			}
		})
	}
}
