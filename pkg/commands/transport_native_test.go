//go:build fdb_native && cgo

package commands

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
)

// What the flags ask for is what a cluster is opened with.
func TestNativeTransportOfACommand(t *testing.T) {
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
		root := newRoot(env)
		if err := root.ParseFlags(append(strings.Fields(c.args), "--server", "http://127.0.0.1:1")); err != nil {
			t.Fatal(err)
		}
		s, err := env.Connect(t.Context(), types.NamespacedName{Namespace: "fdb", Name: "sample"})
		if err != nil {
			t.Fatal(err)
		}
		if w, is := s.(*live.World); !is || (w.Direct != nil) != c.native {
			t.Errorf("%s: got %v", c.args, w.Direct)
		}
		env.CloseDirect()
	}
}
