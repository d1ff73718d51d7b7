//go:build !fdb_native || !cgo

package commands

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Releases are static.
func TestAStaticBuildHasNoNativeTransport(t *testing.T) {
	for _, args := range [][]string{{"status", "--transport", "native"}, {"status", "--cluster-file", "f"}} {
		g := newGiven(t)
		if code := g.run(args...); code != exit.ExitUsage || g.err.String() != "error: this build has no native transport: build with make build-native\n" {
			t.Errorf("%v: exit code %d, %s", args, code, g.err.String())
		}
	}
}
