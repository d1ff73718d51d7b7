package execute

import (
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

// region is which region of a database is lost, and what is left.
type region struct {
	// eligible is whether the second region may become primary.
	eligible bool
	// satellite is whether a third data center has coordinators and satellite logs of the first one.
	satellite bool
	// primary is whether the lost region is the primary one.
	primary bool
	// forGood is whether its volumes are lost as well.
	forGood bool
	// other is the region that is left.
	other *ruin
}

const (
	firstDC, secondDC, satelliteDC = "dc1", "dc2", "dc3"
)

// firstRegion is the spec of a database in its first data center alone.
func (o *ordeal) firstRegion(s *v1beta2.FoundationDBClusterSpec) {
	names := o.setup.IntN(3) > 0
	s.Routing.UseDNSInClusterFile = &names
	s.DataCenter, s.ProcessGroupIDPrefix = firstDC, firstDC
	s.ProcessCounts = v1beta2.ProcessCounts{Storage: 3, Log: 4, Stateless: 3}
	s.DatabaseConfiguration.UsableRegions = 1
	s.DatabaseConfiguration.Regions = []v1beta2.Region{{Datacenters: []v1beta2.DataCenter{{ID: firstDC, Priority: 1}}}}
}

// addRegions adds a second region, and by seed a data center with satellites.
func (o *ordeal) addRegions() {
	o.region = region{eligible: o.setup.IntN(3) > 0, satellite: o.setup.IntN(2) == 0}
	names := []string{secondDC}
	if o.region.satellite {
		names = append(names, satelliteDC)
	}
	for _, dc := range names {
		o.join(dc)
	}
	first := v1beta2.Region{Datacenters: []v1beta2.DataCenter{{ID: firstDC, Priority: 1}}}
	second := v1beta2.Region{Datacenters: []v1beta2.DataCenter{{ID: secondDC, Priority: -1}}}
	if o.region.eligible {
		second.Datacenters[0].Priority = 0
	}
	if o.region.satellite {
		first.Datacenters = append(first.Datacenters, v1beta2.DataCenter{ID: satelliteDC, Priority: 1, Satellite: 1})
		first.SatelliteRedundancyMode, first.SatelliteLogs = "one_satellite_double", 2
	}
	for _, r := range o.site {
		r.Resource.Spec.DatabaseConfiguration.UsableRegions, r.Resource.Spec.DatabaseConfiguration.Regions = 2, []v1beta2.Region{first, second}
		r.Resource.Generation++
	}
	if !o.settleSite() {
		o.t.Fatal("no two regions came up")
	}
}

// join adds a data center to the database.
func (o *ordeal) join(dc string) {
	c := o.Resource.DeepCopy()
	c.Name, c.UID, c.Status = "sample-"+dc, types.UID(dc), v1beta2.FoundationDBClusterStatus{}
	c.Spec.DataCenter, c.Spec.ProcessGroupIDPrefix, c.Spec.SeedConnectionString = dc, dc, o.Resource.Status.ConnectionString
	w, err := o.Join(c)
	if err != nil {
		o.t.Fatal(err)
	}
	r := ruinOf(o.t, w, o.seed+uint64(len(o.site)))
	for n := range 20 {
		w.Nodes = append(w.Nodes, dc+"-node-"+strconv.Itoa(n+1))
	}
	o.site = append(o.site, r)
	r.comesUp()
}

// settleSite runs passes in all data centers in turn until none has anything to do.
func (o *ordeal) settleSite() bool {
	const most = 40
	for range most {
		done := true
		for _, r := range o.site {
			done = r.pass(stages.Cluster()).Settled() && done
		}
		if done {
			return true
		}
		o.Tick(70 * time.Second)
	}
	return false
}

// loseRegion loses all pods of a region, and by seed their PVCs, or their volumes.
func (o *ordeal) loseRegion() {
	o.region.other = o.site[1]
	if o.region.primary = !o.oneIn(3); !o.region.primary {
		o.ruin, o.region.other = o.site[1], o.site[0]
	}
	o.Address = o.fresh()
	o.tell("region of %s is lost (primary: %t), second region eligible: %t, satellite: %t", o.Resource.Spec.DataCenter, o.region.primary, o.region.eligible, o.region.satellite)
	o.killAll()
	switch o.random.IntN(3) {
	case 0:
	case 1:
		for name := range o.data {
			delete(o.Volumes, name)
			o.volumes[o.data[name]].Status.Phase = corev1.VolumeReleased
		}
		o.tell("its PVCs are lost")
	default:
		o.region.forGood = true
		for _, name := range slices.Sorted(maps.Keys(o.data)) {
			delete(o.Volumes, name)
			o.LoseDisk(podOfClaim(name))
		}
		clear(o.data)
		clear(o.volumes)
		o.tell("its volumes are lost")
	}
}

// recoverRegion verifies what the other region does without the lost one, and brings that back.
func (o *ordeal) recoverRegion() {
	o.Tick(2 * time.Minute)
	available := o.withoutRegion()
	if o.region.forGood && !available {
		o.lostForGood()
		return
	}
	if o.region.forGood {
		o.end = endRecovered // passes create its process groups again
	} else {
		o.ambiguous = o.ambiguous || !available && !*o.Resource.Spec.Routing.UseDNSInClusterFile
		o.recover()
	}
	if o.end == endRecovered {
		o.wayBack()
	}
}

// withoutRegion verifies the plan and the passes of the other region. It reports whether the database is
// available.
func (o *ordeal) withoutRegion() bool {
	other := o.region.other
	p, f := other.plan(), other.facts()
	quorum, available := f.Quorum != nil && *f.Quorum, f.Available != nil && *f.Available
	o.tell("plan of the other region: %s, quorum %t, available %t", p.Kind, quorum, available)
	switch want := o.region.eligible || !o.region.primary; {
	case p.Handled || len(p.Steps) > 0:
		o.violate("the plan of the other region has steps: %s %v", p.Kind, p.Steps)
	case !quorum && (p.Kind != recovery.RegionLost || len(p.Obstacles) == 0 || len(p.Manual) == 0):
		o.violate("no quorum answers without the lost region, and the plan is %s", p.Kind)
	case quorum && want != available:
		o.violate("a quorum answers, the other region can be primary: %t, and the database is available: %t", want, available)
	case quorum && !available && p.Kind != recovery.DatabaseDown || available && p.Kind != recovery.NothingLost:
		o.violate("quorum %t, available %t, and the plan is %s", quorum, available, p.Kind)
	}
	if available {
		o.markIn(other, "late")
	}
	before := len(other.Acted)
	for _, dc := range []string{firstDC, secondDC} {
		to := operations.PrimaryRegion{DataCenter: dc, SetElsewhere: true}
		other.pass(stages.Marking(operations.SetPrimaryRegion(to), clusterstages.UpdateDatabaseConfiguration))
	}
	for range 3 {
		other.pass(stages.Cluster())
		o.Tick(30 * time.Second)
	}
	other.Resource.Spec.DatabaseConfiguration.UsableRegions = 1 // a user removes the lost region
	for range 3 {
		other.pass([]plan.Stage{clusterstages.UpdateDatabaseConfiguration})
		o.Tick(time.Minute)
	}
	other.Resource.Spec.DatabaseConfiguration.UsableRegions = 2
	for _, a := range other.Acted[before:] {
		switch any(a).(type) {
		case plan.SetPriorities, plan.Configure:
			o.violate("without the lost region: %s", a.Describe())
		}
	}
	return available
}

// facts are those of a cluster now.
func (r *ruin) facts() recovery.Facts {
	r.t.Helper()
	f, _, err := r.read(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return f
}

// lostForGood verifies that nothing is recovered without the volumes of a majority of coordinators or of the
// only region that may be primary.
func (o *ordeal) lostForGood() {
	if p := o.plan(); p.Handled {
		o.violate("the volumes are lost, the database is not available, and the plan has steps: %s %v", p.Kind, p.Steps)
	} else {
		o.tell("plan: %s %v", p.Kind, p.Obstacles)
	}
	o.taken = true // a pass creates pods without state under the names of coordinators
	for range 3 {
		o.pass(stages.Cluster())
		o.Tick(30 * time.Second)
	}
	o.notWorse()
	o.end = endRefused
}

// wayBack has passes complete all regions. The first one is primary again, and both have all data.
func (o *ordeal) wayBack() {
	o.cut, o.killed = cut{}, false
	if !o.settleSite() {
		o.violate("passes over both regions do not settle")
	}
	var s plan.Snapshot
	if err := o.Observe(o.t.Context(), &s, plan.Database); err != nil || s.Database.Status == nil {
		o.violate("the database does not answer: %v %s", err, s.Database.Why())
		return
	}
	if dc := s.Database.Status.Cluster.ActivePrimaryDC; dc != firstDC {
		o.violate("%s serves after both regions are back", dc)
	}
	for _, r := range o.site[:2] {
		if !replicatedIn(s, r) {
			o.violate("%s has no storage process with data", r.Resource.Spec.DataCenter)
		}
	}
	o.verify(recovery.Plan{})
}

// replicatedIn reports whether storage processes of a data center report data.
func replicatedIn(s plan.Snapshot, r *ruin) bool {
	return slices.ContainsFunc(s.Database.Status.ProcessList(), func(p fdb.Process) bool {
		return p.DC() == r.Resource.Spec.DataCenter && p.HasRole("storage")
	})
}
