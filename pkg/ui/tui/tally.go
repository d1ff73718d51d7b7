package tui

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// tally counts rows by how bad they are.
type tally struct {
	all, wrong, unknown int
	// onNodes are those of wrong that are process groups on a node that is not ready.
	onNodes int
	worst   tone
}

func (t *tally) add(of tone) {
	t.all++
	t.worst = max(t.worst, of)
	switch {
	case of >= warn:
		t.wrong++
	case of == unsure:
		t.unknown++
	}
}

func (t *tally) addGroup(g inspect.GroupRow) {
	t.add(g.Tone)
	if g.NodeProblem != "" {
		t.onNodes++
	}
}

// words returns the counts after that of all rows. Beside unknown rows, and without any, nothing is known to have no problem.
func (t tally) words() line {
	var l line
	add := func(of tone, n int, words string) {
		separator := ", "
		if l == nil && t.onNodes > 0 {
			separator = ": "
		}
		l = append(l, styled(plain, separator), styled(of, fmt.Sprintf("%d %s", n, words)))
	}
	if t.onNodes > 0 {
		add(t.worst, t.onNodes, "on nodes that are not ready")
	}
	if more := t.wrong - t.onNodes; more > 0 && t.onNodes > 0 {
		add(max(warn, t.worst), more, "more with problems")
	} else if more > 0 {
		add(max(warn, t.worst), more, "with problems")
	}
	if t.unknown > 0 {
		add(warn, t.unknown, "unknown")
	}
	if l == nil && t.all > 0 {
		return line{styled(plain, ", "), styled(good, "0 with problems")}
	}
	return l
}
