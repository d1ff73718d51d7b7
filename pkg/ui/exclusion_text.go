package ui

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteExclusionStatus prints a row per process, why it is not proven to be safe, and the state
// of data distribution. Without headers there are rows only.
func WriteExclusionStatus(w io.Writer, v inspect.ExclusionStatusView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "ID"},
		{Name: "PROCESS", Drop: 3},
		{Name: "ROLE", Drop: 4, Min: 10},
		{Name: "STATE"},
		{Name: "LEFT", Drop: 1},
		{Name: "MOVED", Drop: 6},
		{Name: "RATE", Drop: 5},
		{Name: "ETA", Drop: 2},
		{Name: "STALLED", Drop: 1},
	})
	for _, d := range v.Items {
		t.Rows = append(t.Rows, drainRow(d))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	if o.NoHeaders {
		return nil
	}
	fmt.Fprintln(w)
	for _, line := range exclusionStatusReasons(v) {
		layout.Line(w, "%s", line)
	}
	drainDataWrite(v.Data, w)
	return nil
}

func drainRow(v inspect.DrainView) []string {
	roles := phrase.UnknownCell
	if v.Roles != nil {
		roles = phrase.Or(strings.Join(v.Roles, ","), phrase.Nothing)
	}
	return []string{
		phrase.Or(v.ID, phrase.Nothing), phrase.Or(v.Process, phrase.Nothing), roles, string(v.State), phrase.BytesOr(v.LeftBytes, phrase.Nothing), phrase.BytesOr(v.MovedBytes, phrase.Nothing),
		rateCell(v), etaCell(v), phrase.SecondsOr(v.StalledSeconds, phrase.Nothing),
	}
}

func rateCell(v inspect.DrainView) string {
	if v.RateBytesPerSecond == nil {
		return phrase.Nothing
	}
	return phrase.Bytes(int64(*v.RateBytesPerSecond)) + "/s"
}

// etaCell returns the likely time and its range; an unknown end is "?".
func etaCell(v inspect.DrainView) string {
	if v.ETASeconds == nil {
		return phrase.Nothing
	}
	latest := phrase.SecondsOr(v.ETASecondsLatest, phrase.UnknownCell)
	likely, soonest := phrase.Seconds(*v.ETASeconds), phrase.SecondsOr(v.ETASecondsSoonest, phrase.UnknownCell)
	if soonest == likely && latest == likely {
		return likely
	}
	return fmt.Sprintf("%s(%s-%s)", likely, soonest, latest)
}

// exclusionStatusReasons returns why rows are not safe, equal ones of a group once.
func exclusionStatusReasons(v inspect.ExclusionStatusView) []string {
	var lines []string
	printed := map[string]bool{}
	for _, d := range v.Items {
		line := fmt.Sprintf("%s %s: %s", phrase.Or(d.ID, d.Process), d.State, d.Reason)
		if d.Reason == "" || printed[line] {
			continue
		}
		printed[line] = true
		lines = append(lines, line)
	}
	if v.Others != nil && *v.Others > 0 {
		lines = append(lines, phrase.Count(*v.Others, "more exclusion")+phrase.Either(*v.Others,
			" covers no process group of this resource; --all lists it", " cover no process group of this resource; --all lists them"))
	}
	return lines
}

func drainDataWrite(v inspect.DrainData, w io.Writer) {
	layout.Line(w, "Moving: %s in flight, %s queued", phrase.BytesOr(v.InFlightBytes, phrase.UnknownCell), phrase.BytesOr(v.QueuedBytes, phrase.UnknownCell))
	layout.Line(w, "Replicas: %s", replicaWords(v))
	layout.Line(w, "Free space of the fullest process: %s storage, %s log", phrase.BytesOr(v.LeastSpaceStorageBytes, phrase.UnknownCell), phrase.BytesOr(v.LeastSpaceLogBytes, phrase.UnknownCell))
}

func replicaWords(v inspect.DrainData) string {
	if len(v.MinReplicas) == 0 {
		return phrase.UnknownCell
	}
	words := make([]string, len(v.MinReplicas))
	for i, r := range v.MinReplicas {
		words[i] = fmt.Sprintf("%s of %d at least", replicasWord(r.Remaining), v.ReplicasDesired)
		if len(v.MinReplicas) > 1 {
			words[i] += map[bool]string{true: " (primary)", false: " (remote)"}[r.Primary]
		}
	}
	return strings.Join(words, ", ")
}

// replicasWord returns a count of replicas. The database reports the loss of all as -1.
func replicasWord(n *int) string {
	if n == nil {
		return phrase.UnknownCell
	}
	return strconv.Itoa(max(0, *n))
}

// WriteExclusions prints a row per exclusion.
func WriteExclusions(w io.Writer, v lists.ExclusionListView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "TARGET"},
		{Name: "STATE"},
		{Name: "FAILED"},
		{Name: "GROUPS", Drop: 1, Min: 16},
		{Name: "PROCESSES", Drop: 2, Min: 16},
	})
	for _, e := range v.Items {
		t.Rows = append(t.Rows, []string{
			e.Target, string(e.State), phrase.YesNo(&e.Failed, phrase.UnknownCell), phrase.Or(strings.Join(e.Groups, ","), phrase.Nothing), phrase.Or(strings.Join(e.Processes, ","), phrase.Nothing),
		})
	}
	return t.Write(w)
}
