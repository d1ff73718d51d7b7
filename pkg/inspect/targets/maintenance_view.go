package targets

import (
	"maps"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// MaintenanceView is the zone under maintenance.
type MaintenanceView struct {
	inspect.Document
	// Zone is empty when none is.
	Zone string `json:"zone"`
	// SecondsLeft is null when no zone is under maintenance.
	SecondsLeft *float64 `json:"secondsLeft"`
	// Notes are the process groups that were due to restart when maintenance began: a pass
	// ends it once all have restarted. Null when they were not read: the spec does not use
	// them, or they cannot be read.
	Notes []MaintenanceNote `json:"notes" schema:"nullable"`
}

// MaintenanceNote is a process group that is due to restart during maintenance.
type MaintenanceNote struct {
	ProcessGroup string     `json:"processGroup"`
	Since        *time.Time `json:"since"`
}

// NewMaintenanceView makes the document of facts by which the zone under maintenance is known.
func NewMaintenanceView(m inspect.Metadata, f inspect.Facts) MaintenanceView {
	v := MaintenanceView{Document: inspect.NewDocument("Maintenance", m, f.Database.AsOf, inspect.SourceLive)}
	if now, _ := f.Maintenance(); now.Active() {
		v.Zone, v.SecondsLeft = now.Zone, new(now.Remaining.Seconds())
	}
	if f.Coordination.Read && f.Cluster.ResetMaintenanceMode() {
		v.Notes = maintenanceNotes(f)
	}
	return v
}

func maintenanceNotes(f inspect.Facts) []MaintenanceNote {
	notes := []MaintenanceNote{}
	for _, id := range slices.Sorted(maps.Keys(f.Coordination.Maintenance)) {
		notes = append(notes, MaintenanceNote{ProcessGroup: string(id), Since: inspect.Known(f.Coordination.Maintenance[id])})
	}
	return notes
}

// Maintained returns the progress of putting a zone under maintenance.
func Maintained(f inspect.Facts, zone string) inspect.Target {
	t := inspect.Target{ID: "zone " + zone, Phase: phasePending}
	now, known := f.Maintenance()
	switch {
	case !known:
		t.Phase, t.Note = "unknown", unknownMaintenance(f)
	case now.Zone == zone:
		t.Phase, t.Note, t.Reached = "maintained", phrase.Duration(now.Remaining)+" left", true
	case now.Active():
		t.Note = "zone " + now.Zone + " is under maintenance"
	}
	return t
}

// NotMaintained returns the progress of ending maintenance.
func NotMaintained(f inspect.Facts) inspect.Target {
	t := inspect.Target{ID: "maintenance", Phase: "ended", Reached: true}
	now, known := f.Maintenance()
	switch {
	case !known:
		t.Phase, t.Note, t.Reached = "unknown", unknownMaintenance(f), false
	case now.Active():
		t.Phase, t.Note, t.Reached = "active", "zone "+now.Zone, false
	}
	return t
}

func unknownMaintenance(f inspect.Facts) string {
	if f.Database.Available() {
		return "the database does not report it"
	}
	return phrase.Or(f.Database.Why(), "the database is unavailable")
}

// ZonesOfStorage returns the zones of processes that hold data, by the database and by the
// status of the resource.
func ZonesOfStorage(f inspect.Facts) []string {
	zones := map[string]bool{}
	for _, g := range f.Cluster.Status.ProcessGroups {
		if g.ProcessClass.IsAffectedByMaintenance() && g.FaultDomain != "" {
			zones[string(g.FaultDomain)] = true
		}
	}
	if f.Database.Status != nil {
		for _, p := range f.Database.Status.Cluster.Processes {
			if v1beta2.ProcessClass(p.ClassType).IsAffectedByMaintenance() && p.Zone() != "" {
				zones[p.Zone()] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(zones))
}
