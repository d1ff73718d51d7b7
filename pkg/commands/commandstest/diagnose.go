package commandstest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// NodeWith is the first node with pods that are, or are not, all stateless.
func (g *Given) NodeWith(stateless bool) string {
	for _, node := range g.Cluster.Nodes {
		pods, withData := 0, 0
		for _, pod := range g.Cluster.Pods {
			if pod.Spec.NodeName == node {
				pods++
				if v1beta2.ProcessClass(pod.Labels[v1beta2.LabelProcessClass]).IsStateful() {
					withData++
				}
			}
		}
		if pods > 0 && (withData == 0) == stateless {
			return node
		}
	}
	g.T.Fatalf("no node has such pods")
	return ""
}

// KeepAll has the spec keep every process group from being replaced.
func (g *Given) KeepAll() {
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		g.Cluster.Resource.Spec.CancelReplacementsForInstance = append(g.Cluster.Resource.Spec.CancelReplacementsForInstance, group.ProcessGroupID)
	}
}

// StoragePods are two pods of class storage on different nodes.
func (g *Given) StoragePods() (one, other *corev1.Pod) {
	for _, pod := range g.Cluster.Pods {
		switch {
		case pod.Labels[v1beta2.LabelProcessClass] != string(v1beta2.ProcessClassStorage):
		case one == nil:
			one = pod
		case pod.Spec.NodeName != one.Spec.NodeName:
			return one, pod
		}
	}
	g.T.Fatal("there are no two such pods")
	return nil, nil
}

// Asks returns the report of kubectl fdb can.
func (g *Given) Asks(args ...string) lists.CanReport {
	g.T.Helper()
	g.Run(append(append([]string{"can"}, args...), "-o", "json")...)
	var report lists.CanReport
	if err := json.Unmarshal(g.Out.Bytes(), &report); err != nil {
		g.T.Fatalf("%v\n%s%s", err, &g.Out, &g.Err)
	}
	return report
}

// Healthy returns a cluster that has been up for long.
func Healthy(t *testing.T) *Given {
	t.Helper()
	g := Up(t)
	g.Cluster.Tick(20 * time.Minute)
	return g
}

// Unpause has agents go on without giving them time to do anything.
func (v *Vault) Unpause() { v.Tool(v.T.Context(), "fdbbackup", "resume") }

// UnresponsiveSession has the database not answer.
func UnresponsiveSession(g *Given) {
	g.Connect = func() (session.Session, error) { return Mute{Simulated{g.Cluster, g}, nil}, nil }
}

// UID is that of the restore in the database.
func (v *Vault) UID() string {
	v.T.Helper()
	var status inspect.RestoreStatusView
	if err := json.Unmarshal([]byte(v.Must(exit.ExitDone, "", "restore", "status", "again", "-o", "json")), &status); err != nil || status.UID == "" {
		v.T.Fatalf("uid %q: %v", status.UID, err)
	}
	return status.UID
}

// PodsOf are the names of the pods of a class, in the order of the resource.
func (g *Given) PodsOf(class string) []string {
	var names []string
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		if string(group.ProcessClass) == class {
			names = append(names, group.PodName(g.Cluster.Resource))
		}
	}
	return names
}

// WithoutNode is a cluster in which a storage pod was lost and no node takes the new one.
func WithoutNode(t *testing.T) (g *Given, pod string) {
	t.Helper()
	g = Up(t)
	pod = g.PodsOf("storage")[1]
	g.Cluster.Unschedulable = map[string]bool{pod: true}
	g.Cluster.KillPod(pod)
	if code := g.Run("reconcile", "sample", "--yes"); code != exit.ExitWaiting {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	g.Cluster.Tick(38 * time.Minute)
	g.Cluster.Pods[pod].Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/5 nodes are available: 5 Insufficient memory.",
		LastTransitionTime: metav1.NewTime(g.Cluster.Now().Add(-38 * time.Minute)),
	}}}
	return g, pod
}

// Named puts the names of this cluster's pods in the place of POD and OTHER.
func (g *Given) Named(text string) string {
	pods := g.PodsOf("storage")
	if len(pods) == 0 {
		return text
	}
	return strings.NewReplacer("POD", "pod/"+pods[1], "OTHER", strings.TrimPrefix(pods[0], "sample-")).Replace(text)
}

// RunAll runs a command where the cluster "closed" cannot be opened.
func (g *Given) RunAll(args ...string) int {
	g.T.Helper()
	g.Out.Reset()
	g.Err.Reset()
	env := g.Environment()
	open := env.Connect
	env.Connect = func(ctx context.Context, key types.NamespacedName) (session.Session, error) {
		if key.Name == "closed" {
			return nil, errors.New("its door is shut")
		}
		return open(ctx, key)
	}
	code := commands.Run(g.T.Context(), env, args)
	if commands.JSONRequested(args) {
		Valid(g.T, strings.Join(args, " "), g.Out.Bytes())
	}
	return code
}

// AuditFile is where the lines of a run are.
func (g *Given) AuditFile() string {
	return filepath.Join(g.Env["XDG_STATE_HOME"], "kubectl-fdb", "audit.jsonl")
}

// Audited are the lines of the audit file.
func (g *Given) Audited() []audit.Entry {
	g.T.Helper()
	file, err := os.Open(g.AuditFile())
	if err != nil {
		g.T.Fatal(err)
	}
	defer file.Close()
	var entries []audit.Entry
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e audit.Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			g.T.Fatalf("%s: %v", lines.Text(), err)
		}
		entries = append(entries, e)
	}
	return entries
}

// Unwritable makes the audit file one that exists and takes no line.
func (g *Given) Unwritable() {
	g.T.Helper()
	if err := os.RemoveAll(g.AuditFile()); err != nil {
		g.T.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(g.AuditFile(), "in the way"), 0o700); err != nil {
		g.T.Fatal(err)
	}
}

// AddEvent adds an Event of an object to the API server.
func (g *Given) AddEvent(kind, name, eventType string, ago time.Duration) {
	g.Objects = append(g.Objects, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "e-" + strings.ToLower(kind+"-"+name), Namespace: "fdb", UID: types.UID(kind + name)},
		InvolvedObject: corev1.ObjectReference{Kind: kind, Namespace: "fdb", Name: name},
		Type:           eventType, Reason: "Because", Message: "it happened", Count: 1,
		LastTimestamp: metav1.NewTime(g.Cluster.Now().Add(-ago)),
	})
}

// WithSilentStorage has the database give no answer.
func WithSilentStorage(g *Given) {
	g.Connect = func() (session.Session, error) { return Mute{Simulated{g.Cluster, g}, nil}, nil }
}

// LastPod returns a pod that the database is not queried through.
func (g *Given) LastPod() string { return slices.Max(slices.Collect(maps.Keys(g.Cluster.Pods))) }

// OtherPod has a pod name the coordinators of another database.
func OtherPod(g *Given) { g.Cluster.WriteClusterFile(g.LastPod(), "other:abc@10.0.0.1:4501") }

// Mute is a cluster whose database does not answer.
type Mute struct {
	Simulated
	Err error
}

// Observe implements reconcile.Observer.
func (m Mute) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets&plan.Database != 0 && m.Err != nil {
		return m.Err
	}
	if err := m.Simulated.Observe(ctx, into, facets&^plan.Database); err != nil {
		return err
	}
	if facets&plan.Database != 0 {
		into.Database = plan.DatabaseFacts{Unreachable: "timed out"}
	}
	return nil
}

// ReadClusterFiles reads what pods have; the database does not tell.
func (m Mute) ReadClusterFiles(ctx context.Context) (plan.ClusterFiles, error) {
	files, err := m.Simulated.ReadClusterFiles(ctx)
	files.Live, files.LiveUnknown = fdb.ConnectionString{}, "timed out"
	return files, err
}

// OnWrite is a writer that calls a function.
type OnWrite func(string)

// Write implements io.Writer.
func (f OnWrite) Write(p []byte) (int, error) {
	f(string(p))
	return len(p), nil
}

// History returns what `history` shows.
func (g *Given) History(args ...string) inspect.HistoryView {
	g.T.Helper()
	if code := g.Run(append([]string{"history", "sample", "-o", "json"}, args...)...); code != exit.ExitDone {
		g.T.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	var v inspect.HistoryView
	if err := json.Unmarshal(g.Out.Bytes(), &v); err != nil {
		g.T.Fatal(err)
	}
	return v
}

// AppendAudit appends a line to the audit file.
func (g *Given) AppendAudit(line string) {
	g.T.Helper()
	file, err := os.OpenFile(g.AuditFile(), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		g.T.Fatal(err)
	}
	if _, err := file.WriteString(line + "\n"); err != nil {
		g.T.Fatal(err)
	}
	if err := file.Close(); err != nil {
		g.T.Fatal(err)
	}
}

// LeaseKey is the Lease of the cluster.
var LeaseKey = types.NamespacedName{Namespace: "fdb", Name: live.LeaseName("sample")}

// RunOn runs a command whose requests all reach the same API server.
func (g *Given) RunOn(c client.Client, args ...string) int {
	g.T.Helper()
	g.Out.Reset()
	g.Err.Reset()
	env := g.Environment()
	env.Client = func() (client.Client, error) { return c, nil }
	code := commands.Run(g.T.Context(), env, args)
	if commands.JSONRequested(args) {
		Valid(g.T, strings.Join(args, " "), g.Out.Bytes())
	}
	return code
}

// EndsAfter ends the operation at the nth wait of a command.
func (g *Given) EndsAfter(c client.Client, n int) {
	g.Clock.OnTimer = func(time.Duration) bool {
		if n--; n == 0 {
			lease := &coordinationv1.Lease{}
			if err := c.Get(g.T.Context(), LeaseKey, lease); err != nil {
				g.T.Error(err)
			}
			lease.Annotations = nil
			if err := c.Update(g.T.Context(), lease); err != nil {
				g.T.Error(err)
			}
		}
		return false
	}
}

// ShareHostPID has storage pods see the processes of their node.
func (g *Given) ShareHostPID() {
	g.Cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
		v1beta2.ProcessClassStorage: {PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{HostPID: true}}},
	}
	g.Cluster.Resource.Generation++
}
