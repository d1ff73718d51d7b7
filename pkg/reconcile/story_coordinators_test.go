package reconcile_test

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// Two small data centers have six fault domains for nine coordinators: a database that had
// one coordinator gets five, keeps them, and the pass reports what is missing for nine.
func TestTwoRegionsGetTheBestReachableCoordinators(t *testing.T) {
	one := v1beta2.DatabaseConfiguration{UsableRegions: 1, RedundancyMode: v1beta2.RedundancyModeSingle, Regions: []v1beta2.Region{region("dc1", 1)}}
	s := inDataCenters(t, 23, one, "dc1", "dc2")
	s.resize(v1beta2.ProcessCounts{Storage: 1, Log: 3, Stateless: 4})
	s.settle(30, io.Discard)
	if n := len(s.coordinators()); n != 1 {
		t.Fatalf("begins with %d coordinators, want 1", n)
	}
	s.want(func(d *v1beta2.DatabaseConfiguration) {
		d.UsableRegions, d.Regions = 2, []v1beta2.Region{region("dc1", 1), region("dc2", 0)}
	})
	var numbers []int
	var missing string
	for range 40 {
		missing = ""
		for _, dc := range s.names {
			pass(t, s.clusters[dc], func(e reconcile.Event) {
				if d, ok := e.(reconcile.StageDecided); ok && d.Stage == "ChangeCoordinators" && d.Hold != nil {
					missing = d.Hold.Text()
				}
			})
			numbers = append(numbers, len(s.coordinators()))
		}
		s.clusters[s.names[0]].Tick(70 * time.Second)
	}
	if got := slices.Compact(numbers); !slices.Equal(got, []int{1, 5}) && !slices.Equal(got, []int{1, 3, 5}) {
		t.Errorf("%v coordinators one after the other, want 1 and in the end 5", got)
	}
	if want := "6 of 9 can be placed; 3 more fault domains"; !strings.Contains(missing, want) {
		t.Errorf("holds with %q, want %q", missing, want)
	}
}

// resize gives all instances the same numbers of process groups.
func (s sites) resize(counts v1beta2.ProcessCounts) {
	for _, w := range s.clusters {
		w.Resource.Spec.ProcessCounts = counts
		w.Resource.Generation++
	}
}

func (s sites) coordinators() []fdb.Address {
	return s.database().ConnectionString().Coordinators
}
