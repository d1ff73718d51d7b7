package commands_test

import (
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

func TestTheReconcileRoleGrantsTheRequiredPermissions(t *testing.T) {
	rules := commandstest.RulesOf(t, "reconcile.yaml")
	for _, p := range session.ReconcilePermissions() {
		if !granted(rules, p) {
			t.Errorf("manifests/rbac/reconcile.yaml does not grant %q", p)
		}
	}
}

func TestTheReconcileRoleGrantsNoUnusedPermission(t *testing.T) {
	needed := session.ReconcilePermissions()
	beyond := []session.Permission{ // what only some runs need, so that no run asks for it beforehand
		{Verb: "list", Group: "apps.foundationdb.org", Resource: "foundationdbclusters"}, // to find the only cluster, or to name others
		{Verb: "create", Resource: "pods", Subresource: "portforward"},                   // split images
		session.NamespacePermission(),                                                    // a pass asks without it, too
		{Verb: "create", Resource: "events"},                                             // the audit, which is optional
		{Verb: "patch", Resource: "events"},
	}
	beyond = append(beyond, session.DetectorPermissions()...)  // clusters with a failure detector
	beyond = append(beyond, session.NamespacePermissions()...) // to name the rule that refuses an object
	beyond = append(beyond, session.WaitPermissions()...)      // --wait, which is slower without them
	for _, p := range commandstest.PermissionsOf(commandstest.RulesOf(t, "reconcile.yaml")) {
		if !slices.Contains(needed, p) && !slices.Contains(beyond, p) {
			t.Errorf("manifests/rbac/reconcile.yaml grants %q, which no pass asks for", p)
		}
	}
}

func TestTheWatchRolesGrantTheRequiredPermissions(t *testing.T) {
	rules := slices.Concat(commandstest.RulesOf(t, "reconcile.yaml"), commandstest.RulesOf(t, "watch.yaml"))
	for _, p := range append(session.ReconcilePermissions(), session.WatchPermissions()...) {
		if !granted(rules, p) {
			t.Errorf("manifests/rbac does not grant %q to a watch", p)
		}
	}
	for _, p := range commandstest.PermissionsOf(commandstest.RulesOf(t, "watch.yaml")) {
		if !slices.Contains(session.WatchPermissions(), p) {
			t.Errorf("manifests/rbac/watch.yaml grants %q, which no watch asks for", p)
		}
	}
}

func TestTheBackupRoleGrantsTheRequiredPermissionsAndNoMore(t *testing.T) {
	needed := slices.Concat(session.BackupPermissions(), session.RestorePermissions(), session.RestoreAtPermissions(), apply.FindResourcePermissions(), apply.AbortPermissions())
	rules := commandstest.RulesOf(t, "backups.yaml")
	for _, p := range needed {
		if !granted(rules, p) {
			t.Errorf("manifests/rbac/backups.yaml does not grant %q", p)
		}
	}
	audit := []session.Permission{{Verb: "create", Resource: "events"}, {Verb: "patch", Resource: "events"}}
	for _, p := range commandstest.PermissionsOf(rules) {
		if !slices.Contains(append(audit, needed...), p) {
			t.Errorf("manifests/rbac/backups.yaml grants %q, which no pass asks for", p)
		}
	}
}

func TestThePauseRoleGrantsTheRequiredPermissionsAndNoMore(t *testing.T) {
	granted := commandstest.PermissionsOf(commandstest.RulesOf(t, "pause.yaml"))
	for _, p := range session.PausePermissions() {
		if !slices.Contains(granted, p) {
			t.Errorf("manifests/rbac/pause.yaml does not grant %q", p)
		}
	}
	audit := []session.Permission{{Verb: "create", Resource: "events"}, {Verb: "patch", Resource: "events"}}
	list := session.Permission{Verb: "list", Group: "apps.foundationdb.org", Resource: "foundationdbclusters"} // to find the only cluster
	for _, p := range granted {
		if !slices.Contains(append(audit, list), p) && !slices.Contains(session.PausePermissions(), p) {
			t.Errorf("manifests/rbac/pause.yaml grants %q, which no pause asks for", p)
		}
	}
}

// Together with the Role for reconciling.
func TestTheFailoverRoleGrantsTheRequiredPermissionsAndNoMore(t *testing.T) {
	granted := commandstest.PermissionsOf(commandstest.RulesOf(t, "failover.yaml"))
	for _, p := range session.FailoverPermissions() {
		if !slices.Contains(append(granted, session.ReconcilePermissions()...), p) {
			t.Errorf("manifests/rbac/failover.yaml does not grant %q", p)
		}
	}
	for _, p := range granted {
		if !slices.Contains(session.FailoverPermissions(), p) {
			t.Errorf("manifests/rbac/failover.yaml grants %q, which no failover asks for", p)
		}
	}
}

func TestTheFailureDetectorRoleGrantsTheRequiredPermissionsAndNoMore(t *testing.T) {
	rules := commandstest.RulesOf(t, "detect-failures.yaml")
	needed := session.DetectPermissions()
	for _, p := range needed {
		if !granted(rules, p) {
			t.Errorf("manifests/rbac/detect-failures.yaml does not grant %q", p)
		}
	}
	beyond := []session.Permission{
		{Verb: "list", Group: "apps.foundationdb.org", Resource: "foundationdbclusters"}, // to find the only cluster
		{Verb: "create", Resource: "pods", Subresource: "portforward"},                   // split images
		{Verb: "patch", Resource: "pods"},                                                // since when a node is tainted
		{Verb: "create", Resource: "events"}, {Verb: "patch", Resource: "events"},
	}
	for _, p := range commandstest.PermissionsOf(rules) {
		if !slices.Contains(append(beyond, needed...), p) {
			t.Errorf("manifests/rbac/detect-failures.yaml grants %q, which no detection asks for", p)
		}
	}
}

func TestTheReadRoleGrantsOnlyReadsExecAndPortForward(t *testing.T) {
	for _, p := range commandstest.PermissionsOf(commandstest.RulesOf(t, "read.yaml")) {
		asks := p.Resource == "pods" && (p.Subresource == "exec" || p.Subresource == "portforward")
		if !asks && p.Verb != "get" && p.Verb != "list" {
			t.Errorf("manifests/rbac/read.yaml grants %q", p)
		}
	}
}

func TestTheDumpRoleGrantsOnlyTheReadsThatADumpRequires(t *testing.T) {
	requested, found := declare.FindNeeds(commands.NewRoot(commandstest.NewGiven(t).Environment()), "dump")
	if !found {
		t.Fatal("dump declares no permissions")
	}
	for _, p := range commandstest.PermissionsOf(commandstest.RulesOf(t, "dump.yaml")) {
		if p.Verb != "get" && p.Verb != "list" || !slices.ContainsFunc(requested.Needs, func(r declare.Requirement) bool { return r.Permission == p }) {
			t.Errorf("manifests/rbac/dump.yaml grants %q, which no dump asks for", p)
		}
	}
}

func TestTheRunStateRoleGrantsTheRequiredPermissionsAndNoMore(t *testing.T) {
	if got := commandstest.PermissionsOf(commandstest.RulesOf(t, "run-state.yaml")); !slices.Equal(session.RunStatePermissions(), got) {
		t.Errorf("manifests/rbac/run-state.yaml grants %v, want %v", got, session.RunStatePermissions())
	}
}

func TestTheFindOperatorsRoleOnlyListsDeploymentsAndLeases(t *testing.T) {
	want := []session.Permission{{Verb: "list", Group: "apps", Resource: "deployments"}, {Verb: "list", Group: "coordination.k8s.io", Resource: "leases"}}
	if got := commandstest.PermissionsOf(commandstest.RulesOf(t, "find-operators.yaml")); !slices.Equal(want, got) {
		t.Errorf("manifests/rbac/find-operators.yaml grants %v, want %v", got, want)
	}
}

func TestTheReadNodesRoleOnlyListsNodes(t *testing.T) {
	want := []session.Permission{{Verb: "list", Resource: "nodes"}}
	if got := commandstest.PermissionsOf(commandstest.RulesOf(t, "read-nodes.yaml")); !slices.Equal(want, got) {
		t.Errorf("manifests/rbac/read-nodes.yaml grants %v, want %v", got, want)
	}
}

func TestTheReadVolumesRoleOnlyReadsVolumes(t *testing.T) {
	want := []session.Permission{{Verb: "get", Resource: "persistentvolumes"}}
	if got := commandstest.PermissionsOf(commandstest.RulesOf(t, "read-volumes.yaml")); !slices.Equal(want, got) {
		t.Errorf("manifests/rbac/read-volumes.yaml grants %v, want %v", got, want)
	}
}

func TestTheFirstVolumesRoleOnlyLists(t *testing.T) {
	want := []session.Permission{{Verb: "list", Group: "storage.k8s.io", Resource: "storageclasses"}, {Verb: "list", Resource: "persistentvolumes"}}
	if got := commandstest.PermissionsOf(commandstest.RulesOf(t, "first-volumes.yaml")); !slices.Equal(want, got) {
		t.Errorf("manifests/rbac/first-volumes.yaml grants %v, want %v", got, want)
	}
}

func TestTheBudgetAndStorageClassReadRolesOnlyList(t *testing.T) {
	for file, want := range map[string]session.Permission{
		"read-disruption-budgets.yaml": session.BudgetPermissions()[0],
		"read-storage-classes.yaml":    {Verb: "list", Group: "storage.k8s.io", Resource: "storageclasses"},
	} {
		if got := commandstest.PermissionsOf(commandstest.RulesOf(t, file)); !slices.Equal([]session.Permission{want}, got) {
			t.Errorf("manifests/rbac/%s grants %v, want %v", file, got, want)
		}
	}
}

func TestTheEvictPodsRoleGrantsTheRequiredPermissionsAndNoMore(t *testing.T) {
	if got, want := commandstest.PermissionsOf(commandstest.RulesOf(t, "evict-pods.yaml")), session.EvictPermissions(); !slices.Equal(want, got) {
		t.Errorf("manifests/rbac/evict-pods.yaml grants %v, want %v", got, want)
	}
}

func TestTheCordonRoleGrantsTheRequiredPermissionsAndNoMore(t *testing.T) {
	want := append(session.NodePermissions(), session.Permission{Verb: "list", Resource: "pods"})
	if got := commandstest.PermissionsOf(commandstest.RulesOf(t, "cordon-nodes.yaml")); !slices.Equal(want, got) {
		t.Errorf("manifests/rbac/cordon-nodes.yaml grants %v, want %v", got, want)
	}
}

func TestTheGarbageCollectionRoleGrantsTheRequiredPermissionsAndNoMore(t *testing.T) {
	want := append(session.GarbagePermissions(), session.Permission{Verb: "list", Resource: "configmaps"})
	got := commandstest.PermissionsOf(commandstest.RulesOf(t, "gc.yaml"))
	for _, p := range want {
		if !slices.Contains(got, p) {
			t.Errorf("manifests/rbac/gc.yaml does not grant %q", p)
		}
	}
	if len(got) != len(want) {
		t.Errorf("manifests/rbac/gc.yaml grants %v, want %v", got, want)
	}
}

func TestTheRecoverVolumesRoleGrantsTheRequiredPermissionsAndNoMore(t *testing.T) {
	want := []session.Permission{{Verb: "get", Resource: "persistentvolumes"}, {Verb: "list", Resource: "persistentvolumes"}, {Verb: "patch", Resource: "persistentvolumes"}}
	if got := commandstest.PermissionsOf(commandstest.RulesOf(t, "recover-volumes.yaml")); !slices.Equal(want, got) {
		t.Errorf("manifests/rbac/recover-volumes.yaml grants %v, want %v", got, want)
	}
}

func TestTheRoleForCertificatesReadsNamedSecretsOnly(t *testing.T) {
	rules := commandstest.RulesOf(t, "read-certificates.yaml")
	if got, want := commandstest.PermissionsOf(rules), []session.Permission{{Verb: "get", Resource: "secrets"}}; !slices.Equal(want, got) || len(rules[0].ResourceNames) == 0 {
		t.Errorf("manifests/rbac/read-certificates.yaml grants %v of %v, want %v of named ones", got, rules[0].ResourceNames, want)
	}
}

func granted(rules []rbacv1.PolicyRule, p session.Permission) bool {
	return slices.Contains(commandstest.PermissionsOf(rules), p)
}

func TestTheDisruptionBudgetRoleGrantsTheRequiredPermissionsAndNoMore(t *testing.T) {
	if got, want := commandstest.PermissionsOf(commandstest.RulesOf(t, "disruption-budgets.yaml")), session.BudgetPermissions(); !slices.Equal(want, got) {
		t.Errorf("manifests/rbac/disruption-budgets.yaml grants %v, want %v", got, want)
	}
}

func TestTheEvictionWebhookRoleGrantsTheRequiredPermissionsAndNoMore(t *testing.T) {
	if got, want := commandstest.PermissionsOf(commandstest.RulesOf(t, "evictions.yaml")), session.WebhookPermissions(); !slices.Equal(want, got) {
		t.Errorf("manifests/rbac/evictions.yaml grants %v, want %v", got, want)
	}
}
