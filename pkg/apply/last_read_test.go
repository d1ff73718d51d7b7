package apply

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// reads is a session that keeps what it observed.
type reads struct {
	session.Session
	facets []plan.Facet
}

func (r *reads) Observe(_ context.Context, into *plan.Snapshot, facets plan.Facet) error {
	r.facets = append(r.facets, facets)
	if facets&plan.Database != 0 {
		into.Database = plan.DatabaseFacts{Unreachable: "read again"}
	}
	return nil
}

func TestProgressReusesTheDatabaseStatusOfARecentPass(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	status := &fdb.Status{}
	read := func(age time.Duration) plan.DatabaseFacts {
		return plan.DatabaseFacts{Status: status, AsOf: now.Add(-age)}
	}
	for name, tc := range map[string]struct {
		last   lastRead
		shared bool
	}{
		"of five seconds ago":          {lastRead{read(5 * time.Second), true}, true},
		"older":                        {lastRead{read(5*time.Second + 1), true}, false},
		"of the future":                {lastRead{read(-1), true}, false},
		"changed since by the pass":    {lastRead{read(0), false}, false},
		"a database without an answer": {lastRead{plan.DatabaseFacts{Unreachable: "timed out", AsOf: now}, true}, false},
		"no pass":                      {},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reads{}
			for i := range 2 {
				s := plan.Snapshot{}
				if err := (readOnce{r, ofOne{r, new(string)}, &tc.last, now}).Observe(t.Context(), &s, plan.ClusterResource|plan.Database); err != nil {
					t.Fatal(err)
				}
				want := plan.ClusterResource | plan.Database
				if tc.shared && i == 0 {
					want = plan.ClusterResource
				}
				if r.facets[i] != want || (s.Database.Status == status) != (tc.shared && i == 0) {
					t.Errorf("observation %d: facets %v, want %v", i+1, r.facets[i], want)
				}
			}
		})
	}
}

// renamed is a session whose resource is another one at each read.
type renamed struct {
	session.Session
	uids []types.UID
}

func (r *renamed) Observe(_ context.Context, into *plan.Snapshot, _ plan.Facet) error {
	into.Cluster = &v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{UID: r.uids[0]}}
	r.uids = r.uids[1:]
	return nil
}

func TestTheProgressOfARunIsThatOfItsOwnResource(t *testing.T) {
	r := &renamed{uids: []types.UID{"1", "1", "2"}}
	uid := "1" // of the first pass
	for i, want := range []bool{true, true, false} {
		s := plan.Snapshot{}
		err := (readOnce{r, ofOne{r, &uid}, &lastRead{}, time.Time{}}).Observe(t.Context(), &s, plan.ClusterResource)
		var beyond *reconcile.BeyondPlanError
		if recreated := errors.As(err, &beyond) && beyond.Recreated; (err == nil) != want || recreated == want {
			t.Errorf("read %d: %v", i+1, err)
		}
	}
}
