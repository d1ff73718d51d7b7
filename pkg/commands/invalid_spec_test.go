package commands

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// invalidInputs are specs with one bad value, and a part of what is reported of it.
var invalidInputs = map[string]struct {
	given func(*given)
	says  string
}{
	"a custom parameter without a value": {func(g *given) {
		g.cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_x"}},
		}
	}, "customParameters"},
	"an annotation that is no JSON": {func(g *given) {
		g.cluster.Resource.Annotations = map[string]string{v1beta2.AnnotationDistributionConfig: "{"}
	}, v1beta2.AnnotationDistributionConfig},
	"a version that is none": {func(g *given) { g.cluster.Resource.Spec.Version = "seven" }, "spec.version"},
}

// readers are all commands that read a cluster, with their arguments.
var readers = [][]string{
	{"status", "sample"},
	{"status", "-A"},
	{"why", "sample"},
	{"why", "-A"},
	{"why", "sample", "--performance"},
	{"check", "sample"},
	{"check", "-A"},
	{"describe", "sample"},
	{"tree", "sample"},
	{"events", "sample"},
	{"top", "sample"},
	{"top", "processes", "sample"},
	{"get", "clusters"},
	{"get", "process-groups", "sample"},
	{"get", "processes", "sample"},
	{"get", "clients", "sample"},
	{"get", "configuration", "sample"},
	{"get", "coordinators", "sample"},
	{"get", "nodes", "sample"},
	{"get", "locks", "sample"},
	{"exclusion", "list", "sample"},
	{"exclusion", "status", "sample"},
	{"coordinators", "list", "sample"},
	{"wait", "sample", "--for", "available"},
	{"history", "sample"},
	{"operations", "list"},
	{"operations", "follow", "sample"},
	{"backup", "list"},
	{"maintenance", "status", "sample"},
	{"locks", "list", "sample"},
}

// besideSpec are the commands that change what needs no valid spec.
var besideSpec = [][]string{
	{"pause", "sample", "--yes"},
	{"resume", "sample", "--yes"},
	{"maintenance", "off", "sample", "--yes"},
	{"include", "sample", "--all", "--yes"},
	{"uncordon", "node-1", "-c", "sample", "--yes"},
}

func TestReadingNeverRequiresAValidSpec(t *testing.T) {
	for name, tc := range invalidInputs {
		t.Run(name, func(t *testing.T) {
			g := healthy(t)
			tc.given(g)
			for _, args := range append(readers, besideSpec...) {
				g.run(args...)
				if said := g.out.String() + g.err.String(); strings.Contains(said, "is invalid: ") || strings.Contains(g.err.String(), "error: ") {
					t.Errorf("%s ends with an error: %s", strings.Join(args, " "), &g.err)
				}
			}
			for _, args := range [][]string{{"status", "sample"}, {"why", "sample"}} {
				code := g.run(args...)
				if first := strings.SplitAfterN(g.out.String(), "Database  live", 2)[0]; code != exit.ExitNo || !strings.Contains(first, tc.says) || !strings.Contains(first, "kubectl edit foundationdbcluster") {
					t.Errorf("%s: exit code %d, want %q and what to edit first: %s", strings.Join(args, " "), code, tc.says, first)
				}
			}
			if g.run("status", "-A"); !strings.Contains(g.out.String(), "degraded (invalid-spec)") {
				t.Errorf("the list does not name the invalid spec: %s", &g.out)
			}
			if g.run("check", "sample"); !strings.Contains(g.out.String(), "CFG-0") || !strings.Contains(g.out.String(), tc.says) {
				t.Errorf("check has no finding about the invalid spec: %s", &g.out)
			}
		})
	}
}

func TestAnInvalidSpecIsRefusedByWhatNeedsIt(t *testing.T) {
	for name, tc := range invalidInputs {
		t.Run(name, func(t *testing.T) {
			g := healthy(t)
			tc.given(g)
			for _, args := range [][]string{
				{"plan", "sample"},
				{"reconcile", "sample", "--yes"},
				{"coordinators", "repair", "sample", "--yes"},
				{"replace", "sample", "--class", "storage", "--yes"},
				{"can", "reconcile", "sample"},
			} {
				if code := g.run(args...); code != exit.ExitUsage || !strings.Contains(g.out.String()+g.err.String(), tc.says) {
					t.Errorf("%s: exit code %d, want %d and %q: %s%s", strings.Join(args, " "), code, exit.ExitUsage, tc.says, &g.out, &g.err)
				}
			}
		})
	}
}
