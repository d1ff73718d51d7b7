package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// requireNative skips a test whose subject a build does not have.
func requireNative(t *testing.T, available bool) {
	t.Helper()
	if admin.NativeAvailable != available {
		t.Skipf("NOT RUN: the native transport of this build is available: %t; make test-unit and make test-native run both", admin.NativeAvailable)
	}
}

// What the flags ask for is what a cluster is opened with.
func TestTransportFlagsSelectTheNativeClient(t *testing.T) {
	requireNative(t, true)
	for _, c := range []struct {
		args   string
		native bool
	}{
		{"--transport auto", false},
		{"--transport exec", false},
		{"--transport native", true},
		{"--cluster-file f", true},
	} {
		env, _, _ := realEnv(t)
		root := commands.NewRoot(env)
		if err := root.ParseFlags(append(strings.Fields(c.args), "--server", "http://127.0.0.1:1")); err != nil {
			t.Fatal(err)
		}
		s, err := env.Connect(t.Context(), types.NamespacedName{Namespace: "fdb", Name: "sample"})
		if err != nil {
			t.Fatal(err)
		}
		if w, is := s.(*live.Cluster); !is || (w.Direct != nil) != c.native {
			t.Errorf("%s: got %v", c.args, w.Direct)
		}
		env.Connection().CloseDirect()
	}
}

// A cluster file that is none is a mistake of the command line, not an unreachable database.
func TestTheNativeTransportRejectsAnInvalidClusterFile(t *testing.T) {
	requireNative(t, true)
	for content, want := range map[string]string{
		"":              "error: --cluster-file: open ",
		"10.1.0.1:4501": "error: --cluster-file ",
	} {
		name := filepath.Join(t.TempDir(), "fdb.cluster")
		if content != "" {
			if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		g := commandstest.NewGiven(t)
		if code := g.Run("status", "--cluster-file", name); code != exit.ExitUsage || !strings.HasPrefix(g.Err.String(), want) {
			t.Errorf("%q: exit code %d, %s", content, code, g.Err.String())
		}
	}
}

// Releases are static.
func TestAStaticBuildHasNoNativeTransport(t *testing.T) {
	requireNative(t, false)
	for _, args := range [][]string{{"status", "--transport", "native"}, {"status", "--cluster-file", "f"}} {
		g := commandstest.NewGiven(t)
		if code := g.Run(args...); code != exit.ExitUsage || g.Err.String() != "error: this build has no native transport: build with make build-native\n" {
			t.Errorf("%v: exit code %d, %s", args, code, g.Err.String())
		}
	}
}
