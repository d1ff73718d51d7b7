package check

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// nodes returns the rules about nodes to be evacuated. Nodes are read only if the spec has
// taint rules.
func nodes() []Rule {
	return []Rule{
		nodeRule("NODE-001", Info, v1beta2.ConditionNodeTaintDetected, "No node has a taint that matches a rule of the spec",
			"Its process groups are replaced once the taint lasts longer than its rule allows."),
		nodeRule("NODE-002", Warning, v1beta2.ConditionNodeTaintReplacing, "No process group has to be replaced for a taint",
			"The taint lasted longer than its rule allows; passes replace the process groups, a few at a time."),
	}
}

func nodeRule(code string, severity Severity, t v1beta2.ProcessGroupConditionType, title, why string) Rule {
	r := conditionRule(code, severity, t, title, why, "")
	find := r.find
	r.find = func(f Facts) ([]Finding, string) {
		if f.NodesHidden != "" {
			return nil, "nodes may not be read: " + f.NodesHidden
		}
		return find(f)
	}
	return r
}
