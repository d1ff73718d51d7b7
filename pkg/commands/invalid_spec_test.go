package commands

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// invalidInputs are specs with one bad value, and a part of what is reported of it.
var invalidInputs = map[string]struct {
	given func(*given)
	says  string
	// whole is whether only passes that write the ConfigMap need the value.
	whole bool
}{
	"a custom parameter without a value": {func(g *given) {
		g.cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_x"}},
		}
	}, "customParameters", false},
	"a custom parameter that fdbserver does not know": {func(g *given) {
		g.cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"knbo_x=1"}},
		}
	}, "did you mean knob_x?", false},
	"an annotation that is no JSON": {func(g *given) {
		g.cluster.Resource.Annotations = map[string]string{v1beta2.AnnotationDistributionConfig: "{"}
	}, v1beta2.AnnotationDistributionConfig, false},
	"a version that is none": {func(g *given) { g.cluster.Resource.Spec.Version = "seven" }, "spec.version", false},
	"an argument that a pass sets itself": {func(g *given) {
		g.cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"locality_zoneid=x"}},
		}
	}, "locality_zoneid", true},
}

// notRead are the commands that declare to read and are not run on a cluster with an invalid value, with the reason.
var notRead = map[string]string{
	"plan":    "prints the next pass, which refuses the spec: TestAnInvalidSpecIsRefusedByWhatNeedsIt",
	"version": "reads no cluster", "schema": "reads no cluster", "auth can-i": "reads no cluster", "auth role": "reads no cluster", "completion": "reads no cluster", "completion install": "reads no cluster", "docs": "reads no cluster",
	"dump diff":     "reads files",
	"backup status": "reads a backup", "backup describe": "reads a backup", "restore status": "reads a restore", "restore list": "reads restores",
}

// readingLines are a command line for every command that declares to read a cluster, or to save what it reads.
func readingLines(g *given) map[string]*cobra.Command {
	g.t.Helper()
	all, lines := leaves(newRoot(g.environment())), map[string]*cobra.Command{}
	ran := map[string]bool{}
	saved := filepath.Join(g.t.TempDir(), "dump.tar.gz")
	storage := string(g.groupOf(v1beta2.ProcessClassStorage).ProcessGroupID)
	more := []string{
		"status -A", "why -A", "check -A", "get process-groups -A", "logs sample " + storage, "dump sample --file " + saved, "recover manifest sample",
		"get coordinators sample", "wait sample --for=available", "operations follow sample",
	}
	for _, line := range append(plantedLines(g), more...) {
		name := commandOf(all, line)
		cmd := all[name]
		if cmd == nil || ran[name] && !strings.HasSuffix(line, " -A") {
			continue
		}
		if d, _ := session.Declared(cmd); notRead[name] == "" && (d.Effect == session.EffectReads || d.Effect == session.EffectSaves) {
			lines[line], ran[name] = cmd, true
		}
	}
	for name, cmd := range all {
		d, _ := session.Declared(cmd)
		if reads := d.Effect == session.EffectReads || d.Effect == session.EffectSaves; reads && !cmd.HasSubCommands() && !ran[name] && notRead[name] == "" {
			g.t.Errorf("command %q declares that it reads, is not run, and has no reason", name)
		}
	}
	return lines
}

// readsAll runs all commands that declare to read, and reports those that the value of a test ends.
func (g *given) readsAll() {
	g.t.Helper()
	for line := range readingLines(g) {
		ctx, end := context.WithTimeout(g.t.Context(), 3*time.Second)
		code := g.runIn(ctx, strings.Fields(line)...)
		end()
		if said := g.out.String() + g.err.String(); code == exit.ExitUsage || code == exit.ExitInternal || strings.Contains(said, "is invalid: ") {
			g.t.Errorf("%s ends with exit code %d: %s", line, code, &g.err)
		}
	}
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
			g := dumpable(t)
			tc.given(g)
			g.readsAll()
			for _, args := range besideSpec {
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
			} {
				if whole := args[0] == "plan" || args[0] == "reconcile"; tc.whole && !whole {
					continue
				}
				if code := g.run(args...); code != exit.ExitUsage || !strings.Contains(g.out.String()+g.err.String(), tc.says) {
					t.Errorf("%s: exit code %d, want %d and %q: %s%s", strings.Join(args, " "), code, exit.ExitUsage, tc.says, &g.out, &g.err)
				}
			}
		})
	}
}

func TestNothingIsSafeToDoWithAnInvalidSpec(t *testing.T) {
	for name, tc := range invalidInputs {
		t.Run(name, func(t *testing.T) {
			g := dumpable(t)
			tc.given(g)
			for _, args := range [][]string{{"can", "reconcile", "sample"}, {"can", "delete", "sample", string(g.groupOf(v1beta2.ProcessClassStorage).ProcessGroupID)}} {
				if code := g.run(args...); code != exit.ExitNo || !strings.HasPrefix(g.out.String(), "no: is the spec valid? invalid: ") || !strings.Contains(g.out.String(), tc.says) {
					t.Errorf("%s: exit code %d: %s%s", strings.Join(args, " "), code, &g.out, &g.err)
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
			g := dumpable(t)
			pod := g.cluster.Pods[g.groupOf(v1beta2.ProcessClassStorage).PodName(g.cluster.Resource)]
			tc.change(pod)
			says := strings.ReplaceAll(tc.says, "%s", pod.Name)
			if tc.walks {
				g.readsAll()
			}
			for _, args := range [][]string{{"status", "sample"}, {"why", "sample"}, {"check", "sample"}} {
				code := g.run(args...)
				if first := strings.SplitAfterN(g.out.String(), "Database  live", 2)[0]; code != exit.ExitNo || !strings.Contains(first, says) {
					t.Errorf("%s: exit code %d, want %q first: %s%s", strings.Join(args, " "), code, says, first, &g.err)
				}
			}
			if g.run("status", "-A"); !strings.Contains(g.out.String(), "degraded (invalid-pod)") {
				t.Errorf("the list does not name the pod: %s", &g.out)
			}
		})
	}
}

func TestAnOddValueOnAPodIsCorrectedByTheCommandShown(t *testing.T) {
	g := dumpable(t)
	pod := g.cluster.Pods[g.groupOf(v1beta2.ProcessClassStorage).PodName(g.cluster.Resource)]
	made := pod.Annotations[v1beta2.AnnotationIPFamily]
	pod.Annotations[v1beta2.AnnotationIPFamily] = "moon"
	g.run("why", "sample")
	if want := "kubectl annotate pod " + pod.Name + " foundationdb.org/ip-family=" + made + " --overwrite"; !strings.Contains(g.out.String(), want) {
		t.Errorf("want %q: %s", want, &g.out)
	}
}

// The part of a pass that needs the value is refused; all other process groups are reconciled.
func TestAPassLeavesAPodWithAnOddValueAlone(t *testing.T) {
	for name, tc := range oddPods {
		t.Run(name, func(t *testing.T) {
			g := up(t)
			odd := g.groupOf(v1beta2.ProcessClassStorage)
			pod := g.cluster.Pods[odd.PodName(g.cluster.Resource)]
			tc.change(pod)
			g.cluster.Resource.Spec.ProcessCounts.Stateless = 4
			g.cluster.Tick(time.Hour)
			code := g.run("reconcile", "sample", "--yes", "--wait", "--timeout", "1h")
			if code == exit.ExitDone {
				t.Errorf("it is reported as reconciled: %s", &g.out)
			}
			counts := map[v1beta2.ProcessClass]int{}
			for _, group := range g.cluster.Resource.Status.ProcessGroups {
				counts[group.ProcessClass]++
			}
			if counts[v1beta2.ProcessClassStateless] != 4 || counts[v1beta2.ProcessClassStorage] != 3 || odd.IsMarkedForRemoval() {
				t.Errorf("%v, marked: %t: %s%s", counts, odd.IsMarkedForRemoval(), &g.out, &g.err)
			}
			if g.cluster.Pods[pod.Name] != pod {
				t.Error("the pod was recreated")
			}
		})
	}
}
