package check

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// templates returns the rules about what the pod templates of the cluster, and that of its failure detector,
// request beyond their own pods.
func templates() []Rule {
	return []Rule{
		{
			Code: "SEC-001", OfSpec: true, Severity: Error, Title: "The restrictions of the run allow all pod templates",
			Why:  "With these flags no pass runs over the resource. Correct the pod template, or the flags. Without flags nothing is restricted.",
			Find: forbiddenTemplates,
		},
		{
			Code: "SEC-002", OfSpec: true, Severity: Warning, Title: "No pod template uses namespaces of its node",
			Why:  "Processes of the pod can see or reach what runs on the node. Passes create such pods for everyone who may change the resource; flags such as --allow-host-pid=false refuse them.",
			Find: privileged(objects.PrivilegeHostNetwork, objects.PrivilegeHostPID, objects.PrivilegeHostIPC),
		},
		{
			Code: "SEC-003", OfSpec: true, Severity: Warning, Title: "No container is privileged",
			Why:  "It can do everything on its node, or a capability allows more than the Pod Security Standard baseline. Passes create such pods for everyone who may change the resource; Pod Security of the namespace refuses them.",
			Find: privileged(objects.PrivilegePrivileged, objects.PrivilegeCapability),
		},
		{
			Code: "SEC-004", OfSpec: true, Severity: Warning, Title: "No pod template mounts files of its node",
			Why:  "A hostPath volume reaches files of the node, and its data stays there when the pod moves. --allowed-additional-volume-sources refuses it.",
			Find: privileged(objects.PrivilegeHostPath),
		},
		{
			Code: "SEC-005", OfSpec: true, Severity: Info, Title: "Pods have no account of other programs",
			Why:  "They have all rights of the ServiceAccount, which is neither default nor fdb-kubernetes. Whoever may change the resource has them too. --allowed-service-account-names refuses others.",
			Find: privileged(objects.PrivilegeAccount),
		},
	}
}

func forbiddenTemplates(f Facts) ([]Finding, string) {
	forbidden, err := f.Templates.OfCluster(f.Cluster)
	if err != nil {
		return nil, err.Error()
	}
	return forbiddenOf("foundationdbcluster", f.Cluster.Name, forbidden), ""
}

func forbiddenOf(kind, name string, all []objects.Forbidden) []Finding {
	var found []Finding
	for _, forbidden := range all {
		found = append(found, edit(kind, name, kind+"/"+name, forbidden.Field, forbidden.Text()))
	}
	return found
}

// privileged returns a function that finds privileges of some kinds in the templates of a cluster.
func privileged(kinds ...objects.PrivilegeKind) func(Facts) ([]Finding, string) {
	return func(f Facts) ([]Finding, string) {
		selected := slices.DeleteFunc(objects.Privileges(f.Cluster), func(p objects.Privilege) bool { return !slices.Contains(kinds, p.Kind) })
		return privilegesOf("foundationdbcluster", f.Cluster.Name, selected), ""
	}
}

func privilegesOf(kind, name string, all []objects.Privilege) []Finding {
	var found []Finding
	for _, p := range all {
		found = append(found, edit(kind, name, kind+"/"+name, p.Field, "the pod template has "+p.Text()))
	}
	return found
}

// privilegedAgents finds what the pod templates of backup agents request, or what is forbidden of them.
func privilegedAgents(f Facts) ([]Finding, string) {
	var found []Finding
	for _, b := range f.Backups.Backups {
		found = append(found, forbiddenOf("foundationdbbackup", b.Resource.Name, f.Templates.OfBackup(b.Resource))...)
		found = append(found, privilegesOf("foundationdbbackup", b.Resource.Name, objects.BackupPrivileges(b.Resource))...)
	}
	return found, ""
}
