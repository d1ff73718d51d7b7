package cmdutil

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// releasedVolumes returns what is required to find volumes whose PVC was deleted.
func releasedVolumes() []Requirement {
	return everywhere(optional("released volumes are unknown", session.Permission{Verb: "list", Resource: "persistentvolumes"}))
}

// bindingVolumes returns what is required to bind PVCs to released volumes again.
func bindingVolumes() []Requirement {
	return everywhere(optional("released volumes cannot be bound again", session.VolumePermissions()...))
}

// collectingGarbage returns what is required to find and remove what has no owner. Permissions to delete are
// required for what is found only.
func collectingGarbage() []Requirement {
	return slices.Concat(changingDatabase(), optional("ConfigMaps are not found", session.Permission{Verb: "list", Resource: "configmaps"}),
		optional("objects of these kinds are not removed", session.GarbagePermissions()...),
		everywhere(optional("ConfigMaps and services of a cluster that does not exist are kept", session.Permission{Verb: "list", Resource: "persistentvolumes"})))
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

// readingLeftovers returns what is required, beside the resource and its Lease, to read what is half
// done on a cluster.
func readingLeftovers() []Requirement {
	others := slices.DeleteFunc(session.ViewPermissions(), func(p session.Permission) bool { return p == theResource() || p == readingLease() })
	return slices.Concat(optional("what is half done is unknown", others...), beyond())
}

func reconciling() []Requirement {
	return slices.Concat(required(session.ReconcilePermissions()...), keeping(), namespaced(), waiting(), finding(), beyond(), firstVolumes(), operators(), auditing())
}

// firstVolumes returns what is required to check the storage classes of a cluster before anything of it exists.
func firstVolumes() []Requirement {
	const without = "whether the storage classes of a new cluster exist is unknown"
	return everywhere(optional(without, session.Permission{Verb: "list", Group: "storage.k8s.io", Resource: "storageclasses"}, session.Permission{Verb: "list", Resource: "persistentvolumes"}))
}

// namespaced returns what is required to name the rule of a namespace that refuses an object.
func namespaced() []Requirement {
	return optional("the rule of the namespace that refuses an object is not named", session.NamespacePermissions()...)
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

// otherControllers returns what is required to check what other controllers do to pods and volumes.
// That nodes are listed is among beyond.
func otherControllers() []Requirement {
	return append(
		optional("disruption budgets are not checked", session.BudgetPermissions()[0]),
		everywhere(optional("storage classes are not checked", session.Permission{Verb: "list", Group: "storage.k8s.io", Resource: "storageclasses"}))...,
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
		{Permission: session.NamespacePermission(), Without: "a namespace that is being deleted is not recognized"},
		{Permission: session.Permission{Verb: "get", Resource: "persistentvolumes"}, Everywhere: true, Without: "the reclaim policy of volumes is unknown whose PVCs are being deleted"},
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

// creating are the permissions to create objects of a kind, and to read them back.
func creating(group, resource string) []session.Permission {
	return []session.Permission{{Verb: "get", Group: group, Resource: resource}, {Verb: "create", Group: group, Resource: resource}}
}
