package execute

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery/collect"
)

// ruin is a cluster of the model whose volumes, with cluster files and coordination state, survive its
// pods. The real reader of facts reads it, and the real steps of a run change it.
type ruin struct {
	*sim.Cluster
	t      *testing.T
	seed   uint64
	random *rand.Rand
	// volumes are the PersistentVolumes by name; data is which of them has the data of a PVC.
	volumes map[string]*corev1.PersistentVolume
	data    map[string]string
	// file times, and process IDs, of what was read before.
	files map[string]fileTime
	pids  map[*fdbsim.ServerHandle]int
	// cut is where the next run is interrupted.
	cut cut
	// killed is true once a run was killed; held while one holds the Lease.
	killed, held bool
	// changes are what was changed, in order.
	changes []string
	names   map[string]int
	mu      sync.Mutex
}

type fileTime struct {
	content string
	at      time.Time
}

// cut interrupts a run.
type cut struct {
	// at is the number of the change, from 1; 0 for none.
	at int
	// after is whether the change is made, although its answer is lost.
	after bool
	// kills is whether no further change is made.
	kills bool
}

var errCut = errors.New("lost the connection")

// change makes a change, unless the run is interrupted before.
func (r *ruin) change(name string, do func() error) error {
	if !r.held {
		r.t.Errorf("%s without the Lease", name)
	}
	hit := r.cut.at == 1
	r.cut.at = max(0, r.cut.at-1)
	switch {
	case r.killed:
		return errCut
	case hit && !r.cut.after:
		r.killed = r.cut.kills
		return errCut
	}
	if err := do(); err != nil {
		return err
	}
	r.changes = append(r.changes, name)
	if hit {
		r.killed = r.cut.kills
		return errCut
	}
	return nil
}

func (r *ruin) Begin(context.Context) error { r.held = true; return nil }

func (r *ruin) End(ctx context.Context) error {
	r.held = false
	return r.Cluster.End(ctx)
}

func (r *ruin) Act(ctx context.Context, a plan.Action) error {
	r.mu.Lock() // a pass carries out some actions at the same time
	defer r.mu.Unlock()
	return r.change(a.Describe(), func() error {
		created, isPod := any(a).(plan.CreatePod)
		if isPod && r.Pods[created.Name] != nil {
			return fmt.Errorf("pod %s already exists", created.Name)
		}
		if err := r.Cluster.Act(ctx, a); err != nil {
			return err
		}
		if isPod {
			r.Pods[created.Name].UID = types.UID(r.name(created.Name))
		}
		if claim, is := any(a).(plan.CreatePVC); is {
			r.bind(claim.Name)
		}
		return nil
	})
}

// name returns a name that was not used before.
func (r *ruin) name(prefix string) string {
	r.names[prefix]++
	return fmt.Sprintf("%s-%d", prefix, r.names[prefix])
}

// bind gives a PVC the volume that it names, or an empty one. A pod finds the data of its volume only.
func (r *ruin) bind(name string) {
	claim := r.Volumes[name]
	claim.UID, claim.Status.Phase = types.UID(r.name(name)), corev1.ClaimBound
	v := r.volumes[claim.Spec.VolumeName]
	if v == nil {
		claim.Spec.VolumeName = r.name("pv-" + podOfClaim(name))
		v = &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: claim.Spec.VolumeName, UID: types.UID(claim.Spec.VolumeName)}}
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
		r.volumes[v.Name] = v
	}
	if had := r.data[name]; had != "" && had != v.Name {
		r.LoseDisk(podOfClaim(name))
	}
	r.data[name] = v.Name
	v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: r.Resource.Namespace, Name: name, UID: claim.UID}
	v.Status.Phase = corev1.VolumeBound
}

func podOfClaim(name string) string { return strings.TrimSuffix(name, "-data") }

// Client methods that a run and the reader use.
type ruinClient struct {
	client.Client
	r *ruin
}

func (c ruinClient) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	switch list := into.(type) {
	case *corev1.PersistentVolumeList:
		for _, v := range c.r.volumes {
			list.Items = append(list.Items, *v.DeepCopy())
		}
	case *corev1.PodList:
		for _, pod := range c.r.Pods {
			list.Items = append(list.Items, *pod.DeepCopy())
		}
	default:
		return fmt.Errorf("unexpected list %T", into)
	}
	return nil
}

func (c ruinClient) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *corev1.PersistentVolume:
		if v := c.r.volumes[key.Name]; v != nil {
			v.DeepCopyInto(into)
			return nil
		}
	case *corev1.PersistentVolumeClaim:
		if v := c.r.Volumes[key.Name]; v != nil {
			v.DeepCopyInto(into)
			return nil
		}
	}
	return fmt.Errorf("%T %s not found", into, key)
}

func (c ruinClient) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
	v, is := o.(*corev1.PersistentVolume)
	if !is {
		return fmt.Errorf("unexpected patch of %T", o)
	}
	return c.r.change("reserve volume "+v.Name, func() error {
		v.Status.Phase = corev1.VolumeAvailable
		c.r.volumes[v.Name] = v.DeepCopy()
		return nil
	})
}

// ruinTool runs the scripts of runs and of the reader in a pod.
type ruinTool struct {
	r   *ruin
	pod string
}

func (ruinTool) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, errors.New("not interactive")
}

func (t ruinTool) Run(_ context.Context, c admin.Command) (admin.Result, error) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	files := t.r.PodFiles(t.pod)
	if files == nil {
		return admin.Result{}, fmt.Errorf("pod %s not found", t.pod)
	}
	script, args := c.Argv[2], c.Argv[4:]
	name, changes := scriptNames[script]
	if !changes || script == fetchScript {
		if script == fetchScript {
			return admin.Result{Stdout: files[args[0]]}, nil
		}
		return admin.Result{Stdout: []byte(t.facts(files, args[1]))}, nil
	}
	var out string
	err := t.r.change(name+" "+t.pod, func() (err error) {
		switch script {
		case writeScript:
			out = t.write(files, args)
		case restartScript:
			t.r.KillServers(t.pod)
		case keepScript:
			out = t.keep(files, args[0], args[1])
		case stageScript:
			out, err = t.stage(files, args, c.Stdin)
		case installScript:
			out, err = t.install(files, args[0], args[1])
		}
		return err
	})
	return admin.Result{Stdout: []byte(out)}, err
}

func (t ruinTool) write(files map[string][]byte, args []string) string {
	file := path.Join(args[0], "fdb.cluster")
	if kept := file + "." + args[1]; files[kept] == nil {
		files[kept] = files[file]
	}
	files[file] = []byte(args[2] + "\n")
	return args[2]
}

var pair = []string{recovery.CoordinationFile0, recovery.CoordinationFile1}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func (ruinTool) keep(files map[string][]byte, dir, suffix string) (out string) {
	proof := path.Join(dir, "coordination."+suffix)
	for _, name := range pair {
		file := path.Join(dir, name)
		if content, exists := files[file]; exists && files[proof] == nil {
			files[file+"."+suffix] = bytes.Clone(content)
		}
		if kept, exists := files[file+"."+suffix]; exists {
			out += name + " " + sumOf(kept) + "\n"
		}
	}
	files[proof] = []byte{}
	return out
}

func (ruinTool) stage(files map[string][]byte, args []string, in io.Reader) (string, error) {
	if files[args[1]] != nil {
		return installed, nil
	}
	content, err := io.ReadAll(in)
	files[args[0]] = content
	return sumOf(content), err
}

func (t ruinTool) install(files map[string][]byte, dir, suffix string) (string, error) {
	proof := path.Join(dir, "coordination."+suffix)
	if files[proof] != nil {
		return installed, nil
	}
	others := false
	for _, name := range pair {
		file := path.Join(dir, name)
		_, exists := files[file]
		others = others || exists
		files[file] = bytes.Clone(files[file+"."+suffix])
	}
	if others {
		t.r.KillServers(t.pod)
	}
	files[proof] = []byte{}
	return installed, nil
}

// facts is the output of the script of the reader.
func (t ruinTool) facts(files map[string][]byte, generation string) string {
	var out strings.Builder
	for line := range strings.Lines(string(files["/var/fdb/data/fdb.cluster"])) {
		fmt.Fprintf(&out, "cluster %s\n", strings.TrimSpace(line))
	}
	for n := 1; n <= 2; n++ {
		dir := sim.DataDirectory(n)
		if _, exists := files[path.Join(dir, pair[0])]; exists && files[path.Join(dir, pair[1])] == nil {
			files[path.Join(dir, pair[1])] = []byte{} // the model has one file
		}
		for _, name := range pair {
			file := path.Join(dir, name)
			content, exists := files[file]
			if !exists {
				continue
			}
			current := map[bool]string{true: "yes", false: "no"}[strings.Contains(string(content), generation+" ")]
			fmt.Fprintf(&out, "coordination %d %d %s %s\n", len(content), t.r.modified(t.pod+file, content).Unix(), current, file)
		}
	}
	for _, p := range t.r.Processes(t.pod) {
		id := t.r.pid(p.Handle)
		fmt.Fprintf(&out, "process %d\n", id)
		for _, a := range p.Arguments {
			fmt.Fprintf(&out, "argument %d %s\n", id, a)
		}
	}
	return out.String() + "end\n"
}

// modified is when a file was seen with another content last.
func (r *ruin) modified(name string, content []byte) time.Time {
	if seen := r.files[name]; seen.at.IsZero() || seen.content != string(content) {
		r.files[name] = fileTime{string(content), r.Now()}
	}
	return r.files[name].at
}

func (r *ruin) pid(h *fdbsim.ServerHandle) int {
	if r.pids[h] == 0 {
		r.pids[h] = len(r.pids) + 10
	}
	return r.pids[h]
}

func (r *ruin) tool(pod *corev1.Pod, _ string) (admin.Transport, error) {
	return ruinTool{r, pod.Name}, nil
}

func (r *ruin) read(ctx context.Context) (recovery.Facts, plan.Snapshot, error) {
	var s plan.Snapshot
	if err := r.Observe(ctx, &s, collect.Facets); err != nil {
		return recovery.Facts{}, s, err
	}
	f, _, err := collect.Reader{Client: ruinClient{r: r}, Tool: r.tool}.Read(ctx, s)
	return f, s, err
}

// plan plans a recovery of what is there now.
func (r *ruin) plan() recovery.Plan {
	r.t.Helper()
	f, _, err := r.read(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	p, err := recovery.NewPlan(r.Resource.Name, r.Resource.Namespace, f, func(words ...string) string { return strings.Join(words, " ") })
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// maxPolls is how often a run reads the facts before it gives up.
const maxPolls = 90

// apply carries out a plan. Time passes in the model only.
func (r *ruin) apply(p recovery.Plan) error {
	r.killed = false
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	return Run{
		Cluster: r, Read: r.read, Client: ruinClient{r: r}, Tool: r.tool, parallel: 1,
		Held: func(context.Context) error {
			if !r.held {
				return errors.New("the Lease was lost")
			}
			return nil
		},
		Report: func(recovery.Step, time.Time, error) {},
		Clock:  &ruinClock{FakeClock: clocktesting.NewFakeClock(r.Now()), r: r, end: cancel},
	}.Apply(ctx, p)
}

// ruinClock lets the time of the model pass, and ends a run that waits for too long or was killed.
type ruinClock struct {
	*clocktesting.FakeClock
	r     *ruin
	end   func()
	polls int
}

func (c *ruinClock) NewTimer(d time.Duration) clock.Timer {
	if c.polls++; c.polls > maxPolls || c.r.killed {
		c.end()
		return c.FakeClock.NewTimer(d)
	}
	c.r.Tick(d)
	return clock.RealClock{}.NewTimer(0)
}

// newRuin returns a cluster with a database that serves, before anything is lost.
func newRuin(t *testing.T, seed uint64, edit func(*v1beta2.FoundationDBClusterSpec)) *ruin {
	t.Helper()
	c := &v1beta2.FoundationDBCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "sample", Namespace: "fdb", UID: "1", Generation: 1},
		Spec:       v1beta2.FoundationDBClusterSpec{Version: "7.3.79"},
	}
	edit(&c.Spec)
	w, err := sim.New(c, seed)
	if err != nil {
		t.Fatal(err)
	}
	r := ruinOf(t, w, seed)
	for n := range 20 {
		w.Nodes = append(w.Nodes, "node-"+strconv.Itoa(n+1))
	}
	r.comesUp()
	return r
}

// ruinOf returns a cluster without nodes whose volumes survive its pods.
func ruinOf(t *testing.T, w *sim.Cluster, seed uint64) *ruin {
	t.Helper()
	w.Files = map[string]map[string][]byte{}
	w.Nodes, w.Broken = nil, map[string]bool{}
	return &ruin{
		Cluster: w, t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 23)), volumes: map[string]*corev1.PersistentVolume{}, data: map[string]string{},
		files: map[string]fileTime{}, pids: map[*fdbsim.ServerHandle]int{}, names: map[string]int{}, held: true,
	}
}

// comesUp runs passes until the cluster is up.
func (r *ruin) comesUp() {
	r.t.Helper()
	const most = 30
	if !r.settle(most) {
		r.t.Fatal("no cluster came up")
	}
}

// settle runs passes until nothing is left to do, at most so many. It reports whether that came true.
func (r *ruin) settle(most int) bool {
	for range most {
		done := r.pass(stages.Cluster())
		if done.Settled() {
			return true
		}
		r.Tick(max(done.RetryAfter, 5*time.Second))
	}
	return false
}

// pass runs one pass.
func (r *ruin) pass(all []plan.Stage) reconcile.PassDone {
	p := reconcile.Pass{Stages: all, Observer: r, Actor: r, Report: func(reconcile.Event) {}, Seed: r.seed}
	done, err := p.Run(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	r.held = true
	return done
}

// coordinators are the pods that are coordinators by the status, in the order of the connection string.
func (r *ruin) coordinators() (pods []string) {
	s, err := fdb.ParseConnectionString(r.Resource.Status.ConnectionString)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, a := range s.Coordinators {
		for _, g := range r.Resource.Status.ProcessGroups {
			if slices.ContainsFunc(g.Addresses, func(ip string) bool { return fdb.SameHost(ip, a.Host) }) || g.DNSName(r.Resource) == a.Host {
				pods = append(pods, g.PodName(r.Resource))
			}
		}
	}
	return pods
}
