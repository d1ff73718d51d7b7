package execute

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

// disaster is what happens to a cluster, and how it is recovered.
type disaster struct {
	lose, recover func(*ordeal)
	// prepare adds to the cluster what it needs; nil for nothing.
	prepare func(*ordeal)
}

// disasters are those of each kind of loss. What a disaster leaves may be another kind, such as when pods got
// addresses of each other.
var disasters = map[recovery.Kind]disaster{
	recovery.CoordinatorsMoved: {lose: (*ordeal).moveAll, recover: (*ordeal).recover},
	recovery.PodsLost:          {lose: (*ordeal).losePods, recover: (*ordeal).recover},
	recovery.VolumesReleased:   {lose: (*ordeal).releaseVolumes, recover: (*ordeal).recover},
	recovery.CoordinatorsLost:  {lose: (*ordeal).loseCoordinators, recover: (*ordeal).recover},
	resourceLost:               {lose: (*ordeal).loseResource, recover: (*ordeal).recoverResource},
	recovery.DatabaseDown:      {lose: (*ordeal).excludeTooMany, recover: (*ordeal).recoverDown},
	recovery.RegionLost:        {lose: (*ordeal).loseRegion, recover: (*ordeal).recoverRegion, prepare: (*ordeal).addRegions},
}

// Whatever a cluster loses of what `recover apply` handles, and wherever a run of it is interrupted: what was
// committed survives, or was declared as lost before; no second database begins; and what moved since a
// plan refuses it. SEEDS and START choose the disasters, of each kind as many; with -short there are few.
func TestSeededDisastersAreRecoveredOrRefused(t *testing.T) {
	many := uint64(15)
	if testing.Short() {
		many = 3
	}
	start, seeds := setting(t, "START", 1), setting(t, "SEEDS", many)
	for kind := range disasters {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			ends := map[string]int{}
			for seed := start; seed < start+seeds; seed++ {
				o := play(t, kind, seed)
				ends[o.end]++
				if len(o.violations) > 0 {
					t.Errorf("%s\n%s\nmake disasters SEEDS=1 START=%d", strings.Join(o.violations, "\n"), o.story.String(), seed)
				}
			}
			t.Logf("%s: %v", kind, ends)
			if ends[endRecovered]*4 < int(seeds) { // others are refused for a reason, or lost data with their volumes
				t.Errorf("%d of %d disasters were recovered", ends[endRecovered], seeds)
			}
		})
	}
}

// Two pods had one address, so that the processes of one could not start, and its recovery ended half done.
func TestNoTwoPodsOfADisasterHaveOneAddress(t *testing.T) {
	for _, seed := range []uint64{3560204, 7} {
		o := play(t, recovery.PodsLost, seed)
		if all := o.addressesInUse(); len(slices.Compact(slices.Clone(all))) != len(all) || len(o.violations) > 0 {
			t.Errorf("seed %d: %v %v\n%s", seed, all, o.violations, &o.story)
		}
	}
}

// Playing a seed again is the same disaster, or no failure could be found again.
func TestASimulatedDisasterIsReproducibleFromItsSeed(t *testing.T) {
	for kind := range disasters {
		first, second := play(t, kind, 7), play(t, kind, 7)
		if first.story.String() != second.story.String() {
			t.Errorf("%s is two stories:\n%s\nand\n%s", kind, first.story.String(), second.story.String())
		}
	}
}

func setting(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q is no number", name, text)
	}
	return n
}

// How an ordeal ends.
const (
	endRecovered = "recovered"
	endRefused   = "refused with a reason"
	endDeclared  = "lost what was declared"
	endMoved     = "refused because something moved"
	endManual    = "interrupted, and then refused with a reason"
)

// ordeal is a disaster and its recovery.
type ordeal struct {
	*ruin
	kind       recovery.Kind
	story      bytes.Buffer
	violations []string
	end        string
	// ambiguous is whether the disaster or its troubles leave facts that a plan may refuse; taken is whether
	// other pods can have got addresses of coordinators, where they answer without any state.
	ambiguous, taken bool
	// What was there before and after the disaster; former is that of a resource that was deleted.
	former    former
	markers   map[string]marker
	databases int
	shards    int       // without any copy
	states    int       // volumes with coordination state of the database
	newest    time.Time // state of a former coordinator that is left
	net       int
	setup     *rand.Rand // of the spec
	// site are the clusters of all data centers; of a lost region the ordeal has the cluster itself.
	site   []*ruin
	region region
	full   bool // disks
}

// play plays a disaster.
func play(t *testing.T, kind recovery.Kind, seed uint64) *ordeal {
	t.Helper()
	o := &ordeal{kind: kind, markers: map[string]marker{}, net: 50}
	o.setup = rand.New(rand.NewPCG(seed, 22))
	o.ruin = newRuin(t, seed, o.spec)
	o.site = []*ruin{o.ruin}
	if prepare := disasters[kind].prepare; prepare != nil {
		prepare(o)
	}
	o.FDB.Databases()[0].LoadBytes(int64(o.random.IntN(100)) << 20)
	for n := range 3 {
		o.mark(fmt.Sprintf("early-%d", n))
	}
	o.Tick(time.Second)
	o.FDB.Databases()[0].Recover() // coordinators write their state
	o.Tick(time.Minute)
	o.tell("%s, seed %d: %s with coordinators %s", kind, seed, o.Resource.Status.ConnectionString, strings.Join(o.coordinators(), ", "))
	_ = o.plan() // files get their times
	disasters[kind].lose(o)
	o.Tick(time.Duration(1+o.random.IntN(30)) * time.Second)
	o.remember()
	disasters[kind].recover(o)
	return o
}

func (o *ordeal) spec(s *v1beta2.FoundationDBClusterSpec) {
	random := o.setup
	s.ProcessCounts = v1beta2.ProcessCounts{Storage: 3 + random.IntN(3), Log: 4, Stateless: 3}
	names := o.kind == recovery.PodsLost && random.IntN(3) == 0
	s.Routing.UseDNSInClusterFile = &names
	if o.kind == recovery.CoordinatorsLost && random.IntN(3) == 0 {
		s.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeTriple
		s.ProcessCounts.Storage = 6
	}
	if o.kind == recovery.CoordinatorsLost && random.IntN(2) == 0 {
		const coordinators = 5
		s.ProcessCounts.Coordinator = coordinators
		s.CoordinatorSelection = []v1beta2.CoordinatorSelectionSetting{
			{ProcessClass: v1beta2.ProcessClassCoordinator, Priority: 10}, {ProcessClass: v1beta2.ProcessClassStorage, Priority: 5},
		}
	}
	if o.kind == resourceLost {
		o.traced(s)
	}
	if o.kind == recovery.RegionLost {
		o.firstRegion(s)
	}
}

func (o *ordeal) tell(format string, args ...any) {
	fmt.Fprintf(&o.story, "%s  %s\n", o.Now().Format("15:04:05"), fmt.Sprintf(format, args...))
}

func (o *ordeal) violate(format string, args ...any) {
	o.violations = append(o.violations, fmt.Sprintf(format, args...))
}

// marker is a key that was committed.
type marker struct {
	value string
	at    time.Time
}

// mark commits a key.
func (o *ordeal) mark(key string) { o.markIn(o.ruin, key) }

// markIn commits a key in one of the clusters of the database.
func (o *ordeal) markIn(r *ruin, key string) {
	value := strconv.FormatUint(o.random.Uint64(), 10)
	if _, err := simtest.Type(r.Cluster, "writemode on; set "+key+" "+value); err != nil {
		o.t.Fatal(err)
	}
	o.markers[key] = marker{value, o.Now()}
}

// oneIn is a decision of the seed.
func (o *ordeal) oneIn(n int) bool { return o.random.IntN(n) == 0 }

// fresh gives every pod that starts an address that no pod had before.
func (o *ordeal) fresh() func(string) string {
	o.net++
	n := 0
	return func(string) string {
		n++
		return fmt.Sprintf("10.%d.0.%d", o.net, n)
	}
}

// exchanged gives pods that start the addresses that others had, in any order. A network gives none that a pod still has.
func (o *ordeal) exchanged() func(string) string {
	var pool []string
	for _, name := range o.RunningPods() {
		pool = append(pool, o.Pods[name].Status.PodIP)
	}
	o.random.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	return func(string) string {
		for len(pool) > 0 {
			ip := pool[0]
			pool = pool[1:]
			if !slices.Contains(o.addressesInUse(), ip) {
				return ip
			}
		}
		return ""
	}
}

func (o *ordeal) addressesInUse() []string {
	var all []string
	for _, pod := range o.Pods {
		if pod.Status.PodIP != "" {
			all = append(all, pod.Status.PodIP)
		}
	}
	return slices.Sorted(slices.Values(all))
}

// addresses chooses which addresses pods get.
func (o *ordeal) addresses() {
	switch {
	case o.oneIn(5):
		o.tell("pods get addresses of each other")
		o.ambiguous, o.taken = true, true
		o.Address = o.exchanged()
	case o.oneIn(5):
		o.tell("pods get the addresses that are free")
		o.Address = nil
		o.ambiguous, o.taken = true, true
	default:
		o.tell("pods get other addresses")
		o.Address = o.fresh()
	}
}

// again replaces a pod with another one of the same spec.
func (o *ordeal) again(name string) {
	old := o.Pods[name]
	o.KillPod(name)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: old.Namespace, Labels: old.Labels, Annotations: old.Annotations, UID: types.UID(o.name(name)), CreationTimestamp: metav1.NewTime(o.Now())}, Spec: *old.Spec.DeepCopy()}
	pod.Spec.NodeName = ""
	o.Pods[name] = pod
}

func (o *ordeal) moveAll() {
	o.addresses()
	for _, name := range o.RunningPods() {
		o.again(name)
	}
	o.tell("all pods were recreated")
	o.Tick(10 * time.Second)
}

func (o *ordeal) losePods() {
	o.addresses()
	lost := o.RunningPods()
	if o.oneIn(3) {
		kept := o.random.IntN(3)
		lost = slices.DeleteFunc(lost, func(name string) bool {
			if slices.Contains(o.coordinators(), name) || kept == 0 {
				return false
			}
			kept--
			return true
		})
	}
	for _, name := range lost {
		o.KillPod(name)
	}
	o.tell("pods were lost: %s", strings.Join(lost, ", "))
}

func (o *ordeal) releaseVolumes() {
	o.addresses()
	connection := o.Resource.Status.ConnectionString
	for _, name := range o.RunningPods() {
		o.KillPod(name)
	}
	keep := o.oneIn(3)
	for name := range o.data {
		if keep && !slices.Contains(o.coordinators(), podOfClaim(name)) && len(name)%2 == 0 {
			continue
		}
		delete(o.Volumes, name)
		o.volumes[o.data[name]].Status.Phase = corev1.VolumeReleased
	}
	o.tell("pods and PVCs were lost, %d PVCs are left", len(o.Volumes))
	if !keep && o.oneIn(3) {
		o.tell("the resource was recreated, with a seed")
		o.Resource.Status, o.Resource.UID = v1beta2.FoundationDBClusterStatus{}, "recreated"
		o.Resource.Spec.SeedConnectionString = connection
		o.ConfigMap = nil
	}
}

func (o *ordeal) loseCoordinators() {
	all := o.coordinators()
	o.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	lost, left := all[:len(all)/2+1], all[len(all)/2+1:]
	if o.oneIn(2) {
		o.outdate(left[:1+o.random.IntN(len(left))])
	}
	o.Address = o.fresh() // else a pod could get the address of a lost coordinator
	for _, name := range lost {
		o.KillPod(name)
		o.LoseDisk(name)
		delete(o.volumes, o.data[name+"-data"])
		delete(o.Volumes, name+"-data")
		delete(o.data, name+"-data")
	}
	o.tell("pods, PVCs and volumes were lost: %s", strings.Join(lost, ", "))
	for _, name := range left {
		delete(o.Broken, name)
	}
	o.Tick(5 * time.Second)
	for _, name := range left {
		file := sim.DataDirectory(1) + "/" + recovery.CoordinationFile0
		if at := o.modified(name+file, o.Files[name][file]); at.After(o.newest) {
			o.newest = at
		}
	}
}

// outdate takes coordinators away while the others begin another generation, in which keys are committed.
func (o *ordeal) outdate(pods []string) {
	o.tell("while these were away, there was another generation: %s", strings.Join(pods, ", "))
	for _, name := range pods {
		o.Broken[name] = true
		o.KillServers(name)
	}
	o.Tick(2 * time.Minute)
	o.FDB.Databases()[0].Recover()
	o.Tick(time.Minute)
	o.mark("late")
	o.Tick(time.Second)
	o.FDB.Databases()[0].Recover() // those that are left have a state after it
	o.Tick(time.Minute)
	_ = o.plan() // files get their times
}

// remember notes what is there after the disaster.
func (o *ordeal) remember() {
	o.databases, o.shards, o.states = len(o.FDB.Databases()), o.lostShards(), o.coordinating()
}

func (o *ordeal) lostShards() (n int) {
	for _, copies := range o.FDB.Databases()[0].Replicas() {
		if copies == 0 {
			n++
		}
	}
	return n
}

// coordinating counts the volumes that have coordination state of the database.
func (o *ordeal) coordinating() (n int) {
	key := recovery.Generation(o.FDB.Databases()[0].ConnectionString().String())
	for _, r := range o.site {
		for _, files := range r.Files {
			for name, content := range files {
				if strings.HasSuffix(name, "/"+recovery.CoordinationFile0) && strings.Contains(string(content), key+" ") {
					n++
				}
			}
		}
	}
	return n
}

// mostRuns bounds how often a run is interrupted and repeated.
const mostRuns = 3

// recover plans a recovery, lets something happen, and carries it out, with interruptions.
func (o *ordeal) recover() {
	p := o.plan()
	o.tell("plan: %s, handled %t, lost: %s %v", p.Kind, p.Handled, p.Lost, p.Obstacles)
	if o.former.refused != "" && p.Handled {
		o.violate("%s, and the plan has steps", o.former.refused)
	}
	switch {
	case p.Kind == recovery.NothingLost && o.ambiguous:
		o.end = endRecovered // the pods found each other
		o.verify(p)
		return
	case !p.Handled:
		o.refusedPlan(p, endRefused)
		return
	}
	if o.oneIn(4) {
		o.moveBasis(p)
		return
	}
	o.carryOut(p)
}

// refusedPlan judges a plan without steps.
func (o *ordeal) refusedPlan(p recovery.Plan, end string) {
	o.end = end
	if len(p.Obstacles) == 0 && len(p.Manual) == 0 {
		o.violate("a plan is refused without a reason")
	}
	if !o.ambiguous {
		o.violate("nothing is ambiguous, and the plan has no steps: %s %v", p.Kind, p.Obstacles)
	}
	o.notWorse()
}

// moveBasis changes something on which a plan relies. The plan must be refused, and nothing be changed.
func (o *ordeal) moveBasis(p recovery.Plan) {
	what := o.moved(p)
	o.tell("since the plan: %s", what)
	before := len(o.changes)
	err := o.apply(p)
	o.tell("apply: %v", err)
	if _, is := errors.AsType[*MovedError](err); !is || len(o.changes) > before {
		o.violate("%s, and the plan was carried out: %v after %v", what, err, o.changes[before:])
	}
	o.end = endMoved
	o.notWorse()
}

// moved changes something on which a plan relies.
func (o *ordeal) moved(p recovery.Plan) string {
	running := o.RunningPods()
	group := o.Resource.Status.DeepCopy().ProcessGroups
	switch n := o.random.IntN(4); {
	case n == 0:
		o.Resource.UID = "another"
		return "the resource is another one"
	case n == 1 && o.ConfigMap != nil:
		o.ConfigMap.Data[objects.KeyClusterFile] = "sample:another@10.9.9.9:4501"
		return "the ConfigMap has another connection string"
	case n == 2 && len(running) > 0 && !slices.ContainsFunc(p.Create, func(c recovery.Creation) bool { return c.Pod == running[0] }):
		o.again(running[0])
		o.Tick(10 * time.Second)
		return "pod " + running[0] + " was recreated"
	case n == 3 && len(group) > 0:
		o.Resource.Status.ProcessGroups = append(group, &v1beta2.ProcessGroupStatus{ProcessGroupID: "storage-4711", ProcessClass: v1beta2.ProcessClassStorage})
		return "a process group was added"
	case len(p.Bind) > 0:
		o.volumes[p.Bind[0].Volume].Spec.ClaimRef.UID = "another"
		return "volume " + p.Bind[0].Volume + " was used by another PVC"
	}
	o.Resource.UID = "another"
	return "the resource is another one"
}

// carryOut carries out a plan, with interruptions and what happens meanwhile.
func (o *ordeal) carryOut(p recovery.Plan) {
	interrupted := false
	for run := 0; ; run++ {
		if run < mostRuns && o.oneIn(2) {
			o.cut = cut{at: 1 + o.random.IntN(3*len(o.Resource.Status.ProcessGroups)+4), after: o.oneIn(2), kills: o.oneIn(2)}
			o.tell("the next run is interrupted: %+v", o.cut)
		} else {
			o.cut = cut{}
		}
		before := len(o.changes)
		err := o.apply(p)
		o.tell("apply: %v, after %v", err, o.changes[before:])
		o.notWorse()
		_, moved := errors.AsType[*MovedError](err)
		switch {
		case err == nil:
			o.end = endRecovered
			o.verify(p)
			return
		case moved && len(o.changes) > before:
			o.violate("a plan was refused after changes: %v", o.changes[before:])
			return
		case !errors.Is(err, errCut):
			o.stuck(p, err, interrupted)
			return
		}
		interrupted = true
		o.meanwhile()
	}
}

// meanwhile is what happens between an interrupted run and the next one.
func (o *ordeal) meanwhile() {
	switch running := o.RunningPods(); {
	case o.oneIn(4) && len(running) > 0:
		name := running[o.random.IntN(len(running))]
		o.KillServers(name)
		o.tell("the processes of %s crashed", name)
	case o.oneIn(6) && len(running) > 0:
		name := running[o.random.IntN(len(running))]
		o.ambiguous = true
		o.again(name)
		o.tell("pod %s was recreated", name)
	}
	o.Tick(time.Duration(1+o.random.IntN(60)) * time.Second)
}

// stuck judges a run that ended with an error that was no interruption.
func (o *ordeal) stuck(p recovery.Plan, err error, interrupted bool) {
	if p.Kind == recovery.CoordinatorsLost && o.declaresData(p) {
		o.end = endDeclared
		return
	}
	if !o.ambiguous {
		o.violate("nothing is ambiguous, and the plan cannot be carried out: %v", err)
		return
	}
	next := o.plan()
	o.tell("next plan: %s, handled %t %v", next.Kind, next.Handled, next.Obstacles)
	switch {
	case next.Kind == recovery.NothingLost:
		o.end = endRecovered
		o.verify(p)
	case next.Handled:
		o.cut = cut{}
		err := o.apply(next)
		o.tell("apply: %v", err)
		if o.end = endRecovered; err != nil {
			o.end = endManual
			return
		}
		o.verify(next)
	default:
		o.refusedPlan(next, map[bool]string{true: endManual, false: endRefused}[interrupted])
	}
}

// declaresData reports whether a plan declares data of volumes for lost.
func (o *ordeal) declaresData(p recovery.Plan) bool {
	return p.Copy != nil && slices.ContainsFunc(o.Resource.Status.ProcessGroups, func(g *v1beta2.ProcessGroupStatus) bool {
		return g.ProcessClass != v1beta2.ProcessClassCoordinator && slices.Contains(p.Copy.WithoutVolumes, string(g.ProcessGroupID))
	})
}

// notWorse checks that a cluster that is not recovered has lost nothing more.
func (o *ordeal) notWorse() {
	if now := o.lostShards(); now > o.shards {
		o.violate("%d shards have no copy, %d had none after the disaster", now, o.shards)
	}
	if now := o.coordinating(); now < o.states {
		o.violate("%d volumes have coordination state, %d had it after the disaster", now, o.states)
	}
	o.oneDatabase()
}

// oneDatabase checks that no second database has begun, and that no two sets of coordinators serve. Pods
// at the addresses of coordinators, which no run can choose, have one that is empty: it must stay so.
func (o *ordeal) oneDatabase() {
	all := o.FDB.Databases()
	if len(all) > o.databases && !o.taken {
		o.violate("%d databases, %d after the disaster", len(all), o.databases)
	}
	for _, other := range all[1:] {
		if other.DesiredReplicas() > 0 {
			o.violate("a second database was configured: %s", other.ConnectionString())
		}
	}
	version, err := fdb.ParseVersion(o.Resource.Spec.Version)
	if err != nil {
		o.t.Fatal(err)
	}
	serving := map[string]bool{}
	for _, text := range o.connections() {
		s, err := fdb.ParseClusterFile(text)
		if err == nil && o.FDB.Serves(s, version) {
			serving[sorted(s)] = true
		}
	}
	if len(serving) > 1 {
		o.violate("%d sets of coordinators serve: %v", len(serving), serving)
	}
}

// connections are all connection strings that the cluster has now.
func (o *ordeal) connections() []string {
	all := []string{o.FDB.Databases()[0].ConnectionString().String()}
	for _, r := range o.site {
		all = append(all, r.Resource.Status.ConnectionString)
		if r.ConfigMap != nil {
			all = append(all, r.ConfigMap.Data[objects.KeyClusterFile])
		}
		for _, files := range r.Files {
			for name, content := range files {
				if strings.HasPrefix(name, "/var/fdb/data/fdb.cluster") {
					all = append(all, string(content))
				}
			}
		}
	}
	return all
}

func sorted(s fdb.ConnectionString) string {
	var all []string
	for _, a := range s.Coordinators {
		all = append(all, a.Coordinator())
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}

// verify checks a recovered cluster.
func (o *ordeal) verify(p recovery.Plan) {
	o.notWorse()
	for key, m := range o.markers {
		out, err := simtest.Type(o.Cluster, "get "+key)
		switch {
		case err == nil && strings.Contains(out, m.value):
		case p.Copy == nil:
			o.violate("%s is %q, committed was %s, and nothing was declared for lost: %v", key, strings.TrimSpace(out), m.value, err)
		case m.at.Before(p.Copy.Source.Modified):
			o.violate("%s of %s is lost, declared was what was committed after %s", key, m.at, p.Copy.Source.Modified)
		case m.at.Before(o.newest):
			o.violate("%s of %s is lost, although a state of %s was left", key, m.at, o.newest)
		default:
			o.tell("%s was lost, as declared", key)
		}
	}
}
