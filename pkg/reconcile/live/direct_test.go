package live_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/direct"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// directly reaches the database by a client of its own.
func (f *field) directly(transport direct.Transport, native admin.Client) {
	f.t.Helper()
	d, err := direct.New(direct.Options{
		Transport: transport, ClusterFile: "fdb.cluster", Open: func(string) (admin.Client, error) { return native, nil },
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.cluster.Direct = d
}

// unreachablePods lets no program run in a pod.
func (f *field) unreachablePods() {
	f.cluster.Transport = func(*corev1.Pod) admin.Transport { return nowhere{} }
}

type nowhere struct{}

func (nowhere) Run(context.Context, admin.Command) (admin.Result, error) {
	return admin.Result{}, &admin.TransportError{Where: "pod x", Err: errors.New("no route")}
}

func (nowhere) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, &admin.TransportError{Where: "pod x", Err: errors.New("no route")}
}

func TestAPassWithTheNativeTransportNeedsNoPodExec(t *testing.T) {
	for _, transport := range []direct.Transport{direct.Native, direct.Auto} {
		f := settled(t)
		f.directly(transport, f.cli())
		f.unreachablePods()
		s := f.observe(plan.ClusterResource | plan.Pods | plan.Database | plan.Coordination)
		if !s.Database.Available() {
			t.Fatalf("%s: %s", transport, s.Database.Unreachable)
		}
		if facts, err := f.cluster.ReadExclusions(t.Context()); err != nil || !facts.ExclusionsRead {
			t.Errorf("%s: %v", transport, err)
		}
		f.begin()
		if err := f.cluster.Lock(t.Context()); err != nil {
			t.Errorf("%s: %v", transport, err)
		}
		if err := f.cluster.End(t.Context()); err != nil {
			t.Errorf("%s: %v", transport, err)
		}
	}
}

// incompatiblePeer is a client of another database.
type incompatiblePeer struct{ admin.Client }

func (incompatiblePeer) ConnectionString(context.Context) (fdb.ConnectionString, error) {
	return fdb.ParseConnectionString("stranger:abcdefgh@10.9.0.1:4501")
}

func TestADatabaseOfAnotherClusterIsNotUsed(t *testing.T) {
	f := settled(t)
	f.directly(direct.Native, incompatiblePeer{f.cli()})
	s := &plan.Snapshot{}
	if err := f.cluster.Observe(t.Context(), s, plan.ClusterResource|plan.Database); !errors.Is(err, direct.ErrAnotherDatabase) || !strings.Contains(err.Error(), "stranger:abcdefgh") {
		t.Errorf("got %v", err)
	}
	if s.Database.Status != nil || s.Database.Unreachable != "" {
		t.Errorf("got %+v", s.Database)
	}
	if _, err := f.cluster.ReadExclusions(t.Context()); admin.KindOf(err) != admin.KindRefused {
		t.Errorf("got %v", err)
	}

	f = settled(t)
	f.directly(direct.Auto, incompatiblePeer{f.cli()})
	if s := f.observe(plan.ClusterResource | plan.Database); !s.Database.Available() {
		t.Errorf("auto does not use fdbcli instead: %s", s.Database.Unreachable)
	}
}
