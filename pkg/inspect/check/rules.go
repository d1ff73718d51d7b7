package check

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// Rules returns all rules in the order of their families.
func Rules() []Rule {
	return slices.Concat(deletions(), availability(), topology(), coordinators(), connections(), groups(), pods(), rulesOf(inspect.NodeRules()), autoscalers(), budgets(), volumes(), storageClasses(), certificates(),
		upgrades(), locks(), drifts(), settings(), templates(), admissions(), orphans(), backups(), backupResources(), restores(), permissions())
}
