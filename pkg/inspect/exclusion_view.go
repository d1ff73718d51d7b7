package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// ExclusionStatusView is the document of `exclusion status`: the progress of exclusions.
type ExclusionStatusView struct {
	Document
	// Safe is whether all that is listed is proven to be drained; null when unknown.
	Safe *bool `json:"safe"`
	// Summary is the state in one sentence.
	Summary string      `json:"summary"`
	Items   []DrainView `json:"items"`
	// Data is the state of data distribution in the whole database.
	Data DrainData `json:"data"`
	// Others counts exclusions that are not listed, since they cover no process group of the
	// resource; null when exclusions could not be read.
	Others *int `json:"others"`
}

// DrainView is one excluded process, or a process group of which none reports.
type DrainView struct {
	// ID is the process group; empty for an exclusion that covers none.
	ID string `json:"id,omitempty"`
	// Process is the address; of a group that does not report, the last known one.
	Process string `json:"process,omitempty"`
	// Roles are null when the database does not report them.
	Roles []string  `json:"roles"`
	State Exclusion `json:"state"`
	// Reason is why it is not safe; empty when it is.
	Reason string `json:"reason,omitempty"`
	// LeftBytes is what storage roles still hold; null for processes without.
	LeftBytes *int64 `json:"leftBytes"`
	// MovedBytes is what was moved since the first sample; null before the second.
	MovedBytes *int64 `json:"movedBytes"`
	// RateBytesPerSecond is smoothed over the last samples; null before the third.
	RateBytesPerSecond *float64 `json:"rateBytesPerSecond"`
	// ETASeconds is null while no end can be estimated; so are the ends of its range.
	ETASeconds        *float64 `json:"etaSeconds"`
	ETASecondsSoonest *float64 `json:"etaSecondsSoonest"`
	ETASecondsLatest  *float64 `json:"etaSecondsLatest"`
	// StalledSeconds is for how long nothing was moved; null unless it is stalled.
	StalledSeconds *float64 `json:"stalledSeconds"`
}

// DrainData is the state of data distribution in the whole database.
type DrainData struct {
	Origin
	InFlightBytes *int64 `json:"inFlightBytes"`
	QueuedBytes   *int64 `json:"queuedBytes"`
	// MinReplicas is the fewest copies that any data has, by region; null when unknown.
	MinReplicas     []RegionReplicas `json:"minReplicas" schema:"nullable"`
	ReplicasDesired int              `json:"replicasDesired"`
	// LeastSpaceStorageBytes is the free space of the fullest storage process.
	LeastSpaceStorageBytes *int64 `json:"leastSpaceStorageBytes"`
	// LeastSpaceLogBytes is the free space of the fullest log process.
	LeastSpaceLogBytes *int64 `json:"leastSpaceLogBytes"`
}

// RegionReplicas is the fewest copies that any data has in a region.
type RegionReplicas struct {
	Primary bool `json:"primary"`
	// Remaining is null when the region does not report it.
	Remaining *int `json:"remaining"`
}

func (v DrainView) Name() string { return phrase.Or(v.ID, v.Process) + ofProcess(v) }

// ofProcess distinguishes the processes of one group.
func ofProcess(v DrainView) string {
	if v.ID == "" || v.Process == "" {
		return ""
	}
	return " at " + v.Process
}

// List returns the excluded processes with their columns.
func (v ExclusionStatusView) List() list.Table { return list.Of(DrainColumns, v.Items) }

// DrainColumns are the columns of excluded processes.
var DrainColumns = []list.Column[DrainView]{
	{Title: "ID", Meaning: "ID of the process group; - for an exclusion that covers none", Cell: func(_ list.At, d DrainView) list.Cell { return list.Text(d.ID).In(d.Tone().OfID()) }},
	{Title: "PROCESS", Meaning: "Address of the process; the last known one if it does not report", Typical: 21, Min: 15, Drop: 4, Cell: func(_ list.At, d DrainView) list.Cell { return list.Text(d.Process) }},
	{Title: "ROLES", Meaning: "Roles that the process still has", Typical: 20, Min: 10, Drop: 5, Cell: func(_ list.At, d DrainView) list.Cell { return list.Words(d.Roles) }},
	{Title: "STATE", Meaning: "Progress of the exclusion; safe is proven", Typical: 10, Cell: func(_ list.At, d DrainView) list.Cell { return list.Text(d.State).In(d.Tone()) }},
	{Title: "PROGRESS", Meaning: "Share of the data of the first read that was moved; - without data", Typical: 11, Drop: 3, Cell: func(_ list.At, d DrainView) list.Cell { return d.ProgressCell().In(d.Tone()) }, Number: func(_ list.At, d DrainView) *float64 { return d.ProgressCell().Share }},
	{Title: "LEFT", Meaning: "Data that its storage roles still hold", Typical: 7, Drop: 1, Right: true, Cell: func(_ list.At, d DrainView) list.Cell { return d.ofRoles(phrase.BytesOr(d.LeftBytes, "")) }, Number: func(_ list.At, d DrainView) *float64 { return list.Quantity(d.LeftBytes) }},
	{Title: "MOVED", Meaning: "Data that was moved since the first read", Typical: 7, Drop: 7, Right: true, Cell: func(_ list.At, d DrainView) list.Cell { return list.Text(phrase.BytesOr(d.MovedBytes, "")) }, Number: func(_ list.At, d DrainView) *float64 { return list.Quantity(d.MovedBytes) }},
	{Title: "RATE", Meaning: "Data moved per second, over the last reads", Typical: 9, Drop: 6, Right: true, Cell: func(_ list.At, d DrainView) list.Cell { return list.Rate(d.RateBytesPerSecond) }, Number: func(_ list.At, d DrainView) *float64 { return d.RateBytesPerSecond }},
	{Title: "ETA", Meaning: "Likely time until it is safe, with its range", Typical: 12, Drop: 2, Right: true, Cell: func(_ list.At, d DrainView) list.Cell { return d.ETACell() }, Number: func(_ list.At, d DrainView) *float64 { return d.ETASeconds }},
	{Title: "STALLED", Meaning: "Time in which nothing was moved; - unless it is stalled", Typical: 7, Drop: 3, Right: true, Cell: func(_ list.At, d DrainView) list.Cell {
		return list.Text(phrase.SecondsOr(d.StalledSeconds, "")).In(d.stalledTone())
	}, Number: func(_ list.At, d DrainView) *float64 { return d.StalledSeconds }},
}

// Tone is how bad the progress of an exclusion is.
func (v DrainView) Tone() list.Tone {
	switch {
	case v.State == ExclusionSafe:
		return list.Good
	case v.StalledSeconds != nil:
		return list.Bad
	default:
		return list.Warn
	}
}

func (v DrainView) stalledTone() list.Tone {
	if v.StalledSeconds != nil {
		return list.Bad
	}
	return list.Plain
}

// ofRoles is a cell of what roles hold: "?" where the roles are unknown.
func (v DrainView) ofRoles(text string) list.Cell {
	if text == "" && v.Roles == nil && v.State != ExclusionSafe {
		return list.Known("")
	}
	return list.Text(text)
}

// ProgressCell is the share of the data of the first read that has moved away.
func (v DrainView) ProgressCell() list.Cell {
	switch {
	case v.State == ExclusionSafe:
		return list.Part(1)
	case v.LeftBytes == nil || v.MovedBytes == nil || *v.LeftBytes+*v.MovedBytes <= 0:
		return v.ofRoles("")
	default:
		return list.Part(float64(*v.MovedBytes) / float64(*v.LeftBytes+*v.MovedBytes))
	}
}

// ETACell is the likely time and its range; an unknown end is "?".
func (v DrainView) ETACell() list.Cell {
	if v.ETASeconds == nil {
		return list.Text("")
	}
	likely := phrase.Seconds(*v.ETASeconds)
	soonest, latest := phrase.SecondsOr(v.ETASecondsSoonest, phrase.UnknownCell), phrase.SecondsOr(v.ETASecondsLatest, phrase.UnknownCell)
	if soonest == likely && latest == likely {
		return list.Text(likely)
	}
	return list.Text(fmt.Sprintf("%s(%s-%s)", likely, soonest, latest))
}

// Notes returns why exclusions are not safe, what the list leaves out, and the state of data distribution.
func (v ExclusionStatusView) Notes() []string {
	lines := v.Reasons()
	if v.Others != nil && *v.Others > 0 {
		lines = append(lines, phrase.Count(*v.Others, "more exclusion")+phrase.Either(*v.Others,
			" covers no process group of this resource; --all lists it", " cover no process group of this resource; --all lists them"))
	}
	return append(lines, v.Data.Words()...)
}

// Words returns what is moving, how many replicas there are, and how much room.
func (v DrainData) Words() []string {
	return []string{
		fmt.Sprintf("Moving: %s in flight, %s queued", phrase.BytesOr(v.InFlightBytes, phrase.UnknownCell), phrase.BytesOr(v.QueuedBytes, phrase.UnknownCell)),
		"Replicas: " + v.replicas(),
		fmt.Sprintf("Free space of the fullest process: %s storage, %s log", phrase.BytesOr(v.LeastSpaceStorageBytes, phrase.UnknownCell), phrase.BytesOr(v.LeastSpaceLogBytes, phrase.UnknownCell)),
	}
}

func (v DrainData) replicas() string {
	if len(v.MinReplicas) == 0 {
		return phrase.UnknownCell
	}
	words := make([]string, len(v.MinReplicas))
	for i, r := range v.MinReplicas {
		words[i] = fmt.Sprintf("%s of %d at least", phrase.NumberOr(r.left(), phrase.UnknownCell), v.ReplicasDesired)
		if len(v.MinReplicas) > 1 {
			words[i] += map[bool]string{true: " (primary)", false: " (remote)"}[r.Primary]
		}
	}
	return strings.Join(words, ", ")
}

// left is a count of replicas. The database reports the loss of all as -1.
func (r RegionReplicas) left() *int {
	if r.Remaining == nil {
		return nil
	}
	return new(max(0, *r.Remaining))
}

// Reasons returns why exclusions are not safe, equal ones of a process group once.
func (v ExclusionStatusView) Reasons() []string {
	var lines []string
	for _, d := range v.Items {
		text := fmt.Sprintf("%s %s: %s", phrase.Or(d.ID, d.Process), d.State, d.Reason)
		if d.Reason != "" && !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	return lines
}

// coversGroup reports whether an exclusion covers a process group: of its ID, or of an
// address that it has.
func coversGroup(target string, g *v1beta2.ProcessGroupStatus) bool {
	return target == g.ExclusionString() || slices.ContainsFunc(g.Addresses, func(a string) bool { return target == a || HostOf(target) == a })
}

// CoversProcess reports whether an exclusion covers a process: of one of its localities,
// of its machine, or of its address.
func CoversProcess(target string, p fdb.Process) bool {
	if key, value, is := localityOf(target); is {
		return p.Locality[key] == value
	}
	return target == p.Address.Host || target == p.Address.HostPort()
}

// localityOf takes "locality_KEY:VALUE" apart.
func localityOf(target string) (key, value string, is bool) {
	rest, is := strings.CutPrefix(target, "locality_")
	if !is {
		return "", "", false
	}
	return strings.Cut(rest, ":")
}

// GroupsOf returns the process groups that an exclusion covers.
func (f Facts) GroupsOf(target string) []*v1beta2.ProcessGroupStatus {
	var covered []*v1beta2.ProcessGroupStatus
	for _, g := range f.Groups() {
		if coversGroup(target, g) || slices.ContainsFunc(f.ProcessesOf(g), func(p fdb.Process) bool { return CoversProcess(target, p) }) {
			covered = append(covered, g)
		}
	}
	return covered
}

// ProcessesAt returns the processes that an exclusion covers.
func (f Facts) ProcessesAt(target string) []fdb.Process {
	if f.Database.Status == nil {
		return nil
	}
	return slices.DeleteFunc(f.Database.Status.ProcessList(), func(p fdb.Process) bool { return !CoversProcess(target, p) })
}

// notHere is why nothing is proven about what belongs to no process group of the resource.
const notHere = "it covers no process group of this resource; it belongs to another control-plane instance, or is left over"

// drainsOfOthers returns the rows of exclusions that cover no process group of the resource:
// those of other control-plane instances, and leftovers.
func (f Facts) drainsOfOthers(h *DrainHistory) []DrainView {
	var rows []DrainView
	for _, target := range f.Coordination.Exclusions {
		if len(f.GroupsOf(target)) > 0 {
			continue
		}
		processes := f.ProcessesAt(target)
		for _, p := range processes {
			row := f.drainOf(p)
			row.follow(h, p.ID, f.Database.AsOf)
			row.ID, row.State, row.Reason = p.InstanceID(), ExclusionUnverified, notHere
			if f.StillHolds(p) {
				row.State = ExclusionMoving
			}
			rows = append(rows, row)
		}
		if len(processes) == 0 {
			rows = append(rows, DrainView{Process: target, State: ExclusionUnverified, Reason: notHere + "; no process reports there"})
		}
	}
	return rows
}

// Target is one object of a command, and its progress.
type Target struct {
	// ID is the process group, the node, or another object of the command.
	ID string `json:"id"`
	// Phase is its progress, in kebab-case; each command has its own phases.
	Phase string `json:"phase"`
	// Note has details for the user; empty without any.
	Note string `json:"note,omitempty"`
	// Reached is true once the target has its desired state.
	Reached bool `json:"reached"`
}

// AllReached reports whether all targets are reached.
func AllReached(targets []Target) bool {
	return !slices.ContainsFunc(targets, func(t Target) bool { return !t.Reached })
}
