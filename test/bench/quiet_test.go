package bench

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

const clusterName = "large"

// resource is a cluster of so many process groups. Only the claims of logs, of which some
// pod really runs, are of a storage class that exists.
func resource(namespace string, groups int) *v1beta2.FoundationDBCluster {
	const others = 13 // of the classes log and stateless
	return &v1beta2.FoundationDBCluster{
		ObjectMeta: metav1.ObjectMeta{Name: clusterName, Namespace: namespace, UID: "to be replaced", Generation: 1},
		Spec: v1beta2.FoundationDBClusterSpec{
			Version:       "7.3.79",
			ProcessCounts: v1beta2.ProcessCounts{Storage: groups - others},
			Processes: map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
				v1beta2.ProcessClassStorage: {VolumeClaimTemplate: claimOfClass("unused")},
				v1beta2.ProcessClassLog:     {VolumeClaimTemplate: claimOfClass("standard")},
			},
		},
	}
}

func claimOfClass(class string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class}}
}

// benchCluster is all there is of a reconciled cluster, of which one pod really runs
// commands: a thousand pods that run would need a machine for themselves, and nothing that
// is measured here depends on what the others do.
type benchCluster struct {
	*sim.Cluster
	// requested is the pod through which the database is read: that of a coordinator,
	// which is chosen first.
	requested *corev1.Pod
	group     *v1beta2.ProcessGroupStatus
	// status is the status document.
	status string
}

// stableCluster starts a simulated cluster, with the pod that serves the status on a
// real node.
func stableCluster(tb testing.TB, namespace string, groups int, node string) *benchCluster {
	tb.Helper()
	w, err := sim.New(resource(namespace, groups), 1)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range w.Nodes {
		w.Nodes[i] = "stable-" + w.Nodes[i] // no agent of the sandbox runs what is there
	}
	settle(tb, w)
	status, err := simtest.Type(w, "status json")
	if err != nil {
		tb.Fatal(err)
	}
	c := &benchCluster{Cluster: w, status: status}
	for _, g := range w.Resource.Status.ProcessGroups {
		if strings.Contains(w.Resource.Status.ConnectionString, "@"+g.PodName(w.Resource)+".") {
			c.group, c.requested = g, w.Pods[g.PodName(w.Resource)]
		}
	}
	if c.requested == nil {
		tb.Fatalf("no pod of a coordinator: %s", w.Resource.Status.ConnectionString)
	}
	c.move(tb, c.requested.Spec.NodeName, node)
	return c
}

// settle runs passes until one has nothing to do.
func settle(tb testing.TB, w *sim.Cluster) {
	tb.Helper()
	const most = 20
	for range most {
		p := reconcile.Pass{Stages: stages.Cluster(), Observer: w, Actor: w, Report: func(reconcile.Event) {}, Seed: 1}
		done, err := p.Run(tb.Context())
		if err != nil {
			tb.Fatal(err)
		}
		if done.Outcome == reconcile.Done {
			return
		}
		w.Tick(max(done.RetryAfter, 5*time.Second))
	}
	tb.Fatal("the simulated cluster does not settle")
}

// move has the asked pod say something else of itself, in its object, in the resource and in
// the status document: its node, or its address.
func (c *benchCluster) move(tb testing.TB, from, to string) {
	tb.Helper()
	text, err := json.Marshal(c.requested)
	if err != nil {
		tb.Fatal(err)
	}
	moved := &corev1.Pod{}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), from, to)), moved); err != nil {
		tb.Fatal(err)
	}
	*c.requested = *moved
	if string(c.group.FaultDomain) == from {
		c.group.FaultDomain = v1beta2.FaultDomain(to)
	}
	if i := slices.Index(c.group.Addresses, from); i >= 0 {
		c.group.Addresses[i] = to
	}
	c.status = replacedInProcess(tb, c.status, string(c.group.ProcessGroupID), from, to)
}

// replacedInProcess replaces a text in what one process reports, and in the list of
// coordinators.
func replacedInProcess(tb testing.TB, status, id, from, to string) string {
	tb.Helper()
	var document map[string]map[string]json.RawMessage
	if err := json.Unmarshal([]byte(status[strings.Index(status, "{"):]), &document); err != nil {
		tb.Fatal(err)
	}
	var processes map[string]json.RawMessage
	if err := json.Unmarshal(document["cluster"]["processes"], &processes); err != nil {
		tb.Fatal(err)
	}
	for key, process := range processes {
		if strings.Contains(string(process), `"`+id+`"`) {
			processes[key] = replaced(process, from, to)
		}
	}
	var err error
	if document["cluster"]["processes"], err = json.Marshal(processes); err != nil {
		tb.Fatal(err)
	}
	document["client"]["coordinators"] = replaced(document["client"]["coordinators"], from+":", to+":")
	text, err := json.MarshalIndent(document, "", "    ")
	if err != nil {
		tb.Fatal(err)
	}
	return string(text) + "\n"
}

func replaced(text json.RawMessage, from, to string) json.RawMessage {
	return json.RawMessage(strings.ReplaceAll(string(text), from, to))
}
