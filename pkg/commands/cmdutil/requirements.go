package cmdutil

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
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
		{"metrics", viewing()},
		{"why fdbbackup", slices.Concat(viewingBackups("foundationdbbackups"), operators())},
		{"why fdbrestore", slices.Concat(viewingBackups("foundationdbrestores"), operators(), aroundRestores())},
		{"can drain", slices.Concat(viewing(), operators(), everywhere(required(session.Permission{Verb: "get", Resource: "nodes"})), evictingAgents())},
	}
	events := optional("events are not shown", session.Permission{Verb: "list", Resource: "events"})
	all = append(all,
		CommandRequirements{"describe", slices.Concat(viewing(), operators(), events, backupsToo("backups are not read"))},
		CommandRequirements{"describe process-group", slices.Concat(viewing(), operators(), events)},
	)
	all = append(all, CommandRequirements{"can replace", slices.Concat(viewing(), operators(), optional("whether the API server accepts a successor is unknown, which refuses the replacement", session.Permission{Verb: "create", Resource: "pods"}, session.Permission{Verb: "create", Resource: "persistentvolumeclaims"}))})
	for _, verb := range []string{"delete", "reconcile", "restart"} {
		all = append(all, CommandRequirements{"can " + verb, slices.Concat(viewing(), operators())})
	}
	all = append(all, CommandRequirements{"can upgrade", slices.Concat(viewing(), operators(), optional("facts about backups are unknown, which refuses some upgrades", theBackups()...))})
	for _, verb := range []string{"collect", "plan", "verify"} {
		all = append(all, CommandRequirements{"recover " + verb, slices.Concat(viewing(), releasedVolumes())})
	}
	all = append(all, CommandRequirements{"recover manifest", inferringManifests()})
	all = append(all, CommandRequirements{"dump", dumping()}, CommandRequirements{"dump diff", viewing()}, CommandRequirements{"run --state", required(session.RunStatePermissions()...)}, CommandRequirements{"logs", logging()})
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

// inferringManifests returns what is required to infer a manifest: what may not be read is listed as unknown.
func inferringManifests() []Requirement {
	const without = "fields of the manifest are unknown"
	return slices.Concat(required(theResource()), optional(without,
		session.Permission{Verb: "list", Resource: "pods"}, session.Permission{Verb: "create", Resource: "pods", Subresource: "exec"},
		session.Permission{Verb: "list", Resource: "persistentvolumeclaims"}, session.Permission{Verb: "list", Resource: "services"}, session.Permission{Verb: "get", Resource: "configmaps"},
	), releasedVolumes())
}

// logging returns what is required for logs: either of both origins can do without the other.
func logging() []Requirement {
	return slices.Concat(
		required(theResource(), session.Permission{Verb: "list", Resource: "pods"}),
		optional("lines of containers are not printed", session.Permission{Verb: "get", Resource: "pods", Subresource: "log"}),
		optional("trace events are not printed", session.Permission{Verb: "create", Resource: "pods", Subresource: "exec"}), finding(),
	)
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
		session.Permission{Verb: "list", Resource: "persistentvolumes"}, session.Permission{Verb: "list", Group: "storage.k8s.io", Resource: "storageclasses"}, session.Permission{Verb: "list", Resource: "pods"},
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
		{"plan", slices.Concat(viewing(), operators(), firstVolumes(), optional("the disruption budget is unknown", session.BudgetPermissions()[0]))},
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
		{"reconcile --watch --dump-dir", slices.Concat(reconciling(), required(session.WatchPermissions()...), dumping())},
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
		{"check", slices.Concat(viewing(), optional("certificates are not checked", session.Permission{Verb: "get", Resource: "secrets"}), backupsToo("backups are not checked"), otherControllers())},
		{"maintenance status", viewing()},
		{"maintenance on", reconciling()},
		{"maintenance off", reconciling()},
		{"connection-string sync", reconciling()},
		{"coordinators change", reconciling()},
		{"coordinators repair", reconciling()},
		{"failover", slices.Concat(reconciling(), required(session.FailoverPermissions()...))},
		{"gc", collectingGarbage()},
		{"recover apply", slices.Concat(reconciling(), releasedVolumes(), bindingVolumes())},
		{"operations list", slices.Concat(required(readingLease()), finding(), optional("a named cluster is not found", theResource()))},
		{"operations follow", slices.Concat(required(readingLease(), theResource()), finding())},
		{"operations abort", slices.Concat(required(readingLease(), session.Permission{Verb: "update", Group: "coordination.k8s.io", Resource: "leases"}, theResource()), finding(), readingLeftovers())},
		{"locks deny", reconciling()},
		{"locks allow", reconciling()},
		{"locks take", reconciling()},
		{"locks release", reconciling()},
	}, evictionRequirements(), backupRequirements(), []CommandRequirements{
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

// evictionRequirements are those of deleting pods by the eviction API.
func evictionRequirements() []CommandRequirements {
	return []CommandRequirements{
		{"reconcile --respect-pdb", slices.Concat(reconciling(), required(session.EvictPermissions()...))},
		{"replace --respect-pdb", slices.Concat(reconciling(), required(session.EvictPermissions()...))},
		{"cordon --respect-pdb", slices.Concat(cordoning(), required(session.EvictPermissions()...))},
		{"drain --respect-pdb", slices.Concat(cordoning(), evictingAgents(), required(session.EvictPermissions()...))},
	}
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
		{"restore start", slices.Concat(required(session.RestorePermissions()...),
			optional("no time can be restored (--at)", session.RestoreAtPermissions()...), operators(), auditing())},
		{"restore abort", slices.Concat(required(apply.AbortPermissions()...), operators(), auditing())},
		{"restore status", viewingBackups("foundationdbrestores")},
		{"restore wait", viewingBackups("foundationdbrestores")},
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
