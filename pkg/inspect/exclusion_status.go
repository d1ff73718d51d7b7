package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// ExclusionQuestion selects exclusions.
type ExclusionQuestion struct {
	// Keep selects process groups; nil for all.
	Keep func(*v1beta2.ProcessGroupStatus) bool
	// Named lists the selected groups even if they are not excluded: an empty list would
	// read as safe.
	Named bool
	// Others lists exclusions that cover no process group of the resource, too.
	Others bool
}

// NewExclusionStatusView makes the document, and adds what it read to the history.
func NewExclusionStatusView(m Metadata, f Facts, q ExclusionQuestion, h *DrainHistory) ExclusionStatusView {
	v := ExclusionStatusView{
		Document: NewDocument("ExclusionStatus", m, f.Now, f.FromDatabase().Source),
		Items:    []DrainView{}, Data: f.drainData(),
	}
	v.Warnings = append(v.Warnings, f.Warnings...)
	for _, g := range f.Groups() {
		if q.Keep == nil || q.Keep(g) {
			v.Items = append(v.Items, f.drains(g, q, h)...)
		}
	}
	others := f.drainsOfOthers(h)
	if q.Others {
		v.Items = append(v.Items, others...)
		others = nil
	}
	if f.Coordination.ExclusionsRead {
		n := len(others)
		v.Others = &n
	}
	v.Safe, v.Summary = f.drainVerdict(v.Items)
	return v
}

// drainVerdict summarizes the rows. Without an answer of the database it is unknown.
func (f Facts) drainVerdict(items []DrainView) (safe *bool, summary string) {
	if !f.Database.Available() {
		return nil, "unknown: " + phrase.Or(f.Database.Why(), "the database is unavailable")
	}
	if !f.Coordination.ExclusionsRead {
		return nil, "unknown: the exclusions in force and in progress could not be read"
	}
	unsafe := slices.DeleteFunc(slices.Clone(items), func(d DrainView) bool { return d.State == ExclusionSafe })
	all := len(unsafe) == 0
	switch {
	case len(items) == 0:
		return &all, "no exclusions, and none pending"
	case len(items) == 1 && all:
		return &all, "1 of 1 is safe: the database does not depend on it"
	case all:
		return &all, fmt.Sprintf("all %d are safe: the database does not depend on them", len(items))
	case len(unsafe) == 1:
		return &all, fmt.Sprintf("1 of %d is not safe to remove; %s left on it", len(items), leftWords(unsafe))
	default:
		return &all, fmt.Sprintf("%d of %d are not safe to remove; %s left on them", len(unsafe), len(items), leftWords(unsafe))
	}
}

// leftWords returns how much is left to move off. Where that is unknown of some, the sum of
// the others is the minimum.
func leftWords(items []DrainView) string {
	left, known := int64(0), true
	for _, d := range items {
		if d.LeftBytes != nil {
			left += *d.LeftBytes
		} else if d.Roles == nil || slices.Contains(d.Roles, fdb.RoleStorage) {
			known = false
		}
	}
	switch {
	case known:
		return phrase.Bytes(left)
	case left == 0:
		return "an unknown amount is"
	default:
		return "at least " + phrase.Bytes(left)
	}
}

// drains returns the rows of a process group: one for each of its processes, or one for the
// group where none reports. A group without an exclusion, present or pending, has none
// unless it is named.
func (f Facts) drains(g *v1beta2.ProcessGroupStatus, q ExclusionQuestion, h *DrainHistory) []DrainView {
	state := f.exclusionInForce(g)
	if !q.Named && (state == NotExcluded || state == ExclusionSkipped || state == ExclusionUnknown) {
		return nil
	}
	proof := safety.Drained(f.Snapshot, g)
	var rows []DrainView
	for _, p := range f.ProcessesOf(g) {
		row := f.drainOf(p)
		if state == ExclusionRequested {
			row.follow(h, p.ID, f.Database.AsOf)
		}
		row.ID = string(g.ProcessGroupID)
		row.judge(state, proof, f.exclusionProgress(proof, p))
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		row := DrainView{ID: string(g.ProcessGroupID), Process: strings.Join(g.Addresses, ",")}
		row.judge(state, proof, f.progressWithout(proof, g.Addresses))
		rows = append(rows, row)
	}
	return rows
}

// exclusionInForce returns whether a group's exclusion is in the database. Where the database
// does not report that, one in the status is unverified.
func (f Facts) exclusionInForce(g *v1beta2.ProcessGroupStatus) Exclusion {
	inForce := f.IsExcludedInDatabase(g) || slices.ContainsFunc(f.Coordination.Exclusions, func(target string) bool { return coversGroup(target, g) })
	switch {
	case inForce:
		return ExclusionRequested
	case g.ExclusionSkipped:
		return ExclusionSkipped
	case !f.ReportsExclusions() && (g.IsMarkedForRemoval() || g.IsExcluded() || g.HasCondition(v1beta2.ConditionProcessIsMarkedAsExcluded)):
		return ExclusionUnverified
	case !f.ReportsExclusions():
		return ExclusionUnknown
	case g.IsMarkedForRemoval():
		return ExclusionPending
	default:
		return NotExcluded
	}
}

// ReportsExclusions reports whether the exclusions in force are known. Before the database
// exists there are none.
func (f Facts) ReportsExclusions() bool {
	return !f.Cluster.Status.Configured || f.Database.Status.ListsProcesses() || f.Coordination.ExclusionsRead
}

// judge sets the state of a process, which is the progress if its exclusion is in force. Only the
// proof that passes require makes it safe.
func (v *DrainView) judge(state Exclusion, proof plan.Check, progress Exclusion) {
	v.State, v.Reason = state, proof.Evidence
	switch {
	case state == ExclusionUnverified:
	case state != ExclusionRequested:
		v.Reason = map[Exclusion]string{
			NotExcluded: "it is not excluded", ExclusionPending: "it is marked for removal and not excluded yet",
			ExclusionSkipped: "it is removed without being excluded", ExclusionUnknown: "exclusions are unknown: " + proof.Evidence,
		}[state]
	default:
		v.State = progress
		if proof.OK {
			v.Reason = ""
		}
	}
}

// exclusionProgress returns the progress of an exclusion of processes that is in force.
func (f Facts) exclusionProgress(proof plan.Check, processes ...fdb.Process) Exclusion {
	if !proof.OK && f.RolesCanBeTrusted() && slices.ContainsFunc(processes, f.StillHolds) {
		return ExclusionMoving
	}
	return f.progressOfNothing(proof)
}

// progressWithout returns it where no process reports: the database may still list the addresses.
func (f Facts) progressWithout(proof plan.Check, addresses []string) Exclusion {
	if !proof.OK && f.RolesCanBeTrusted() && f.inProgress(addresses...) {
		return ExclusionMoving
	}
	return f.progressOfNothing(proof)
}

// progressOfNothing returns it where nothing known is left to move.
func (f Facts) progressOfNothing(proof plan.Check) Exclusion {
	switch {
	case proof.OK:
		return ExclusionSafe
	case !f.RolesCanBeTrusted():
		return ExclusionRequested
	case f.Coordination.ExclusionsRead:
		return ExclusionUnverified
	default:
		return ExclusionRequested
	}
}

func (f Facts) RolesCanBeTrusted() bool {
	s := f.Database.Status
	return s != nil && s.Available() && s.FullyRecovered() && s.RolesKnown()
}

// StillHolds reports whether a process has data or roles left.
func (f Facts) StillHolds(p fdb.Process) bool {
	return len(p.Roles) > 0 || f.inProgress(p.Address.HostPort())
}

// inProgress reports whether the database lists an exclusion of any of these IPs or addresses
// as in progress.
func (f Facts) inProgress(places ...string) bool {
	return slices.ContainsFunc(f.Coordination.InProgressExclusions, func(address string) bool {
		return slices.Contains(places, address) || slices.Contains(places, HostOf(address))
	})
}

// drainOf returns what a process has left.
func (f Facts) drainOf(p fdb.Process) DrainView {
	v := DrainView{Process: p.Address.HostPort()}
	if !f.Database.Status.RolesKnown() {
		return v
	}
	v.Roles = []string{}
	stores := p.ClassType == string(v1beta2.ProcessClassStorage) && f.Database.Status.FullyRecovered()
	left, known := int64(0), true
	for _, r := range p.Roles {
		v.Roles = append(v.Roles, r.Role)
		if r.Role != fdb.RoleStorage {
			continue
		}
		stores, known = true, known && r.StoredBytes != nil
		if r.StoredBytes != nil {
			left += *r.StoredBytes
		}
	}
	slices.Sort(v.Roles)
	v.Roles = slices.Compact(v.Roles)
	if stores && known {
		v.LeftBytes = &left
	}
	return v
}

// follow adds what is left to the history, and takes over the progress.
func (v *DrainView) follow(h *DrainHistory, process string, at time.Time) {
	if v.LeftBytes == nil {
		return
	}
	p := h.add(process, at, *v.LeftBytes)
	v.MovedBytes, v.StalledSeconds = p.moved(), p.stalled()
	if rate, _, known := p.rate(); known {
		v.RateBytesPerSecond = &rate
	}
	v.ETASeconds, v.ETASecondsSoonest, v.ETASecondsLatest = p.eta()
}

func (f Facts) drainData() DrainData {
	v := DrainData{Origin: f.FromDatabase(), ReplicasDesired: f.Cluster.MinimumFaultDomains()}
	if f.Database.Status == nil || f.Database.Status.Cluster.Data == nil {
		return v
	}
	d := f.Database.Status.Cluster.Data
	if d.MovingData != nil {
		v.InFlightBytes, v.QueuedBytes = d.MovingData.InFlightBytes, d.MovingData.InQueueBytes
	}
	for _, t := range d.TeamTrackers {
		v.MinReplicas = append(v.MinReplicas, RegionReplicas{t.Primary, t.State.MinReplicasRemaining})
	}
	v.LeastSpaceStorageBytes, v.LeastSpaceLogBytes = d.LeastOperatingSpaceBytesStorageServer, d.LeastOperatingSpaceBytesLogServer
	return v
}
