package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// BackupCluster is one backup: an Observer and an Actor. The tools run in pods of its
// agents, where the credentials of the store are.
type BackupCluster struct {
	// Cluster is the API server, the Lease and the gates. Its Key names the backup.
	*Cluster

	backup *v1beta2.FoundationDBBackup // as the API server has it
	agents map[string]*corev1.Pod      // newest known
}

// NewBackup returns the BackupCluster of a backup, which the options' Key names.
func NewBackup(o Options) *BackupCluster { return &BackupCluster{Cluster: New(o)} }

const (
	kindBackup  = "FoundationDBBackup"
	kindRestore = "FoundationDBRestore"
)

// Observe implements reconcile.Observer.
func (w *BackupCluster) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	w.Lease = BackupLeaseName(w.Key.Name)
	if facets&plan.Backup != 0 || into.Backup == nil {
		if err := w.readBackup(ctx); err != nil {
			return explain(err)
		}
		others, err := w.readOtherBackups(ctx)
		if err != nil {
			return explain(err)
		}
		into.Backup, into.OtherBackups = w.backup.DeepCopy(), others
		if into.InvalidSpec = nil; w.backup.DeletionTimestamp == nil {
			into.InvalidSpec = plan.InvalidFields(w.backup.Validate())
		}
	}
	if facets&plan.Agents != 0 || facets&(plan.BackupStatus|plan.BackupStore|plan.BackupUse) != 0 && into.Agents.Pods == nil {
		agents, err := w.readAgents(ctx)
		if err != nil {
			return explain(err)
		}
		into.Agents, w.agents = agents, agents.Pods
	}
	if facets&plan.BackupStatus != 0 {
		facts, err := w.readBackupStatus(ctx)
		if err != nil {
			return explain(err)
		}
		into.BackupStatus = facts
	}
	if err := w.readStores(ctx, into, facets); err != nil {
		return explain(err)
	}
	into.Now, into.Clock = w.Clock.Now().UTC(), w.clockFacts()
	return nil
}

// Gates returns the checks that must hold before any change.
func (w *BackupCluster) Gates(ctx context.Context, o GateOptions) ([]plan.Check, error) {
	w.operators.subject = "backup"
	return w.Cluster.Gates(ctx, o)
}

// readBackup reads the FoundationDBBackup. It may be invalid: reading requires no valid spec, and the deletion
// of an invalid one is carried out nevertheless.
func (w *BackupCluster) readBackup(ctx context.Context) error {
	cluster := &v1beta2.FoundationDBBackup{}
	if err := w.Client.Get(ctx, w.Key, cluster); err != nil {
		if apierrors.IsNotFound(err) && w.deletionComplete() {
			return nil // the last version stays in memory: nothing is left to do
		}
		if apierrors.IsNotFound(err) {
			return &NotFoundError{Key: w.Key, Kind: kindBackup}
		}
		return fmt.Errorf("read %s %s: %w", kindBackup, w.Key.Name, err)
	}
	w.backup = cluster
	w.known.setLeaseOf(cluster.UID)
	return nil
}

// deletionComplete reports whether the FoundationDBBackup was being deleted when it was last
// read, without any finalizer left.
func (w *BackupCluster) deletionComplete() bool {
	return w.backup != nil && w.backup.DeletionTimestamp != nil && len(w.backup.Finalizers) == 0
}

// readOtherBackups reads the other FoundationDBBackups: data to delete, and agents to pause,
// may be theirs.
func (w *BackupCluster) readOtherBackups(ctx context.Context) (plan.OtherBackupFacts, error) {
	return others[v1beta2.FoundationDBBackup](ctx, w.Client, w.Key, &v1beta2.FoundationDBBackupList{})
}

func (w *BackupCluster) readAgents(ctx context.Context) (plan.AgentFacts, error) {
	facts := plan.AgentFacts{}
	d := &appsv1.Deployment{}
	err := w.Client.Get(ctx, types.NamespacedName{Namespace: w.Key.Namespace, Name: w.backup.DeploymentName()}, d)
	switch {
	case err == nil:
		facts.Deployment = d
	case !apierrors.IsNotFound(err):
		return facts, fmt.Errorf("read Deployment %s: %w", w.backup.DeploymentName(), err)
	}
	facts.Pods, err = w.agentPods(ctx, w.backup.DeploymentName())
	return facts, err
}

// agentPods are the pods of these deployments.
func (o *Options) agentPods(ctx context.Context, deployments ...string) (map[string]*corev1.Pod, error) {
	byName := map[string]*corev1.Pod{}
	if len(deployments) == 0 {
		return byName, nil
	}
	of, err := labels.NewRequirement(v1beta2.LabelDeploymentName, selection.In, deployments)
	if err != nil {
		return nil, fmt.Errorf("select the pods of agents: %w", err)
	}
	options := []client.ListOption{client.InNamespace(o.Key.Namespace), client.Limit(pageSize), client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*of)}}
	for {
		page := &corev1.PodList{}
		if err := o.Client.List(ctx, page, options...); err != nil {
			return nil, fmt.Errorf("list the pods of agents: %w", err)
		}
		for i := range page.Items {
			byName[page.Items[i].Name] = &page.Items[i]
		}
		if page.Continue == "" {
			return byName, nil
		}
		options = append(slices.Clip(options), client.Continue(page.Continue))
	}
}

// noAgent is why backups are unknown.
const noAgent = "no pod of a backup agent is ready to run the backup tools"

// tools are the backup tools in the pods of agents, those of the lowest rank first, then the
// oldest, and last those whose nodes are not ready; nil when no pod is ready.
func (d *database) tools(agents map[string]*corev1.Pod, parameters v1beta2.FoundationDBCustomParameters, rank func(*corev1.Pod) int) (*admin.Backups, error) {
	var ready []*corev1.Pod
	for _, pod := range agents {
		if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil && mainContainerReady(pod) {
			ready = append(ready, pod)
		}
	}
	last := func(pod *corev1.Pod) int {
		if objects.IsUnready(pod) {
			return 1
		}
		return 0
	}
	slices.SortFunc(ready, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(rank(a), rank(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	var transports []admin.Transport
	for _, pod := range ready {
		t, err := d.transport(pod)
		if err != nil {
			return nil, err
		}
		transports = append(transports, t)
	}
	if len(transports) == 0 {
		return nil, nil // no ready pod is a fact and no error
	}
	var own []string
	for _, p := range parameters {
		own = append(own, string(p))
	}
	return admin.NewBackups(admin.NewFailover(transports...), own), nil
}

// alike ranks all pods the same.
func alike(*corev1.Pod) int { return 0 }

// readBackupStatus reads the tag's status. Only the end of the context is an error: an unknown
// status is a fact that stages decide on.
func (w *BackupCluster) readBackupStatus(ctx context.Context) (plan.BackupFacts, error) {
	facts := plan.BackupFacts{}
	tools, err := w.db.tools(w.agents, w.backup.Spec.CustomParameters, alike)
	switch {
	case err != nil:
		facts.NotQueried = err.Error()
		return facts, nil // an unknown status is a fact that stages decide on
	case tools == nil:
		facts.NotQueried = noAgent
		return facts, nil
	}
	status, err := tools.Status(ctx, string(w.backup.Tag()))
	if err := Interrupted(ctx); err != nil {
		return facts, err
	}
	facts.AsOf = w.Clock.Now().UTC()
	if err != nil {
		facts.Unreachable = noAnswer(ctx, err)
	}
	facts.Status = status
	if isStuck(status) {
		facts.Errors, _ = tools.Errors(ctx, string(w.backup.Tag())) // for explanation only, no decision reads them
	}
	return facts, Interrupted(ctx)
}

// behindAfter is the lag of a backup from which on the errors of agents are read.
const behindAfter = 3 * time.Minute

// isStuck reports whether a backup runs, and is not restorable or lags.
func isStuck(s *fdb.BackupStatus) bool {
	if s == nil || !s.State.Running {
		return false
	}
	point := s.LatestRestorable
	return !s.CanBeRestored() || point != nil && point.LagSeconds != nil && time.Duration(*point.LagSeconds)*time.Second > behindAfter
}

// acting returns the tools for an action.
func (w *BackupCluster) acting() (*admin.Backups, error) {
	if w.backup == nil {
		return nil, errors.New("the FoundationDBBackup was not read yet")
	}
	tools, err := w.db.tools(maps.Clone(w.agents), w.backup.Spec.CustomParameters, alike)
	if err == nil && tools == nil {
		err = errors.New(noAgent)
	}
	return tools, err
}
