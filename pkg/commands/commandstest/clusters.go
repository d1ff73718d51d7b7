package commandstest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

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
