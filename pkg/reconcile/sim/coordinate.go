package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Shared is what control-plane instances that use one database store in it for each other.
// Joined clusters have the same one.
type Shared struct {
	Lock     *fdb.Lock
	DenyList map[string]bool
	// Denials are who put the owners on the deny list, and why.
	Denials map[string]fdb.Denial
	// Upgrades are announced process groups by version.
	Upgrades map[string]map[v1beta2.ProcessGroupID]bool
	// Maintenance are the process groups that restart during maintenance.
	Maintenance map[v1beta2.ProcessGroupID]time.Time
	// Lists are what control-plane instances in global synchronization mode act on together.
	Lists Lists
}

// NewShared is what a new database has.
func NewShared() *Shared {
	return &Shared{
		DenyList: map[string]bool{}, Denials: map[string]fdb.Denial{}, Upgrades: map[string]map[v1beta2.ProcessGroupID]bool{},
		Maintenance: map[v1beta2.ProcessGroupID]time.Time{},
	}
}

func (s *Shared) denied() []string {
	var owners []string
	for owner, denied := range s.DenyList {
		if denied {
			owners = append(owners, owner)
		}
	}
	slices.Sort(owners)
	return owners
}

// takeLock takes the lock by the rules of the real one.
func (w *Cluster) takeLock() error {
	if !w.Resource.LocksUsed() || !w.Resource.Status.Configured {
		return nil
	}
	return w.ask(fdb.LockRequest{
		Owner: w.Resource.LockOwner(), Now: w.Now(), Duration: w.Resource.LockDuration(), Nonce: w.Resource.LockOwner(), AllowEmptyOwner: true,
	})
}

func (w *Cluster) ask(r fdb.LockRequest) error {
	d := fdb.DecideLock(w.Shared.Lock, w.Shared.denied(), r)
	switch {
	case d.Outcome.Granted():
		if until := d.QuietUntil(w.Now()); !w.locked && until.After(w.cooldownUntil) {
			w.cooldownUntil = until
		}
		w.Shared.Lock = d.Write
		return nil
	case d.Outcome == fdb.LockDenied:
		return &reconcile.RefusedError{Check: plan.Check{ID: plan.CheckNotDenied, Question: "may this control-plane instance take the lock?", Gate: plan.GateDeny, Evidence: w.Resource.LockOwner() + " is on the deny list"}}
	default:
		return &reconcile.HeldError{What: "database lock", Holder: d.Holder.Holder(), Until: d.Holder.End}
	}
}

// releaseManually clears the lock that a user was shown, by the rules of the real one.
func (w *Cluster) releaseManually(a plan.ReleaseLock) error {
	found := w.Shared.Lock
	outcome := fdb.DecideRelease(found, w.Shared.denied(), fdb.ReleaseRequest{
		Seen: a.Seen, Owner: w.Resource.LockOwner(), User: a.User, Now: w.Now(), Force: a.Force,
	})
	switch outcome {
	case fdb.ReleaseGranted:
		w.Shared.Lock = nil
		return nil
	case fdb.ReleaseFree:
		return nil
	default:
		return &reconcile.HeldError{What: "database lock", Holder: found.Holder(), Until: found.End}
	}
}

func (w *Cluster) releaseLock() {
	if w.Shared.Lock == nil || !w.Shared.Lock.HeldBy(w.Resource.LockOwner(), w.Resource.LockOwner()) {
		return
	}
	until := w.cooldownUntil
	w.cooldownUntil = time.Time{} // the next pass is another run, which knows only the lock
	if until.After(w.Now()) {
		w.Shared.Lock.End = until
		return
	}
	w.Shared.Lock = nil
}

// restart ends processes as the real actor does, once they are listed; their monitors start
// them again.
func (w *Cluster) restart(ctx context.Context, a plan.RestartProcesses) error {
	if a.UpgradeTo != "" {
		clear(w.Shared.Upgrades)
	}
	w.Shared.Lists.useRestarts(a.Announced)
	addresses := make([]string, len(a.Addresses))
	for i, address := range a.Addresses {
		addresses[i] = address.HostPort()
	}
	kill := client.Kill()
	pause := kill.Flush + killPause
	kill.Flush = 0
	err := w.change(ctx, func(c *client.Client) error {
		known, err := c.Workers()
		if err != nil {
			return fmt.Errorf("list processes: %w", err)
		}
		if err := c.Begin(client.Changes); err != nil {
			return err
		}
		if err := c.End(known, addresses, kill); err != nil {
			return err
		}
		return c.Begin(client.Reads)
	})
	w.noteCopies()
	if err == nil {
		w.Tick(pause) // the monitors start the processes again while fdbcli waits
	}
	return err
}

// killPause is for how long package live waits after a kill.
const killPause = 5 * time.Second

func (w *Cluster) coordinate(ctx context.Context, a plan.Action) error {
	switch a := a.(type) { //nolint:gochecksumtype // the rest are not kept in the database
	case plan.StartMaintenance:
		for _, group := range a.Groups {
			w.Shared.Maintenance[group] = a.At
		}
		return w.change(ctx, func(c *client.Client) error { return c.StartMaintenance(a.Zone, math.Trunc(a.Duration.Seconds())) })
	case plan.EndMaintenance:
		return w.change(ctx, (*client.Client).EndMaintenance)
	case plan.ForgetMaintenance:
		for _, group := range a.Groups {
			delete(w.Shared.Maintenance, group)
		}
	case plan.UpdateDenyList:
		for _, owner := range a.Deny {
			w.Shared.DenyList[owner], w.Shared.Denials[owner] = true, a.Note
		}
		for _, owner := range a.Allow {
			delete(w.Shared.DenyList, owner)
			delete(w.Shared.Denials, owner)
		}
	case plan.HoldLock:
		return w.ask(fdb.LockRequest{Owner: a.Owner, User: a.User, Now: w.Now(), Duration: a.For, Nonce: "held"})
	case plan.ReleaseLock:
		return w.releaseManually(a)
	case plan.AnnounceUpgrade:
		if w.Shared.Upgrades[a.Version] == nil {
			w.Shared.Upgrades[a.Version] = map[v1beta2.ProcessGroupID]bool{}
		}
		for _, group := range a.Groups {
			w.Shared.Upgrades[a.Version][group] = true
		}
	case plan.ChangeLists:
		w.Shared.Lists.change(w.Resource, a)
	case plan.WithdrawUpgrade:
		for _, group := range a.Groups {
			delete(w.Shared.Upgrades[a.Version], group)
		}
	default:
		return unsupported(a)
	}
	return nil
}

// announced are the process groups that were announced for upgrades, by version.
func (w *Cluster) announced() map[string][]v1beta2.ProcessGroupID {
	all := map[string][]v1beta2.ProcessGroupID{}
	for version, groups := range w.Shared.Upgrades {
		if len(groups) > 0 {
			all[version] = slices.Sorted(maps.Keys(groups))
		}
	}
	return all
}

// Lists are the shared lists of all control-plane instances. The zero value has no entries.
type Lists struct {
	now plan.ListFacts
}

// facts are the lists as a control-plane instance reads them, in global mode only.
func (l *Lists) facts(c *v1beta2.FoundationDBCluster) plan.ListFacts {
	if c.SynchronizationMode() != v1beta2.SynchronizationModeGlobal {
		return plan.ListFacts{}
	}
	read := l.now
	read.Read = true
	return read
}

// change writes a control-plane instance's own entries. Earlier facts are not changed.
func (l *Lists) change(c *v1beta2.FoundationDBCluster, a plan.ChangeLists) {
	s := plan.Snapshot{Cluster: c, Coordination: plan.CoordinationFacts{Lists: l.now}}
	l.now = a.Apply(s).Coordination.Lists
}

// useRestarts removes the restart entries of process groups that are about to restart.
func (l *Lists) useRestarts(members []fdb.Member) {
	if len(members) == 0 {
		return
	}
	l.now.Entries = maps.Clone(l.now.Entries)
	for _, list := range []fdb.SharedList{fdb.PendingForRestart, fdb.ReadyForRestart} {
		l.now.Entries[list] = maps.Clone(l.now.Entries[list])
		for _, m := range members {
			delete(l.now.Entries[list], m)
		}
	}
}

// ReadExclusions reads which exclusions are in force and which processes still hold data or roles.
func (w *Cluster) ReadExclusions(ctx context.Context) (plan.CoordinationFacts, error) {
	facts := plan.CoordinationFacts{}
	var err error
	if facts.InProgressExclusions, err = w.listExclusions(ctx, client.InProgress); err != nil {
		return facts, err
	}
	if facts.FailedExclusions, err = w.listExclusions(ctx, client.FailedAddresses, client.FailedLocalities); err != nil {
		return facts, err
	}
	facts.Exclusions, err = w.listExclusions(ctx, client.ExcludedAddresses, client.ExcludedLocalities, client.FailedAddresses, client.FailedLocalities)
	facts.ExclusionsRead = err == nil
	return facts, err
}

// ReadShared reads all that control-plane instances share, whether or not the spec needs it.
func (w *Cluster) ReadShared(context.Context) (plan.CoordinationFacts, error) {
	lists := w.Shared.Lists.now
	lists.Read = true
	return plan.CoordinationFacts{
		Read: true, Lock: w.Shared.Lock, DenyList: w.Shared.denied(), Denials: w.Shared.Denials, Maintenance: w.Shared.Maintenance,
		Announced: w.announced(), Lists: lists,
	}, nil
}

// ReadClusterFiles reads the connection strings in the database and in all pods.
func (w *Cluster) ReadClusterFiles(ctx context.Context) (plan.ClusterFiles, error) {
	files := plan.ClusterFiles{Pods: map[string]plan.ClusterFile{}}
	for name, pod := range w.Pods {
		running := w.running[name]
		switch {
		case pod.Status.Phase != corev1.PodRunning || running == nil:
		case running.files[liveClusterFile] == nil:
			files.Pods[name] = plan.ClusterFile{Unreadable: "no such file"}
		default:
			files.Pods[name] = plan.ClusterFile{Content: string(running.files[liveClusterFile])}
		}
	}
	d := w.database(ctx)
	if d.Status == nil {
		files.LiveUnknown = d.Why()
		return files, nil
	}
	live, err := fdb.ParseConnectionString(d.Status.Cluster.ConnectionString)
	if err != nil {
		files.LiveUnknown = err.Error()
		return files, nil //nolint:nilerr // an unknown string is a fact
	}
	files.Live = live
	return files, nil
}

// WriteClusterFile gives a pod's processes another cluster file, as a user could.
func (w *Cluster) WriteClusterFile(pod, content string) {
	w.running[pod].files[liveClusterFile] = []byte(content)
}

const (
	// lookupsPerName is how often ReadNames resolves each name.
	lookupsPerName = 10
	lookupTime     = time.Millisecond
)

// ReadNames resolves names as processes do: at once, and to nothing where a pod has no address.
func (w *Cluster) ReadNames(_ context.Context, names []string) (fdb.NameLookups, error) {
	if len(w.running) == 0 {
		return fdb.NameLookups{}, errors.New("resolve names: no running pod can run fdbcli")
	}
	lookups := fdb.NameLookups{Overhead: lookupTime}
	for _, name := range names {
		n := fdb.NameLookup{Name: name, Lookups: lookupsPerName, Slowest: lookupTime}
		if addresses, err := w.site.resolve(name); err != nil {
			n.Failed = lookupsPerName
		} else {
			n.Found(addresses)
		}
		lookups.Names = append(lookups.Names, n)
	}
	return lookups, nil
}

// ReadServed connects to no process: those of the model have no certificates.
func (w *Cluster) ReadServed(_ context.Context, addresses []fdb.Address) ([]fdb.ServedCertificate, error) {
	if len(w.running) == 0 {
		return nil, errors.New("read served certificates: no running pod can run fdbcli")
	}
	all := make([]fdb.ServedCertificate, len(addresses))
	for i, address := range addresses {
		all[i] = fdb.ServedCertificate{Address: address, Unread: "no response to a TLS handshake"}
	}
	return all, nil
}
