package simtest

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// Sample is a cluster of which only the custom resource exists. A nil edit changes nothing of it.
func Sample(seed uint64, edit func(*v1beta2.FoundationDBCluster)) (*sim.Cluster, error) {
	c := &v1beta2.FoundationDBCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "sample", Namespace: "fdb", UID: "1", Generation: 1},
		Spec:       v1beta2.FoundationDBClusterSpec{Version: "7.3.79"},
	}
	if edit != nil {
		edit(c)
	}
	return sim.New(c, seed)
}

// NodeNames are the names of so many nodes.
func NodeNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("node-%d", i+1)
	}
	return names
}

// UntilNext is how long to wait after a pass.
func UntilNext(done reconcile.PassDone) time.Duration {
	const least, most = 5 * time.Second, 15 * time.Second // of what takes longer, others may be done meanwhile
	return max(done.RetryAfter, min(done.TidyAfter(), most), least)
}

// betweenRounds is how long to wait after each of several control-plane instances ran a pass: until a death of a moment ago shows.
const betweenRounds = 70 * time.Second

// Settle runs passes over all clusters in turn until none has anything to do; most bounds them.
func Settle(ctx context.Context, most int, clusters ...*sim.Cluster) error {
	hashes := plan.NewHashMemo()
	for range most {
		settled, wait := true, time.Duration(0)
		for _, w := range clusters {
			p := reconcile.Pass{Stages: stages.Cluster(), Observer: w, Actor: w, Report: func(reconcile.Event) {}, Seed: 42, Hashes: hashes}
			done, err := p.Run(ctx)
			if err != nil {
				return err
			}
			settled, wait = settled && done.Settled(), max(wait, UntilNext(done))
		}
		if settled {
			return nil
		}
		if len(clusters) > 1 {
			wait = betweenRounds
		}
		clusters[0].Tick(wait)
	}
	return fmt.Errorf("not settled after pass %d", most)
}

// Share brings up a database that several control-plane instances share, in the order of their names. All of them have
// the same edited spec.
func Share(ctx context.Context, seed uint64, edit func(*v1beta2.FoundationDBClusterSpec), names ...string) ([]*sim.Cluster, error) {
	at := func(i int) func(*v1beta2.FoundationDBCluster) {
		return func(c *v1beta2.FoundationDBCluster) {
			c.Name = "sample-" + names[i]
			c.Spec.ProcessGroupIDPrefix = names[i]
			c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 2, Log: 2, Stateless: 2}
			c.Spec.LockOptions.DisableLocks = new(bool)
			edit(&c.Spec)
		}
	}
	first, err := Sample(seed, func(c *v1beta2.FoundationDBCluster) {
		at(0)(c)
		c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 3, Log: 3, Stateless: 3}
	})
	if err != nil {
		return nil, err
	}
	if err := Settle(ctx, 20, first); err != nil {
		return nil, err
	}
	all := []*sim.Cluster{first}
	for i := 1; i < len(names); i++ {
		cluster := first.Resource.DeepCopy()
		cluster.Status = v1beta2.FoundationDBClusterStatus{}
		cluster.Spec.SeedConnectionString = first.Resource.Status.ConnectionString
		at(i)(cluster)
		joined, err := first.Join(cluster)
		if err != nil {
			return nil, err
		}
		all = append(all, joined)
	}
	at(0)(first.Resource)
	first.Resource.Generation++
	if err := Settle(ctx, 60, all...); err != nil {
		return nil, err
	}
	first.Tick(20 * time.Minute)
	return all, nil
}
