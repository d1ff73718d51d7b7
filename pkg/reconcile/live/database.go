package live

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/direct"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// DefaultStatusTimeout is how long to wait for the status of the database before it counts as
// unreachable. A database that is down takes up to 19 s to answer.
const DefaultStatusTimeout = 60 * time.Second

// database finds a way to the cluster's database, and reads it.
type database struct {
	*Options
	known  *known
	leases *leaseKeeper

	mu      sync.Mutex
	binary  string             // the fdbcli that has the protocol of the processes; empty when unknown
	answer  string             // the pod in which fdbcli succeeded last; empty when unknown
	foreign map[string]bool    // the pods in which fdbcli reached another database
	latest  statusRead         // the status document read last, since this run holds the Lease
	session *admin.ReadSession // reads while it is kept open; nil otherwise
	times   fdb.Staleness      // of the status documents of this run
}

// readDatabase reads the status document. An unreachable database is a fact that stages decide
// on. Errors are the end of the context, and a cluster file of another database: that is the
// user's mistake, and not to be stored as this database's health.
func (d *database) readDatabase(ctx context.Context, c *v1beta2.FoundationDBCluster, pods map[string]*corev1.Pod) (plan.DatabaseFacts, error) {
	facts := plan.DatabaseFacts{}
	if c.Status.ConnectionString == "" {
		facts.NotQueried = "there is no cluster file yet"
		return facts, nil
	}
	timeout := d.StatusTimeout
	if timeout == 0 {
		timeout = DefaultStatusTimeout
	}
	asking, cancel := Limited(ctx, timeout)
	defer cancel()
	cli, inPods, err := d.client(asking, c, pods)
	if none, is := errors.AsType[*noClientError](err); is {
		facts.NotQueried = none.why
		return facts, nil
	}
	var (
		status *fdb.Status
		began  time.Time
	)
	if err == nil && inPods != nil && plan.FilesProve(c) {
		facts.DataDirs, err = d.awaitDataDirs(asking, c, pods, inPods)
		if ctx.Err() == nil && err == nil && !facts.DataDirs.MayExist(c) {
			facts.NotQueried, facts.AsOf = noFiles(c), d.Clock.Now().UTC()
			d.rememberFiles()
			return facts, nil
		}
		if !plan.EndsNoStatus(c) { // the status decides, unless there are files of a database, or may be
			err = nil
			if facts.DataDirs != nil && !facts.DataDirs.HasDatabase(c) && !facts.DataDirs.HidesVolumes(c) {
				facts.DataDirs = nil
			}
		}
		cancel() // the status has its own time: one pod that cannot be read must not take it
		asking, cancel = Limited(ctx, timeout)
		defer cancel()
	}
	if err == nil {
		d.awaitWorkers(asking, c, inPods)
		began = d.Clock.Now().UTC()
		status, err = cli.Status(asking)
	}
	if err := Interrupted(ctx); err != nil {
		return facts, err
	}
	if errors.Is(err, direct.ErrAnotherDatabase) {
		return facts, err
	}
	facts.AsOf = d.Clock.Now().UTC()
	switch {
	case err != nil:
		facts.Unreachable, facts.Forbidden, facts.Unasked = noAnswer(asking, err), apierrors.IsForbidden(err), apierrors.IsUnauthorized(err)
	case status.Incomplete() && !status.LacksTraceEvents(): // one without trace events explains itself, and opens no gate
		facts.Unreachable, facts.Partial = "the status document is incomplete: "+whyIncomplete(status), status
	case isOfAnother(c, status): // its connection string is not shown: it grants access
		d.leaveAnother()
		facts.Unreachable = "the status document is of another database"
	case d.isStale(status, began, facts.AsOf):
		facts.Unreachable = plan.StaleDocument
	default:
		facts.Status = status
		d.rememberBinary(inPods)
		d.rememberStatus(status)
	}
	return facts, nil
}

// isStale reports whether the database answers with the same document in every read.
func (d *database) isStale(status *fdb.Status, began, ended time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.times.Of(status, began, ended) > fdb.StaleAfter
}

func whyIncomplete(s *fdb.Status) string {
	if s.CutShort() {
		return "its collection exceeded the deadline or ended with an error"
	}
	return "the database did not collect all of it"
}

// isOfAnother reports whether a status document certainly is of another database than the
// cluster's: a tool runs with the cluster file of its pod. The ID and the coordinators change with
// each change of coordinators, and the description rarely, so nothing of the connection string may
// agree, and no process may be the cluster's.
func isOfAnother(c *v1beta2.FoundationDBCluster, status *fdb.Status) bool {
	own, err := fdb.ParseConnectionString(c.Status.ConnectionString)
	if err != nil {
		return false
	}
	found, err := fdb.ParseConnectionString(status.Cluster.ConnectionString)
	if err != nil || found.Description == own.Description || found.ID == own.ID {
		return false
	}
	return !slices.ContainsFunc(own.Coordinators, func(a fdb.Address) bool { return slices.Contains(found.Coordinators, a) }) &&
		!slices.ContainsFunc(c.Status.ProcessGroups, func(g *v1beta2.ProcessGroupStatus) bool {
			return len(status.ProcessesOf(string(g.ProcessGroupID))) > 0
		})
}

// noClientError means that there is no way to the database.
type noClientError struct{ why string }

func (e *noClientError) Error() string { return e.why }

// client returns the client of the cluster's database, and the one in it that runs fdbcli in
// the cluster's pods; nil if there is no pod for that. A *noClientError means that there is
// no way to the database; any other error that the only one does not lead there.
func (d *database) client(ctx context.Context, c *v1beta2.FoundationDBCluster, pods map[string]*corev1.Pod) (admin.Client, *admin.FDBCLI, error) {
	var (
		exec   admin.Client
		inPods *admin.FDBCLI
	)
	usable, why := d.execPods(c, pods)
	if usable != nil {
		inPods = admin.NewFDBCLI(usable, admin.FDBCLIOptions{Binaries: d.binaries(c), Clock: d.Clock})
		exec = inPods
	}
	if d.Direct == nil && exec == nil {
		return nil, nil, &noClientError{why}
	}
	if d.Direct == nil {
		return exec, inPods, nil
	}
	chosen, err := d.Direct.Client(ctx, c.Status.ConnectionString, exec)
	if err == nil && chosen == nil {
		err = &noClientError{why}
	}
	return chosen, inPods, err
}

// execPods are the cluster's pods in which tools can be run, or why there are none.
func (d *database) execPods(c *v1beta2.FoundationDBCluster, pods map[string]*corev1.Pod) (*admin.Failover, string) {
	usable := d.toolPods(c, pods)
	if len(usable) == 0 {
		return nil, "no running pod can run fdbcli"
	}
	if usable = thatConnect(usable); len(usable) == 0 {
		return nil, "no running pod has received the cluster file yet"
	}
	var transports []admin.Transport
	for _, pod := range usable {
		t, err := d.transport(pod)
		if err != nil {
			return nil, err.Error()
		}
		if session := d.openSession(); session != nil {
			t = session.At(pod.Namespace+"/"+pod.Name+"/"+string(pod.UID), t)
		}
		transports = append(transports, observedTransport{t, func(good bool) { d.answeredFrom(pod.Name, good) }})
	}
	return admin.NewFailover(transports...), ""
}

// thatConnect returns as many of the pods as run a command, without those whose tools cannot connect yet.
func thatConnect(usable []*corev1.Pod) []*corev1.Pod {
	var first []*corev1.Pod
	for _, pod := range usable {
		if len(first) < admin.PodTries && !objects.AwaitsClusterFile(pod) {
			first = append(first, pod)
		}
	}
	return first
}

// binaries are the paths of fdbcli binaries that may have the protocol of the processes, the
// one that worked last first: only a status read shows which one does.
func (d *database) binaries(c *v1beta2.FoundationDBCluster) []string {
	var versions []fdb.Version
	for _, text := range []string{c.RunningVersion(), c.Spec.Version} {
		version, _ := fdb.ParseVersion(text) // an unknown version has no copied binaries
		versions = append(versions, version)
	}
	all := admin.BinariesFor(versions...)
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(all, d.binary); i > 0 {
		return append([]string{d.binary}, slices.Delete(all, i, i+1)...)
	}
	return all
}

// rememberBinary remembers which fdbcli worked, if one was used.
func (d *database) rememberBinary(inPods *admin.FDBCLI) {
	if inPods == nil || inPods.Binary() == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.binary = inPods.Binary()
}

func (d *database) transport(pod *corev1.Pod) (admin.Transport, error) {
	if d.Transport != nil {
		return d.Transport(pod), nil
	}
	return admin.NewPodExec(d.Config, pod.Namespace, pod.Name, v1beta2.ContainerMain)
}

// observedTransport reports of every tool that ran whether its output is conclusive.
type observedTransport struct {
	admin.Transport
	ran func(good bool)
}

// Run runs a tool to its end.
func (n observedTransport) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	r, err := n.Transport.Run(ctx, c)
	if err == nil {
		n.ran(c.SettledBy(r))
	}
	return r, err
}

// answeredFrom prefers a pod that answered, until its answer is not conclusive.
func (d *database) answeredFrom(pod string, good bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case good:
		d.answer = pod
	case d.answer == pod:
		d.answer = ""
	}
}

// ToolPods are the pods in which tools can be run, the best first.
func ToolPods(c *v1beta2.FoundationDBCluster, pods map[string]*corev1.Pod) []*corev1.Pod {
	return chosenPods(candidates(c, pods), pods)
}

// toolPods are ToolPods, with the pod that answered last first, and those that reached another database behind
// those that did not.
func (d *database) toolPods(c *v1beta2.FoundationDBCluster, pods map[string]*corev1.Pod) []*corev1.Pod {
	all := candidates(c, pods)
	d.mu.Lock()
	for i, p := range all {
		all[i].Answered = p.Name == d.answer
		all[i].Unresponsive = p.Unresponsive || d.foreign[p.Name]
	}
	d.mu.Unlock()
	return chosenPods(all, pods)
}

func chosenPods(all []PodCandidate, pods map[string]*corev1.Pod) []*corev1.Pod {
	var usable []*corev1.Pod
	for _, chosen := range ChoosePods(all) {
		usable = append(usable, pods[chosen.Name])
	}
	return usable
}

// candidates describes the pods for the choice of the one to run fdbcli in.
func candidates(c *v1beta2.FoundationDBCluster, pods map[string]*corev1.Pod) []PodCandidate {
	excluded, notReporting := map[string]bool{}, map[string]bool{}
	for _, g := range c.Status.ProcessGroups {
		excluded[g.PodName(c)] = g.IsMarkedForRemoval() || g.IsExcluded() || g.HasCondition(v1beta2.ConditionProcessIsMarkedAsExcluded)
		notReporting[g.PodName(c)] = g.HasCondition(v1beta2.ConditionMissingProcesses)
	}
	var candidates []PodCandidate
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		pod := pods[name]
		candidates = append(candidates, PodCandidate{
			Name:         name,
			Running:      pod.Status.Phase == corev1.PodRunning && mainContainerReady(pod),
			Unready:      objects.IsUnready(pod),
			Terminating:  pod.DeletionTimestamp != nil,
			Isolated:     pod.Annotations[v1beta2.AnnotationIsolateProcessGroup] == "true",
			Excluded:     excluded[name],
			Unresponsive: notReporting[name],
			Coordinator:  strings.Contains(c.Status.ConnectionString, "@"+name+".") || strings.Contains(c.Status.ConnectionString, ","+name+"."),
			Since:        pod.CreationTimestamp.Time,
			Node:         pod.Spec.NodeName,
		})
	}
	return candidates
}

func mainContainerReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == v1beta2.ContainerMain && s.Ready
	})
}

// open returns a client for actions.
func (d *database) open(ctx context.Context) (admin.Client, *v1beta2.FoundationDBCluster, error) {
	cluster, pods := d.known.toReach()
	if cluster == nil {
		return nil, nil, errors.New("the FoundationDBCluster was not read yet")
	}
	cli, _, err := d.client(ctx, cluster, pods)
	if err != nil {
		return nil, nil, err
	}
	return cli, cluster, nil
}
