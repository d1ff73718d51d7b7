package sim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/locked"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// UnsupportedError is why an observed cluster cannot be simulated.
type UnsupportedError struct {
	// Code identifies the reason.
	Code UnsupportedCode
	// Detail explains it; empty where the code is enough.
	Detail string
}

// UnsupportedCode identifies why a cluster cannot be simulated.
type UnsupportedCode string

// The reasons.
const (
	UnsupportedUnknown     UnsupportedCode = "database-unknown"     // the status document is missing or incomplete
	UnsupportedUnavailable UnsupportedCode = "database-unavailable" // the database does not accept transactions
	UnsupportedState       UnsupportedCode = "state"                // the simulated database did not take the observed state
)

// Error implements error.
func (e *UnsupportedError) Error() string {
	if e.Detail == "" {
		return string(e.Code)
	}
	return string(e.Code) + ": " + e.Detail
}

// Adoption is how an observed cluster is simulated.
type Adoption struct {
	// Observed has all facets of a pass over a cluster.
	Observed plan.Snapshot
	Seed     uint64
	// PodStart is how long a new pod takes until it runs, and PullStart with an image that no observed pod has.
	PodStart, PullStart time.Duration
	// MoveRate is how many bytes of data move per second.
	MoveRate int64
	// KeepActions keeps the actions that are carried out, with the whole statuses that they hold.
	KeepActions bool
}

const (
	// shortestPast and longestPast bound for how long the simulated database has run when the
	// simulation begins: long enough to be settled, and short enough to be computed quickly.
	shortestPast = 3 * time.Minute
	longestPast  = 40 * time.Minute
	// settling is from the start of the processes to the last recovery of a new database.
	settling = 15 * time.Second
	// joining is from the start of the processes to the moment when all have joined.
	joining = 2 * time.Second
	// maxShards bounds how many shards the observed data is divided into: a larger database is
	// scaled down together with the rate of movement.
	maxShards = 400
)

// Adopt returns a simulation that begins with what was observed: objects, processes, data,
// exclusions, maintenance. Processes that do not report stay down until their pods are replaced.
// The error is an *UnsupportedError for a cluster that cannot be simulated.
func Adopt(ctx context.Context, a Adoption) (*Cluster, error) {
	s := a.Observed
	if err := supported(s); err != nil {
		return nil, err
	}
	at := &site{}
	w := at.add(s.Cluster)
	w.observed, w.keepsActions, w.scale, w.Overrides = true, a.KeepActions, scaleOf(s.Database.Status), s.Overrides
	w.starts = startsOf(a)
	pace := locked.RecordedPace()
	pace.MoveBytesPerSecond = max(1, a.MoveRate/w.scale)
	w.FDB = locked.New(locked.Options{Seed: a.Seed, Start: s.Now.Add(-pastOf(s.Database.Status)), Resolve: at.resolve, Pace: pace})
	w.FDB.AutoAdvance()
	w.Others = s.OtherClusters.All
	w.adoptObjects(s)
	w.adoptShared(s)
	if err := w.adoptProcesses(s); err != nil {
		return nil, err
	}
	if s.Configured() {
		if err := w.adoptDatabase(ctx, s); err != nil {
			return nil, err
		}
	}
	w.FDB.Advance(s.Now.Sub(w.Now()))
	return w, nil
}

// Counters is what the simulated databases have done.
type Counters struct {
	// Recoveries counts how often commits stopped and were accepted again, and Paused adds up for
	// how long they were not accepted.
	Recoveries int
	Paused     time.Duration
	// MovedBytes is how much data distribution has written, not scaled down.
	MovedBytes int64
}

// Counters returns what all databases have done until now.
func (w *Cluster) Counters() (sum Counters) {
	for _, db := range w.FDB.Databases() {
		done := db.Counters()
		sum.Recoveries, sum.Paused = sum.Recoveries+done.Recoveries, sum.Paused+done.Paused
		sum.MovedBytes += done.MovedBytes * max(w.scale, 1)
	}
	return sum
}

func supported(s plan.Snapshot) error {
	d := s.Database
	switch {
	case !s.Configured() && d.Status == nil && s.Cluster.Spec.SeedConnectionString != "": // that database exists
		return &UnsupportedError{Code: UnsupportedUnknown, Detail: d.Why()}
	case !s.Configured() && exists(s):
		return &UnsupportedError{Code: UnsupportedUnavailable, Detail: d.Why()}
	case !s.Configured():
		return nil
	case d.Status == nil || d.Status.Incomplete() || d.Status.Cluster.Configuration == nil:
		return &UnsupportedError{Code: UnsupportedUnknown, Detail: d.Why()}
	case !d.Status.Available():
		return &UnsupportedError{Code: UnsupportedUnavailable}
	}
	return nil
}

// exists reports whether there is a database, although the status of the resource records none: another one
// would never be created.
func exists(s plan.Snapshot) bool {
	d := s.Database
	if d.Status == nil {
		return d.DataDirs != nil && d.DataDirs.Verdict(s.Cluster, s.Volumes).Finding == datadir.Exists
	}
	return !d.Status.NeverConfigured() && !d.Status.Incomplete()
}

// pastOf is how long before the observation the simulated database starts, so that its last
// recovery is as old as the observed one.
func pastOf(s *fdb.Status) time.Duration {
	if s == nil {
		return shortestPast
	}
	age, known := s.RecoveryAge()
	if !known {
		return shortestPast
	}
	return min(max(age+settling, shortestPast), longestPast).Round(time.Second)
}

// scaleOf is by how much the observed data is scaled down.
func scaleOf(s *fdb.Status) int64 { return max(1, dataOf(s)/(maxShards*locked.ShardBytes)) }

// dataOf is how many bytes the database holds, without its replicas; 0 when unknown.
func dataOf(s *fdb.Status) int64 {
	if s == nil || s.Cluster.Data == nil || s.Cluster.Data.TotalKVSizeBytes == nil {
		return 0
	}
	return *s.Cluster.Data.TotalKVSizeBytes
}

func (w *Cluster) adoptShared(s plan.Snapshot) {
	f := s.Coordination
	for _, owner := range f.DenyList {
		w.Shared.DenyList[owner] = true
	}
	maps.Copy(w.Shared.Denials, f.Denials)
	maps.Copy(w.Shared.Maintenance, f.Maintenance)
	for version, groups := range f.Announced {
		w.Shared.Upgrades[version] = map[v1beta2.ProcessGroupID]bool{}
		for _, id := range groups {
			w.Shared.Upgrades[version][id] = true
		}
	}
	w.Shared.Lists.now, w.Shared.Lock = f.Lists, f.Lock
}

// adoptProcesses starts the processes that report, as they were started: those in pods of this
// cluster, and those of other control-plane instances, whose pods are unknown.
func (w *Cluster) adoptProcesses(s plan.Snapshot) error {
	connection := connectionOf(s)
	others := map[string]fdb.Process{}
	if s.Database.Status != nil {
		others = reporting(s)
	}
	for _, name := range w.podNames() {
		pod := w.Pods[name]
		if pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP == "" {
			continue
		}
		running := w.adoptPod(pod, connection)
		w.running[name] = running
		w.adoptSplit(pod, s.PodFiles[name])
		if s.Database.Status == nil {
			continue
		}
		own := ofPod(others, pod)
		for _, id := range slices.Sorted(maps.Keys(own)) {
			p := own[id]
			delete(others, id)
			n := objects.ServerAt(p.Address.Port)
			running.split.keepCommand(n, strings.Fields(p.CommandLine))
			if err := w.adoptProcess(running, n, w.DataKey(name, n), p); err != nil {
				return err
			}
		}
		if len(own) < running.desired {
			w.Broken[name] = true
		}
	}
	return w.adoptOthers(others, connection)
}

// reporting are the processes of the status document that report how they were started. One of
// this cluster without the pod it reported from does not run any more.
func reporting(s plan.Snapshot) map[string]fdb.Process {
	own := map[string]*corev1.Pod{}
	for _, g := range s.Groups() {
		own[string(g.ProcessGroupID)] = s.Pods[g.PodName(s.Cluster)]
	}
	found := map[string]fdb.Process{}
	for id, p := range s.Database.Status.Cluster.Processes {
		pod, ours := own[p.InstanceID()]
		removed := ours && (pod == nil || !hasAddress(pod, p.Address.Host))
		if !removed && p.CommandLine != "" && p.Version != "" && p.Address.IsIP() {
			found[id] = p
		}
	}
	return found
}

// hasAddress reports whether an address is one of a pod, or of its service.
func hasAddress(pod *corev1.Pod, host string) bool {
	public, err := objects.PublicIPs(pod)
	return err == nil && slices.Contains(public, host) ||
		slices.ContainsFunc(pod.Status.PodIPs, func(ip corev1.PodIP) bool { return ip.IP == host })
}

func ofPod(all map[string]fdb.Process, pod *corev1.Pod) map[string]fdb.Process {
	found := map[string]fdb.Process{}
	for id, p := range all {
		if p.InstanceID() == pod.Labels[v1beta2.LabelProcessGroupID] {
			found[id] = p
		}
	}
	return found
}

// adoptOthers starts the processes that run in no known pod. They restart when they are killed.
func (w *Cluster) adoptOthers(others map[string]fdb.Process, connection string) error {
	for _, id := range slices.Sorted(maps.Keys(others)) {
		p := others[id]
		if name := p.Locality[fdb.LocalityDNSName]; name != "" {
			w.otherNames[name] = p.Address.Host
		}
		own := &runningPod{files: map[string][]byte{liveClusterFile: []byte(connection + "\n")}, servers: map[int]*locked.ServerHandle{}}
		if err := w.adoptProcess(own, 1, "other/"+id, p); err != nil {
			return err
		}
	}
	return nil
}

func connectionOf(s plan.Snapshot) string {
	if s.Database.Status != nil && s.Database.Status.Cluster.ConnectionString != "" {
		return s.Database.Status.Cluster.ConnectionString
	}
	return s.Cluster.Status.ConnectionString
}

// adoptPod is what runs in a pod, and its files. A monitor that reports no configuration accepts
// the one that is mounted.
func (w *Cluster) adoptPod(pod *corev1.Pod, connection string) *runningPod {
	running := &runningPod{files: map[string][]byte{}, servers: map[int]*locked.ServerHandle{}, configKey: mountedAs(pod, monitorConfigName)}
	if launch, err := objects.LaunchOf(pod, v1beta2.ProcessClass(pod.Labels[v1beta2.LabelProcessClass])); err == nil {
		running.desired = launch.Servers
	}
	running.mountCertificates(pod)
	if connection != "" {
		running.files[liveClusterFile] = []byte(connection + "\n")
	}
	if w.ConfigMap != nil {
		running.files[seedClusterFile] = []byte(w.ConfigMap.Data[objects.KeyClusterFile])
	}
	text := pod.Annotations[v1beta2.AnnotationCurrentConfiguration]
	configuration, err := fdb.ParseMonitorConfiguration([]byte(text))
	variables, otherErr := objects.Variables(pod)
	if err != nil || otherErr != nil || variables == nil {
		return running
	}
	if starts, ok := programFor(pod, configuration); ok {
		running.accepted, running.configuration, running.program, running.variables = text, configuration, starts, variables
	}
	return running
}

func (w *Cluster) adoptProcess(running *runningPod, n int, dataKey string, p fdb.Process) error {
	version, _, _ := strings.Cut(p.Version, "-")
	handle, err := w.FDB.StartServer(locked.Server{
		Args: strings.Fields(p.CommandLine), Version: version, DataKey: dataKey,
		ClusterFile: file{running, liveClusterFile}, Seed: file{running, seedClusterFile}, RestartDelay: restartOf(running),
	})
	if err != nil {
		return &UnsupportedError{Code: UnsupportedState, Detail: fmt.Sprintf("process %s: %v", p.InstanceID(), err)}
	}
	running.servers[n], running.serving = handle, version
	return nil
}

// restartOf is after which time a process restarts by itself; 0 where a simulated monitor
// restarts it.
func restartOf(running *runningPod) time.Duration {
	if running.desired > 0 {
		return 0
	}
	return time.Second
}
