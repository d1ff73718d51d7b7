package commandstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// meddled is a session in whose world something happens once, when the Lease is taken, or one of
// the next times.
type meddled struct {
	Simulated
	meddle func()
	passes int
}

func (m *meddled) Begin(ctx context.Context) error {
	m.passes--
	if m.meddle != nil && m.passes < 0 {
		m.meddle()
		m.meddle = nil
	}
	return m.Simulated.Begin(ctx)
}

// Meddle has something happen when the next run takes the Lease.
func (g *Given) Meddle(what func(*v1beta2.FoundationDBCluster)) { g.MeddleAfter(0, what) }

// MeddleAfter has it happen after some passes that acted.
func (g *Given) MeddleAfter(passes int, what func(*v1beta2.FoundationDBCluster)) {
	g.Connect = func() (session.Session, error) {
		return &meddled{Simulated{g.Cluster, g}, func() { what(g.Cluster.Resource) }, passes}, nil
	}
}

// Recompute asks for other pods under the same names.
func Recompute(c *v1beta2.FoundationDBCluster) {
	c.Spec.MainContainer.EnableTLS = true
	c.Generation++
}

// Remake makes the cluster another one of the same name.
func Remake(c *v1beta2.FoundationDBCluster) { c.UID = "another" }

// Answering runs a command on a terminal with one typed line per prompt.
func (g *Given) Answering(lines string, args ...string) int {
	g.T.Helper()
	g.Out.Reset()
	g.Err.Reset()
	env := g.Environment()
	env.In, env.IsTerminal = iotest.OneByteReader(strings.NewReader(lines)), func(any) bool { return true }
	return commands.Run(g.T.Context(), env, args)
}

// notRead are the commands that declare to read and are not run on a cluster with an invalid value, with the reason.
var notRead = map[string]string{
	"plan":    "prints the next pass, which refuses the spec: TestAnInvalidSpecIsRefusedByWhatNeedsIt",
	"version": "reads no cluster", "schema": "reads no cluster", "auth can-i": "reads no cluster", "auth role": "reads no cluster", "completion": "reads no cluster", "completion install": "reads no cluster", "docs": "reads no cluster", "options": "reads no cluster",
	"dump diff":     "reads files",
	"backup status": "reads a backup", "backup describe": "reads a backup", "restore status": "reads a restore", "restore list": "reads restores",
}

// readingLines are a command line for every command that declares to read a cluster, or to save what it reads.
func readingLines(g *Given) map[string]*cobra.Command {
	g.T.Helper()
	all, lines := Leaves(commands.NewRoot(g.Environment())), map[string]*cobra.Command{}
	ran := map[string]bool{}
	saved := filepath.Join(g.T.TempDir(), "dump.tar.gz")
	storage := string(g.GroupOf(v1beta2.ProcessClassStorage).ProcessGroupID)
	more := []string{
		"status -A", "why -A", "check -A", "get process-groups -A", "logs sample " + storage, "dump sample --file " + saved, "recover manifest sample",
		"get coordinators sample", "wait sample --for=available", "operations follow sample",
	}
	for _, line := range append(PlantedLines(g), more...) {
		name := CommandOf(all, line)
		cmd := all[name]
		if cmd == nil || ran[name] && !strings.HasSuffix(line, " -A") {
			continue
		}
		if d, _ := declare.Of(cmd); notRead[name] == "" && (d.Effect == declare.Reads || d.Effect == declare.Saves) {
			lines[line], ran[name] = cmd, true
		}
	}
	for name, cmd := range all {
		d, _ := declare.Of(cmd)
		if reads := d.Effect == declare.Reads || d.Effect == declare.Saves; reads && !cmd.HasSubCommands() && !ran[name] && notRead[name] == "" {
			g.T.Errorf("command %q declares that it reads, is not run, and has no reason", name)
		}
	}
	return lines
}

// ReadsAll runs all commands that declare to read, and reports those that the value of a test ends.
func (g *Given) ReadsAll() {
	g.T.Helper()
	for line := range readingLines(g) {
		ctx, end := context.WithTimeout(g.T.Context(), 3*time.Second)
		code := g.RunIn(ctx, strings.Fields(line)...)
		end()
		if said := g.Out.String() + g.Err.String(); code == exit.ExitUsage || code == exit.ExitInternal || strings.Contains(said, "is invalid: ") {
			g.T.Errorf("%s ends with exit code %d: %s", line, code, &g.Err)
		}
	}
}

// Deleted reports whether the data of the backup was deleted.
func (v *Vault) Deleted() bool {
	for _, line := range v.Ran {
		if strings.Contains(line, "fdbbackup delete") {
			return true
		}
	}
	return false
}

// Planned writes the plan of a command into a file.
func (g *Given) Planned(args ...string) string {
	g.T.Helper()
	code := g.Run(append(slices.Clone(args), "--dry-run", "-o", "json")...)
	if code != exit.ExitDone && code != exit.ExitNo {
		g.T.Fatalf("%v: exit code %d: %s", args, code, &g.Err)
	}
	path := filepath.Join(g.T.TempDir(), "plan.json")
	if err := os.WriteFile(path, g.Out.Bytes(), 0o600); err != nil {
		g.T.Fatal(err)
	}
	g.Cluster.Acted = nil
	g.seed = 7 // the next run would choose otherwise
	g.Cluster.Tick(5 * time.Second)
	return path
}

// Changes are the actions that were carried out, without what only records.
func (g *Given) Changes() []string {
	did := []string{}
	for _, a := range g.Cluster.Acted {
		if _, records := a.(plan.WriteStatus); !records {
			did = append(did, plan.KindOf(a)+" "+a.Subject()+" "+plan.Fingerprint(a))
		}
	}
	return did
}

// Spacious is a cluster with a choice of coordinators, that has been up for an hour.
func Spacious(t *testing.T) *Given {
	t.Helper()
	g := NewGiven(t)
	g.Cluster.Resource.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 4, Log: 4, Stateless: 3}
	if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	g.Cluster.Tick(time.Hour)
	return g
}

// InText puts names of this very world into a command line.
func (g *Given) InText(args ...string) []string {
	names := strings.NewReplacer("STORAGE0", g.Storage()[0], "NODE", g.NodeOfStorage(), "COORDINATOR", g.Coordinating()[0], "ZONE", g.zoneOfStorage())
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = names.Replace(arg)
	}
	return out
}

// NodeOfStorage returns the node of a storage process.
func (g *Given) NodeOfStorage() string {
	return g.Cluster.Pods["sample-"+g.Storage()[0]].Spec.NodeName
}

func (g *Given) zoneOfStorage() string {
	return string(g.Cluster.Resource.Status.ProcessGroups[slices.IndexFunc(g.Cluster.Resource.Status.ProcessGroups, func(p *v1beta2.ProcessGroupStatus) bool {
		return string(p.ProcessGroupID) == g.Storage()[0]
	})].FaultDomain)
}

// OperatorLives is the gate of an operator that runs.
var OperatorLives = []plan.Check{{Question: "is no live operator managing this cluster?", Evidence: "Deployment ops/operator has 1 ready pod", Gate: plan.GateOperator}}

// Refuse makes every action of a kind fail.
func Refuse(kind string, err error) func(plan.Action) error {
	return func(a plan.Action) error {
		if plan.KindOf(a) == kind {
			return err
		}
		return nil
	}
}

var (
	pods = schema.GroupResource{Resource: "pods"}
	// ErrForbidden is the answer about a missing permission.
	ErrForbidden = apierrors.NewForbidden(pods, "p", errors.New("no rule"))
	// ErrConflict is the answer about an object that was changed meanwhile.
	ErrConflict = apierrors.NewConflict(pods, "p", errors.New("changed"))
	// ErrNoAnswer is that of a connection without one.
	ErrNoAnswer = &url.Error{Op: "Get", URL: "https://api", Err: errors.New("connection refused")}
)

// Watched runs `reconcile --watch` over a simulated cluster. In every interval that counts the
// next of the steps is taken; after the last one comes the signal.
type Watched struct {
	*Given
	Steps  []func()
	signal os.Signal // default SIGTERM
	// Counts selects the intervals that count. Default: those that only a change ends soon.
	Counts func(d time.Duration) bool

	next   int
	rung   bool
	Timers []time.Duration
}

// Run runs a watch to the end of its steps.
func (w *Watched) Run(args ...string) int {
	w.T.Helper()
	defer goleak.VerifyNone(w.T, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancelCause(w.T.Context())
	defer cancel(nil)
	if w.signal == nil {
		w.signal = syscall.SIGTERM
	}
	if w.Counts == nil {
		w.Counts = func(d time.Duration) bool { return d == pace.DefaultResync }
	}
	w.Clock.OnTimer = func(d time.Duration) bool { return w.rest(d, cancel) }
	code := w.RunIn(ctx, append([]string{"reconcile", "sample", "--watch"}, args...)...)
	if w.next < len(w.Steps) {
		w.T.Errorf("the watch ended after %d of %d steps: %s%s", w.next, len(w.Steps), &w.Out, &w.Err)
	}
	return code
}

// rest takes a step when the rest counts. Time stands still when that rang the bell.
func (w *Watched) rest(d time.Duration, cancel context.CancelCauseFunc) (still bool) {
	w.Timers = append(w.Timers, d)
	w.rung = false
	switch {
	case !w.Counts(d):
	case w.next == len(w.Steps):
		cancel(&exit.InterruptedError{Signal: w.signal})
		return true
	default:
		w.next++
		w.Steps[w.next-1]()
	}
	if d > SleepsMost && !w.rung {
		w.Cluster.Tick(d)
	}
	return w.rung
}

// Ring reports a change.
func (w *Watched) Ring(what plan.Facet) {
	w.rung = true
	w.Follower.Changed(what)
}

// throughClient is a simulated cluster whose resource is read through the client of an environment.
type throughClient struct {
	Simulated
	e *session.Env
}

// Observe implements reconcile.Observer.
func (s throughClient) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if err := s.Simulated.Observe(ctx, into, facets); err != nil || facets&plan.ClusterResource == 0 {
		return err
	}
	c, err := s.e.Client()
	if err != nil {
		return err
	}
	read := &v1beta2.FoundationDBCluster{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(s.Resource), read); err != nil {
		return err
	}
	into.Cluster, into.InvalidSpec = read.NormalizedToRead(), plan.InvalidFields(read.Validate())
	return nil
}

// resourcesThrough is a client that reads FoundationDB resources through the client of an environment.
type resourcesThrough struct {
	client.Client
	e *session.Env
}

// Get implements client.Client.
func (c resourcesThrough) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	from, err := c.of(into)
	if err != nil {
		return err
	}
	return from.Get(ctx, key, into, options...)
}

// List implements client.Client.
func (c resourcesThrough) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	from, err := c.of(into)
	if err != nil {
		return err
	}
	return from.List(ctx, into, options...)
}

func (c resourcesThrough) of(o runtime.Object) (client.Client, error) {
	gvk, err := apiutil.GVKForObject(o, c.Scheme())
	if err != nil || gvk.Group != v1beta2.GroupVersion.Group {
		return c.Client, err
	}
	return c.e.Client()
}

// isOfVault reports whether the vault has the object: a backup or a restore.
func (g *Given) isOfVault(o runtime.Object) bool {
	if !g.Proposes || g.resources == nil {
		return false
	}
	gvk, err := apiutil.GVKForObject(o, g.resources.Scheme())
	return err == nil && gvk.Group == v1beta2.GroupVersion.Group && gvk.Kind != "FoundationDBCluster"
}

// get reads an object.
func (g *Given) get(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if g.isOfVault(o) {
		return g.resources.Get(ctx, key, o, opts...)
	}
	return c.Get(ctx, key, o, opts...)
}

// create answers with the UID and the generation of the API server, which the fake client does not set. Each dry run gets
// another UID.
func (g *Given) create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	var asked client.CreateOptions
	asked.ApplyOptions(opts)
	if err := g.stores(o, asked.DryRun); err != nil {
		return err
	}
	g.created++
	o.SetUID(types.UID(fmt.Sprint("uid ", g.created, " of ", o.GetName())))
	o.SetGeneration(1)
	return g.resources.Create(ctx, o, opts...)
}

// stores is called before a change of a resource is stored, or would be.
func (g *Given) stores(o client.Object, dryRun []string) error {
	if g.OnStore == nil {
		return nil
	}
	return g.OnStore(o.GetName(), len(dryRun) > 0)
}

// patch answers a merge patch as the API server does, which the fake client does not: with the object that it stores, or
// would store, without unknown fields, and with the generation of its spec.
func (g *Given) patch(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	u, is := o.(*unstructured.Unstructured)
	if !is || u.GroupVersionKind().Group != v1beta2.GroupVersion.Group {
		return c.Patch(ctx, o, p, opts...)
	}
	var asked client.PatchOptions
	asked.ApplyOptions(opts)
	if err := g.stores(o, asked.DryRun); err != nil {
		return err
	}
	before, after := resourceOf(u.GetKind()), resourceOf(u.GetKind())
	if err := g.get(ctx, c, client.ObjectKeyFromObject(u), before); err != nil {
		return err
	}
	current, err := json.Marshal(before)
	if err != nil {
		return err
	}
	patch, err := p.Data(o)
	if err != nil {
		return err
	}
	merged, err := jsonpatch.MergePatch(current, patch)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(merged, after); err != nil {
		return err
	}
	if !cmp.Equal(specOf(before), specOf(after)) {
		after.SetGeneration(before.GetGeneration() + 1)
	}
	if len(asked.DryRun) == 0 {
		if err := g.persist(ctx, after); err != nil {
			return err
		}
	}
	after.GetObjectKind().SetGroupVersionKind(u.GroupVersionKind())
	u.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(after)
	return err
}

// persist stores a changed resource.
func (g *Given) persist(ctx context.Context, after client.Object) error {
	c, is := after.(*v1beta2.FoundationDBCluster)
	if !is {
		return g.resources.Update(ctx, after)
	}
	of := g.Cluster.Resource
	of.Spec, of.Generation, of.Annotations = c.Spec, c.Generation, c.Annotations
	return nil
}

// resourceOf returns an empty resource of a kind.
func resourceOf(kind string) client.Object {
	switch kind {
	case "FoundationDBBackup":
		return &v1beta2.FoundationDBBackup{}
	case "FoundationDBRestore":
		return &v1beta2.FoundationDBRestore{}
	default:
		return &v1beta2.FoundationDBCluster{}
	}
}

func specOf(o client.Object) any {
	switch o := o.(type) {
	case *v1beta2.FoundationDBBackup:
		return o.Spec
	case *v1beta2.FoundationDBRestore:
		return o.Spec
	case *v1beta2.FoundationDBCluster:
		return o.Spec
	}
	return nil
}
