package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// recorded makes programs in pods succeed, and counts them in g.ran.
func recorded(g *commandstest.Given) { g.Answers(admin.Result{}, nil) }

// Each of these did something in a dry run that printed that nothing was changed.
func TestADryRunOfARunbookRunsOnlyCommandsThatDeclareToRead(t *testing.T) {
	for name, row := range map[string]struct {
		step string
		ran  bool
		why  string
	}{
		"a program in a pod":                               {"run: 'exec ${cluster} -- rm -rf /var/fdb/data'", false, "no-dry-run"},
		"a script that changes the database":               {"run: 'cli ${cluster} --yes -- writemode on; clear a'", false, "no-dry-run"},
		"a script that changes it without --yes":           {"run: 'cli ${cluster} -- configure single'", false, "no-dry-run"},
		"a script that only reads":                         {"run: 'cli ${cluster} -- status'", true, ""},
		"a file of the user":                               {"run: 'dump ${cluster} --duration 0'", false, "no-dry-run"},
		"an abort without --yes":                           {"run: 'operations abort ${cluster}'", false, ""},
		"a recovery":                                       {"run: 'recover apply ${cluster} --plan p --yes'", false, ""},
		"a change whose dry run is the value of a flag":    {"run: 'pause ${cluster} --reason --yes'", false, "no-dry-run"},
		"a change that has no prompt, in its own dry run":  {"run: 'include ${cluster} --all'", false, ""},
		"a program that a step before would have selected": {"run: 'exec ${cluster} ${group} -- ls'", false, "value-unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			g := commandstest.Up(t)
			recorded(g)
			steps := "- {name: a, " + row.step + "}\n"
			if strings.Contains(row.step, "${group}") {
				steps = "- {name: before, run: 'replace ${cluster} -o json', capture: {group: .x}}\n" + steps
			}
			file := commandstest.Book(t, steps)
			before := g.Cluster.Resource.DeepCopy()
			if code := g.Run("run", file, "--dry-run", "-o", "json"); code != exit.ExitDone {
				t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			if row.ran != (len(g.Ran) > 0) {
				t.Errorf("ran %q", g.Ran)
			}
			if g.Cluster.Resource.ResourceVersion != before.ResourceVersion || g.Cluster.Resource.Spec.Skip {
				t.Error("the dry run changed the cluster")
			}
			if row.why != "" && !strings.Contains(g.Out.String(), `"why": "`+row.why+`"`) {
				t.Errorf("want %s: %s", row.why, &g.Out)
			}
			if files, err := filepath.Glob("*"); err != nil || len(files) > 0 {
				t.Errorf("the dry run wrote %q, %v", files, err)
			}
		})
	}
}

func TestARunbookCheckAcceptsOnlyCommandsThatDeclareToRead(t *testing.T) {
	for name, row := range map[string]struct {
		step string
		want int
	}{
		"a program in a pod":                 {"check: 'exec ${cluster} -- ls'", exit.ExitUsage},
		"a script that changes the database": {"check: 'cli ${cluster} -- clear a'", exit.ExitUsage},
		"a script with a change in quotes":   {"check: 'cli ${cluster} -- \"status; clear a\"'", exit.ExitUsage},
		"a script that only reads":           {"check: 'cli ${cluster} -- status'", exit.ExitDone},
		"a file of the user":                 {"check: 'dump ${cluster}'", exit.ExitUsage},
		"a wait for a program":               {"wait: {run: 'exec ${cluster} -- ls'}, timeout: 1m", exit.ExitUsage},
		"a change without a prompt":          {"check: 'include ${cluster} --all'", exit.ExitUsage},
		"the dry run of a change":            {"check: 'pause ${cluster} --dry-run', on: {no: continue}", exit.ExitDone},
		"a dry run that is none":             {"check: 'pause ${cluster} --dry-run=none'", exit.ExitUsage},
	} {
		g := commandstest.Up(t)
		recorded(g)
		code := g.Run("run", commandstest.Book(t, "- {name: a, "+row.step+"}\n"), "--state", filepath.Join(t.TempDir(), "state.json"))
		if code != row.want {
			t.Errorf("%s: exit code %d, want %d: %s%s", name, code, row.want, &g.Out, &g.Err)
		}
		if row.want != exit.ExitDone && len(g.Ran) > 0 {
			t.Errorf("%s: ran %q", name, g.Ran)
		}
	}
}

// A program, a change that has no prompt, and a compensation change as much as a command with --yes.
func TestWhatMayChangeInARunbookRequiresApproval(t *testing.T) {
	for name, step := range map[string]string{
		"a program in a pod":          "run: 'exec ${cluster} -- rm -rf /var/fdb/data'",
		"a script":                    "run: 'cli ${cluster} --yes -- clear a'",
		"a change without a prompt":   "run: 'include ${cluster} --all'",
		"the compensation of a check": "run: 'check ${cluster} --timeout 0', on: {usage: compensate}, compensate: 'exec ${cluster} -- rm -rf /var/fdb/data'",
	} {
		g := commandstest.Up(t)
		recorded(g)
		file, state := commandstest.Book(t, "- {name: a, "+step+"}\n"), filepath.Join(t.TempDir(), "state.json")
		if code := g.Run("run", file, "--state", state); code != exit.ExitUnconfirmed {
			t.Errorf("%s: exit code %d: %s%s", name, code, &g.Out, &g.Err)
		}
		if _, err := os.Stat(state); len(g.Ran) > 0 || !os.IsNotExist(err) {
			t.Errorf("%s: something ran: %q, %v", name, g.Ran, err)
		}
	}
}

// A runbook of another author selects neither a server nor an identity, and writes no file of the user.
func TestAStepWithAFlagBeyondItsRunbookIsRefusedWithItsLine(t *testing.T) {
	lines := map[string]string{
		"--file":                        "dump ${cluster} --file /tmp/x",
		"--force":                       "dump ${cluster} --force",
		"--stdin":                       "exec ${cluster} -i -- sh",
		"--dump-dir":                    "reconcile ${cluster} --dump-dir /tmp",
		"--server":                      "status ${cluster} -s https://127.0.0.1:1",
		"--as":                          "status ${cluster} --as=system:admin",
		"--output of a template's file": "status ${cluster} -o jsonpath-file=/etc/hosts",
		"--output of columns in a file": "get pg ${cluster} -o custom-columns-file=/etc/hosts",
		"--output of a change":          "pause ${cluster} -o go-template-file=/etc/hosts",
		"--as with one":                 "status ${cluster} --as ${cluster}",
	}
	up := commandstest.Up(t)
	commands.NewRoot(up.Environment()).PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !declare.FitsSteps(commands.NewRoot(up.Environment()), commands.NewRoot(up.Environment()).PersistentFlags().Lookup(f.Name)) {
			lines["--"+f.Name+" by its name"] = "status ${cluster} --" + f.Name + "=1"
		}
	})
	for name, line := range lines {
		for _, kind := range []string{"run", "check", "compensate"} {
			steps := "- name: a\n  " + kind + ": " + line + "\n"
			want := "book.yaml:8: "
			if kind == "compensate" {
				steps, want = "- name: a\n  run: status ${cluster}\n  compensate: "+line+"\n", "book.yaml:9: "
			}
			flag, _, _ := strings.Cut(name, " ")
			code := up.Run("run", commandstest.Book(t, steps), "--yes")
			if code != exit.ExitUsage || !strings.Contains(up.Err.String(), want) || !strings.Contains(up.Err.String(), flag+" is not supported in a step") {
				t.Errorf("%s as %s: exit code %d, %s", name, kind, code, &up.Err)
			}
		}
	}
}
