package commands_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// besideOthers has a second cluster, in another namespace, that cannot be opened.
func besideOthers(t *testing.T) *commandstest.Given {
	t.Helper()
	g := commandstest.Up(t)
	g.Objects = []client.Object{&v1beta2.FoundationDBCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "closed", Namespace: "another"},
		Spec:       v1beta2.FoundationDBClusterSpec{Version: "7.3.79"},
	}}
	return g
}

func TestAnUnreadableClusterDoesNotHideOtherClusters(t *testing.T) {
	tests := map[string]struct {
		args []string
		want int
		says []string
	}{
		"check":               {args: []string{"check", "-A", "--fail-on", "info"}, want: exit.ExitNo, says: []string{"another/closed   -         not-checked", "its door is shut", "fdb/sample       POD-005"}},
		"check, nothing bad":  {args: []string{"check", "-A"}, want: exit.ExitUnreachable, says: []string{"its door is shut", "fdb/sample"}},
		"check as JSON":       {args: []string{"check", "-A", "-o", "json"}, want: exit.ExitUnreachable, says: []string{`"kind": "CheckReportList"`, `"problem": "its door is shut"`, `"rule": "POD-005"`}},
		"check as JUnit":      {args: []string{"check", "-A", "-o", "junit"}, want: exit.ExitUnreachable, says: []string{`<testsuite name="another/closed cluster" tests="1" failures="0" errors="1"`, `<testsuite name="fdb/sample POD"`}},
		"check as SARIF":      {args: []string{"check", "-A", "-o", "sarif"}, want: exit.ExitUnreachable, says: []string{`"id": "kubectl-fdb-check/another/closed/"`, `"id": "kubectl-fdb-check/fdb/sample/"`, "not-checked: its door is shut"}},
		"check as markdown":   {args: []string{"check", "-A", "-o", "markdown"}, want: exit.ExitUnreachable, says: []string{"## another/closed: unknown", "its door is shut", "## fdb/sample: passed"}},
		"check by name":       {args: []string{"check", "-A", "-o", "name"}, want: exit.ExitUnreachable, says: []string{"foundationdbcluster/closed"}},
		"the fix is of there": {args: []string{"check", "-A", "-o", "json"}, want: exit.ExitUnreachable, says: []string{"-n fdb --context test"}},
		"process groups":      {args: []string{"get", "pg", "-A", "--class", "log"}, want: exit.ExitUnreachable, says: []string{"CLUSTER      ID ", "fdb/sample   log-"}},
		"and as JSON":         {args: []string{"get", "pg", "-A", "-o", "json"}, want: exit.ExitUnreachable, says: []string{"another/closed could not be read: its door is shut", `"namespace": "fdb"`, `"cluster": "sample"`}},
		"why":                 {args: []string{"why", "-A"}, want: exit.ExitUnreachable, says: []string{"another/closed: cannot read the cluster: its door is shut\n\nfdb/sample: "}},
		"why in a table":      {args: []string{"why", "-A", "-o", "wide"}, want: exit.ExitUnreachable, says: []string{"another/closed   cluster ", "cannot read the cluster: its door is shut", "fdb/sample "}},
		"why as JSON":         {args: []string{"why", "-A", "-o", "json"}, want: exit.ExitUnreachable, says: []string{`"kind": "WhyReportList"`, `"summary": "cannot read the cluster: its door is shut"`, `"state": "ready"`}},
		"why by name":         {args: []string{"why", "-A", "-o", "name"}, want: exit.ExitUnreachable, says: []string{"foundationdbcluster/closed"}},
		"status":              {args: []string{"status", "-A"}, want: exit.ExitUnreachable, says: []string{"another     closed", "fdb         sample"}},
		"status as JSON":      {args: []string{"status", "-A", "-o", "json"}, want: exit.ExitUnreachable, says: []string{"cannot read the cluster: its door is shut", `"state": "healthy"`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := besideOthers(t)
			if code := g.RunAll(tc.args...); code != tc.want {
				t.Errorf("exit code %d, want %d: %s", code, tc.want, &g.Err)
			}
			for _, says := range tc.says {
				if !strings.Contains(g.Out.String(), says) {
					t.Errorf("does not say %q:\n%s", says, &g.Out)
				}
			}
		})
	}
}

func TestAllNamespacesConflictsWithAClusterName(t *testing.T) {
	g := commandstest.Up(t)
	for _, args := range [][]string{{"check", "sample", "-A"}, {"get", "pg", "sample", "-A"}, {"get", "pg", "-A", "-c", "sample"}, {"check", "-A", "-c", "sample"}, {"check", "-A", "--list"}, {"why", "sample", "-A"}, {"why", "-A", "-c", "sample"}, {"why", "-A", "--performance"}} {
		if code := g.Run(args...); code != exit.ExitUsage {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
	if code := g.Run("check", "-A"); code != exit.ExitDone || !strings.Contains(g.Err.String(), "1 cluster checked; all passed") {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
	g.Cluster.Resource = nil
	if code := g.Run("check", "-A"); code != exit.ExitDone || !strings.Contains(g.Err.String(), "no FoundationDBCluster found in all namespaces") {
		t.Errorf("without any: exit code %d: %s", code, &g.Err)
	}
}

func TestStatusShowsTheRequestedSections(t *testing.T) {
	tests := map[string]struct {
		args     []string
		want     int
		has, not []string
		reports  string
	}{
		"two of them":           {args: []string{"sample", "--sections", "locks,coordinators"}, has: []string{"fdb/sample\nAvailable: ", "Coordinators", "Locks"}, not: []string{"\nDatabase", "Process groups"}},
		"wide":                  {args: []string{"sample", "-o", "wide", "--sections", "fault-tolerance"}, has: []string{"Fault tolerance"}, not: []string{"Locks"}},
		"one that is not there": {args: []string{"sample", "--sections", "weather"}, want: exit.ExitUsage, reports: "must be one of database, fault-tolerance, coordinators"},
		"as JSON":               {args: []string{"sample", "--sections", "locks", "-o", "json"}, want: exit.ExitUsage, reports: "--sections conflicts with -A and -o json"},
		"of all":                {args: []string{"-A", "--sections", "locks"}, want: exit.ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			if code := g.Run(append([]string{"status"}, tc.args...)...); code != tc.want || !strings.Contains(g.Err.String(), tc.reports) {
				t.Errorf("exit code %d: %s", code, &g.Err)
			}
			for _, text := range tc.has {
				if !strings.Contains(g.Out.String(), text) {
					t.Errorf("no %q in:\n%s", text, &g.Out)
				}
			}
			for _, text := range tc.not {
				if strings.Contains(g.Out.String(), text) {
					t.Errorf("%q in:\n%s", text, &g.Out)
				}
			}
		})
	}
	g := commandstest.Up(t)
	if g.Run("__complete", "status", "--sections", ""); !strings.Contains(g.Out.String(), "process-groups") {
		t.Errorf("completion: %s", &g.Out)
	}
}
