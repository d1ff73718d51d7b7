package commands_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// forged is a text of a cluster with lines that look like those of this program, or of the runner of a pipeline.
const forged = "no\nFORGED: sample: reconciled\r\nFORGED::error::x\rFORGED one\u2028FORGED two"

// forgedLine is a line that such a text has begun.
var forgedLine = regexp.MustCompile(`(?m)^\s*FORGED|[\r\x{2028}]`)

func TestATextOfTheClusterBeginsNoLineOnAPipe(t *testing.T) {
	lines := []string{
		"status sample", "status -A", "why sample", "plan sample", "reconcile sample --yes", "check sample", "get process-groups sample", "get processes sample", "events sample", "describe sample", "history sample",
		"operations list", "gc sample --dry-run", "recover collect sample", "backup list", "get locks sample", "logs sample", "cordon node-1 -c sample --dry-run", "wait sample --for=healthy --timeout 1s",
	}
	for name, breakIt := range map[string]func(*commandstest.Given, *session.Env){
		"of the API server": func(_ *commandstest.Given, e *session.Env) {
			e.Client = func() (client.Client, error) { return nil, apierrors.NewInternalError(errors.New(forged)) }
		},
		"of a tool": func(g *commandstest.Given, e *session.Env) {
			e.Tool = func(*corev1.Pod, string) (admin.Transport, error) { return nil, errors.New(forged) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			for _, line := range lines {
				g.Out.Reset()
				g.Err.Reset()
				env := g.Environment()
				breakIt(g, env)
				code := commands.Run(t.Context(), env, strings.Fields(line))
				for stream, text := range map[string]string{"stdout": g.Out.String(), "stderr": g.Err.String()} {
					if at := forgedLine.FindString(text); at != "" {
						t.Errorf("%s: exit code %d: %s has %q in %q", line, code, stream, at, text)
					}
				}
			}
		})
	}
}

// What is invalid in several ways has one line for each.
func TestEachErrorHasALine(t *testing.T) {
	g := commandstest.Up(t)
	env := g.Environment()
	commands.PrintError(env, errors.Join(exit.Usagef("first\nof two lines"), exit.Usagef("second")), nil)
	if want := "error: first\\nof two lines\nerror: second\n"; g.Err.String() != want {
		t.Errorf("got %q, want %q", &g.Err, want)
	}
}
