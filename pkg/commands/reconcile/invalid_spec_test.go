package reconcile_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// invalidInputs are specs with one bad value, and a part of what is reported of it.
var invalidInputs = map[string]struct {
	given func(*commandstest.Given)
	says  string
	// whole is whether only passes that write the ConfigMap need the value.
	whole bool
}{
	"a custom parameter without a value": {func(g *commandstest.Given) {
		g.Cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_x"}},
		}
	}, "customParameters", false},
	"a custom parameter that fdbserver does not know": {func(g *commandstest.Given) {
		g.Cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"knbo_x=1"}},
		}
	}, "did you mean knob_x?", false},
	"an annotation that is no JSON": {func(g *commandstest.Given) {
		g.Cluster.Resource.Annotations = map[string]string{v1beta2.AnnotationDistributionConfig: "{"}
	}, v1beta2.AnnotationDistributionConfig, false},
	"a version that is none": {func(g *commandstest.Given) { g.Cluster.Resource.Spec.Version = "seven" }, "spec.version", false},
	"an argument that a pass sets itself": {func(g *commandstest.Given) {
		g.Cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"locality_zoneid=x"}},
		}
	}, "locality_zoneid", true},
}

// besideSpec are the commands that change what needs no valid spec.
var besideSpec = [][]string{
	{"pause", "sample", "--yes"},
	{"resume", "sample", "--yes"},
	{"maintenance", "off", "sample", "--yes"},
	{"include", "sample", "--all", "--yes"},
	{"uncordon", "node-1", "-c", "sample", "--yes"},
	{"cli", "sample", "--", "status"},
	{"exec", "sample", "--", "ls"},
}

func TestReadingNeverRequiresAValidSpec(t *testing.T) {
	for name, tc := range invalidInputs {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Dumpable(t)
			tc.given(g)
			g.ReadsAll()
			for _, args := range besideSpec {
				g.Run(args...)
				if said := g.Out.String() + g.Err.String(); strings.Contains(said, "is invalid: ") || strings.Contains(g.Err.String(), "error: ") {
					t.Errorf("%s ends with an error: %s", strings.Join(args, " "), &g.Err)
				}
			}
			for _, args := range [][]string{{"status", "sample"}, {"why", "sample"}} {
				code := g.Run(args...)
				if first := strings.SplitAfterN(g.Out.String(), "Database  live", 2)[0]; code != exit.ExitNo || !strings.Contains(first, tc.says) || !strings.Contains(first, "kubectl edit foundationdbcluster") {
					t.Errorf("%s: exit code %d, want %q and what to edit first: %s", strings.Join(args, " "), code, tc.says, first)
				}
			}
			if g.Run("status", "-A"); !strings.Contains(g.Out.String(), "degraded (invalid-spec)") {
				t.Errorf("the list does not name the invalid spec: %s", &g.Out)
			}
			if g.Run("check", "sample"); !strings.Contains(g.Out.String(), "CFG-0") || !strings.Contains(g.Out.String(), tc.says) {
				t.Errorf("check has no finding about the invalid spec: %s", &g.Out)
			}
		})
	}
}

func TestAnInvalidSpecIsRefusedByWhatNeedsIt(t *testing.T) {
	for name, tc := range invalidInputs {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Healthy(t)
			tc.given(g)
			for _, args := range [][]string{
				{"plan", "sample"},
				{"reconcile", "sample", "--yes"},
				{"coordinators", "repair", "sample", "--yes"},
				{"replace", "sample", "--class", "storage", "--yes"},
			} {
				if whole := args[0] == "plan" || args[0] == "reconcile"; tc.whole && !whole {
					continue
				}
				if code := g.Run(args...); code != exit.ExitUsage || !strings.Contains(g.Out.String()+g.Err.String(), tc.says) {
					t.Errorf("%s: exit code %d, want %d and %q: %s%s", strings.Join(args, " "), code, exit.ExitUsage, tc.says, &g.Out, &g.Err)
				}
			}
		})
	}
}

func TestNothingIsSafeToDoWithAnInvalidSpec(t *testing.T) {
	for name, tc := range invalidInputs {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Dumpable(t)
			tc.given(g)
			for _, args := range [][]string{{"can", "reconcile", "sample"}, {"can", "delete", "sample", string(g.GroupOf(v1beta2.ProcessClassStorage).ProcessGroupID)}} {
				if code := g.Run(args...); code != exit.ExitNo || !strings.HasPrefix(g.Out.String(), "no: is the spec valid? invalid: ") || !strings.Contains(g.Out.String(), tc.says) {
					t.Errorf("%s: exit code %d: %s%s", strings.Join(args, " "), code, &g.Out, &g.Err)
				}
			}
		})
	}
}

// oddPods are changes of one pod after which it cannot be known how it was started.
var oddPods = map[string]struct {
	change func(*corev1.Pod)
	says   string
	// walks is whether all commands are run with the value; the others are read by the same function.
	walks bool
}{
	"a public IP that is none": {func(p *corev1.Pod) {
		p.Annotations[v1beta2.AnnotationPublicIPSource], p.Annotations[v1beta2.AnnotationPublicIP] = "service", "moon"
	}, `foundationdb.org/public-ip of pod %s is "moon": must be an IP address`, true},
	"an unknown source of the public IP": {func(p *corev1.Pod) { p.Annotations[v1beta2.AnnotationPublicIPSource] = "moon" }, `foundationdb.org/public-ip-source of pod %s is "moon": must be pod or service`, false},
	"an IP family that is none":          {func(p *corev1.Pod) { p.Annotations[v1beta2.AnnotationIPFamily] = "moon" }, `foundationdb.org/ip-family of pod %s is "moon": must be 0, 4 or 6`, false},
	"an unknown image type":              {func(p *corev1.Pod) { p.Annotations[v1beta2.AnnotationImageType] = "moon" }, `foundationdb.org/image-type of pod %s is "moon": must be split or unified`, false},
	"a configuration that is no JSON":    {func(p *corev1.Pod) { p.Annotations[v1beta2.AnnotationCurrentConfiguration] = "{" }, `of pod %s must be the JSON that a monitor reports`, false},
	"an environment that is no JSON":     {func(p *corev1.Pod) { p.Annotations[v1beta2.AnnotationEnvironment] = "[]" }, `of pod %s must be the JSON that a monitor reports`, true},
	"a number of processes that is none": {func(p *corev1.Pod) {
		p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, corev1.EnvVar{Name: "STORAGE_SERVERS_PER_POD", Value: "two"})
	}, `STORAGE_SERVERS_PER_POD of pod %s is "two": must be a number of processes`, false},
}

// Anyone with the right to change pods can write such a value.
func TestAnOddValueOnAPodLeadsTheViewsAndEndsNoCommandThatReads(t *testing.T) {
	for name, tc := range oddPods {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Dumpable(t)
			pod := g.Cluster.Pods[g.GroupOf(v1beta2.ProcessClassStorage).PodName(g.Cluster.Resource)]
			tc.change(pod)
			says := strings.ReplaceAll(tc.says, "%s", pod.Name)
			if tc.walks {
				g.ReadsAll()
			}
			for _, args := range [][]string{{"status", "sample"}, {"why", "sample"}, {"check", "sample"}} {
				code := g.Run(args...)
				if first := strings.SplitAfterN(g.Out.String(), "Database  live", 2)[0]; code != exit.ExitNo || !strings.Contains(first, says) {
					t.Errorf("%s: exit code %d, want %q first: %s%s", strings.Join(args, " "), code, says, first, &g.Err)
				}
			}
			if g.Run("status", "-A"); !strings.Contains(g.Out.String(), "degraded (invalid-pod)") {
				t.Errorf("the list does not name the pod: %s", &g.Out)
			}
		})
	}
}

func TestAnOddValueOnAPodIsCorrectedByTheCommandShown(t *testing.T) {
	g := commandstest.Dumpable(t)
	pod := g.Cluster.Pods[g.GroupOf(v1beta2.ProcessClassStorage).PodName(g.Cluster.Resource)]
	made := pod.Annotations[v1beta2.AnnotationIPFamily]
	pod.Annotations[v1beta2.AnnotationIPFamily] = "moon"
	g.Run("why", "sample")
	if want := "kubectl annotate pod " + pod.Name + " foundationdb.org/ip-family=" + made + " --overwrite"; !strings.Contains(g.Out.String(), want) {
		t.Errorf("want %q: %s", want, &g.Out)
	}
}

// The part of a pass that needs the value is refused; all other process groups are reconciled.
func TestAPassLeavesAPodWithAnOddValueAlone(t *testing.T) {
	for name, tc := range oddPods {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			odd := g.GroupOf(v1beta2.ProcessClassStorage)
			pod := g.Cluster.Pods[odd.PodName(g.Cluster.Resource)]
			tc.change(pod)
			g.Cluster.Resource.Spec.ProcessCounts.Stateless = 4
			g.Cluster.Tick(time.Hour)
			code := g.Run("reconcile", "sample", "--yes", "--wait", "--timeout", "1h")
			if code == exit.ExitDone {
				t.Errorf("it is reported as reconciled: %s", &g.Out)
			}
			counts := map[v1beta2.ProcessClass]int{}
			for _, group := range g.Cluster.Resource.Status.ProcessGroups {
				counts[group.ProcessClass]++
			}
			if counts[v1beta2.ProcessClassStateless] != 4 || counts[v1beta2.ProcessClassStorage] != 3 || odd.IsMarkedForRemoval() {
				t.Errorf("%v, marked: %t: %s%s", counts, odd.IsMarkedForRemoval(), &g.Out, &g.Err)
			}
			if g.Cluster.Pods[pod.Name] != pod {
				t.Error("the pod was recreated")
			}
		})
	}
}
