package commands

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	for name, breakIt := range map[string]func(*given, *session.Env){
		"of the API server": func(_ *given, e *session.Env) {
			e.Client = func() (client.Client, error) { return nil, apierrors.NewInternalError(errors.New(forged)) }
		},
		"of a tool": func(g *given, e *session.Env) {
			e.Tool = func(*corev1.Pod, string) (admin.Transport, error) { return nil, errors.New(forged) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := up(t)
			for _, line := range lines {
				g.out.Reset()
				g.err.Reset()
				env := g.environment()
				breakIt(g, env)
				code := Run(t.Context(), env, strings.Fields(line))
				for stream, text := range map[string]string{"stdout": g.out.String(), "stderr": g.err.String()} {
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
	g := up(t)
	env := g.environment()
	printError(env, errors.Join(exit.Usagef("first\nof two lines"), exit.Usagef("second")), nil)
	if want := "error: first\\nof two lines\nerror: second\n"; g.err.String() != want {
		t.Errorf("got %q, want %q", &g.err, want)
	}
}
