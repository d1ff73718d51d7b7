package reconcile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// sites are the instances of one database in several data centers, by their names.
type sites struct {
	t        *testing.T
	names    []string
	clusters map[string]*sim.Cluster
}

// inDataCenters is a database that was brought up in the first data center and that
// the instances of the others joined. All of them have the same configuration.
func inDataCenters(t *testing.T, seed uint64, desired v1beta2.DatabaseConfiguration, names ...string) sites {
	t.Helper()
	s := sites{t: t, names: names, clusters: map[string]*sim.Cluster{}}
	at := func(dc string) func(*v1beta2.FoundationDBCluster) {
		return func(c *v1beta2.FoundationDBCluster) {
			c.Name = "sample-" + dc // pods of two data centers share a DNS
			c.Spec.DataCenter, c.Spec.ProcessGroupIDPrefix, c.Spec.DatabaseConfiguration = dc, dc, *desired.DeepCopy()
		}
	}
	first := cluster(t, seed, at(names[0]))
	s.clusters[names[0]] = first
	settle(t, first, 20, io.Discard)
	for _, dc := range names[1:] {
		cluster := first.Resource.DeepCopy()
		cluster.Status = v1beta2.FoundationDBClusterStatus{}
		cluster.Spec.SeedConnectionString = first.Resource.Status.ConnectionString
		at(dc)(cluster)
		joined, err := first.Join(cluster)
		if err != nil {
			t.Fatal(err)
		}
		s.clusters[dc] = joined
	}
	return s
}

// want gives all instances the same wish.
func (s sites) want(edit func(*v1beta2.DatabaseConfiguration)) {
	for _, w := range s.clusters {
		edit(&w.Resource.Spec.DatabaseConfiguration)
		w.Resource.Generation++
	}
}

// settle runs passes in all data centers in turn, a little more than a minute apart,
// until none has anything to do.
func (s sites) settle(most int, story io.Writer) {
	s.t.Helper()
	for round := 1; round <= most; round++ {
		done := true
		for _, dc := range s.names {
			w := s.clusters[dc]
			fmt.Fprintf(story, "\n# Round %d in %s at %s\n", round, dc, w.Now().Format("15:04:05"))
			result := pass(s.t, w, ui.Text(story, ui.TextOptions{}))
			if err := errors.Join(result.Failures...); err != nil && !isHeld(err) {
				s.t.Fatalf("%v:%s", err, story)
			}
			if result.Settled() {
				fmt.Fprintln(story, "nothing to do")
			}
			done = done && result.Settled()
		}
		if done {
			return
		}
		s.clusters[s.names[0]].Tick(70 * time.Second)
	}
	s.t.Fatalf("not settled after %d rounds:%s", most, story)
}

// isHeld reports whether another instance's turn is all that went wrong.
func isHeld(err error) bool {
	_, held := errors.AsType[*reconcile.HeldError](err)
	return held
}

func (s sites) database() *fdbsim.Database { return s.clusters[s.names[0]].FDB.Databases()[0] }

// watch notes the regions and the number of usable ones that are configured, in order.
func (s sites) watch(sent *[]string) {
	for _, w := range s.clusters {
		w.Refuse = func(a plan.Action) error { // it gets all, and refuses none
			configure, ok := a.(plan.Configure)
			if !ok || configure.Part == fdb.Whole {
				return nil
			}
			if !s.database().EveryKeyOnAtLeast(2) {
				s.t.Errorf("%s while some data has one copy", a.Describe())
			}
			text := fmt.Sprintf("%d:", configure.Configuration.UsableRegions)
			for _, r := range configure.Configuration.Regions {
				text += fmt.Sprintf(" %s %d", r.DataCenters[0].ID, r.DataCenters[0].Priority)
			}
			*sent = append(*sent, text)
			return nil
		}
	}
}

func region(dc string, priority int) v1beta2.Region {
	return v1beta2.Region{Datacenters: []v1beta2.DataCenter{{ID: dc, Priority: priority}}}
}

// A database of one region gets a second one: it joins, is filled, and only then may
// serve. Everything else that the spec has, the coordinators among it, follows.
func TestASecondRegionIsEnabled(t *testing.T) {
	one := v1beta2.DatabaseConfiguration{UsableRegions: 1, Regions: []v1beta2.Region{region("dc1", 1)}}
	s := inDataCenters(t, 21, one, "dc1", "dc2")
	s.settle(10, io.Discard)
	s.database().LoadBytes(2 << 30)
	s.database().SetFaults(fdbsim.Faults{MoveBytesPerSecond: 2 << 20}) // the second region fills slowly
	s.want(func(d *v1beta2.DatabaseConfiguration) {
		d.UsableRegions, d.Regions = 2, []v1beta2.Region{region("dc1", 1), region("dc2", 0)}
	})
	var story bytes.Buffer
	s.settle(40, &story)
	if !s.database().EveryKeyOnAtLeast(4) {
		t.Error("not two copies in each of two regions")
	}
	golden.RequireEqual(t, story.Bytes())
}

// The only region gives way to another one, without a moment in which data has less
// than its copies, and without one command that FoundationDB refuses.
func TestADatabaseMovesToAnotherDataCenter(t *testing.T) {
	s := inDataCenters(t, 22, v1beta2.DatabaseConfiguration{UsableRegions: 1, Regions: []v1beta2.Region{region("dc1", 1)}}, "dc1", "dc2")
	s.settle(10, io.Discard)
	s.database().LoadBytes(1 << 30)
	var sent []string
	s.watch(&sent)
	s.want(func(d *v1beta2.DatabaseConfiguration) { d.Regions = []v1beta2.Region{region("dc2", 1)} })
	s.settle(40, &bytes.Buffer{})
	want := []string{
		"1: dc1 1 dc2 -1", "2: dc1 1 dc2 -1", "2: dc1 1 dc2 0", "2: dc2 1 dc1 0", "2: dc2 1 dc1 -1", "1: dc2 1 dc1 -1", "1: dc2 1",
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if !s.database().EveryKeyOnAtLeast(2) {
		t.Error("data was lost on the way")
	}
}

// A database gets its first region and gives it up again.
func TestADatabaseAddsAndRemovesItsOnlyRegion(t *testing.T) {
	s := inDataCenters(t, 23, v1beta2.DatabaseConfiguration{UsableRegions: 1}, "dc1")
	var sent []string
	s.watch(&sent)
	for _, regions := range [][]v1beta2.Region{{region("dc1", 1)}, nil} {
		s.want(func(d *v1beta2.DatabaseConfiguration) { d.Regions = regions })
		s.settle(20, &bytes.Buffer{})
	}
	if diff := cmp.Diff([]string{"1: dc1 1", "1:"}, sent); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}
