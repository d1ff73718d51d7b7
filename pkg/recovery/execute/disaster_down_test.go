package execute

import (
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

// excludeTooMany excludes all process groups but some, and has the database recover: too few processes are
// left for it.
func (o *ordeal) excludeTooMany() {
	running := o.RunningPods()
	o.random.Shuffle(len(running), func(i, j int) { running[i], running[j] = running[j], running[i] })
	kept := o.random.IntN(2)
	var targets []string
	for _, name := range running[kept:] {
		targets = append(targets, o.Pods[name].Status.PodIP)
	}
	if _, err := simtest.Type(o.Cluster, "exclude FORCE no_wait "+strings.Join(targets, " ")); err != nil {
		o.t.Fatal(err)
	}
	o.tell("%d of %d pods are excluded", len(targets), len(running))
	for _, name := range running {
		if strings.Contains(name, "-stateless-") {
			o.KillServers(name)
		}
	}
	o.full = o.oneIn(3)
	o.FDB.Databases()[0].SetFaults(fdbsim.Faults{FullDisks: o.full})
	o.tell("disks are full: %t", o.full)
	o.Tick(time.Minute)
}

// recruiting is the state of a recovery that finds too few processes.
const recruiting = "recruiting_transaction_servers"

// recoverDown follows the steps of the plan, which apply does not take.
func (o *ordeal) recoverDown() {
	p := o.plan()
	o.tell("plan: %s, handled %t, lost: %s %v", p.Kind, p.Handled, p.Lost, p.Manual)
	if p.Kind != recovery.DatabaseDown || p.Handled || len(p.Manual) == 0 {
		o.violate("too few processes can be recruited, and the plan is %s, with steps: %t", p.Kind, p.Handled)
		return
	}
	if state := o.facts().Outage.RecoveryState; state != recruiting {
		o.violate("the recovery state is %s", state)
	}
	if o.full != (len(p.Obstacles) > 0) {
		o.violate("disks are full: %t, and the obstacles are %v", o.full, p.Obstacles)
	}
	o.FDB.Databases()[0].SetFaults(fdbsim.Faults{}) // a user expands the PVCs
	before := len(o.Acted)
	for range 3 {
		o.pass(stages.Cluster())
		o.Tick(20 * time.Second)
	}
	for _, a := range o.Acted[before:] {
		if !harmless(a) {
			o.violate("a pass over a database that is down: %s", a.Describe())
		}
	}
	o.notWorse()
	o.enlarge()
	if p := o.plan(); p.Kind != recovery.NothingLost {
		o.violate("process groups were added, and the plan is %s: %v", p.Kind, p.Evidence)
		return
	}
	o.mark("late")
	o.endExclusions()
	o.end = endRecovered
	o.verify(recovery.Plan{})
	if !o.settle(mostPasses) {
		o.violate("passes do not settle after the exclusions ended")
	}
	o.verify(recovery.Plan{})
}

// enlarge adds as many process groups as the plan requires.
func (o *ordeal) enlarge() {
	counts := &o.Resource.Spec.ProcessCounts
	counts.Log += o.facts().Outage.Replicas
	counts.Stateless++
	o.Resource.Generation++
	for range 4 {
		o.pass(stages.Cluster())
		o.Tick(20 * time.Second)
	}
	o.Tick(time.Minute)
}

// endExclusions ends all exclusions, as `include --all` does.
func (o *ordeal) endExclusions() {
	if _, err := simtest.Type(o.Cluster, "include all"); err != nil {
		o.violate("include: %v", err)
	}
	o.Tick(2 * time.Minute)
	var s plan.Snapshot
	if err := o.Observe(o.t.Context(), &s, plan.Database); err != nil || !s.Database.Available() {
		o.violate("not available after the exclusions ended: %v %s", err, s.Database.Why())
	}
}
