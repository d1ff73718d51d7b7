package diagnose_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestAuthExitCodes(t *testing.T) {
	tests := map[string]struct {
		denied []string
		args   []string
		want   int
		says   string
	}{
		"all of one command":          {args: []string{"can-i", "reconcile"}, want: exit.ExitDone, says: "create   pods/exec "},
		"of all commands":             {args: []string{"can-i"}, want: exit.ExitDone, says: "get process-groups"},
		"a name of two words":         {args: []string{"can-i", "get", "pg"}, want: exit.ExitDone, says: "get process-groups"},
		"a required one is missing":   {denied: []string{"delete pods"}, args: []string{"can-i", "reconcile"}, want: exit.ExitNo, says: "delete   pods                                                fdb         no "},
		"a dispensable one is":        {denied: []string{"list nodes"}, args: []string{"can-i", "reconcile"}, want: exit.ExitDone, says: "(all)       no        without it rules about the taints"},
		"a document":                  {args: []string{"can-i", "wait", "-o", "json"}, want: exit.ExitDone, says: `"allowed": true`},
		"names":                       {args: []string{"can-i", "events", "-o", "name"}, want: exit.ExitDone, says: "list/events\n"},
		"no such command":             {args: []string{"can-i", "dance"}, want: exit.ExitUsage, says: "must be one of backup delete, backup describe"},
		"a Role":                      {args: []string{"role", "--for", "status"}, want: exit.ExitDone, says: "kind: Role\n"},
		"how to give it":              {args: []string{"role", "--for", "status"}, want: exit.ExitDone, says: "hint: kubectl create rolebinding kubectl-fdb --role=kubectl-fdb --user=USER -n fdb\n"},
		"a Role of another name":      {args: []string{"role", "--for", "status", "--name", "ci"}, want: exit.ExitDone, says: "  name: ci\n"},
		"a Role as JSON":              {args: []string{"role", "--for", "status", "-o", "json"}, want: exit.ExitDone, says: `"kind": "List"`},
		"a Role for nothing":          {args: []string{"role"}, want: exit.ExitUsage, says: "commands are required: one or more of backup delete"},
		"a Role for no such command":  {args: []string{"role", "--for", "dance"}, want: exit.ExitUsage},
		"a Role as a table":           {args: []string{"role", "--for", "status", "-o", "wide"}, want: exit.ExitUsage},
		"nothing asked":               {want: exit.ExitUsage},
		"something else asked":        {args: []string{"whoami"}, want: exit.ExitUsage},
		"an unknown output for can-i": {args: []string{"can-i", "-o", "xml"}, want: exit.ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			g.Denied = tc.denied
			got := g.Run(append([]string{"auth"}, tc.args...)...)
			if output := g.Out.String() + g.Err.String(); got != tc.want || !strings.Contains(output, tc.says) {
				t.Errorf("exit code %d, want %d, and %q\n%s", got, tc.want, tc.says, output)
			}
		})
	}
}

// TestAuthRoleMatchesTheShippedRBACManifests holds the table of needs and manifests/rbac together.
func TestAuthRoleMatchesTheShippedRBACManifests(t *testing.T) {
	tests := map[string]struct {
		command         string
		here, elsewhere []string
	}{
		"reconcile":         {"reconcile", []string{"reconcile.yaml", "disruption-budgets.yaml"}, []string{"find-operators.yaml", "read-nodes.yaml", "read-volumes.yaml", "first-volumes.yaml"}},
		"reconcile --watch": {"reconcile --watch", []string{"reconcile.yaml", "watch.yaml", "disruption-budgets.yaml"}, []string{"find-operators.yaml", "read-nodes.yaml", "read-volumes.yaml", "first-volumes.yaml"}},
		"looking":           {"status,get process-groups,events,wait,backup status,restore status", []string{"read.yaml"}, []string{"read-nodes.yaml", "read-volumes.yaml"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			if code := g.Run("auth", "role", "--for", tc.command); code != exit.ExitDone {
				t.Fatalf("exit code %d: %s", code, &g.Err)
			}
			parts := strings.Split(g.Out.String(), "---\n")
			if len(parts) != 2 {
				t.Fatalf("want a Role and a ClusterRole: %s", &g.Out)
			}
			for i, files := range [][]string{tc.here, tc.elsewhere} {
				if diff := cmp.Diff(shipped(t, files), permissionsIn(t, parts[i])); diff != "" {
					t.Errorf("the role that is printed is not that of %q:\n%s", files, diff)
				}
			}
		})
	}
}

func shipped(t *testing.T, files []string) []string {
	t.Helper()
	var rules []rbacv1.PolicyRule
	for _, file := range files {
		rules = append(rules, commandstest.RulesOf(t, file)...)
	}
	return sortedPermissions(rules)
}

func permissionsIn(t *testing.T, text string) []string {
	t.Helper()
	var r rbacv1.Role
	if err := yaml.UnmarshalStrict([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return sortedPermissions(r.Rules)
}

func sortedPermissions(rules []rbacv1.PolicyRule) []string {
	words := map[string]bool{}
	for _, p := range commandstest.PermissionsOf(rules) {
		words[p.String()] = true
	}
	return slices.Sorted(maps.Keys(words))
}

func TestAuthRoleRequiredOnlyOmitsOptionalPermissions(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Run("auth", "role", "--for", "reconcile", "--required-only")
	var want []string
	for _, p := range session.ReconcilePermissions() {
		want = append(want, p.String())
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, permissionsIn(t, g.Out.String())); diff != "" {
		t.Error(diff)
	}
}

// Whoever may read a Secret has its key or token, so the minimal Role grants none that is not named.
func TestAuthRoleGrantsOnlyNamedSecrets(t *testing.T) {
	for _, command := range declare.AllNeeds(commands.NewRoot(commandstest.NewGiven(t).Environment())) {
		g := commandstest.NewGiven(t)
		if g.Run("auth", "role", "--for", command.Command); strings.Contains(g.Out.String(), "secrets") {
			t.Errorf("%s: %s", command.Command, &g.Out)
		}
	}
	g := commandstest.NewGiven(t)
	g.Run("auth", "role", "check", "--secret", "fdb-certificates")
	want := "  name: kubectl-fdb-secrets\n  namespace: fdb\nrules:\n- apiGroups:\n  - \"\"\n  resourceNames:\n  - fdb-certificates\n  resources:\n  - secrets\n  verbs:\n  - get\n"
	if !strings.HasSuffix(g.Out.String(), want) || strings.Count(g.Out.String(), "secrets") != 2 {
		t.Errorf("%s", &g.Out)
	}
	if g.Run("auth", "role", "status", "--secret", "fdb-certificates"); strings.Contains(g.Out.String(), "secrets") {
		t.Errorf("status reads no Secret: %s", &g.Out)
	}
}
