package ui

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// WriteExclusionStatus prints a row per process, why it is not proven to be safe, and what
// data distribution says. Without headers there are rows only.
func WriteExclusionStatus(w io.Writer, v ExclusionStatusView, o ListOptions) error {
	t := Table{Header: o.header([]string{"ID", "PROCESS", "ROLE", "STATE", "LEFT", "MOVED", "RATE", "ETA", "STALLED"})}
	for _, d := range v.Items {
		t.Rows = append(t.Rows, d.row())
	}
	if err := t.Write(w); err != nil {
		return err
	}
	if o.NoHeaders {
		return nil
	}
	fmt.Fprintln(w)
	for _, line := range v.reasons() {
		fmt.Fprintln(w, line)
	}
	v.Data.write(w)
	return nil
}

func (v DrainView) row() []string {
	roles := unknown
	if v.Roles != nil {
		roles = orNothing(strings.Join(v.Roles, ","))
	}
	return []string{
		orNothing(v.ID), orNothing(v.Process), roles, string(v.State), bytesOrNothing(v.LeftBytes), bytesOrNothing(v.MovedBytes),
		v.rateCell(), v.etaCell(), secondsOrNothing(v.StalledSeconds),
	}
}

func (v DrainView) rateCell() string {
	if v.RateBytesPerSecond == nil {
		return nothing
	}
	return bytesWords(int64(*v.RateBytesPerSecond)) + "/s"
}

// etaCell is the likely time and its range; an end that is not in sight is "?".
func (v DrainView) etaCell() string {
	if v.ETASeconds == nil {
		return nothing
	}
	latest := unknown
	if v.ETASecondsLatest != nil {
		latest = secondsWords(*v.ETASecondsLatest)
	}
	likely, soonest := secondsWords(*v.ETASeconds), secondsWords(*v.ETASecondsSoonest)
	if soonest == likely && latest == likely {
		return likely
	}
	return fmt.Sprintf("%s(%s-%s)", likely, soonest, latest)
}

func secondsWords(s float64) string {
	return duration.HumanDuration(time.Duration(s * float64(time.Second)))
}

func secondsOrNothing(s *float64) string {
	if s == nil {
		return nothing
	}
	return secondsWords(*s)
}

func bytesOrNothing(n *int64) string {
	if n == nil {
		return nothing
	}
	return bytesWords(*n)
}

// reasons are why rows are not safe, alike ones of a group once.
func (v ExclusionStatusView) reasons() []string {
	var lines []string
	said := map[string]bool{}
	for _, d := range v.Items {
		line := fmt.Sprintf("%s %s: %s", orText(d.ID, d.Process), d.State, d.Reason)
		if d.Reason == "" || said[line] {
			continue
		}
		said[line] = true
		lines = append(lines, line)
	}
	if v.Others != nil && *v.Others > 0 {
		lines = append(lines, fmt.Sprintf("%d more exclusions are of no process group of this resource; --all lists them", *v.Others))
	}
	return lines
}

func (v DrainData) write(w io.Writer) {
	fmt.Fprintf(w, "Moving: %s in flight, %s queued\n", bytesOr(v.InFlightBytes), bytesOr(v.QueuedBytes))
	fmt.Fprintf(w, "Replicas: %s\n", v.replicaWords())
	fmt.Fprintf(w, "Free space of the fullest server: %s storage, %s log\n", bytesOr(v.LeastSpaceStorageBytes), bytesOr(v.LeastSpaceLogBytes))
}

func (v DrainData) replicaWords() string {
	if len(v.MinReplicas) == 0 {
		return unknown
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

// replicasWord is a count of replicas. The database calls the loss of all of them -1.
func replicasWord(n *int) string {
	if n == nil {
		return unknown
	}
	return strconv.Itoa(max(0, *n))
}
