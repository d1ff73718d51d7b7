package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// RestoreCluster is one restore: an Observer and an Actor. The tools run in pods of any
// backup agents of the destination. Its Lease is the destination's, so that no pass over the
// cluster runs during a restore.
type RestoreCluster struct {
	// Cluster is the API server, the Lease and the gates. Its Key names the destination,
	// once the restore was read.
	*Cluster
	// Name names the restore.
	Name types.NamespacedName

	restore *v1beta2.FoundationDBRestore // as the API server has it
	agents  map[string]*corev1.Pod       // newest known
	backups map[string]*v1beta2.FoundationDBBackup
	// distances rank agents by how unlike their destination is to the restore's source, by Deployment.
	distances map[string]int
}

// NewRestore returns the RestoreCluster of a restore. The options' Key needs only the namespace.
func NewRestore(name types.NamespacedName, o Options) *RestoreCluster {
	return &RestoreCluster{Cluster: New(o), Name: name}
}

// Observe implements reconcile.Observer.
func (w *RestoreCluster) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets&plan.Restore != 0 || into.Restore == nil {
		if err := w.readRestore(ctx); err != nil {
			return explain(err)
		}
		into.Restore, into.InvalidSpec = w.restore.DeepCopy(), plan.InvalidFields(w.restore.Validate())
	}
	if facets&plan.ClusterResource != 0 {
		cluster, err := w.readDestination(ctx)
		if err != nil {
			return explain(err)
		}
		into.Cluster = cluster
	}
	if facets&(plan.RestoreStatus|plan.Agents|plan.RestoreSource|plan.RestoreTarget|plan.RestoreTimes) != 0 {
		agents, err := w.destinationAgents(ctx)
		if err != nil {
			return explain(err)
		}
		into.Agents, w.agents = plan.AgentFacts{Pods: agents}, agents
	}
	if err := w.readFacts(ctx, into, facets); err != nil {
		return explain(err)
	}
	into.Now, into.Clock = w.Clock.Now().UTC(), w.clockFacts()
	return nil
}

// readFacts reads the facets besides the resources and the agents.
func (w *RestoreCluster) readFacts(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if err := refresh(ctx, facets&plan.RestoreStatus, &into.RestoreStatus, w.readRestores); err != nil {
		return err
	}
	if err := refresh(ctx, facets&plan.RestoreSource, &into.RestoreSource, w.readSource); err != nil {
		return err
	}
	target := func(ctx context.Context) (plan.TargetFacts, error) { return w.readTarget(ctx, into.RestoreStatus) }
	if err := refresh(ctx, facets&plan.RestoreTarget, &into.RestoreTarget, target); err != nil {
		return err
	}
	if err := refresh(ctx, facets&plan.RestoreTimes, &into.RestoreTimes, w.readTimes); err != nil {
		return err
	}
	if err := refresh(ctx, facets&plan.OtherRestores, &into.OtherRestores, w.readOtherRestores); err != nil {
		return err
	}
	return refresh(ctx, facets&plan.Database, &into.Database, w.readStatus)
}

// refresh reads facts again where facets need them.
func refresh[T any](ctx context.Context, needed plan.Facet, into *T, read func(context.Context) (T, error)) error {
	if needed == 0 {
		return nil
	}
	facts, err := read(ctx)
	if err != nil {
		return err
	}
	*into = facts
	return nil
}

func (w *RestoreCluster) readRestore(ctx context.Context) error {
	cluster := &v1beta2.FoundationDBRestore{}
	if err := w.Client.Get(ctx, w.Name, cluster); err != nil {
		if apierrors.IsNotFound(err) {
			return &NotFoundError{Key: w.Name, Kind: kindRestore}
		}
		return fmt.Errorf("read %s %s: %w", kindRestore, w.Name.Name, err)
	}
	w.restore = cluster
	w.Key = types.NamespacedName{Namespace: w.Name.Namespace, Name: cluster.Spec.DestinationClusterName}
	return nil
}

// readDestination reads the cluster without storing it: operators carry out restores even if
// spec.skip of the cluster is true.
func (w *RestoreCluster) readDestination(ctx context.Context) (*v1beta2.FoundationDBCluster, error) {
	stored, normalized, err := readCluster(ctx, w.Client, w.Key)
	if err == nil {
		w.known.setLeaseOf(stored.UID)
	}
	return normalized, err
}

// destinationAgents are the pods of the agents of all backups of the destination.
func (w *RestoreCluster) destinationAgents(ctx context.Context) (map[string]*corev1.Pod, error) {
	backups, err := listed[v1beta2.FoundationDBBackup](ctx, namespaced{w.Client, w.Key.Namespace}, nil, &v1beta2.FoundationDBBackupList{})
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(backups, func(_ string, b *v1beta2.FoundationDBBackup) bool { return b.Spec.ClusterName != w.Key.Name })
	w.backups = backups
	var deployments []string
	w.distances = map[string]int{}
	for _, b := range backups {
		deployments = append(deployments, b.DeploymentName())
		w.distances[b.DeploymentName()] = distance(b, w.restore)
	}
	slices.Sort(deployments)
	return w.agentPods(ctx, deployments...)
}

// distance is the rank of the agents in a pod.
func (w *RestoreCluster) distance(pod *corev1.Pod) int {
	return w.distances[pod.Labels[v1beta2.LabelDeploymentName]]
}

// distance is how unlike the destinations of a backup and of a restore are. Agents have the
// credentials of their own backup's account, and maybe not those of another one.
func distance(b *v1beta2.FoundationDBBackup, r *v1beta2.FoundationDBRestore) int {
	const otherAccount, otherDestination = 2, 1
	to, errTo := objects.BackupURL(b)
	from, errFrom := objects.RestoreURL(r)
	if errTo != nil || errFrom != nil {
		return otherAccount + otherDestination
	}
	far := 0
	if b.Spec.BlobStoreConfiguration.AccountName != r.Spec.BlobStoreConfiguration.AccountName {
		far += otherAccount
	}
	if !fdb.SharesBackupPlace(to, from) {
		far += otherDestination
	}
	return far
}

// namespaced is a client that lists in one namespace only.
type namespaced struct {
	client.Client
	namespace string
}

// List lists in the namespace.
func (n namespaced) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return n.Client.List(ctx, list, append(slices.Clip(options), client.InNamespace(n.namespace))...)
}

// readRestores reads all restores. Only the end of the context is an error.
func (w *RestoreCluster) readRestores(ctx context.Context) (plan.RestoreFacts, error) {
	facts := plan.RestoreFacts{}
	tools, err := w.db.tools(w.agents, w.restore.Spec.CustomParameters, w.distance)
	switch {
	case err != nil:
		facts.NotQueried = err.Error()
		return facts, nil // an unknown status is a fact that stages decide on
	case tools == nil:
		facts.NotQueried = noAgent + "; a FoundationDBBackup of the cluster, even a Stopped one, creates agents; those in other namespaces are not used"
		return facts, nil
	}
	all, err := tools.Restores(ctx)
	if err := Interrupted(ctx); err != nil {
		return facts, err
	}
	facts.AsOf = w.Clock.Now().UTC()
	if err != nil {
		facts.Unreachable = noAnswer(ctx, err)
		return facts, nil // an unknown status is a fact that stages decide on
	}
	facts.All, facts.Read = all, true
	return facts, nil
}

// Gates returns the checks that must hold before any change.
func (w *RestoreCluster) Gates(ctx context.Context, o GateOptions) ([]plan.Check, error) {
	w.operators.subject = "restore"
	return w.Cluster.Gates(ctx, o)
}

// Act implements reconcile.Actor.
func (w *RestoreCluster) Act(ctx context.Context, a plan.Action) error {
	if err := w.leases.stillOurs(ctx); err != nil {
		return err
	}
	own, is := a.(plan.RestoreAction)
	if !is {
		return unsupported(a)
	}
	ctx, cancel := w.leases.during(ctx, a)
	defer cancel()
	switch a := own.(type) {
	case plan.WriteRestoreStatus:
		return w.writeRestoreStatus(ctx, a.Status)
	case plan.StartRestore:
		return w.startRestore(ctx, a)
	case plan.AbortRestore:
		return w.abortRestore(ctx, a)
	case plan.SetRestoreVersion:
		return w.setVersion(ctx, a)
	}
	return unsupported(a)
}

// startRestore writes a status that the restore is about to be started, starts it, and confirms
// the status once the restore was observed. Nothing is written before the database has
// answered. If the restore was certainly not started, the previous status is restored. After
// any other error the status stays: an additional check is better than a second restore.
func (w *RestoreCluster) startRestore(ctx context.Context, a plan.StartRestore) error {
	tools, err := w.acting()
	if err != nil {
		return fmt.Errorf("start the restore: %w", err)
	}
	before, noted := w.restore.Status, false
	err = tools.StartRestore(ctx, a.Start, func() error {
		noted = true
		return w.writeRestoreStatus(ctx, plan.RestoreNoted())
	})
	if err == nil {
		return w.writeRestoreStatus(ctx, plan.RestoreBegun())
	}
	revert := noted && neverStarted(err)
	if admin.KindOf(err) == admin.KindRefused {
		err = &reconcile.RefusedError{Check: plan.Check{ID: plan.CheckRestoreAccepted, Question: "does the database accept the restore?", Evidence: err.Error(), Gate: plan.GateRestore}}
	}
	if revert {
		return errors.Join(err, w.writeRestoreStatus(context.WithoutCancel(ctx), before))
	}
	return err
}

// neverStarted reports whether a failed start certainly started nothing.
func neverStarted(err error) bool {
	switch admin.KindOf(err) { // after all others it may have been started
	case admin.KindRefused, admin.KindNotYet, admin.KindLocked:
		return true
	default:
		return admin.CertainlyNotRun(err)
	}
}

func (w *RestoreCluster) writeRestoreStatus(ctx context.Context, status v1beta2.FoundationDBRestoreStatus) error {
	if w.restore == nil {
		return errors.New("the FoundationDBRestore was not read yet")
	}
	edited := w.restore.DeepCopy()
	edited.Status = status
	if err := w.Client.Status().Update(ctx, edited); err != nil {
		return fmt.Errorf("write the status of %s %s: %w", kindRestore, w.restore.Name, err)
	}
	w.restore = edited
	return nil
}

// others reads the resources of a kind in the namespace, except the given one. Missing
// permission is a fact; only the end of the context is an error.
func others[T any, P interface {
	*T
	client.Object
}](ctx context.Context, c client.Client, own types.NamespacedName, empty client.ObjectList,
) (plan.OtherFacts[T], error) {
	facts := plan.OtherFacts[T]{}
	all, err := listed[T, P](ctx, namespaced{c, own.Namespace}, nil, empty)
	if ctx.Err() != nil {
		return facts, ctx.Err()
	}
	if err != nil {
		facts.NotRead = err.Error()
		return facts, nil // what cannot be read is a fact that stages decide on
	}
	facts.Read = true
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].GetName() != own.Name {
			facts.All = append(facts.All, *all[name])
		}
	}
	return facts, nil
}
