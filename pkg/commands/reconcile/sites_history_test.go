package reconcile_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// siteHistory is a database over one to three sites whose API servers are cut off at random, and whose Leases others take.
type siteHistory struct {
	t      *testing.T
	g      *commandstest.Given
	random *rand.Rand
	names  []string
	// still is how many timers the sites stay as they are.
	still int
	// troubled is false once nothing happens any more.
	troubled bool
}

// changes are what histories change at all sites.
var changes = []func(*v1beta2.FoundationDBClusterSpec){
	oneMoreStorage,
	func(s *v1beta2.FoundationDBClusterSpec) { s.Version = "7.4.6" },
	func(s *v1beta2.FoundationDBClusterSpec) {
		s.AutomationOptions.SynchronizationMode = new(v1beta2.SynchronizationModeGlobal)
		s.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_min_available_space_ratio=0.01"}},
		}
	},
	func(s *v1beta2.FoundationDBClusterSpec) {
		s.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
		s.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {
			PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{PriorityClassName: "high", Containers: []corev1.Container{{Name: "foundationdb"}}}},
		}}
	},
}

func newSiteHistory(t *testing.T, seed uint64) *siteHistory {
	t.Helper()
	h := &siteHistory{t: t, random: rand.New(rand.NewPCG(seed, 41)), troubled: true}
	h.names = []string{"dc1", "dc2", "dc3"}[:1+h.random.IntN(3)]
	h.g = commandstest.OverSites(t, h.names...)
	changed(h.g, changes[h.random.IntN(len(changes))])
	for _, name := range h.names {
		h.g.Sites[name].Cluster.Refuse = func(a plan.Action) error { h.before(name, a); return nil }
		h.g.Sites[name].Clock.OnTimer = h.timer
	}
	h.g.Clock.OnTimer = h.timer
	return h
}

// before checks what has to be true before an action at a site, and then may cut one off.
func (h *siteHistory) before(name string, a plan.Action) {
	if held := leases(h.g); held != len(h.names) {
		h.t.Errorf("%s: %s with %d of %d Leases", name, a.Describe(), held, len(h.names))
	}
	for _, other := range h.names {
		if h.g.Sites[other].Down != nil && !plan.EffectOf(a).Parallel {
			h.t.Errorf("%s: %s while %s is lost", name, a.Describe(), other)
		}
	}
	h.deletesOneZone(name, a)
	if h.troubled && !plan.EffectOf(a).Parallel && h.random.IntN(8) == 0 {
		h.g.LoseSite(h.names[h.random.IntN(len(h.names))])
		h.still = 1 + h.random.IntN(40)
	}
}

// deletesOneZone requires that the pods of at most one zone are down over all sites where pods are deleted to be recreated.
func (h *siteHistory) deletesOneZone(name string, a plan.Action) {
	deletion, is := a.(plan.DeletePods)
	if !is {
		return
	}
	for _, site := range h.g.Sites {
		for _, pod := range site.Cluster.Pods {
			if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning {
				h.t.Errorf("%s: %s while %s is down", name, deletion.Describe(), pod.Name)
			}
		}
	}
}

// timer lets sites return after a while, and other runs take and release Leases.
func (h *siteHistory) timer(time.Duration) bool {
	if h.still--; h.still > 0 {
		return false
	}
	for _, site := range h.g.Sites {
		site.Down, site.Cluster.LeaseHolder = nil, ""
	}
	if h.troubled && h.random.IntN(6) == 0 {
		h.g.Sites[h.names[h.random.IntN(len(h.names))]].Cluster.LeaseHolder = "them@there"
		h.still = 1 + h.random.IntN(20)
	}
	return false
}

// run runs the command until all sites are reconciled.
func (h *siteHistory) run() {
	line := reconcileOver(strings.Join(h.names, ","), "--yes")
	for n := range 60 {
		if n == 20 {
			h.troubled = false
		}
		more := []string{"--wait", "--timeout", fmt.Sprintf("%dm", 1+h.random.IntN(30))}
		code := h.g.Run(append(line, more[:3*h.random.IntN(2)]...)...)
		if held := leases(h.g); held != 0 {
			h.t.Errorf("%d Leases are held after run %d", held, n)
		}
		if code == exit.ExitDone {
			return
		}
		if code == exit.ExitInternal || code == exit.ExitUsage {
			h.t.Fatalf("run %d: exit code %d: %s%s", n, code, &h.g.Out, &h.g.Err)
		}
		h.g.Clock.Cluster.Tick(30 * time.Second)
		h.timer(0)
	}
	h.t.Errorf("never reconciled: %s%s", &h.g.Out, &h.g.Err)
}

func TestDatabasesOverSitesThatAreCutOffAtRandomAreReconciledSafely(t *testing.T) {
	for seed := uint64(7); seed <= 10; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { newSiteHistory(t, seed).run() })
	}
}
