package commands

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// need is a power that a command makes use of.
type need struct {
	power
	// everywhere is true for what is not in the cluster's namespace.
	everywhere bool
	// without says what is missing without it; empty where the command cannot do without.
	without string
}

// commandNeeds is what one command makes use of.
type commandNeeds struct {
	command string
	needs   []need
}

// allNeeds are the needs of all commands that talk to an API server.
func allNeeds() []commandNeeds { return slices.Concat(actingNeeds(), lookingNeeds()) }

// lookingNeeds are those of the commands that only look.
func lookingNeeds() []commandNeeds {
	all := []commandNeeds{
		{"why", slices.Concat(looking(), operators(), backupsToo("backups are not looked at"))},
		{"why fdbbackup", slices.Concat(lookingAtBackups("foundationdbbackups"), operators())},
		{"why fdbrestore", slices.Concat(lookingAtBackups("foundationdbrestores"), operators(), aroundRestores())},
		{"can drain", slices.Concat(looking(), operators(), everywhere(required(power{"get", "", "nodes", ""})))},
	}
	events := optional("no events are shown", power{"list", "", "events", ""})
	all = append(all,
		commandNeeds{"describe", slices.Concat(looking(), operators(), events, backupsToo("backups are not looked at"))},
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

// screenNeeds are those of a screen, which can be let act.
func screenNeeds() []commandNeeds {
	events := optional("no events are shown", power{"list", "", "events", ""})
	return []commandNeeds{
		{"watch", slices.Concat(looking(), operators(), following(), events, backupsToo("no backups are shown"))},
		{"watch --allow-actions", slices.Concat(reconciling(), following(), events, backupsToo("no backups are shown"), everywhere(optional("cordon is refused", nodePowers()...)))},
		{"watch --reconcile", slices.Concat(reconciling(), required(watchPowers()...), events, backupsToo("no backups are shown"))},
	}
}

// actingNeeds are those of all others.
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
			optional("changes of backups and restores show every --resync only", followBackupPowers()...),
		)},
		{"reconcile fdbbackup", slices.Concat(required(backupPowers()...), operators(), telling())},
		{"reconcile fdbrestore", slices.Concat(required(restorePowers()...), operators(), telling())},
		{"reconcile --watch", slices.Concat(reconciling(), required(watchPowers()...))},
		{"replace", slices.Concat(reconciling(), optional("process groups that were replaced already are known from the audit file alone", power{"list", "", "events", ""}))},
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
		{"version", slices.Concat(optional("its versions are not known", lookPowers()...), finding(), operators())},
		{"cli", slices.Concat(required(toolPowers()...), finding())},
		{"exec", slices.Concat(required(toolPowers()...), finding())},
		{"wait", slices.Concat(required(lookPowers()...), watchingLocks(), finding(), beyond())},
	}
}

// followBackupPowers are all that it takes to follow backups, restores and their agents.
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

// looking is seeing all of a cluster. What only the database knows is shown as unknown
// to those who may not ask it.
func looking() []need {
	needs := required(lookPowers()...)
	for i := range needs {
		if needs[i].subresource == "exec" {
			needs[i].without = "nobody asks the database"
		}
	}
	return slices.Concat(needs, watchingLocks(), finding(), beyond())
}

// lookingAtAll is seeing all clusters, which nobody can name.
func lookingAtAll() []need {
	needs := looking()
	for i := range needs {
		if needs[i].power == finding()[0].power {
			needs[i].without = ""
		}
	}
	return needs
}

// optional are powers that the command goes on without.
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

// telling is for the audit: what is done is told on the cluster's object.
func telling() []need {
	return optional("what is done is not told in Events on the cluster", power{"create", "", "events", ""}, power{"patch", "", "events", ""})
}

// changingDatabase is changing the database and nothing in Kubernetes but the record.
func changingDatabase() []need {
	return slices.Concat(required(databasePowers()...), finding(), beyond(), operators())
}

// cordoning is reconciling, and changing nodes.
func cordoning() []need {
	return slices.Concat(required(reconcilePowers()...), finding(), everywhere(required(nodePowers()...)),
		everywhere(optional("whether groups fit on other nodes is not told", power{"list", "", "pods", ""})), operators())
}

// changingBackups is what passes over a backup take, and finding it.
func changingBackups() []need {
	list := power{"list", v1beta2.GroupVersion.Group, "foundationdbbackups", ""}
	return slices.Concat(required(backupPowers()...), optional("its name has to be given", list), operators(), telling())
}

// lookingAtBackups is seeing a backup or a restore: the tools are asked in pods of agents.
func lookingAtBackups(plural string) []need {
	crd := v1beta2.GroupVersion.Group
	own := required(power{"get", crd, plural, ""}, power{"list", "", "pods", ""})
	own = append(own, optional("nobody asks the database", power{"create", "", "pods", "exec"})...)
	if plural == "foundationdbbackups" {
		own = append(own, required(power{"get", "apps", "deployments", ""})...)
	} else { // the agents are those of the backups of the cluster
		own = append(own, required(power{"get", crd, "foundationdbclusters", ""}, power{"list", crd, "foundationdbbackups", ""})...)
	}
	return append(own, optional("its name has to be given", power{"list", crd, plural, ""})...)
}

// backupsToo is seeing all backups of a cluster and all restores into it, for commands that
// go on without.
func backupsToo(without string) []need {
	crd := v1beta2.GroupVersion.Group
	return optional(without,
		power{"list", crd, "foundationdbbackups", ""}, power{"get", crd, "foundationdbbackups", ""},
		power{"list", crd, "foundationdbrestores", ""}, power{"get", crd, "foundationdbrestores", ""},
		power{"get", "apps", "deployments", ""},
	)
}

// aroundRestores is seeing what restores wait for and leave behind: the database of their
// cluster, its backups, and the other restores into it.
func aroundRestores() []need {
	return slices.Concat(
		optional("whether the database is left locked is not known", lookPowers()...),
		backupsToo("whether agents are paused is not known"),
	)
}

// listingBackups is seeing all backups, which nobody can name.
func listingBackups() []need {
	needs := lookingAtBackups("foundationdbbackups")
	needs[len(needs)-1].without = ""
	return needs
}

// theBackups are the records of all backups of a cluster and of all restores into it.
func theBackups() []power {
	crd := v1beta2.GroupVersion.Group
	return []power{{"list", crd, "foundationdbbackups", ""}, {"list", crd, "foundationdbrestores", ""}}
}

// everywhere says of needs that they are not in the cluster's namespace.
func everywhere(needs []need) []need {
	for i := range needs {
		needs[i].everywhere = true
	}
	return needs
}

// finding is for those who do not name the cluster, or misspell it.
func finding() []need {
	return []need{{
		power:   power{"list", v1beta2.GroupVersion.Group, "foundationdbclusters", ""},
		without: "the cluster has to be named",
	}}
}

func watchingLocks() []need {
	return []need{{power: power{"get", "coordination.k8s.io", "leases", ""}, without: "nobody can tell who has the Lease"}}
}

// beyond is what only some clusters need.
func beyond() []need {
	return []need{
		{power: power{"create", "", "pods", "portforward"}, without: "the sidecars of split images are not asked"},
		{power: power{"list", "", "nodes", ""}, everywhere: true, without: "rules about the taints of nodes are not checked"},
	}
}

// following is seeing changes as they come.
func following() []need { return optional("changes show up to 10 s later", watchPowers()...) }

func operators() []need {
	const without = "nobody can tell whether an operator runs: G-OPERATOR refuses without --coexist"
	return []need{
		{power: power{"list", "apps", "deployments", ""}, everywhere: true, without: without},
		{power: power{"list", "coordination.k8s.io", "leases", ""}, everywhere: true, without: without},
	}
}

// commandAliases are other names of commands.
var commandAliases = map[string]string{"get pg": "get process-groups", "diff": "plan", "reconcile -w": "reconcile --watch"}

// needsOf are those of the named commands; of all when none is named.
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
			return nil, usagef("%q is no command that asks the API server for anything; those are %s%s", command, strings.Join(neededNames(), ", "), orMeant(command, neededNames()))
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
