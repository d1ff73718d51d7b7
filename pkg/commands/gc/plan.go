package gc

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/orphans"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// adopt reads the file of --plan, and takes the PVCs that it removes for named; nil without a file.
func (o *options) adopt(env *session.Env, key types.NamespacedName) (*orphans.View, error) {
	if o.Plan == "" {
		return nil, nil
	}
	v, err := readPlan(o.Plan, key)
	if err != nil {
		return nil, err
	}
	env.Run.Planned = &planned.ApprovedPlan{Digest: v.Digest}
	for _, i := range v.Removable() {
		if i.Kind == orphans.PVC && !slices.Contains(o.pvcs, i.Name) {
			o.pvcs = append(o.pvcs, i.Name)
		}
	}
	return &v, nil
}

// readPlan reads the document of a dry run of a cluster.
func readPlan(path string, key types.NamespacedName) (orphans.View, error) {
	var v orphans.View
	if err := apply.ReadDocument(path, "OrphanList", "a list that gc --dry-run -o json printed", &v); err != nil {
		return v, err
	}
	if v.Metadata.Cluster != key.Name || v.Metadata.Namespace != key.Namespace {
		return v, exit.Usagef("plan %s is for cluster %s in namespace %s, not for cluster %s in namespace %s (nothing was changed)", path, v.Metadata.Cluster, v.Metadata.Namespace, key.Name, key.Namespace)
	}
	return v, nil
}

// accept refuses a PVC that was named and is not removed, and an approved plan if another one would be made now. What an
// earlier run of the plan has removed is no difference.
func (o options) accept(ctx context.Context, env *session.Env, approved *orphans.View, now orphans.View) error {
	if approved == nil {
		return o.namedPVCs(now)
	}
	differences := approved.Differences(now)
	removed := !slices.ContainsFunc(differences, func(d planned.PlanDifference) bool { return d.Code != planned.DiffersDone })
	lock := types.NamespacedName{Namespace: env.Run.About.Namespace, Name: live.LeaseName(env.Run.About.Name)}
	switch {
	case len(differences) == 0:
		return nil
	case removed && apply.BegunBefore(ctx, env, lock, env.PlanDigest()):
		env.Logf("resuming plan %s: of %s %d %s removed", o.Plan, phrase.Count(len(approved.Removable()), "item"), len(differences), phrase.Is(len(differences)))
		return nil
	}
	return apply.StalePlan(differences, "save a new list: "+env.Command(append(o.words(env.Run.About.Name), "--dry-run", "-o", "json")...)+" > "+session.Quoted(o.Plan))
}
