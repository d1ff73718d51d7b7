package check

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// nodes are the rules about nodes that should be left. Nodes are read only where the spec
// has rules about taints.
func nodes() []Rule {
	return []Rule{
		nodeRule("NODE-001", Info, v1beta2.ConditionNodeTaintDetected, "No node has a taint that the spec has a rule about",
			"Its process groups are replaced once the taint has outlasted its rule."),
		nodeRule("NODE-002", Warning, v1beta2.ConditionNodeTaintReplacing, "No process group has to leave its node",
			"The taint has outlasted its rule; passes replace the groups, a few at a time."),
	}
}

func nodeRule(code string, severity Severity, t v1beta2.ProcessGroupConditionType, title, why string) Rule {
	r := conditionRule(code, severity, t, title, why, "")
	ask := r.find
	r.find = func(f Facts) ([]Finding, string) {
		if f.NodesHidden != "" {
			return nil, "nodes may not be read: " + f.NodesHidden
		}
		return ask(f)
	}
	return r
}
