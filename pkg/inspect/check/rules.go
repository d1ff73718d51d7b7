package check

import "slices"

// Rules returns all rules in the order of their families.
func Rules() []Rule {
	return slices.Concat(deletions(), availability(), topology(), coordinators(), connections(), groups(), pods(), nodes(), autoscalers(), budgets(), volumes(), storageClasses(), certificates(),
		upgrades(), locks(), drifts(), settings(), templates(), admissions(), orphans(), backups(), backupResources(), restores(), permissions())
}
