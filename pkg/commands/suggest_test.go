package commands_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestAMistypedNameGetsADidYouMeanSuggestion(t *testing.T) {
	g := commandstest.Up(t)
	id := string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID)
	pod := g.PodsOf("storage")[0]
	for line, meant := range map[string]string{
		"status smaple":                            "sample",
		"status sam":                               "sample",
		"get pg sample --condition PodFail":        "PodFailing",
		"get pg sample --class stroage":            "storage",
		"get pg sample " + id[:len(id)-1]:          id,
		"why sample " + id + "0":                   id,
		"can drain node-11 -c sample":              "node-1",
		"wait sample --for=healty":                 "healthy",
		"auth can-i statsu":                        "status",
		"operations lst":                           "list",
		"can delte sample":                         "delete",
		"maintenance onn":                          "on",
		"check sample --rules POD-0055":            "POD-005",
		"check sample --skip PODS":                 "POD",
		"status sample --sections coordinatros":    "coordinators",
		"events sample --types Wraning":            "Warning",
		"logs sample --origin tracee":              "trace",
		"schema ClusterStatuss":                    "ClusterStatus",
		"reconcile sample --only AddPodz":          "AddPods",
		"reconcile sample --override G-CLOKC=x":    "G-CLOCK",
		"exec sample --pod " + pod + "x -- ls":     pod,
		"install rbac reconcil":                    "reconcile",
		"wait sample --for no-condition=PodFailin": "PodFailing",
		"auth role --for verson":                   "version",
	} {
		code := g.Run(strings.Fields(line)...)
		if text := g.Err.String(); code != exit.ExitUsage || !strings.Contains(text, "; did you mean ") || !strings.Contains(text[strings.Index(text, "did you mean"):], meant) {
			t.Errorf("%s: exit code %d: %s", line, code, text)
		}
	}
	if g.Run("status", "other"); strings.Contains(g.Err.String(), "did you mean") {
		t.Errorf("nothing is like it: %s", &g.Err)
	}
}

// A hint without the context would be carried out on another API server.
func TestHintsOfErrorsNameTheContext(t *testing.T) {
	for line, want := range map[string]string{
		"status -n nowhere":                        "hint: kubectl fdb status -A --context test\n",
		"cordon node-77 -c sample --evacuate=none": "hint: kubectl get nodes --context test\n",
		"get pg sample --no-header":                "hint: kubectl fdb get process-groups --help\n",
		"status a b":                               "hint: kubectl fdb status --help\n",
	} {
		g := commandstest.Up(t)
		if code := g.Run(strings.Fields(line)...); code != exit.ExitUsage || !strings.Contains(g.Err.String(), want) {
			t.Errorf("%s: exit code %d, want %q: %s", line, code, want, &g.Err)
		}
	}
}
