package cmdutil

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// The permissions that several commands use, for their declarations. What only one uses stands beside it.

// Required returns permissions that the command cannot do without.
func Required(powers ...session.Permission) []declare.Requirement {
	needs := make([]declare.Requirement, len(powers))
	for i, p := range powers {
		needs[i] = declare.Requirement{Permission: p}
	}
	return needs
}

// Optional returns permissions that the command can do without.
func Optional(without string, powers ...session.Permission) []declare.Requirement {
	needs := Required(powers...)
	for i := range needs {
		needs[i].Without = without
	}
	return needs
}

// Everywhere marks requirements as outside of the cluster's namespace.
func Everywhere(needs []declare.Requirement) []declare.Requirement {
	for i := range needs {
		needs[i].Everywhere = true
	}
	return needs
}

// TheResource is the permission to read the named FoundationDBCluster.
func TheResource() session.Permission {
	return session.Permission{Verb: "get", Group: v1beta2.GroupVersion.Group, Resource: "foundationdbclusters"}
}

// Viewing returns what is required to read all of a cluster. Without access to the database,
// its values are unknown.
func Viewing() []declare.Requirement {
	needs := Required(session.ViewPermissions()...)
	for i := range needs {
		if needs[i].Subresource == "exec" {
			needs[i].Without = "the database is not queried"
		}
	}
	return slices.Concat(needs, Optional("the CronJob of a failure detector is unknown", session.DetectorPermissions()[0]), WatchingLocks(), Finding(), Beyond())
}

// ViewingAll returns what is required to read all clusters, which takes no name.
func ViewingAll() []declare.Requirement {
	needs := Viewing()
	for i := range needs {
		if needs[i].Permission == Finding()[0].Permission {
			needs[i].Without = ""
		}
	}
	return needs
}

// ReleasedVolumes returns what is required to find volumes whose PVC was deleted.
func ReleasedVolumes() []declare.Requirement {
	return Everywhere(Optional("released volumes are unknown", session.Permission{Verb: "list", Resource: "persistentvolumes"}))
}

// Reconciling returns what is required to run passes over a cluster.
func Reconciling() []declare.Requirement {
	return slices.Concat(Required(session.ReconcilePermissions()...), Keeping(), namespaced(), waiting(), Finding(), Beyond(), FirstVolumes(), Operators(), Auditing())
}

// FirstVolumes returns what is required to check the storage classes of a cluster before anything of it exists.
func FirstVolumes() []declare.Requirement {
	const without = "whether the storage classes of a new cluster exist is unknown"
	return Everywhere(Optional(without, session.Permission{Verb: "list", Group: "storage.k8s.io", Resource: "storageclasses"}, session.Permission{Verb: "list", Resource: "persistentvolumes"}))
}

// namespaced returns what is required to name the rule of a namespace that refuses an object.
func namespaced() []declare.Requirement {
	return Optional("the rule of the namespace that refuses an object is not named", session.NamespacePermissions()...)
}

// Keeping returns what is required for the objects that only some clusters request.
func Keeping() []declare.Requirement {
	return slices.Concat(
		Optional("a failure detector is refused", session.DetectorPermissions()...),
		Optional("a disruption budget is refused, and one that is no longer requested stays", session.BudgetPermissions()...),
	)
}

// waiting returns what is required to see what a command with --wait waits for as it occurs.
func waiting() []declare.Requirement {
	return Optional("changes are seen up to 15 s later", session.WaitPermissions()...)
}

// Auditing returns what is required for the audit: Events on the cluster.
func Auditing() []declare.Requirement {
	return Optional("no audit Events are written", session.Permission{Verb: "create", Resource: "events"}, session.Permission{Verb: "patch", Resource: "events"})
}

// ChangingDatabase returns what is required to change the database, and only the status in
// Kubernetes.
func ChangingDatabase() []declare.Requirement {
	return slices.Concat(Required(session.DatabasePermissions()...), waiting(), Finding(), Beyond(), Operators())
}

// ViewingBackups returns what is required to read a backup or restore: the tools run in pods
// of agents.
func ViewingBackups(plural string) []declare.Requirement {
	crd := v1beta2.GroupVersion.Group
	own := Required(session.Permission{Verb: "get", Group: crd, Resource: plural}, session.Permission{Verb: "list", Resource: "pods"})
	own = append(own, Optional("the database is not queried", session.Permission{Verb: "create", Resource: "pods", Subresource: "exec"})...)
	if plural == "foundationdbbackups" {
		own = append(own, Required(session.Permission{Verb: "get", Group: "apps", Resource: "deployments"})...)
	} else { // a restore uses the agents of the cluster's backups
		own = append(own, Required(session.Permission{Verb: "get", Group: crd, Resource: "foundationdbclusters"}, session.Permission{Verb: "list", Group: crd, Resource: "foundationdbbackups"})...)
	}
	return append(own, Optional("its name is required", session.Permission{Verb: "list", Group: crd, Resource: plural})...)
}

// BackupsToo returns what is required to read all backups of a cluster and all restores into
// it, for commands that can do without.
func BackupsToo(without string) []declare.Requirement {
	crd := v1beta2.GroupVersion.Group
	return Optional(without,
		session.Permission{Verb: "list", Group: crd, Resource: "foundationdbbackups"}, session.Permission{Verb: "get", Group: crd, Resource: "foundationdbbackups"},
		session.Permission{Verb: "list", Group: crd, Resource: "foundationdbrestores"}, session.Permission{Verb: "get", Group: crd, Resource: "foundationdbrestores"},
		session.Permission{Verb: "get", Group: "apps", Resource: "deployments"},
	)
}

// TheBackups returns what is required to read the backups of a cluster and the restores into
// it.
func TheBackups() []session.Permission {
	crd := v1beta2.GroupVersion.Group
	return []session.Permission{{Verb: "list", Group: crd, Resource: "foundationdbbackups"}, {Verb: "list", Group: crd, Resource: "foundationdbrestores"}}
}

// EvictingAgents returns what is required to find the pods of backup agents.
func EvictingAgents() []declare.Requirement {
	return Optional("pods of backup agents are left on the node", session.Permission{Verb: "list", Group: v1beta2.GroupVersion.Group, Resource: "foundationdbbackups"})
}

// Finding returns what is required if the cluster is not named, or the name is misspelled.
func Finding() []declare.Requirement {
	return []declare.Requirement{{
		Permission: session.Permission{Verb: "list", Group: v1beta2.GroupVersion.Group, Resource: "foundationdbclusters"},
		Without:    "the cluster name is required",
	}}
}

// ReadingLease is the permission to read a cluster's Lease.
func ReadingLease() session.Permission {
	return session.Permission{Verb: "get", Group: "coordination.k8s.io", Resource: "leases"}
}

// WatchingLocks returns what is required to name the holder of a cluster's Lease.
func WatchingLocks() []declare.Requirement {
	return []declare.Requirement{{Permission: ReadingLease(), Without: "the holder of the Lease is unknown"}}
}

// Beyond returns what only some clusters require.
func Beyond() []declare.Requirement {
	return []declare.Requirement{
		{Permission: session.Permission{Verb: "create", Resource: "pods", Subresource: "portforward"}, Without: "sidecars of split images are not queried"},
		{Permission: session.Permission{Verb: "list", Resource: "nodes"}, Everywhere: true, Without: "rules about the taints of nodes are not checked"},
		{Permission: session.NamespacePermission(), Without: "a namespace that is being deleted is not recognized"},
		{Permission: session.Permission{Verb: "get", Resource: "persistentvolumes"}, Everywhere: true, Without: "the reclaim policy of volumes is unknown whose PVCs are being deleted"},
	}
}

// Following returns what is required to see changes as they occur.
func Following() []declare.Requirement {
	return Optional("changes are seen up to 10 s later", session.WatchPermissions()...)
}

// Operators returns what is required to find out whether an operator runs.
func Operators() []declare.Requirement {
	const without = "whether an operator runs is unknown: G-OPERATOR refuses without --coexist"
	return []declare.Requirement{
		{Permission: session.Permission{Verb: "list", Group: "apps", Resource: "deployments"}, Everywhere: true, Without: without},
		{Permission: session.Permission{Verb: "list", Group: "coordination.k8s.io", Resource: "leases"}, Everywhere: true, Without: without},
	}
}

// Dumping returns what is required for a dump, which has whatever may be read.
func Dumping() []declare.Requirement {
	const without = "they are not in the dump"
	return slices.Concat(Viewing(), Operators(), BackupsToo(without), Optional(without,
		session.Permission{Verb: "get", Resource: "pods", Subresource: "log"},
		session.Permission{Verb: "list", Resource: "events"},
		session.Permission{Verb: "list", Group: "apps", Resource: "deployments"},
		session.Permission{Verb: "list", Group: "batch", Resource: "cronjobs"},
		session.Permission{Verb: "list", Group: "policy", Resource: "poddisruptionbudgets"},
		session.Permission{Verb: "list", Group: "coordination.k8s.io", Resource: "leases"},
		session.Permission{Verb: "get", Resource: "secrets"},
	), Everywhere(Optional(without,
		session.Permission{Verb: "list", Resource: "persistentvolumes"}, session.Permission{Verb: "list", Group: "storage.k8s.io", Resource: "storageclasses"}, session.Permission{Verb: "list", Resource: "pods"},
	)))
}
