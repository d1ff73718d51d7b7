package why

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// findingsBeside returns the chains of errors about process groups that no other chain has.
func (w *why) findingsBeside(all []findings.Finding, others []Chain) []Chain {
	var chains []Chain
	for _, found := range all {
		subjects := slices.DeleteFunc(slices.Clone(found.Groups), func(id string) bool { return hasChain(others, id) || !w.isAbout(id) })
		if !found.Severity.AtLeast(findings.Error) || len(subjects) == 0 {
			continue
		}
		chains = append(chains, Chain{
			Subjects: subjects, State: Blocked, rank: rankBlocked, Since: inspect.Known(found.Since), Summary: phrase.Has(len(subjects)) + " a problem",
			Reasons: []Link{{Code: found.Code, Message: found.Message, Since: inspect.Known(found.Since)}},
			Next:    []string{w.Kubectl(found.Fix...)},
		})
	}
	return chains
}

// hasChain reports whether a process group is a subject of a chain.
func hasChain(chains []Chain, id string) bool {
	return slices.ContainsFunc(chains, func(c Chain) bool { return slices.Contains(c.Subjects, id) })
}

// isAbout reports whether a report is about a process group.
func (w *why) isAbout(id string) bool {
	return len(w.Only) == 0 || slices.Contains(w.Only, v1beta2.ProcessGroupID(id))
}
