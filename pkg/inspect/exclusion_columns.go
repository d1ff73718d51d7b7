package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

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
