package live_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// backupLife is everything that decides a history of backups. Played again, it is the same.
type backupLife struct {
	seed  uint64
	steps []backupStep
}

// backupStep is one trouble, a pass over each resource, and the time until the next.
type backupStep struct {
	problem backupProblem
	dice    uint64
	wait    time.Duration
}

const stepsOfABackupLife = 14

// backupLifeOf is the life that a seed means.
func backupLifeOf(seed uint64) backupLife {
	random := rand.New(rand.NewPCG(seed, 23))
	l := backupLife{seed: seed}
	for range stepsOfABackupLife {
		l.steps = append(l.steps, backupStep{
			problem: backupProblems[random.IntN(len(backupProblems))], dice: random.Uint64(),
			wait: time.Duration(1+random.IntN(90)) * time.Second,
		})
	}
	return l
}

// wrongBackup makes the plugin wrong on purpose. The zero value changes nothing.
type wrongBackup struct {
	stages  func(*backupHistory, []plan.Stage) []plan.Stage
	cluster func(*backupHistory, clusterOfBackups) clusterOfBackups
}

// backupHistory is a life while it is played: two backups of a database and a restore into it.
type backupHistory struct {
	*vault
	db     *fdbsim.Database
	wrong  wrongBackup
	story  io.Writer // nil without a reader
	output bytes.Buffer

	// turn is the resource whose pass runs; empty while users act.
	turn     string
	killAt   int  // the number of the action at which the plugin dies; 0 for none
	killLate bool // after that action, and not before it
	failing  int  // how many commands fail before they do anything
	unheard  int  // how many commands are done, with their answers lost
	deaf     int  // how many commands do not get through at all
	made     int  // how many records users made

	seen  witness
	found []backupViolation
}

type backupViolation struct{ sentence, why string }

// backupNames are the resources of backups, each with a tag of its own to begin with.
var backupNames = []string{"nightly", "weekly"}

func newBackupHistory(t *testing.T, wrong wrongBackup, story io.Writer) *backupHistory {
	t.Helper()
	h := &backupHistory{vault: newVault(t), wrong: wrong, story: story, seen: newWitness()}
	h.db, _ = h.nodes.FDB.Database(h.resource().Status.ConnectionString)
	if err := h.api.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(key.Namespace)); err != nil {
		t.Fatal(err) // servers run on without their pods; lists of agents get short
	}
	weekly := h.theBackup()
	weekly.ObjectMeta = metav1.ObjectMeta{Name: "weekly", Namespace: key.Namespace, UID: "w", Generation: 1}
	weekly.Spec.Tag = new(v1beta2.BackupTag("weekly"))
	h.put(weekly)
	h.put(newRestore(func(*v1beta2.FoundationDBRestore) {}))
	h.byHand("fdbcli", "-C", agentClusterFile, "--exec", "writemode on; set greeting hello")
	return h
}

// play plays a life to its end and returns what broke.
func (l backupLife) play(t *testing.T, wrong wrongBackup, story io.Writer) []backupViolation {
	t.Helper()
	h := newBackupHistory(t, wrong, story)
	for _, s := range l.steps {
		h.logf("## %s\n", s.problem.name)
		s.problem.happen(h, rand.New(rand.NewPCG(s.dice, 5)))
		h.round()
		h.killAt = 0
		h.elapse(s.wait)
		if len(h.found) > 0 {
			return h.found
		}
	}
	h.settle()
	return h.found
}

func (h *backupHistory) logf(format string, args ...any) {
	if h.story != nil {
		fmt.Fprintf(h.story, format, args...)
	}
}

func (h *backupHistory) elapse(d time.Duration) {
	h.kubelet()
	h.nodes.FDB.Advance(d)
}

// round makes a pass over everything that is there, in the order of --with-backups.
func (h *backupHistory) round() (acted int, open []string) {
	for _, name := range backupNames {
		n, why := h.pass(name, h.clusterOf(name), backup.Backup())
		acted, open = acted+n, append(open, why...)
	}
	n, why := h.pass("again", h.restoreCluster(), backup.Restore())
	return acted + n, append(open, why...)
}

// pass makes one pass over one record, and returns what keeps it from being reconciled.
func (h *backupHistory) pass(name string, w clusterOfBackups, all []plan.Stage) (acted int, open []string) {
	if h.isDeleted(name) {
		return 0, nil
	}
	h.turn = name
	defer func() { h.turn = "" }()
	if h.wrong.cluster != nil {
		w = h.wrong.cluster(h, w)
	}
	if h.wrong.stages != nil {
		all = h.wrong.stages(h, slices.Clone(all))
	}
	if h.killAt > 0 {
		left := h.killAt
		w = &mortal{clusterOfBackups: w, left: &left, after: h.killLate}
	}
	var text bytes.Buffer
	p := reconcile.Pass{Stages: all, Observer: w, Actor: w, Seed: 42}
	reports := []func(reconcile.Event){ui.Text(&text, ui.TextOptions{Verbose: true}), ui.JSON(&h.output), func(e reconcile.Event) {
		if d, ok := e.(reconcile.StageDone); ok && d.Outcome > reconcile.Done {
			open = append(open, fmt.Sprintf("%s: %s %s %s", name, d.Stage, d.Outcome, d.Reason))
		}
	}}
	p.Report = func(e reconcile.Event) {
		for _, report := range reports {
			report(e)
		}
	}
	done, err := p.Run(h.t.Context())
	if err != nil && !errors.Is(err, errKilled) {
		h.output.WriteString(err.Error())
	}
	h.output.Write(text.Bytes())
	h.logf("# %s at %s: %s\n%s", name, h.cluster.Clock.Now().Format("15:04:05"), done.Outcome, text.String())
	h.checkSecrets()
	h.judgeResource(name)
	return done.Acted, open
}

func (h *backupHistory) transport() func(*corev1.Pod) admin.Transport {
	return func(*corev1.Pod) admin.Transport { return historyTransport{h} }
}

func (h *backupHistory) inner() live.Options {
	return live.Options{Client: h.cluster.Client, Holder: h.cluster.Holder, Clock: h.cluster.Clock, Transport: h.transport()}
}

// clusterOf is one backup in the hands of a run that knows nothing of those before it.
func (h *backupHistory) clusterOf(name string) clusterOfBackups { //nolint:ireturn // a seam for wrong worlds
	w := live.NewBackup(h.inner())
	w.Key = named(name)
	return w
}

func (h *backupHistory) restoreCluster() clusterOfBackups { //nolint:ireturn // a seam for wrong worlds
	return live.NewRestore(named("again"), h.inner())
}

// historyTransport runs tools for passes, with the troubles of the moment, and has each
// command watched.
type historyTransport struct{ h *backupHistory }

func (t historyTransport) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	h := t.h
	if h.deaf > 0 {
		h.deaf--
		return admin.Result{}, &admin.TransportError{Where: "a pod", Err: context.DeadlineExceeded}
	}
	if !changes(c.Argv) {
		return agentTransport{h.vault}.Run(ctx, c)
	}
	if h.failing > 0 {
		h.failing--
		return admin.Result{ExitCode: 1, Stderr: []byte("ERROR: An unknown error occurred\n")}, nil
	}
	before := h.look()
	r, err := agentTransport{h.vault}.Run(ctx, c)
	h.witness(c.Argv, before, h.look()) //nolint:contextcheck // who judges outlives the command
	if h.unheard > 0 {
		h.unheard--
		return admin.Result{}, &admin.TransportError{Started: true, Where: "a pod", Err: context.DeadlineExceeded}
	}
	return r, err
}

func (t historyTransport) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, errors.New("no backup tools here")
}

// byHand runs a program as a user does, whatever comes of it.
func (h *backupHistory) byHand(argv ...string) {
	h.t.Helper()
	if _, err := (agentTransport{h.vault}).Run(h.t.Context(), admin.Command{Argv: argv, Limit: time.Minute}); err != nil {
		h.t.Fatal(err)
	}
}

// backupNamed is a resource; nil once it is deleted.
func (h *backupHistory) backupNamed(name string) *v1beta2.FoundationDBBackup {
	h.t.Helper()
	b := &v1beta2.FoundationDBBackup{}
	err := h.api.Get(h.t.Context(), named(name), b)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return b
}

func (h *backupHistory) isDeleted(name string) bool {
	if name == "again" {
		return apierrors.IsNotFound(h.api.Get(h.t.Context(), named(name), &v1beta2.FoundationDBRestore{}))
	}
	return h.backupNamed(name) == nil
}

// edit changes the spec of a resource, unless it is deleted.
func (h *backupHistory) edit(name string, edit func(*v1beta2.FoundationDBBackupSpec)) {
	h.t.Helper()
	b := h.backupNamed(name)
	if b == nil {
		return
	}
	edit(&b.Spec)
	b.Generation++
	if err := h.api.Update(h.t.Context(), b); err != nil {
		h.t.Fatal(err)
	}
}

// deleteOrCreate deletes a resource as a user does, or creates one again that is missing.
func (h *backupHistory) deleteOrCreate(name string) {
	h.t.Helper()
	b := h.backupNamed(name)
	if b != nil {
		if err := h.api.Delete(h.t.Context(), b); err != nil {
			h.t.Fatal(err)
		}
		return
	}
	b = &v1beta2.FoundationDBBackup{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: key.Namespace, UID: h.newUID(), Generation: 1}}
	b.Spec.Version, b.Spec.ClusterName, b.Spec.ImageType = "7.3.79", key.Name, new(v1beta2.ImageTypeUnified)
	b.Spec.BlobStoreConfiguration = &v1beta2.BlobStoreConfiguration{AccountName: "key@store", URLParameters: []v1beta2.URLParameter{"region=eu"}}
	b.Spec.Tag = new(v1beta2.BackupTag(tagOf(name)))
	h.put(b)
}

// newUID is the identity of another record that a user makes.
func (h *backupHistory) newUID() types.UID {
	h.made++
	return types.UID(fmt.Sprint("made-", h.made))
}

// tagOf is the tag of a resource of which no user has decided otherwise.
func tagOf(name string) string {
	if name == "nightly" {
		return "default"
	}
	return name
}

// checkSecrets makes sure that nothing that was printed, run or recorded has the secret.
func (h *backupHistory) checkSecrets() {
	output := h.output.String()
	h.output.Reset()
	for _, name := range backupNames {
		output += fmt.Sprintf("%+v", h.backupNamed(name))
	}
	for _, argv := range h.ran {
		output += strings.Join(argv, " ")
	}
	if strings.Contains(output, storeSecret) {
		h.violated(noSecrets, "printed, run or recorded in the turn of %s", h.turn)
	}
}
