package commands

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// requirement is a permission that a command uses.
type requirement struct {
	permission
	// everywhere is true for permissions outside of the cluster's namespace.
	everywhere bool
	// without describes what is missing without it; empty if it is mandatory.
	without string
}

// commandRequirements are the permissions that one command uses.
type commandRequirements struct {
	command      string
	requirements []requirement
}

// allRequirements returns the requirements of all commands that access an API server.
func allRequirements() []commandRequirements {
	return slices.Concat(actionRequirements(), viewRequirements())
}

// viewRequirements returns those of the read-only commands.
func viewRequirements() []commandRequirements {
	all := []commandRequirements{
		{"why", slices.Concat(viewing(), operators(), backupsToo("backups are not read"))},
		{"why fdbbackup", slices.Concat(viewingBackups("foundationdbbackups"), operators())},
		{"why fdbrestore", slices.Concat(viewingBackups("foundationdbrestores"), operators(), aroundRestores())},
		{"can drain", slices.Concat(viewing(), operators(), everywhere(required(permission{"get", "", "nodes", ""})))},
	}
	events := optional("events are not shown", permission{"list", "", "events", ""})
	all = append(all,
		commandRequirements{"describe", slices.Concat(viewing(), operators(), events, backupsToo("backups are not read"))},
		commandRequirements{"describe process-group", slices.Concat(viewing(), operators(), events)},
	)
	for _, verb := range []string{"delete", "reconcile", "replace", "restart", "upgrade"} {
		all = append(all, commandRequirements{"can " + verb, slices.Concat(viewing(), operators())})
	}
	all = append(all, screenRequirements()...)
	all = append(all, commandRequirements{"get clusters", viewingAll()})
	for _, list := range []string{
		"get clients", "get configuration", "get coordinators", "get exclusions", "get locks", "get nodes", "get processes",
		"connection-string drift", "connection-string show", "coordinators list", "exclusion list", "exclusion status", "exclusion wait", "locks list",
	} {
		all = append(all, commandRequirements{list, viewing()})
	}
	return all
}

// screenRequirements returns those of the dashboard, with and without actions.
func screenRequirements() []commandRequirements {
	events := optional("events are not shown", permission{"list", "", "events", ""})
	return []commandRequirements{
		{"watch", slices.Concat(viewing(), operators(), following(), events, backupsToo("backups are not shown"))},
		{"watch --allow-actions", slices.Concat(reconciling(), following(), events, backupsToo("backups are not shown"), everywhere(optional("cordon is refused", nodePermissions()...)))},
		{"watch --reconcile", slices.Concat(reconciling(), required(watchPermissions()...), events, backupsToo("backups are not shown"))},
	}
}

// actionRequirements returns those of all other commands.
func actionRequirements() []commandRequirements {
	return []commandRequirements{
		{"status", slices.Concat(viewing(), optional("backups are not shown", theBackups()...))},
		{"get process-groups", viewing()},
		{"events", slices.Concat(required(theResource(), permission{"list", "", "events", ""}), finding())},
		{"plan", slices.Concat(viewing(), operators())},
		{"reconcile", reconciling()},
		{"reconcile --with-backups", slices.Concat(required(withBackups(reconcilePermissions())...), operators(), auditing())},
		{"reconcile --watch --with-backups", slices.Concat(
			required(withBackups(reconcilePermissions())...), required(watchPermissions()...), operators(), auditing(),
			optional("changes of backups and restores are only seen every --resync", followBackupPermissions()...),
		)},
		{"reconcile fdbbackup", slices.Concat(required(backupPermissions()...), operators(), auditing())},
		{"reconcile fdbrestore", slices.Concat(required(restorePermissions()...), operators(), auditing())},
		{"reconcile --watch", slices.Concat(reconciling(), required(watchPermissions()...))},
		{"detect-failures", slices.Concat(required(detectPermissions()...), finding(), beyond(), auditing(),
			everywhere(optional("the status is not written", permission{"list", "apps", "deployments", ""}, permission{"list", "coordination.k8s.io", "leases", ""})))},
		{"replace", slices.Concat(reconciling(), optional("already replaced process groups are only known from the audit file", permission{"list", "", "events", ""}))},
		{"restart", changingDatabase()},
		{"exclude", changingDatabase()},
		{"include", changingDatabase()},
		{"cordon", cordoning()},
		{"uncordon", cordoning()},
		{"drain", cordoning()},
		{"check", slices.Concat(viewing(), optional("certificates are not checked", permission{"get", "", "secrets", ""}), backupsToo("backups are not checked"))},
		{"maintenance status", viewing()},
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
		{"backup expire", slices.Concat(required(storePermissions()...), operators(), auditing())},
		{"backup delete", slices.Concat(required(storePermissions()...), operators(), auditing())},
		{"backup describe", viewingBackups("foundationdbbackups")},
		{"backup list", listingBackups()},
		{"backup status", viewingBackups("foundationdbbackups")},
		{"restore start", slices.Concat(required(restorePermissions()...), operators(), auditing())},
		{"restore abort", slices.Concat(required(abortPermissions()...), operators(), auditing())},
		{"restore status", viewingBackups("foundationdbrestores")},
		{"restore wait", viewingBackups("foundationdbrestores")},
		{"pause", slices.Concat(required(pausePermissions()...), finding(), auditing())},
		{"resume", slices.Concat(required(pausePermissions()...), finding(), auditing())},
		{"version", slices.Concat(optional("its versions are unknown", viewPermissions()...), finding(), operators())},
		{"cli", slices.Concat(required(toolPermissions()...), finding())},
		{"exec", slices.Concat(required(toolPermissions()...), finding())},
		{"wait", slices.Concat(required(viewPermissions()...), watchingLocks(), finding(), beyond())},
	}
}

// followBackupPermissions returns what is required to watch backups, restores and their agents.
func followBackupPermissions() []permission {
	all := followPermissions()
	return slices.Concat(all[plan.Backup], all[plan.Restore], all[plan.Agents])
}

func theResource() permission {
	return permission{"get", v1beta2.GroupVersion.Group, "foundationdbclusters", ""}
}

func required(powers ...permission) []requirement {
	needs := make([]requirement, len(powers))
	for i, p := range powers {
		needs[i] = requirement{permission: p}
	}
	return needs
}

// viewing returns what is required to read all of a cluster. Without access to the database,
// its values are unknown.
func viewing() []requirement {
	needs := required(viewPermissions()...)
	for i := range needs {
		if needs[i].subresource == "exec" {
			needs[i].without = "the database is not queried"
		}
	}
	return slices.Concat(needs, optional("the CronJob of a failure detector is unknown", detectorPermissions()[0]), watchingLocks(), finding(), beyond())
}

// viewingAll returns what is required to read all clusters, which takes no name.
func viewingAll() []requirement {
	needs := viewing()
	for i := range needs {
		if needs[i].permission == finding()[0].permission {
			needs[i].without = ""
		}
	}
	return needs
}

// optional returns permissions that the command can do without.
func optional(without string, powers ...permission) []requirement {
	needs := required(powers...)
	for i := range needs {
		needs[i].without = without
	}
	return needs
}

func reconciling() []requirement {
	return slices.Concat(required(reconcilePermissions()...), optional("a failure detector is refused", detectorPermissions()...), finding(), beyond(), operators(), auditing())
}

// auditing returns what is required for the audit: Events on the cluster.
func auditing() []requirement {
	return optional("no audit Events are written", permission{"create", "", "events", ""}, permission{"patch", "", "events", ""})
}

// changingDatabase returns what is required to change the database, and only the status in
// Kubernetes.
func changingDatabase() []requirement {
	return slices.Concat(required(databasePermissions()...), finding(), beyond(), operators())
}

// cordoning returns what is required to reconcile, and to change nodes.
func cordoning() []requirement {
	return slices.Concat(required(reconcilePermissions()...), finding(), everywhere(required(nodePermissions()...)),
		everywhere(optional("capacity of other nodes is not checked", permission{"list", "", "pods", ""})), operators())
}

// changingBackups returns what passes over a backup require, including to find it.
func changingBackups() []requirement {
	list := permission{"list", v1beta2.GroupVersion.Group, "foundationdbbackups", ""}
	return slices.Concat(required(backupPermissions()...), optional("its name is required", list), operators(), auditing())
}

// viewingBackups returns what is required to read a backup or restore: the tools run in pods
// of agents.
func viewingBackups(plural string) []requirement {
	crd := v1beta2.GroupVersion.Group
	own := required(permission{"get", crd, plural, ""}, permission{"list", "", "pods", ""})
	own = append(own, optional("the database is not queried", permission{"create", "", "pods", "exec"})...)
	if plural == "foundationdbbackups" {
		own = append(own, required(permission{"get", "apps", "deployments", ""})...)
	} else { // a restore uses the agents of the cluster's backups
		own = append(own, required(permission{"get", crd, "foundationdbclusters", ""}, permission{"list", crd, "foundationdbbackups", ""})...)
	}
	return append(own, optional("its name is required", permission{"list", crd, plural, ""})...)
}

// backupsToo returns what is required to read all backups of a cluster and all restores into
// it, for commands that can do without.
func backupsToo(without string) []requirement {
	crd := v1beta2.GroupVersion.Group
	return optional(without,
		permission{"list", crd, "foundationdbbackups", ""}, permission{"get", crd, "foundationdbbackups", ""},
		permission{"list", crd, "foundationdbrestores", ""}, permission{"get", crd, "foundationdbrestores", ""},
		permission{"get", "apps", "deployments", ""},
	)
}

// aroundRestores returns what is required to read what restores wait for and leave behind: the
// database of their cluster, its backups, and the other restores into it.
func aroundRestores() []requirement {
	return slices.Concat(
		optional("whether the database is locked is unknown", viewPermissions()...),
		backupsToo("whether agents are paused is unknown"),
	)
}

// listingBackups returns what is required to read all backups, which takes no name.
func listingBackups() []requirement {
	needs := viewingBackups("foundationdbbackups")
	needs[len(needs)-1].without = ""
	return needs
}

// theBackups returns what is required to read the backups of a cluster and the restores into
// it.
func theBackups() []permission {
	crd := v1beta2.GroupVersion.Group
	return []permission{{"list", crd, "foundationdbbackups", ""}, {"list", crd, "foundationdbrestores", ""}}
}

// everywhere marks requirements as outside of the cluster's namespace.
func everywhere(needs []requirement) []requirement {
	for i := range needs {
		needs[i].everywhere = true
	}
	return needs
}

// finding returns what is required if the cluster is not named, or the name is misspelled.
func finding() []requirement {
	return []requirement{{
		permission: permission{"list", v1beta2.GroupVersion.Group, "foundationdbclusters", ""},
		without:    "the cluster name is required",
	}}
}

func watchingLocks() []requirement {
	return []requirement{{permission: permission{"get", "coordination.k8s.io", "leases", ""}, without: "the holder of the Lease is unknown"}}
}

// beyond returns what only some clusters require.
func beyond() []requirement {
	return []requirement{
		{permission: permission{"create", "", "pods", "portforward"}, without: "sidecars of split images are not queried"},
		{permission: permission{"list", "", "nodes", ""}, everywhere: true, without: "rules about the taints of nodes are not checked"},
	}
}

// following returns what is required to see changes as they occur.
func following() []requirement {
	return optional("changes are seen up to 10 s later", watchPermissions()...)
}

func operators() []requirement {
	const without = "whether an operator runs is unknown: G-OPERATOR refuses without --coexist"
	return []requirement{
		{permission: permission{"list", "apps", "deployments", ""}, everywhere: true, without: without},
		{permission: permission{"list", "coordination.k8s.io", "leases", ""}, everywhere: true, without: without},
	}
}

// commandAliases are other names of commands.
var commandAliases = map[string]string{"get pg": "get process-groups", "diff": "plan", "reconcile -w": "reconcile --watch"}

// requirementsOf returns those of the named commands, or of all if none is named.
func requirementsOf(commands []string) ([]commandRequirements, error) {
	all := allRequirements()
	if len(commands) == 0 {
		return all, nil
	}
	var chosen []commandRequirements
	for _, command := range commands {
		command = cmp.Or(commandAliases[command], command)
		i := slices.IndexFunc(all, func(n commandRequirements) bool { return n.command == command })
		if i < 0 {
			return nil, usagef("unknown command %q, or it does not access the API server: must be one of %s%s", command, strings.Join(namesWithRequirements(), ", "), orMeant(command, namesWithRequirements()))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func namesWithRequirements() []string {
	var names []string
	for _, n := range allRequirements() {
		names = append(names, n.command)
	}
	return names
}
