package tui

import (
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// mostNamed is the maximum number of names that a heading lists; others are counted.
const mostNamed = 3

// chainsOf returns the chains of a process group; all of them for no group.
func (s clusterView) chainsOf(id string) []why.Chain {
	v := s.snapshot().Why
	if v == nil {
		return nil
	}
	var chains []why.Chain
	for _, c := range v.Items {
		if id == "" || slices.Contains(c.Subjects, id) {
			chains = append(chains, c)
		}
	}
	return chains
}

// whyOf returns what blocks a process group, or the cluster for no group: from the state down
// to its cause.
func (s clusterView) whyOf(id string, head line) []line {
	lines := []line{head}
	if s.snapshot().Why == nil {
		return append(lines, styledLine(faint, "  unknown: no preview of a pass yet"))
	}
	chains := s.chainsOf(id)
	for _, c := range chains {
		lines = append(lines, s.chainLines(c)...)
		if id == "" {
			lines = append(lines, nextLines(c)...)
		}
	}
	if len(chains) == 0 {
		lines = append(lines, styledLine(plain, "  nothing blocks it"))
	}
	return lines
}

// chainLines returns a chain without what to do next.
func (s clusterView) chainLines(c why.Chain) []line {
	t := toneOfWhy(c.State)
	state := phrase.Some(c.Subjects, mostNamed) + " " + c.Summary
	if c.Since != nil {
		state += ", for " + s.age(c.Since)
	}
	lines := []line{{{"  " + t.mark() + " ", t}, styled(t, string(c.State)+"  "), styled(plain, state)}}
	return append(lines, s.linkLines(c.Reasons, "    ")...)
}

func nextLines(c why.Chain) []line {
	var lines []line
	for _, next := range c.Next {
		lines = append(lines, line{styled(faint, "    next: "), styled(plain, next)})
	}
	return lines
}

func (s clusterView) linkLines(links []why.Link, indent string) []line {
	var lines []line
	for _, l := range links {
		words := strings.Join(slices.DeleteFunc([]string{string(l.Stage), l.Subject, string(l.Gate)}, func(w string) bool { return w == "" }), " ")
		if words != "" {
			words += ": "
		}
		what := words + l.Message
		if l.Since != nil {
			what += ", for " + s.age(l.Since)
		}
		lines = append(lines, line{styled(faint, indent+"└ "), styled(plain, what)})
		if l.Have != "" || l.Need != "" {
			lines = append(lines, line{styled(faint, indent+"  "), styled(plain, "have "+phrase.Or(l.Have, phrase.UnknownCell)+", need "+phrase.Or(l.Need, phrase.UnknownCell))})
		}
		lines = append(lines, s.linkLines(l.Reasons, indent+"   ")...)
	}
	return lines
}

func toneOfWhy(state why.State) tone {
	switch state {
	case why.Ready:
		return good
	case why.Waiting:
		return warn
	default:
		return bad
	}
}
