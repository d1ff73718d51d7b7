package tui

import (
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// mostNamed is how many names a heading lists before it only counts them.
const mostNamed = 3

// chainsOf are the chains about a process group; all of them for no group.
func (s sight) chainsOf(id string) []ui.WhyChain {
	v := s.look().Why
	if v == nil {
		return nil
	}
	var chains []ui.WhyChain
	for _, c := range v.Items {
		if id == "" || slices.Contains(c.Subjects, id) {
			chains = append(chains, c)
		}
	}
	return chains
}

// whyOf is what is in the way of a process group, or of the cluster for no group: from
// what is wanted down to what is behind it.
func (s sight) whyOf(id string, head line) []line {
	lines := []line{head}
	if s.look().Why == nil {
		return append(lines, sayLine(faint, "  nobody can tell yet: no preview of a pass so far"))
	}
	chains := s.chainsOf(id)
	for _, c := range chains {
		lines = append(lines, s.chainLines(c, id == "")...)
	}
	if len(chains) == 0 {
		lines = append(lines, sayLine(plain, "  nothing is in the way"))
	}
	return lines
}

func (s sight) chainLines(c ui.WhyChain, whole bool) []line {
	t := toneOfWhy(c.State)
	wish := phrase.Some(c.Subjects, mostNamed) + " " + c.Summary
	if c.Since != nil {
		wish += ", for " + s.age(c.Since)
	}
	lines := []line{{{"  " + t.mark() + " ", t}, say(t, string(c.State)+"  "), say(plain, wish)}}
	lines = append(lines, s.linkLines(c.Reasons, "    ")...)
	if whole {
		for _, next := range c.Next {
			lines = append(lines, line{say(faint, "    next: "), say(plain, next)})
		}
	}
	return lines
}

func (s sight) linkLines(links []ui.WhyLink, indent string) []line {
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
		lines = append(lines, line{say(faint, indent+"└ "), say(plain, what)})
		if l.Have != "" || l.Need != "" {
			lines = append(lines, line{say(faint, indent+"  "), say(plain, "have "+phrase.Or(l.Have, phrase.UnknownCell)+", need "+phrase.Or(l.Need, phrase.UnknownCell))})
		}
		lines = append(lines, s.linkLines(l.Reasons, indent+"   ")...)
	}
	return lines
}

func toneOfWhy(state ui.WhyState) tone {
	switch state {
	case ui.WhyReady:
		return good
	case ui.WhyWaiting:
		return warn
	default:
		return bad
	}
}
