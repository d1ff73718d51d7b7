package commands

import (
	"os"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

func TestTheRoleOfReconcileGrantsWhatReconcileAsksFor(t *testing.T) {
	rules := rulesOf(t, "reconcile.yaml")
	for _, p := range reconcilePermissions() {
		if !granted(rules, p) {
			t.Errorf("manifests/rbac/reconcile.yaml does not grant %q", p)
		}
	}
}

func TestTheRoleOfReconcileGrantsNoMore(t *testing.T) {
	needed := reconcilePermissions()
	beyond := []permission{ // what only some runs need, so that no run asks for it beforehand
		{"list", "apps.foundationdb.org", "foundationdbclusters", ""}, // to find the only cluster, or to name others
		{"create", "", "pods", "portforward"},                         // split images
		{"create", "", "events", ""},                                  // the audit, which is optional
		{"patch", "", "events", ""},
	}
	beyond = append(beyond, detectorPermissions()...) // clusters with a failure detector
	for _, p := range permissionsOf(rulesOf(t, "reconcile.yaml")) {
		if !slices.Contains(needed, p) && !slices.Contains(beyond, p) {
			t.Errorf("manifests/rbac/reconcile.yaml grants %q, which no pass asks for", p)
		}
	}
}

func TestTheRolesOfAWatchGrantWhatItAsksFor(t *testing.T) {
	rules := slices.Concat(rulesOf(t, "reconcile.yaml"), rulesOf(t, "watch.yaml"))
	for _, p := range append(reconcilePermissions(), watchPermissions()...) {
		if !granted(rules, p) {
			t.Errorf("manifests/rbac does not grant %q to a watch", p)
		}
	}
	for _, p := range permissionsOf(rulesOf(t, "watch.yaml")) {
		if !slices.Contains(watchPermissions(), p) {
			t.Errorf("manifests/rbac/watch.yaml grants %q, which no watch asks for", p)
		}
	}
}

func TestTheRoleForBackupsGrantsWhatTheirPassesAskForAndNoMore(t *testing.T) {
	needed := slices.Concat(backupPermissions(), restorePermissions(), findRecordPermissions(), abortPermissions())
	rules := rulesOf(t, "backups.yaml")
	for _, p := range needed {
		if !granted(rules, p) {
			t.Errorf("manifests/rbac/backups.yaml does not grant %q", p)
		}
	}
	audit := []permission{{"create", "", "events", ""}, {"patch", "", "events", ""}}
	for _, p := range permissionsOf(rules) {
		if !slices.Contains(append(audit, needed...), p) {
			t.Errorf("manifests/rbac/backups.yaml grants %q, which no pass asks for", p)
		}
	}
}

func TestTheRoleForPausingGrantsWhatThatAsksForAndNoMore(t *testing.T) {
	granted := permissionsOf(rulesOf(t, "pause.yaml"))
	for _, p := range pausePermissions() {
		if !slices.Contains(granted, p) {
			t.Errorf("manifests/rbac/pause.yaml does not grant %q", p)
		}
	}
	audit := []permission{{"create", "", "events", ""}, {"patch", "", "events", ""}}
	list := permission{"list", "apps.foundationdb.org", "foundationdbclusters", ""} // to find the only cluster
	for _, p := range granted {
		if !slices.Contains(append(audit, list), p) && !slices.Contains(pausePermissions(), p) {
			t.Errorf("manifests/rbac/pause.yaml grants %q, which no pause asks for", p)
		}
	}
}

func TestTheRoleForDetectingFailuresGrantsWhatThatAsksForAndNoMore(t *testing.T) {
	rules := rulesOf(t, "detect-failures.yaml")
	needed := detectPermissions()
	for _, p := range needed {
		if !granted(rules, p) {
			t.Errorf("manifests/rbac/detect-failures.yaml does not grant %q", p)
		}
	}
	beyond := []permission{
		{"list", "apps.foundationdb.org", "foundationdbclusters", ""}, // to find the only cluster
		{"create", "", "pods", "portforward"},                         // split images
		{"patch", "", "pods", ""},                                     // since when a node is tainted
		{"create", "", "events", ""}, {"patch", "", "events", ""},
	}
	for _, p := range permissionsOf(rules) {
		if !slices.Contains(append(beyond, needed...), p) {
			t.Errorf("manifests/rbac/detect-failures.yaml grants %q, which no detection asks for", p)
		}
	}
}

func TestTheRoleOfReadersChangesNothing(t *testing.T) {
	for _, p := range permissionsOf(rulesOf(t, "read.yaml")) {
		asks := p.resource == "pods" && (p.subresource == "exec" || p.subresource == "portforward")
		if !asks && p.verb != "get" && p.verb != "list" {
			t.Errorf("manifests/rbac/read.yaml grants %q", p)
		}
	}
}

func TestTheRoleForFindingOperatorsOnlyLists(t *testing.T) {
	want := []permission{{"list", "apps", "deployments", ""}, {"list", "coordination.k8s.io", "leases", ""}}
	if got := permissionsOf(rulesOf(t, "find-operators.yaml")); !slices.Equal(want, got) {
		t.Errorf("manifests/rbac/find-operators.yaml grants %v, want %v", got, want)
	}
}

func TestTheRoleForReadingNodesOnlyLists(t *testing.T) {
	want := []permission{{"list", "", "nodes", ""}}
	if got := permissionsOf(rulesOf(t, "read-nodes.yaml")); !slices.Equal(want, got) {
		t.Errorf("manifests/rbac/read-nodes.yaml grants %v, want %v", got, want)
	}
}

func TestTheRoleForCordoningIsWhatItTakes(t *testing.T) {
	want := append(nodePermissions(), permission{"list", "", "pods", ""})
	if got := permissionsOf(rulesOf(t, "cordon-nodes.yaml")); !slices.Equal(want, got) {
		t.Errorf("manifests/rbac/cordon-nodes.yaml grants %v, want %v", got, want)
	}
}

func TestTheRoleForCertificatesReadsNamedSecretsOnly(t *testing.T) {
	rules := rulesOf(t, "read-certificates.yaml")
	if got, want := permissionsOf(rules), []permission{{"get", "", "secrets", ""}}; !slices.Equal(want, got) || len(rules[0].ResourceNames) == 0 {
		t.Errorf("manifests/rbac/read-certificates.yaml grants %v of %v, want %v of named ones", got, rules[0].ResourceNames, want)
	}
}

// rulesOf reads the rules of the one role in a manifest; a ClusterRole reads the same.
func rulesOf(t *testing.T, name string) []rbacv1.PolicyRule {
	t.Helper()
	text, err := os.ReadFile("../../manifests/rbac/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.Role
	if err := yaml.UnmarshalStrict(text, &role); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(role.Rules) == 0 {
		t.Fatalf("%s has no rules", name)
	}
	return role.Rules
}

func granted(rules []rbacv1.PolicyRule, p permission) bool {
	return slices.Contains(permissionsOf(rules), p)
}

func permissionsOf(rules []rbacv1.PolicyRule) []permission {
	var powers []permission
	for _, r := range rules {
		for _, group := range r.APIGroups {
			for _, path := range r.Resources {
				resource, subresource, _ := strings.Cut(path, "/")
				for _, verb := range r.Verbs {
					powers = append(powers, permission{verb, group, resource, subresource})
				}
			}
		}
	}
	return powers
}
