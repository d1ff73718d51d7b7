package reconcile_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// story is what happens to one cluster, and what every pass has to say about it. Its
// golden file is meant to be read.
type story struct {
	t      *testing.T
	w      *sim.Cluster
	text   bytes.Buffer
	passes int
}

// newStory begins with a small cluster that was settled some time ago.
func newStory(t *testing.T, seed uint64, edit func(*v1beta2.FoundationDBCluster)) *story {
	t.Helper()
	st := &story{t: t, w: cluster(t, seed, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 3, Log: 4, Stateless: 4}
		if edit != nil {
			edit(c)
		}
	})}
	var before bytes.Buffer
	settle(t, st.w, 14, &before)
	st.w.Tick(20 * time.Minute)
	return st
}

// heading prints what happens between passes.
func (st *story) heading(format string, args ...any) {
	fmt.Fprintf(&st.text, "\n## %s\n", fmt.Sprintf(format, args...))
}

// spec changes the spec of the cluster.
func (st *story) spec(edit func(*v1beta2.FoundationDBClusterSpec)) {
	edit(&st.w.Resource.Spec)
	st.w.Resource.Generation++
}

// run makes passes at a pace until one has nothing to do and done holds.
func (st *story) run(pace time.Duration, done func() bool) {
	st.t.Helper()
	const most = 40
	for range most {
		if st.pass().Settled() && done() {
			return
		}
		st.w.Tick(pace)
	}
	st.t.Fatalf("no end:%s", st.text.String())
}

// times makes so many passes at a pace.
func (st *story) times(n int, pace time.Duration) {
	st.t.Helper()
	for range n {
		st.pass()
		st.w.Tick(pace)
	}
}

func (st *story) pass() reconcile.PassDone {
	st.t.Helper()
	st.passes++
	fmt.Fprintf(&st.text, "\n# Pass %d at %s\n", st.passes, st.w.Now().Format("15:04"))
	done := pass(st.t, st.w, ui.Text(&st.text, ui.TextOptions{}))
	if done.Settled() {
		fmt.Fprintln(&st.text, "nothing to do")
	}
	return done
}

// ends compares the story with its golden file.
func (st *story) ends() {
	st.t.Helper()
	if g := st.w.Resource.Status.Generations; g.Reconciled != st.w.Resource.Generation {
		st.t.Errorf("generation %d of %d is reconciled", g.Reconciled, st.w.Resource.Generation)
	}
	golden.RequireEqual(st.t, st.text.Bytes())
}

// group is the first process group of a class in the resource.
func (st *story) group(class v1beta2.ProcessClass) *v1beta2.ProcessGroupStatus {
	for _, g := range st.w.Resource.Status.ProcessGroups {
		if g.ProcessClass == class {
			return g
		}
	}
	st.t.Fatalf("no group of class %s", class)
	return nil
}

// pods are the names of the pods of a class.
func (st *story) pods(class v1beta2.ProcessClass) []string {
	var names []string
	for _, g := range st.w.Resource.Status.ProcessGroups {
		if g.ProcessClass == class {
			names = append(names, g.PodName(st.w.Resource))
		}
	}
	return names
}

func always() bool { return true }
