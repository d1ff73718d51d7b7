package commands_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Every command takes `[CLUSTER] THING…`: what can be meant by the words alone is accepted in either form.
func TestTheClusterArgumentComesFirstOrIsOmitted(t *testing.T) {
	for line, same := range map[string]string{
		"drain sample node-1 --dry-run":          "drain node-1 -c sample --dry-run",
		"cordon sample node-1 --dry-run":         "cordon node-1 -c sample --dry-run",
		"uncordon sample node-1 --dry-run":       "uncordon node-1 -c sample --dry-run",
		"can drain sample node-1":                "can drain node-1 -c sample",
		"replace STORAGE --dry-run -o name":      "replace sample STORAGE --dry-run -o name",
		"restart STORAGE --dry-run":              "restart sample STORAGE --dry-run",
		"exclude STORAGE --dry-run":              "exclude sample STORAGE --dry-run",
		"get pg STORAGE":                         "get pg sample STORAGE",
		"get processes STORAGE":                  "get processes sample STORAGE",
		"why STORAGE":                            "why sample STORAGE",
		"exclusion status STORAGE":               "exclusion status sample STORAGE",
		"can restart STORAGE":                    "can restart sample STORAGE",
		"auth role status wait":                  "auth role --for status,wait",
		"auth role status --for wait":            "auth role --for wait,status",
		"drain fdb/sample node/node-1 --dry-run": "drain node-1 -c sample --dry-run",
	} {
		t.Run(line, func(t *testing.T) {
			outputs := map[string]string{}
			for _, l := range []string{line, same} {
				v := commandstest.NewVault(t)
				code := v.Run(strings.Fields(strings.ReplaceAll(l, "STORAGE", v.Group("storage")))...)
				if code == exit.ExitUsage || v.Out.Len() == 0 {
					t.Fatalf("%s: exit code %d: %s", l, code, &v.Err)
				}
				outputs[l] = v.Out.String()
			}
			if outputs[line] != outputs[same] {
				t.Errorf("%s\n%s\n%s\n%s", line, outputs[line], same, outputs[same])
			}
		})
	}
}

// A word that names a cluster and something else is never guessed.
func TestAnAmbiguousArgumentIsAUsageError(t *testing.T) {
	cluster := func(name string) *v1beta2.FoundationDBCluster {
		return &v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "fdb"}}
	}
	g := commandstest.Up(t)
	g.Objects = append(g.Objects, cluster("node-1"))
	const want = "node-1 is the name of a cluster and of a node: set the cluster with -c"
	if code := g.Run("drain", "node-1", "node-2", "--dry-run"); code != exit.ExitUsage || !strings.Contains(g.Err.String(), want) {
		t.Errorf("exit code %d, want %q: %s%s", code, want, &g.Out, &g.Err)
	}
	g = commandstest.Up(t)
	g.Objects = append(g.Objects, cluster("storage-1"))
	g.Run("why", "storage-1")
	if !strings.HasPrefix(g.Out.String(), "fdb/storage-1:") {
		t.Errorf("an argument that names a cluster is another thing: %s%s", &g.Out, &g.Err)
	}
}
