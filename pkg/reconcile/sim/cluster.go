// Package sim simulates a namespace in memory, for forecasts and tests: its pods run simulated
// FoundationDB processes, and its clock moves only by Tick. It carries actions out at once.
package sim

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/locked"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Noon is when simulated clocks start.
var Noon = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// Cluster is one control-plane instance of a cluster: a custom resource and its objects. Several
// may share a database, see Join. Its fields may be changed between passes.
type Cluster struct {
	// Resource is the custom resource as it is stored.
	Resource *v1beta2.FoundationDBCluster
	// Pods and Volumes are those that observations have: one that changes is replaced by a copy.
	Pods      map[string]*corev1.Pod
	Volumes   map[string]*corev1.PersistentVolumeClaim
	Services  map[string]*corev1.Service
	ConfigMap *corev1.ConfigMap
	// Others are the other FoundationDBClusters of the namespace. No pass runs over them.
	Others []v1beta2.FoundationDBCluster
	// Detector is the CronJob of the failure detector; it starts no jobs.
	Detector *batchv1.CronJob
	// DisruptionBudgets are the PodDisruptionBudgets by name. Nothing here evicts.
	DisruptionBudgets map[string]*policyv1.PodDisruptionBudget
	// Agents are the pods of backup agents by name. One that is evicted is not recreated.
	Agents map[string]*corev1.Pod
	// AgentsHidden is why the agents cannot be read; empty when they can.
	AgentsHidden string
	// Nodes are the names of the nodes that pods are put on in turn.
	Nodes []string
	// NodeLabels are the labels of nodes by the node's name.
	NodeLabels map[string]map[string]string
	// Taints are the taints of nodes by the node's name. Pods tolerate none, and one
	// that runs on a node is not evicted when the node is tainted.
	Taints map[string][]corev1.Taint
	// Cordoned are the names of nodes that take no new pods.
	Cordoned map[string]bool
	// NodeAnnotations are the annotations of nodes.
	NodeAnnotations map[string]map[string]string
	// NodesHidden is why nodes cannot be read; empty when they can.
	NodesHidden string
	// Broken are the names of pods whose processes do not start any more.
	Broken map[string]bool
	// DeadImages are the images, without their tags, that no node can pull.
	DeadImages map[string]bool
	// Unending are the names of pods that stay terminating when they are deleted.
	Unending map[string]bool
	// Shared is what control-plane instances store in the database for each other.
	Shared *Shared
	// Unschedulable are the names of pods that no node accepts.
	Unschedulable map[string]bool
	// Overrides are the gates that a user overrides, with the reasons.
	Overrides map[plan.Gate]string
	// Skew is how far the plugin's clock is ahead of all others.
	Skew time.Duration
	// Files, unless nil, are the files of data directories by pod and path: they survive their pods, as
	// volumes do, and coordination state is among them. Nil keeps the files of a pod as long as the pod.
	Files map[string]map[string][]byte
	// Address chooses the address of a pod that starts; nil, or an empty answer, gives them out in turn.
	Address func(pod string) string
	// FDB is the simulated FoundationDB behind the pods.
	FDB *locked.Simulation

	// LeaseHolder is another run that holds the Lease; empty for none.
	LeaseHolder string
	// LockHolder is another control-plane instance that holds the database's lock; empty for none.
	LockHolder string
	// OnLock runs when the lock is taken, before fresh facts are read: the place to
	// let another actor change the state.
	OnLock func(*Cluster)
	// Refuse makes the actions fail that it returns an error for.
	Refuse func(plan.Action) error
	// Reject returns why the API server does not accept the pod or the PVC of a process group of a class; nil, or a nil
	// refusal, accepts all.
	Reject func(class v1beta2.ProcessClass) *plan.Refusal
	// Crash ends the plugin just before the action with this number, from 1; 0 never.
	Crash int
	// Acted are the actions that were carried out. An adopted cluster keeps none without
	// Adoption.KeepActions: they hold whole statuses.
	Acted []plan.Action

	// scale is by how much less data there is than in the cluster that was adopted.
	scale int64

	// observed is true for an adopted cluster, keepsActions for one that keeps what was carried out.
	observed, keepsActions bool
	starts                 podStarts
	// refused are the classes of which one more process group was observed to be refused. Pods that replace deleted ones
	// need no more of a quota.
	refused map[v1beta2.ProcessClass]plan.Refusal
	// observedNodes are the nodes of an adopted cluster; down are those that do not work.
	// nodesUnread is true where passes over that cluster read no nodes.
	observedNodes map[string]*corev1.Node
	down          map[string]bool
	nodesUnread   bool
	// failing are the names of observed pods that do not start.
	failing map[string]bool
	// times are those of the status documents that were read.
	times fdb.Staleness
	// badImages are the images that cannot be pulled.
	badImages map[string]bool
	// sixFirst is true where the first address of a pod is one of IPv6.
	sixFirst bool
	// otherNames are the addresses of processes of other control-plane instances by DNS name.
	otherNames map[string]string

	// lowest is the number of copies in the middle of the last action; nil where it did not change them.
	lowest *int

	// site is what joined clusters share.
	site *site
	// number identifies each of the joined clusters, from 0.
	number        int
	mu            sync.Mutex
	running       map[string]*runningPod
	nextIP        int
	locked        bool
	reached       string    // the version of the fdbcli that the database answered last
	cooldownUntil time.Time // until when other control-plane instances must not act
}

// site is what several clusters share: one network, one clock, one FoundationDB.
type site struct{ clusters []*Cluster }

// ErrCrashed is the error of a pass at Cluster.Crash.
var ErrCrashed = errors.New("the plugin was killed")

// New returns a simulation with the cluster and nothing else.
func New(cluster *v1beta2.FoundationDBCluster, seed uint64) (*Cluster, error) {
	s := &site{}
	w := s.add(cluster)
	w.FDB = locked.New(locked.Options{Seed: seed, Start: Noon, Resolve: s.resolve})
	w.FDB.AutoAdvance()
	return w, nil
}

// Join adds another control-plane instance next to w: a Kubernetes cluster of its own, with its
// own resource and nodes, on the same network and clock. They share a database if the resource's
// spec.seedConnectionString is the other's connection string. Each has passes of its own; Tick of
// any lets time pass for all. What they store in the database for each other, the lock included,
// is the same for all.
func (w *Cluster) Join(cluster *v1beta2.FoundationDBCluster) (*Cluster, error) {
	joined := w.site.add(cluster)
	joined.FDB, joined.Shared = w.FDB, w.Shared
	return joined, nil
}

func (s *site) add(cluster *v1beta2.FoundationDBCluster) *Cluster {
	w := &Cluster{
		Resource: cluster.DeepCopy(),
		Pods:     map[string]*corev1.Pod{},
		Volumes:  map[string]*corev1.PersistentVolumeClaim{},
		Services: map[string]*corev1.Service{},
		Shared:   NewShared(),
		running:  map[string]*runningPod{},
		Broken:   map[string]bool{},
		Unending: map[string]bool{},

		DisruptionBudgets: map[string]*policyv1.PodDisruptionBudget{},
		Agents:            map[string]*corev1.Pod{},

		site:   s,
		number: len(s.clusters),
	}
	for n := range nodesPerCluster {
		w.Nodes = append(w.Nodes, w.nodeName(n+1))
	}
	s.clusters = append(s.clusters, w)
	return w
}

// nodesPerCluster is how many nodes each starts with.
const nodesPerCluster = 5

// nodeName is the name of the n-th node: no two clusters share a fault domain.
func (w *Cluster) nodeName(n int) string {
	if w.number == 0 {
		return fmt.Sprintf("node-%d", n)
	}
	return fmt.Sprintf("node-%d-%d", w.number, n)
}

// Now is the simulated time.
func (w *Cluster) Now() time.Time { return w.FDB.Now() }

// Tick lets d pass, second by second, for all clusters of the site; seconds in which nothing can
// happen are skipped.
func (w *Cluster) Tick(d time.Duration) {
	for left := d.Truncate(time.Second); left > 0; {
		idle := min(left-time.Second, w.site.idleFor())
		w.FDB.Advance(idle + time.Second)
		for _, each := range w.site.clusters {
			each.step()
		}
		left -= idle + time.Second
	}
}

// longestIdle bounds how far a simulation jumps.
const longestIdle = time.Hour

// idleFor is for how many whole seconds from now nothing happens in any cluster.
func (s *site) idleFor() time.Duration {
	idle := longestIdle
	for _, w := range s.clusters {
		idle = min(idle, w.idleFor())
	}
	return idle
}

// idleFor is for how many whole seconds from now nothing happens: no pod and no process has
// anything to do.
func (w *Cluster) idleFor() time.Duration {
	for _, pod := range w.Pods {
		if !w.settled(pod) {
			return 0
		}
	}
	next, due := w.FDB.NextEvent()
	if !due {
		return longestIdle
	}
	return max(0, next.Sub(w.Now())-time.Nanosecond).Truncate(time.Second)
}

// resolve resolves a host name in the DNS of all clusters, as control-plane instances that share a
// database by name need it.
func (s *site) resolve(host string) ([]netip.Addr, error) {
	for _, w := range s.clusters {
		if addresses, err := w.resolve(host); err == nil {
			return addresses, nil
		}
	}
	return nil, fmt.Errorf("no such host: %s", host)
}

func (w *Cluster) resolve(host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(w.otherNames[host]); err == nil {
		return []netip.Addr{ip}, nil
	}
	name, _, _ := strings.Cut(host, ".")
	if pod := w.Pods[name]; pod == nil || pod.Status.PodIP == "" || !w.isHost(name, host) {
		return nil, fmt.Errorf("no such host: %s", host)
	}
	ips, err := objects.PublicIPs(w.Pods[name])
	if err != nil || len(ips) == 0 {
		return nil, fmt.Errorf("no address of host: %s", host)
	}
	ip, err := netip.ParseAddr(ips[0])
	return []netip.Addr{ip}, err
}

// isHost reports whether a host is that of the process group with this pod. Only the names of few groups are built: a model
// resolves its coordinators whenever it looks at a process.
func (w *Cluster) isHost(pod, host string) bool {
	for _, g := range w.Resource.Status.ProcessGroups {
		number := g.ProcessGroupID[strings.LastIndexByte(string(g.ProcessGroupID), '-')+1:]
		if strings.HasSuffix(pod, string(number)) && g.PodName(w.Resource) == pod && g.DNSName(w.Resource) == host {
			return true
		}
	}
	return false
}

func (w *Cluster) podNames() []string { return slices.Sorted(maps.Keys(w.Pods)) }

// RunningPods are the names of the pods that run, in order.
func (w *Cluster) RunningPods() []string {
	return slices.DeleteFunc(w.podNames(), func(name string) bool { return w.Pods[name].Status.Phase != corev1.PodRunning })
}

// LoseNode takes a node away for a time in which no pod is evicted: the processes in its pods end,
// and it takes no new pods.
func (w *Cluster) LoseNode(node string) {
	if w.down == nil {
		w.down = map[string]bool{}
	}
	w.down[node] = true
	for _, name := range w.on(node) {
		w.Broken[name] = true
		w.KillServers(name)
	}
}

// ReturnNode ends what LoseNode began: the processes start again in the pods that are still there.
func (w *Cluster) ReturnNode(node string) {
	delete(w.down, node)
	for _, name := range w.on(node) {
		delete(w.Broken, name)
	}
}

// on are the names of the running pods of a node, in order.
func (w *Cluster) on(node string) []string {
	return slices.DeleteFunc(w.RunningPods(), func(name string) bool { return w.Pods[name].Spec.NodeName != node })
}

// FewestCopies is the smallest number of LiveCopies since the last action began.
func (w *Cluster) FewestCopies() (copies int, known bool) {
	copies, known = w.LiveCopies()
	if known && w.lowest != nil {
		copies = min(copies, *w.lowest)
	}
	return copies, known
}

// noteCopies keeps what LiveCopies is in the middle of an action.
func (w *Cluster) noteCopies() {
	if copies, known := w.LiveCopies(); known {
		w.lowest = &copies
	}
}

// LiveCopies is on how many processes that answer, in different zones, all data is at least; known
// is false before a database is created.
func (w *Cluster) LiveCopies() (copies int, known bool) {
	for _, db := range w.FDB.Databases() {
		if fewest, ok := db.LiveReplicas(); ok && (!known || fewest < copies) {
			copies, known = fewest, true
		}
	}
	return copies, known
}
