package run

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// sameClusters refuses to continue a run if a cluster of its steps was recreated since: what is done was done to another one.
func (r *runner) sameClusters(ctx context.Context) error {
	switch p := r.progress; {
	case !p.Ran():
		return nil
	case p.Clusters == nil && r.unknown == "":
		return &exit.Error{Code: exit.ExitUnreachable, Err: fmt.Errorf("the state %s is of an older release and has no UIDs: whether the clusters are those with which the run began is unknown", r.store.name()), Hints: []string{
			"check that, then repeat steps whose outcome is unknown: " + r.decided(unknownRepeat), "or continue after them: " + r.decided(unknownDone),
		}}
	case p.Clusters == nil:
		p.Clusters = map[string]string{}
	}
	if len(r.progress.Clusters) == 0 {
		return nil
	}
	c, err := r.Client()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.progress.Clusters)) {
		cluster, err := r.Read(ctx, c, keyOf(name))
		if err != nil {
			return err
		}
		if err := r.sameAs(cluster); err != nil {
			return err
		}
	}
	return nil
}

// sameAs fails for another cluster than the one of this name with which the run began.
func (r *runner) sameAs(cluster *session.Cluster) error {
	before, known := r.progress.Clusters[nameOf(cluster)]
	if !known || types.UID(before) == cluster.UID {
		return nil
	}
	return &exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("FoundationDBCluster %s in namespace %s was deleted and recreated since the run began: its state %s is about another one",
		cluster.Name, cluster.Namespace, r.store.name()), Hints: []string{"begin again without --state"}}
}

// found keeps the UID of a cluster before a step does anything with it, and refuses another one of the same name.
func (r *runner) found(ctx context.Context, cluster *session.Cluster) error {
	if err := r.sameAs(cluster); err != nil {
		r.another = err
		return err
	}
	if _, known := r.progress.Clusters[nameOf(cluster)]; known {
		return nil
	}
	r.progress.Clusters[nameOf(cluster)] = string(cluster.UID)
	return r.store.write(ctx, r.progress)
}

func nameOf(cluster *session.Cluster) string { return cluster.Namespace + "/" + cluster.Name }

func keyOf(name string) types.NamespacedName {
	namespace, cluster, _ := strings.Cut(name, "/")
	return types.NamespacedName{Namespace: namespace, Name: cluster}
}
