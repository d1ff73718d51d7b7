package commands

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// requirement is a permission that a command uses.
type need struct {
	power
	// everywhere is true for permissions outside of the cluster's namespace.
	everywhere bool
	// without describes what is missing without it; empty if it is mandatory.
	without string
}

// commandNeeds are the permissions that one command uses.
type commandNeeds struct {
	command string
	needs   []need
}

// allNeeds returns the requirements of all commands that access an API server.
func allNeeds() []commandNeeds { return slices.Concat(actingNeeds(), lookingNeeds()) }

// lookingNeeds returns those of the read-only commands.
func lookingNeeds() []commandNeeds {
	all := []commandNeeds{
		{"why", slices.Concat(looking(), operators(), backupsToo("backups are not read"))},
		{"why fdbbackup", slices.Concat(lookingAtBackups("foundationdbbackups"), operators())},
		{"why fdbrestore", slices.Concat(lookingAtBackups("foundationdbrestores"), operators(), aroundRestores())},
		{"can drain", slices.Concat(looking(), operators(), everywhere(required(power{"get", "", "nodes", ""})))},
	}
	events := optional("events are not shown", power{"list", "", "events", ""})
	all = append(all,
		commandNeeds{"describe", slices.Concat(looking(), operators(), events, backupsToo("backups are not read"))},
		commandNeeds{"describe process-group", slices.Concat(looking(), operators(), events)},
	)
	for _, verb := range []string{"delete", "reconcile", "replace", "restart", "upgrade"} {
		all = append(all, commandNeeds{"can " + verb, slices.Concat(looking(), operators())})
	}
	all = append(all, screenNeeds()...)
	all = append(all, commandNeeds{"get clusters", lookingAtAll()})
	for _, list := range []string{
		"get clients", "get configuration", "get coordinators", "get exclusions", "get locks", "get nodes", "get processes",
		"connection-string drift", "connection-string show", "coordinators list", "exclusion list", "exclusion status", "exclusion wait", "locks list",
	} {
		all = append(all, commandNeeds{list, looking()})
	}
	return all
}

// screenNeeds returns those of the dashboard, with and without actions.
func screenNeeds() []commandNeeds {
	events := optional("events are not shown", power{"list", "", "events", ""})
	return []commandNeeds{
		{"watch", slices.Concat(looking(), operators(), following(), events, backupsToo("backups are not shown"))},
		{"watch --allow-actions", slices.Concat(reconciling(), following(), events, backupsToo("backups are not shown"), everywhere(optional("cordon is refused", nodePowers()...)))},
		{"watch --reconcile", slices.Concat(reconciling(), required(watchPowers()...), events, backupsToo("backups are not shown"))},
	}
}

// actingNeeds returns those of all other commands.
func actingNeeds() []commandNeeds {
	return []commandNeeds{
		{"status", slices.Concat(looking(), optional("backups are not shown", theBackups()...))},
		{"get process-groups", looking()},
		{"events", slices.Concat(required(theResource(), power{"list", "", "events", ""}), finding())},
		{"plan", slices.Concat(looking(), operators())},
		{"reconcile", reconciling()},
		{"reconcile --with-backups", slices.Concat(required(withBackups(reconcilePowers())...), operators(), telling())},
		{"reconcile --watch --with-backups", slices.Concat(
			required(withBackups(reconcilePowers())...), required(watchPowers()...), operators(), telling(),
			optional("changes of backups and restores are only seen every --resync", followBackupPowers()...),
		)},
		{"reconcile fdbbackup", slices.Concat(required(backupPowers()...), operators(), telling())},
		{"reconcile fdbrestore", slices.Concat(required(restorePowers()...), operators(), telling())},
		{"reconcile --watch", slices.Concat(reconciling(), required(watchPowers()...))},
		{"replace", slices.Concat(reconciling(), optional("already replaced process groups are only known from the audit file", power{"list", "", "events", ""}))},
		{"restart", changingDatabase()},
		{"exclude", changingDatabase()},
		{"include", changingDatabase()},
		{"cordon", cordoning()},
		{"uncordon", cordoning()},
		{"drain", cordoning()},
		{"check", slices.Concat(looking(), optional("certificates are not checked", power{"get", "", "secrets", ""}), backupsToo("backups are not checked"))},
		{"maintenance status", looking()},
		{"maintenance on", reconciling()},
		{"maintenance off", reconciling()},
		{"connection-string sync", reconciling()},
		{"coordinators change", reconciling()},
		{"coordinators repair", reconciling()},
		{"locks deny", reconciling()},
		{"locks allow", reconciling()},
		{"locks take", reconciling()},
		{"locks release", reconciling()},
		{"backup start", changingBackups()},
		{"backup stop", changingBackups()},
		{"backup pause", changingBackups()},
		{"backup resume", changingBackups()},
		{"backup expire", slices.Concat(required(storePowers()...), operators(), telling())},
		{"backup delete", slices.Concat(required(storePowers()...), operators(), telling())},
		{"backup describe", lookingAtBackups("foundationdbbackups")},
		{"backup list", listingBackups()},
		{"backup status", lookingAtBackups("foundationdbbackups")},
		{"restore start", slices.Concat(required(restorePowers()...), operators(), telling())},
		{"restore abort", slices.Concat(required(abortPowers()...), operators(), telling())},
		{"restore status", lookingAtBackups("foundationdbrestores")},
		{"restore wait", lookingAtBackups("foundationdbrestores")},
		{"pause", slices.Concat(required(pausePowers()...), finding(), telling())},
		{"resume", slices.Concat(required(pausePowers()...), finding(), telling())},
		{"version", slices.Concat(optional("its versions are unknown", lookPowers()...), finding(), operators())},
		{"cli", slices.Concat(required(toolPowers()...), finding())},
		{"exec", slices.Concat(required(toolPowers()...), finding())},
		{"wait", slices.Concat(required(lookPowers()...), watchingLocks(), finding(), beyond())},
	}
}

// followBackupPermissions returns what is required to watch backups, restores and their agents.
func followBackupPowers() []power {
	all := followPowers()
	return slices.Concat(all[plan.Backup], all[plan.Restore], all[plan.Agents])
}

func theResource() power { return power{"get", v1beta2.GroupVersion.Group, "foundationdbclusters", ""} }

func required(powers ...power) []need {
	needs := make([]need, len(powers))
	for i, p := range powers {
		needs[i] = need{power: p}
	}
	return needs
}

// looking returns what is required to read all of a cluster. Without access to the database,
// its values are unknown.
func looking() []need {
	needs := required(lookPowers()...)
	for i := range needs {
		if needs[i].subresource == "exec" {
			needs[i].without = "the database is not queried"
		}
	}
	return slices.Concat(needs, watchingLocks(), finding(), beyond())
}

// lookingAtAll returns what is required to read all clusters, which takes no name.
func lookingAtAll() []need {
	needs := looking()
	for i := range needs {
		if needs[i].power == finding()[0].power {
			needs[i].without = ""
		}
	}
	return needs
}

// optional returns permissions that the command can do without.
func optional(without string, powers ...power) []need {
	needs := required(powers...)
	for i := range needs {
		needs[i].without = without
	}
	return needs
}

func reconciling() []need {
	return slices.Concat(required(reconcilePowers()...), finding(), beyond(), operators(), telling())
}

// telling returns what is required for the audit: Events on the cluster.
func telling() []need {
	return optional("no audit Events are written", power{"create", "", "events", ""}, power{"patch", "", "events", ""})
}

// changingDatabase returns what is required to change the database, and only the status in
// Kubernetes.
func changingDatabase() []need {
	return slices.Concat(required(databasePowers()...), finding(), beyond(), operators())
}

// cordoning returns what is required to reconcile, and to change nodes.
func cordoning() []need {
	return slices.Concat(required(reconcilePowers()...), finding(), everywhere(required(nodePowers()...)),
		everywhere(optional("capacity of other nodes is not checked", power{"list", "", "pods", ""})), operators())
}

// changingBackups returns what passes over a backup require, including to find it.
func changingBackups() []need {
	list := power{"list", v1beta2.GroupVersion.Group, "foundationdbbackups", ""}
	return slices.Concat(required(backupPowers()...), optional("its name is required", list), operators(), telling())
}

// lookingAtBackups returns what is required to read a backup or restore: the tools run in pods
// of agents.
func lookingAtBackups(plural string) []need {
	crd := v1beta2.GroupVersion.Group
	own := required(power{"get", crd, plural, ""}, power{"list", "", "pods", ""})
	own = append(own, optional("the database is not queried", power{"create", "", "pods", "exec"})...)
	if plural == "foundationdbbackups" {
		own = append(own, required(power{"get", "apps", "deployments", ""})...)
	} else { // a restore uses the agents of the cluster's backups
		own = append(own, required(power{"get", crd, "foundationdbclusters", ""}, power{"list", crd, "foundationdbbackups", ""})...)
	}
	return append(own, optional("its name is required", power{"list", crd, plural, ""})...)
}

// backupsToo returns what is required to read all backups of a cluster and all restores into
// it, for commands that can do without.
func backupsToo(without string) []need {
	crd := v1beta2.GroupVersion.Group
	return optional(without,
		power{"list", crd, "foundationdbbackups", ""}, power{"get", crd, "foundationdbbackups", ""},
		power{"list", crd, "foundationdbrestores", ""}, power{"get", crd, "foundationdbrestores", ""},
		power{"get", "apps", "deployments", ""},
	)
}

// aroundRestores returns what is required to read what restores wait for and leave behind: the
// database of their cluster, its backups, and the other restores into it.
func aroundRestores() []need {
	return slices.Concat(
		optional("whether the database is locked is unknown", lookPowers()...),
		backupsToo("whether agents are paused is unknown"),
	)
}

// listingBackups returns what is required to read all backups, which takes no name.
func listingBackups() []need {
	needs := lookingAtBackups("foundationdbbackups")
	needs[len(needs)-1].without = ""
	return needs
}

// theBackups returns what is required to read the backups of a cluster and the restores into
// it.
func theBackups() []power {
	crd := v1beta2.GroupVersion.Group
	return []power{{"list", crd, "foundationdbbackups", ""}, {"list", crd, "foundationdbrestores", ""}}
}

// everywhere marks requirements as outside of the cluster's namespace.
func everywhere(needs []need) []need {
	for i := range needs {
		needs[i].everywhere = true
	}
	return needs
}

// finding returns what is required if the cluster is not named, or the name is misspelled.
func finding() []need {
	return []need{{
		power:   power{"list", v1beta2.GroupVersion.Group, "foundationdbclusters", ""},
		without: "the cluster name is required",
	}}
}

func watchingLocks() []need {
	return []need{{power: power{"get", "coordination.k8s.io", "leases", ""}, without: "the holder of the Lease is unknown"}}
}

// beyond returns what only some clusters require.
func beyond() []need {
	return []need{
		{power: power{"create", "", "pods", "portforward"}, without: "sidecars of split images are not queried"},
		{power: power{"list", "", "nodes", ""}, everywhere: true, without: "rules about the taints of nodes are not checked"},
	}
}

// following returns what is required to see changes as they occur.
func following() []need { return optional("changes are seen up to 10 s later", watchPowers()...) }

func operators() []need {
	const without = "whether an operator runs is unknown: G-OPERATOR refuses without --coexist"
	return []need{
		{power: power{"list", "apps", "deployments", ""}, everywhere: true, without: without},
		{power: power{"list", "coordination.k8s.io", "leases", ""}, everywhere: true, without: without},
	}
}

// commandAliases are other names of commands.
var commandAliases = map[string]string{"get pg": "get process-groups", "diff": "plan", "reconcile -w": "reconcile --watch"}

// needsOf returns those of the named commands, or of all if none is named.
func needsOf(commands []string) ([]commandNeeds, error) {
	all := allNeeds()
	if len(commands) == 0 {
		return all, nil
	}
	var chosen []commandNeeds
	for _, command := range commands {
		command = cmp.Or(commandAliases[command], command)
		i := slices.IndexFunc(all, func(n commandNeeds) bool { return n.command == command })
		if i < 0 {
			return nil, usagef("unknown command %q, or it does not access the API server: must be one of %s%s", command, strings.Join(neededNames(), ", "), orMeant(command, neededNames()))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func neededNames() []string {
	var names []string
	for _, n := range allNeeds() {
		names = append(names, n.command)
	}
	return names
}
