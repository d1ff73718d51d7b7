package inspect

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// ToleranceView is how many more zones may fail.
type ToleranceView struct {
	Origin
	// Mode is the redundancy mode in the spec.
	Mode string `json:"mode"`
	// Desired is how many zones may fail in a reconciled cluster.
	Desired int `json:"desired"`
	// Zones is how many zones may fail now without loss of data: the least of what
	// the database reports and of what is left without processes that stopped reporting less
	// than two minutes ago.
	// Null when the database does not report it.
	Zones *int `json:"zones"`
	// ZonesAvailable is the same without loss of availability.
	ZonesAvailable *int `json:"zonesAvailable"`
	// Reported is Zones as the database reports it. For about a minute after a storage
	// process died, it is too high.
	Reported *int `json:"reported"`
	// ZonesNotReporting are the zones with processes that hold data and do not report.
	ZonesNotReporting []string `json:"zonesNotReporting"`
}

func (f Facts) Tolerance() ToleranceView {
	v := ToleranceView{
		Origin: f.FromDatabase(), Mode: f.Desired.RedundancyMode, Desired: f.Cluster.FaultTolerance(),
		ZonesNotReporting: []string{},
	}
	if f.Database.Status == nil {
		return v
	}
	v.ZonesNotReporting = OrEmpty(f.ZonesNotReporting())
	if reported := f.Database.Status.Cluster.FaultTolerance; reported != nil && f.Database.Available() {
		left := max(0, v.Desired-len(f.zonesNotReporting(f.mayBeUnnoticed)))
		v.Reported = reported.WithoutLosingData
		v.Zones = leastOf(reported.WithoutLosingData, left)
		v.ZonesAvailable = leastOf(reported.WithoutLosingAvailability, left)
	}
	return v
}

func leastOf(reported *int, most int) *int {
	if reported == nil {
		return nil
	}
	n := max(0, min(*reported, most))
	return &n
}

// ZonesNotReporting returns the zones of processes that hold data and do not report. The status
// of the resource lists them: they reported in that zone and are not excluded. The database
// itself takes about a minute to miss a storage process.
func (f Facts) ZonesNotReporting() []string {
	return f.zonesNotReporting(func(*v1beta2.ProcessGroupStatus) bool { return true })
}

// noticedAfter is longer than the database takes to count a storage process as lost, which is 66 to
// 70 s. From then on what it reports is right, also once the data is complete without the process.
const noticedAfter = 2 * time.Minute

// mayBeUnnoticed reports whether the database may still count the processes of a group that do not report.
func (f Facts) mayBeUnnoticed(g *v1beta2.ProcessGroupStatus) bool {
	since := f.Outage(g).Since
	return since.IsZero() || f.Now.Sub(since) < noticedAfter
}

func (f Facts) zonesNotReporting(counts func(*v1beta2.ProcessGroupStatus) bool) []string {
	var zones []string
	for _, g := range f.Groups() {
		if !f.keepsData(g) || !f.isNotReporting(g) || !counts(g) {
			continue
		}
		if zone := string(g.FaultDomain); !slices.Contains(zones, zone) {
			zones = append(zones, zone)
		}
	}
	slices.Sort(zones)
	return zones
}

// keepsData reports whether a group may hold data that counts: one without a zone
// never reported, so it never got any.
func (f Facts) keepsData(g *v1beta2.ProcessGroupStatus) bool {
	return g.ProcessClass.IsStateful() && g.ProcessClass != v1beta2.ProcessClassCoordinator && !g.IsExcluded() && g.FaultDomain != ""
}
