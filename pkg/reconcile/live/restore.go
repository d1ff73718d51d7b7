package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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

// RestoreWorld is one restore: an Observer and an Actor. The tools run in pods of any
// backup agents of the destination. Its Lease is the destination's: what restores into a
// cluster keeps passes over it away.
type RestoreWorld struct {
	// World is the API server, the Lease and the gates. Its Key names the destination,
	// once the restore was read.
	World
	// Name names the restore.
	Name types.NamespacedName

	restore *v1beta2.FoundationDBRestore // as the API server has it
	agents  map[string]*corev1.Pod       // newest known
	backups map[string]*v1beta2.FoundationDBBackup
	// distances are how far agents are from the place of the restore, by their deployment.
	distances map[string]int
}

// Observe implements reconcile.Observer.
func (w *RestoreWorld) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets&plan.Restore != 0 || into.Restore == nil {
		if err := w.readRestore(ctx); err != nil {
			return w.explain(err)
		}
		into.Restore = w.restore.DeepCopy()
	}
	if facets&plan.Record != 0 {
		cluster, err := w.readDestination(ctx)
		if err != nil {
			return w.explain(err)
		}
		into.Cluster = cluster
	}
	if facets&(plan.RestoreStatus|plan.Agents|plan.RestoreSource|plan.RestoreTarget) != 0 {
		agents, err := w.destinationAgents(ctx)
		if err != nil {
			return w.explain(err)
		}
		into.Agents, w.agents = plan.AgentFacts{Pods: agents}, agents
	}
	if err := w.askAbout(ctx, into, facets); err != nil {
		return w.explain(err)
	}
	into.Now = w.Clock.Now().UTC()
	return nil
}

// askAbout asks what is known outside of the record and its agents.
func (w *RestoreWorld) askAbout(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if err := refresh(ctx, facets&plan.RestoreStatus != 0, &into.RestoreStatus, w.readRestores); err != nil {
		return err
	}
	if err := refresh(ctx, facets&plan.RestoreSource != 0, &into.RestoreSource, w.readSource); err != nil {
		return err
	}
	target := func(ctx context.Context) (plan.TargetFacts, error) { return w.readTarget(ctx, into.RestoreStatus) }
	if err := refresh(ctx, facets&plan.RestoreTarget != 0, &into.RestoreTarget, target); err != nil {
		return err
	}
	if err := refresh(ctx, facets&plan.OtherRestores != 0, &into.OtherRestores, w.readOtherRestores); err != nil {
		return err
	}
	return refresh(ctx, facets&plan.Database != 0, &into.Database, w.askDatabase)
}

// refresh reads facts anew where they are wanted.
func refresh[T any](ctx context.Context, wanted bool, into *T, read func(context.Context) (T, error)) error {
	if !wanted {
		return nil
	}
	facts, err := read(ctx)
	if err != nil {
		return err
	}
	*into = facts
	return nil
}

func (w *RestoreWorld) readRestore(ctx context.Context) error {
	record := &v1beta2.FoundationDBRestore{}
	if err := w.Client.Get(ctx, w.Name, record); err != nil {
		if apierrors.IsNotFound(err) {
			return &NotFoundError{Key: w.Name, Kind: kindRestore}
		}
		return fmt.Errorf("reading %s %s: %w", kindRestore, w.Name.Name, err)
	}
	if err := record.Validate(); err != nil {
		return &InvalidRecordError{Key: w.Name, Err: err, Kind: kindRestore}
	}
	w.restore = record
	w.Key = types.NamespacedName{Namespace: w.Name.Namespace, Name: record.Spec.DestinationClusterName}
	return nil
}

// readDestination reads the cluster without keeping it: spec.skip of a cluster says
// nothing about restores, which an operator carries out all the same.
func (w *RestoreWorld) readDestination(ctx context.Context) (*v1beta2.FoundationDBCluster, error) {
	_, normalized, err := readCluster(ctx, w.Client, w.Key)
	return normalized, err
}

// destinationAgents are the pods of the agents of all backups of the destination.
func (w *RestoreWorld) destinationAgents(ctx context.Context) (map[string]*corev1.Pod, error) {
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

// distance is how far the agents in a pod are from the place of the restore.
func (w *RestoreWorld) distance(pod *corev1.Pod) int {
	return w.distances[pod.Labels[v1beta2.LabelDeploymentName]]
}

// distance is how unlike the places of a backup and of a restore are. Agents know the
// credentials of their own backup's account; those of another one they may lack.
func distance(b *v1beta2.FoundationDBBackup, r *v1beta2.FoundationDBRestore) int {
	const otherAccount, otherPlace = 2, 1
	to, errTo := objects.BackupURL(b)
	from, errFrom := objects.RestoreURL(r)
	if errTo != nil || errFrom != nil {
		return otherAccount + otherPlace
	}
	far := 0
	if b.Spec.BlobStoreConfiguration.AccountName != r.Spec.BlobStoreConfiguration.AccountName {
		far += otherAccount
	}
	if !fdb.SharesBackupPlace(to, from) {
		far += otherPlace
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

// readRestores asks for all restores. Only the context's end is an error.
func (w *RestoreWorld) readRestores(ctx context.Context) (plan.RestoreFacts, error) {
	facts := plan.RestoreFacts{}
	tools, err := w.tools(w.agents, w.restore.Spec.CustomParameters, w.distance)
	switch {
	case err != nil:
		facts.NotAsked = err.Error()
		return facts, nil //nolint:nilerr // what cannot be asked is a fact that stages decide on
	case tools == nil:
		facts.NotAsked = noAgent + "; a FoundationDBBackup of the cluster, also one that is Stopped, gives it agents; those in other namespaces are not known"
		return facts, nil
	}
	all, err := tools.Restores(ctx)
	if ctx.Err() != nil {
		return facts, ctx.Err()
	}
	facts.AsOf = w.Clock.Now().UTC()
	if err != nil {
		facts.Unreachable = err.Error()
		return facts, nil //nolint:nilerr // what cannot be asked is a fact that stages decide on
	}
	facts.All, facts.Read = all, true
	return facts, nil
}

// Gates asks what has to hold before anything is changed.
func (w *RestoreWorld) Gates(ctx context.Context, o GateOptions) ([]plan.Check, error) {
	w.subject = "restore"
	return w.World.Gates(ctx, o)
}

// Act implements reconcile.Actor.
func (w *RestoreWorld) Act(ctx context.Context, a plan.Action) error {
	if err := w.stillOurs(ctx); err != nil {
		return err
	}
	ctx, cancel := w.during(ctx, a)
	defer cancel()
	switch a := a.(type) { //nolint:gochecksumtype // the rest are for passes over clusters and backups
	case plan.WriteRestoreStatus:
		return w.writeRestoreStatus(ctx, a.Status)
	case plan.StartRestore:
		return w.startRestore(ctx, a)
	case plan.AbortRestore:
		return w.abortRestore(ctx, a)
	}
	return fmt.Errorf("%s: that is not for a pass over a restore", a.Describe())
}

// startRestore notes that the restore is about to be started, starts it, and confirms the
// note once it was seen. Nothing is noted before the database has answered. What was certainly
// not started is noted as such again. Whatever else goes wrong leaves the note: to look once
// more is better than to restore twice.
func (w *RestoreWorld) startRestore(ctx context.Context, a plan.StartRestore) error {
	tools, err := w.acting()
	if err != nil {
		return fmt.Errorf("starting the restore: %w", err)
	}
	before, noted := w.restore.Status, false
	err = tools.StartRestore(ctx, a.Start, func() error {
		noted = true
		return w.writeRestoreStatus(ctx, plan.RestoreNoted())
	})
	if err == nil {
		return w.writeRestoreStatus(ctx, plan.RestoreBegun())
	}
	takeBack := noted && neverStarted(err)
	if admin.KindOf(err) == admin.KindRefused {
		err = &reconcile.RefusedError{Check: plan.Check{ID: plan.CheckRestoreAccepted, Question: "does the database take the restore?", Evidence: refusalWords(err), Gate: plan.GateRestore}}
	}
	if takeBack {
		return errors.Join(err, w.writeRestoreStatus(context.WithoutCancel(ctx), before))
	}
	return err
}

// neverStarted reports whether a start that failed certainly started nothing.
func neverStarted(err error) bool {
	switch admin.KindOf(err) { // after all others it may have been started
	case admin.KindRefused, admin.KindNotYet, admin.KindLocked:
		return true
	default:
		return admin.CertainlyNotRun(err)
	}
}

// refusalWords are why the tools refuse, and what that means for a person.
func refusalWords(err error) string {
	if !strings.Contains(err.Error(), admin.NotEmpty) {
		return err.Error()
	}
	return err.Error() + ": the database has data, nothing was changed, and nothing is ever restored over data; " +
		"restore into a cluster without any, or find out who needs what is there before anybody removes it"
}

func (w *RestoreWorld) writeRestoreStatus(ctx context.Context, status v1beta2.FoundationDBRestoreStatus) error {
	if w.restore == nil {
		return errors.New("writing a record that was never read")
	}
	edited := w.restore.DeepCopy()
	edited.Status = status
	if err := w.Client.Status().Update(ctx, edited); err != nil {
		return fmt.Errorf("writing the status of %s %s: %w", kindRestore, w.restore.Name, err)
	}
	w.restore = edited
	return nil
}
