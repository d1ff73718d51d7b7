package cmdutil

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Requirement is a permission that a command uses.
type Requirement struct {
	session.Permission
	// Everywhere is true for permissions outside of the cluster's namespace.
	Everywhere bool
	// Without describes what is missing without it; empty if it is mandatory.
	Without string
}

// CommandRequirements are the permissions that one command uses.
type CommandRequirements struct {
	Command      string
	Requirements []Requirement
}

// allRequirements returns the requirements of all commands that access an API server.
func allRequirements() []CommandRequirements {
	return slices.Concat(actionRequirements(), viewRequirements())
}

// viewRequirements returns those of the read-only commands.
func viewRequirements() []CommandRequirements {
	all := []CommandRequirements{
		{"why", slices.Concat(viewing(), operators(), backupsToo("backups are not read"))},
		{"why --performance", viewing()},
		{"top", viewing()},
		{"top processes", viewing()},
		{"why fdbbackup", slices.Concat(viewingBackups("foundationdbbackups"), operators())},
		{"why fdbrestore", slices.Concat(viewingBackups("foundationdbrestores"), operators(), aroundRestores())},
		{"can drain", slices.Concat(viewing(), operators(), everywhere(required(session.Permission{Verb: "get", Resource: "nodes"})), evictingAgents())},
	}
	events := optional("events are not shown", session.Permission{Verb: "list", Resource: "events"})
	all = append(all,
		CommandRequirements{"describe", slices.Concat(viewing(), operators(), events, backupsToo("backups are not read"))},
		CommandRequirements{"describe process-group", slices.Concat(viewing(), operators(), events)},
	)
	for _, verb := range []string{"delete", "reconcile", "replace", "restart"} {
		all = append(all, CommandRequirements{"can " + verb, slices.Concat(viewing(), operators())})
	}
	all = append(all, CommandRequirements{"can upgrade", slices.Concat(viewing(), operators(), optional("facts about backups are unknown, which refuses some upgrades", theBackups()...))})
	for _, verb := range []string{"collect", "plan", "verify"} {
		all = append(all, CommandRequirements{"recover " + verb, slices.Concat(viewing(), releasedVolumes())})
	}
	all = append(all, CommandRequirements{"dump", dumping()})
	all = append(all, screenRequirements()...)
	all = append(all, CommandRequirements{"get clusters", viewingAll()})
	for _, list := range []string{
		"get clients", "get configuration", "get coordinators", "get exclusions", "get locks", "get nodes", "get processes",
		"connection-string drift", "connection-string show", "coordinators list", "exclusion list", "exclusion status", "exclusion wait", "locks list",
	} {
		all = append(all, CommandRequirements{list, viewing()})
	}
	return all
}

// dumping returns what is required for a dump, which has whatever may be read.
func dumping() []Requirement {
	const without = "they are not in the dump"
	return slices.Concat(viewing(), operators(), backupsToo(without), optional(without,
		session.Permission{Verb: "get", Resource: "pods", Subresource: "log"},
		session.Permission{Verb: "list", Resource: "events"},
		session.Permission{Verb: "list", Group: "apps", Resource: "deployments"},
		session.Permission{Verb: "list", Group: "batch", Resource: "cronjobs"},
		session.Permission{Verb: "list", Group: "policy", Resource: "poddisruptionbudgets"},
		session.Permission{Verb: "list", Group: "coordination.k8s.io", Resource: "leases"},
		session.Permission{Verb: "get", Resource: "secrets"},
	), everywhere(optional(without,
		session.Permission{Verb: "list", Resource: "persistentvolumes"}, session.Permission{Verb: "list", Resource: "pods"},
	)))
}

// screenRequirements returns those of the dashboard, with and without actions.
func screenRequirements() []CommandRequirements {
	events := append(optional("events are not shown", session.Permission{Verb: "list", Resource: "events"}),
		optional("logs of pods are not shown", session.Permission{Verb: "get", Resource: "pods", Subresource: "log"})...)
	return []CommandRequirements{
		{"watch", slices.Concat(viewing(), operators(), following(), events, backupsToo("backups are not shown"))},
		{"watch -A", slices.Concat(viewingAll(), operators(), following(), events, backupsToo("backups are not shown"))},
		{"watch --allow-actions", slices.Concat(reconciling(), following(), events, backupsToo("backups are not shown"), everywhere(optional("cordon is refused", session.NodePermissions()...)))},
		{"watch --reconcile", slices.Concat(reconciling(), required(session.WatchPermissions()...), events, backupsToo("backups are not shown"))},
	}
}

// actionRequirements returns those of all other commands.
func actionRequirements() []CommandRequirements {
	return slices.Concat([]CommandRequirements{
		{"status", slices.Concat(viewing(), optional("backups are not shown", theBackups()...))},
		{"get process-groups", viewing()},
		{"tree", viewing()},
		{"history", slices.Concat(required(theResource()), optional("runs of other users are not shown", session.Permission{Verb: "list", Resource: "events"}), optional("an active operation is not marked", readingLease()), finding())},
		{"events", slices.Concat(required(theResource(), session.Permission{Verb: "list", Resource: "events"}), finding())},
		{"plan", slices.Concat(viewing(), operators(), optional("the disruption budget is unknown", session.BudgetPermissions()[0]))},
		{"create", slices.Concat(required(slices.Concat(
			creating("apps.foundationdb.org", "foundationdbclusters"), creating("", "serviceaccounts"),
			creating("rbac.authorization.k8s.io", "roles"), creating("rbac.authorization.k8s.io", "rolebindings"),
		)...), optional("a missing resource definition is reported without its command", session.Permission{Verb: "list", Group: "apps.foundationdb.org", Resource: "foundationdbclusters"}))},
		{"install crds", everywhere(required(creating("apiextensions.k8s.io", "customresourcedefinitions")...))},
		{"install rbac", slices.Concat(required(creating("rbac.authorization.k8s.io", "roles")...), everywhere(optional("ClusterRoles are not installed", creating("rbac.authorization.k8s.io", "clusterroles")...)))},
		{"reconcile", reconciling()},
		{"reconcile --with-backups", slices.Concat(required(apply.WithBackups(session.ReconcilePermissions())...), keeping(), operators(), auditing())},
		{"reconcile --watch --with-backups", slices.Concat(
			required(apply.WithBackups(session.ReconcilePermissions())...), keeping(), required(session.WatchPermissions()...), operators(), auditing(),
			optional("changes of backups and restores are only seen every --resync", followBackupPermissions()...),
		)},
		{"reconcile fdbbackup", slices.Concat(required(session.BackupPermissions()...), operators(), auditing())},
		{"reconcile fdbrestore", slices.Concat(required(session.RestorePermissions()...), operators(), auditing())},
		{"reconcile --watch", slices.Concat(reconciling(), required(session.WatchPermissions()...))},
		{"detect-failures", slices.Concat(required(session.DetectPermissions()...), finding(), beyond(), auditing(), everywhere(optional("the status is not written",
			session.Permission{Verb: "list", Group: "apps", Resource: "deployments"}, session.Permission{Verb: "list", Group: "coordination.k8s.io", Resource: "leases"})))},
		{"replace", slices.Concat(reconciling(), optional("already replaced process groups are only known from the audit file", session.Permission{Verb: "list", Resource: "events"}))},
		{"restart", changingDatabase()},
		{"exclude", changingDatabase()},
		{"include", changingDatabase()},
		{"cordon", cordoning()},
		{"uncordon", cordoning()},
		{"drain", slices.Concat(cordoning(), evictingAgents())},
		{"check", slices.Concat(viewing(), optional("certificates are not checked", session.Permission{Verb: "get", Resource: "secrets"}), backupsToo("backups are not checked"))},
		{"maintenance status", viewing()},
		{"maintenance on", reconciling()},
		{"maintenance off", reconciling()},
		{"connection-string sync", reconciling()},
		{"coordinators change", reconciling()},
		{"coordinators repair", reconciling()},
		{"recover apply", slices.Concat(reconciling(), releasedVolumes())},
		{"operations list", required(readingLease(), finding()[0].Permission)},
		{"operations follow", slices.Concat(required(readingLease(), theResource()), finding())},
		{"operations abort", slices.Concat(required(readingLease(), session.Permission{Verb: "update", Group: "coordination.k8s.io", Resource: "leases"}, theResource()), finding())},
		{"locks deny", reconciling()},
		{"locks allow", reconciling()},
		{"locks take", reconciling()},
		{"locks release", reconciling()},
	}, backupRequirements(), []CommandRequirements{
		{"pause", slices.Concat(required(session.PausePermissions()...), finding(), auditing())},
		{"resume", slices.Concat(required(session.PausePermissions()...), finding(), auditing())},
		{"version", slices.Concat(optional("its versions are unknown", session.ViewPermissions()...), finding(), operators())},
		{"cli", slices.Concat(required(session.ToolPermissions()...), finding())},
		{"exec", slices.Concat(required(session.ToolPermissions()...), finding())},
		{"eviction-webhook", slices.Concat(required(session.WebhookPermissions()...), viewing())},
		{"eviction-webhook --act", slices.Concat(required(session.WebhookPermissions()...), reconciling())},
		{"wait", slices.Concat(required(session.ViewPermissions()...), watchingLocks(), finding(), beyond())},
	})
}

func backupRequirements() []CommandRequirements {
	return []CommandRequirements{
		{"backup start", changingBackups()},
		{"backup stop", changingBackups()},
		{"backup pause", changingBackups()},
		{"backup resume", changingBackups()},
		{"backup expire", slices.Concat(required(session.StorePermissions()...), operators(), auditing())},
		{"backup delete", slices.Concat(required(session.StorePermissions()...), operators(), auditing())},
		{"backup describe", viewingBackups("foundationdbbackups")},
		{"backup list", listingBackups()},
		{"backup status", viewingBackups("foundationdbbackups")},
		{"restore start", slices.Concat(required(session.RestorePermissions()...), operators(), auditing())},
		{"restore abort", slices.Concat(required(apply.AbortPermissions()...), operators(), auditing())},
		{"restore status", viewingBackups("foundationdbrestores")},
		{"restore wait", viewingBackups("foundationdbrestores")},
	}
}

// releasedVolumes returns what is required to find volumes whose PVC was deleted.
func releasedVolumes() []Requirement {
	return everywhere(optional("released volumes are unknown", session.Permission{Verb: "list", Resource: "persistentvolumes"}))
}

// followBackupPermissions returns what is required to watch backups, restores and their agents.
func followBackupPermissions() []session.Permission {
	all := apply.FollowPermissions()
	return slices.Concat(all[plan.Backup], all[plan.Restore], all[plan.Agents])
}

func theResource() session.Permission {
	return session.Permission{Verb: "get", Group: v1beta2.GroupVersion.Group, Resource: "foundationdbclusters"}
}

func required(powers ...session.Permission) []Requirement {
	needs := make([]Requirement, len(powers))
	for i, p := range powers {
		needs[i] = Requirement{Permission: p}
	}
	return needs
}

// viewing returns what is required to read all of a cluster. Without access to the database,
// its values are unknown.
func viewing() []Requirement {
	needs := required(session.ViewPermissions()...)
	for i := range needs {
		if needs[i].Subresource == "exec" {
			needs[i].Without = "the database is not queried"
		}
	}
	return slices.Concat(needs, optional("the CronJob of a failure detector is unknown", session.DetectorPermissions()[0]), watchingLocks(), finding(), beyond())
}

// viewingAll returns what is required to read all clusters, which takes no name.
func viewingAll() []Requirement {
	needs := viewing()
	for i := range needs {
		if needs[i].Permission == finding()[0].Permission {
			needs[i].Without = ""
		}
	}
	return needs
}

// optional returns permissions that the command can do without.
func optional(without string, powers ...session.Permission) []Requirement {
	needs := required(powers...)
	for i := range needs {
		needs[i].Without = without
	}
	return needs
}

func reconciling() []Requirement {
	return slices.Concat(required(session.ReconcilePermissions()...), keeping(), waiting(), finding(), beyond(), operators(), auditing())
}

// keeping returns what is required for the objects that only some clusters request.
func keeping() []Requirement {
	return slices.Concat(
		optional("a failure detector is refused", session.DetectorPermissions()...),
		optional("a disruption budget is refused, and one that is no longer requested stays", session.BudgetPermissions()...),
	)
}

// waiting returns what is required to see what a command with --wait waits for as it occurs.
func waiting() []Requirement {
	return optional("changes are seen up to 15 s later", session.WaitPermissions()...)
}

// auditing returns what is required for the audit: Events on the cluster.
func auditing() []Requirement {
	return optional("no audit Events are written", session.Permission{Verb: "create", Resource: "events"}, session.Permission{Verb: "patch", Resource: "events"})
}

// changingDatabase returns what is required to change the database, and only the status in
// Kubernetes.
func changingDatabase() []Requirement {
	return slices.Concat(required(session.DatabasePermissions()...), waiting(), finding(), beyond(), operators())
}

// cordoning returns what is required to reconcile, and to change nodes.
func cordoning() []Requirement {
	return slices.Concat(required(session.ReconcilePermissions()...), finding(), everywhere(required(session.NodePermissions()...)),
		everywhere(optional("capacity of other nodes is not checked", session.Permission{Verb: "list", Resource: "pods"})), operators())
}

// changingBackups returns what passes over a backup require, including to find it.
func changingBackups() []Requirement {
	list := session.Permission{Verb: "list", Group: v1beta2.GroupVersion.Group, Resource: "foundationdbbackups"}
	return slices.Concat(required(session.BackupPermissions()...), optional("its name is required", list), operators(), auditing())
}

// viewingBackups returns what is required to read a backup or restore: the tools run in pods
// of agents.
func viewingBackups(plural string) []Requirement {
	crd := v1beta2.GroupVersion.Group
	own := required(session.Permission{Verb: "get", Group: crd, Resource: plural}, session.Permission{Verb: "list", Resource: "pods"})
	own = append(own, optional("the database is not queried", session.Permission{Verb: "create", Resource: "pods", Subresource: "exec"})...)
	if plural == "foundationdbbackups" {
		own = append(own, required(session.Permission{Verb: "get", Group: "apps", Resource: "deployments"})...)
	} else { // a restore uses the agents of the cluster's backups
		own = append(own, required(session.Permission{Verb: "get", Group: crd, Resource: "foundationdbclusters"}, session.Permission{Verb: "list", Group: crd, Resource: "foundationdbbackups"})...)
	}
	return append(own, optional("its name is required", session.Permission{Verb: "list", Group: crd, Resource: plural})...)
}

// backupsToo returns what is required to read all backups of a cluster and all restores into
// it, for commands that can do without.
func backupsToo(without string) []Requirement {
	crd := v1beta2.GroupVersion.Group
	return optional(without,
		session.Permission{Verb: "list", Group: crd, Resource: "foundationdbbackups"}, session.Permission{Verb: "get", Group: crd, Resource: "foundationdbbackups"},
		session.Permission{Verb: "list", Group: crd, Resource: "foundationdbrestores"}, session.Permission{Verb: "get", Group: crd, Resource: "foundationdbrestores"},
		session.Permission{Verb: "get", Group: "apps", Resource: "deployments"},
	)
}

// aroundRestores returns what is required to read what restores wait for and leave behind: the
// database of their cluster, its backups, and the other restores into it.
func aroundRestores() []Requirement {
	return slices.Concat(
		optional("whether the database is locked is unknown", session.ViewPermissions()...),
		backupsToo("whether agents are paused is unknown"),
	)
}

// listingBackups returns what is required to read all backups, which takes no name.
func listingBackups() []Requirement {
	needs := viewingBackups("foundationdbbackups")
	needs[len(needs)-1].Without = ""
	return needs
}

// theBackups returns what is required to read the backups of a cluster and the restores into
// it.
func theBackups() []session.Permission {
	crd := v1beta2.GroupVersion.Group
	return []session.Permission{{Verb: "list", Group: crd, Resource: "foundationdbbackups"}, {Verb: "list", Group: crd, Resource: "foundationdbrestores"}}
}

// evictingAgents returns what is required to find the pods of backup agents.
func evictingAgents() []Requirement {
	return optional("pods of backup agents are left on the node", session.Permission{Verb: "list", Group: v1beta2.GroupVersion.Group, Resource: "foundationdbbackups"})
}

// everywhere marks requirements as outside of the cluster's namespace.
func everywhere(needs []Requirement) []Requirement {
	for i := range needs {
		needs[i].Everywhere = true
	}
	return needs
}

// finding returns what is required if the cluster is not named, or the name is misspelled.
func finding() []Requirement {
	return []Requirement{{
		Permission: session.Permission{Verb: "list", Group: v1beta2.GroupVersion.Group, Resource: "foundationdbclusters"},
		Without:    "the cluster name is required",
	}}
}

func readingLease() session.Permission {
	return session.Permission{Verb: "get", Group: "coordination.k8s.io", Resource: "leases"}
}

func watchingLocks() []Requirement {
	return []Requirement{{Permission: readingLease(), Without: "the holder of the Lease is unknown"}}
}

// beyond returns what only some clusters require.
func beyond() []Requirement {
	return []Requirement{
		{Permission: session.Permission{Verb: "create", Resource: "pods", Subresource: "portforward"}, Without: "sidecars of split images are not queried"},
		{Permission: session.Permission{Verb: "list", Resource: "nodes"}, Everywhere: true, Without: "rules about the taints of nodes are not checked"},
	}
}

// following returns what is required to see changes as they occur.
func following() []Requirement {
	return optional("changes are seen up to 10 s later", session.WatchPermissions()...)
}

func operators() []Requirement {
	const without = "whether an operator runs is unknown: G-OPERATOR refuses without --coexist"
	return []Requirement{
		{Permission: session.Permission{Verb: "list", Group: "apps", Resource: "deployments"}, Everywhere: true, Without: without},
		{Permission: session.Permission{Verb: "list", Group: "coordination.k8s.io", Resource: "leases"}, Everywhere: true, Without: without},
	}
}

// commandAliases are other names of commands.
var commandAliases = map[string]string{"get pg": "get process-groups", "diff": "plan", "reconcile -w": "reconcile --watch"}

// RequirementsOf returns those of the named commands, or of all if none is named.
func RequirementsOf(commands []string) ([]CommandRequirements, error) {
	all := allRequirements()
	if len(commands) == 0 {
		return all, nil
	}
	var chosen []CommandRequirements
	for _, command := range commands {
		command = cmp.Or(commandAliases[command], command)
		i := slices.IndexFunc(all, func(n CommandRequirements) bool { return n.Command == command })
		if i < 0 {
			return nil, exit.Usagef("unknown command %q, or it does not access the API server: must be one of %s%s", command, strings.Join(NamesWithRequirements(), ", "), session.OrMeant(command, NamesWithRequirements()))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// NamesWithRequirements returns the commands whose permissions are known.
func NamesWithRequirements() []string {
	var names []string
	for _, n := range allRequirements() {
		names = append(names, n.Command)
	}
	return names
}

// creating are the permissions to create objects of a kind, and to read them back.
func creating(group, resource string) []session.Permission {
	return []session.Permission{{Verb: "get", Group: group, Resource: resource}, {Verb: "create", Group: group, Resource: resource}}
}
