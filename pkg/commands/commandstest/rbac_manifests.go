package commandstest

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	shipped "github.com/kubectl-fdb/kubectl-fdb/manifests"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// RulesOf reads the rules of the one role in a manifest; a ClusterRole reads the same.
func RulesOf(t *testing.T, name string) []rbacv1.PolicyRule {
	t.Helper()
	text, err := shipped.Files.ReadFile("rbac/" + name)
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

// PermissionsOf returns the permissions that rules grant.
func PermissionsOf(rules []rbacv1.PolicyRule) []session.Permission {
	var powers []session.Permission
	for _, r := range rules {
		for _, group := range r.APIGroups {
			for _, path := range r.Resources {
				resource, subresource, _ := strings.Cut(path, "/")
				for _, verb := range r.Verbs {
					powers = append(powers, session.Permission{Verb: verb, Group: group, Resource: resource, Subresource: subresource})
				}
			}
		}
	}
	return powers
}
