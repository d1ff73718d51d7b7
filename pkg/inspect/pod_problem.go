package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// Problem is why the processes of a process group do not run or do not report, by its pod,
// its PVC and its node.
type Problem struct {
	// Code is that of the rule of check that finds it; empty for what is no finding: a pod that just terminates, and
	// what a process group that is being removed has no need of any more.
	Code string
	// Pod is the pod's name, whether or not it exists.
	Pod string
	// Object is what the message is about where that is not the pod: "PVC sample-storage-1-data".
	Object string
	// Message is what is wrong with the object, in one clause: "is Pending, no node fits: 0/3 …".
	Message string
	// Kept is the object that is being deleted and does not end, and what keeps it; nil without one.
	Kept *readings.Terminating
	// Since is when that began; zero when unknown.
	Since time.Time
	// Passes is true for what ends by itself.
	Passes bool
	// Command are the arguments of a kubectl command that shows more and changes nothing.
	Command []string

	// Key identifies the problem whatever process group has it; own is true where the message
	// has a name or a number of that group.
	Key ProblemKey
	Own bool
}

// ProblemKey identifies a problem by codes and names of objects. Two process groups with equal keys have the same
// problem, whatever its message is.
type ProblemKey struct {
	Code ProblemCode
	// Object is what the problem is about beside the pod: a container, a node, a kind, a class or a distribution key.
	Object string
	// Reason is the code that Kubernetes has for it, ExitCode that of a container that ended.
	Reason   string
	ExitCode int32
	// Finalizers keep an object that is being deleted, sorted and separated by commas.
	Finalizers string
	// Node is the one that is not ready, Taint what evicts pods from it.
	Node, Taint string
	// Phase is that of the PVC that a pod waits for, or of a pod whose processes do not report.
	Phase string
	// Reporting of All processes report.
	Reporting, All int
	// Stuck is true for what time does not end, Purpose for what the spec requests.
	Stuck, Purpose bool
}

// ProblemCode is the kind of a problem.
type ProblemCode string

// The kinds of problems.
const (
	ProblemMissing      ProblemCode = "missing"
	ProblemTerminating  ProblemCode = "terminating"
	ProblemOverdue      ProblemCode = "overdue"
	ProblemLeftover     ProblemCode = "leftover"
	ProblemEnded        ProblemCode = "ended"
	ProblemUnscheduled  ProblemCode = "unscheduled"
	ProblemCannotStart  ProblemCode = "cannot-start"
	ProblemNode         ProblemCode = "node"
	ProblemExited       ProblemCode = "exited"
	ProblemStarting     ProblemCode = "starting"
	ProblemNotReady     ProblemCode = "not-ready"
	ProblemNotReporting ProblemCode = "not-reporting"
)

// Text returns the problem as one clause of a sentence about the process group.
func (t Problem) Text() string {
	if t.Object != "" {
		return "its " + t.Object + " " + t.Message
	}
	return "its pod " + t.Message
}

// TextOfEach returns the problem as one clause of a sentence about several process groups that all have it.
func (t Problem) TextOfEach() string {
	if t.Object != "" {
		return t.Text() // names what is of one of them
	}
	return "the pod of each " + t.Message
}

// ProblemOf returns the first problem of a process group, in the order in which each explains
// the following ones; nil without any.
func (f Facts) ProblemOf(g *v1beta2.ProcessGroupStatus) *Problem {
	for _, t := range f.problemsOf(g) {
		return t
	}
	return nil
}

// problemsOf returns all problems of a process group in that order. A pod that has ended, terminates or has no node has
// no containers to ask about.
func (f Facts) problemsOf(g *v1beta2.ProcessGroupStatus) []*Problem {
	pod := f.Pod(g)
	switch {
	case pod == nil:
		return f.among(g, f.withoutPod(g))
	case pod.DeletionTimestamp != nil:
		return f.among(g, f.kept(g, f.terminating(pod)))
	case hasEnded(pod):
		return f.among(g, f.dated(g, f.ended(pod)), f.silent(g))
	case pod.Spec.NodeName == "":
		return f.among(g, f.dated(g, f.unscheduled(pod)), f.silent(g))
	default:
		return f.among(g, f.dated(g, f.waitingContainer(pod)), f.dated(g, f.onLostNode(pod)), f.dated(g, f.crashed(pod)),
			f.dated(g, f.starting(g)), f.dated(g, f.notReady(pod)), f.silent(g))
	}
}

// among returns the problems that there are.
func (f Facts) among(g *v1beta2.ProcessGroupStatus, problems ...*Problem) []*Problem {
	var all []*Problem
	for _, t := range problems {
		if t != nil {
			all = append(all, f.onPurpose(g, t))
		}
	}
	return all
}

// dated adds since when the processes of the group do not run to a problem that has no time of its own:
// a container that crashes repeatedly shows its last start and end only.
func (f Facts) dated(g *v1beta2.ProcessGroupStatus, t *Problem) *Problem {
	if t != nil && t.Since.IsZero() {
		t.Since = f.Outage(g).Since
	}
	return t
}

func (f Facts) withoutPod(g *v1beta2.ProcessGroupStatus) *Problem {
	if g.IsRemovable() {
		return f.leftover(g) // it is not supposed to have one
	}
	name := g.PodName(f.Cluster)
	since, _ := f.Since(g, v1beta2.ConditionMissingPod)
	return f.formerNode(g, &Problem{
		Code: codeOf(g, CodePodMissing),
		Pod:  name, Message: "does not exist", Since: since, Key: ProblemKey{Code: ProblemMissing},
		Command: []string{"get", "events", "--field-selector", "involvedObject.name=" + name},
	})
}

// terminating is the problem of a pod that does not terminate. Nothing here forces that: while
// its node does not report, its processes may still run with the same volume.
func (f Facts) terminating(pod *corev1.Pod) *Problem {
	t := &Problem{Pod: pod.Name, Since: pod.DeletionTimestamp.Time, Command: []string{"describe", "pod", pod.Name}, Key: ProblemKey{Code: ProblemTerminating}, Own: true}
	if grace := pod.DeletionGracePeriodSeconds; grace != nil {
		t.Since = t.Since.Add(-v1beta2.Seconds(*grace))
	}
	if left := pod.DeletionTimestamp.Sub(f.Now); left > 0 {
		t.Message = fmt.Sprintf("is terminating, %s of its grace period left", phrase.Duration(left))
		return t
	}
	t.Message, t.Key.Code, t.Own, t.Since = "does not terminate", ProblemOverdue, false, pod.DeletionTimestamp.Time
	if len(pod.Finalizers) > 0 {
		t.Message += ", waits for its finalizers " + strings.Join(pod.Finalizers, ", ")
		t.Key.Finalizers = joined(pod.Finalizers)
	}
	if sick := f.onLostNode(pod); sick != nil {
		t.Message += ", " + sick.Message
		t.Command, t.Key.Node = sick.Command, sick.Key.Node
	}
	return t
}

// codeOf returns the code of a rule about a process group, or none for one that is being removed: no pass repairs it.
func codeOf(g *v1beta2.ProcessGroupStatus, code string) string {
	if g.IsMarkedForRemoval() {
		return ""
	}
	return code
}

// kept adds what keeps a pod that does not terminate, and what ends that if time does not.
func (f Facts) kept(g *v1beta2.ProcessGroupStatus, t *Problem) *Problem {
	for _, k := range readings.TerminatingOf(f.Snapshot, g) {
		if k.Kind == readings.KindPod {
			t.Kept, t.Code = &k, f.codeOfEnd(k)
			if k.Stuck {
				t.Message, t.Key.Stuck = t.Message+"; "+k.Remedy(), true
			}
		}
	}
	return t
}

// leftover is the problem of a removed process group whose PVC or service does not terminate.
func (f Facts) leftover(g *v1beta2.ProcessGroupStatus) *Problem {
	all := readings.TerminatingOf(f.Snapshot, g)
	if len(all) == 0 {
		return nil
	}
	k := all[0]
	kind := map[string]string{readings.KindPVC: "pvc", readings.KindService: "service"}[k.Kind]
	t := &Problem{Code: f.codeOfEnd(k), Pod: g.PodName(f.Cluster), Object: k.Kind + " " + k.Name, Since: k.Due, Kept: &k, Command: []string{"describe", kind, k.Name}, Key: ProblemKey{Code: ProblemLeftover, Object: k.Kind}, Own: true}
	t.Message = "does not terminate"
	if len(k.Finalizers) > 0 {
		t.Message += ", waits for its finalizers " + strings.Join(k.Finalizers, ", ")
		t.Key.Finalizers = joined(k.Finalizers)
	}
	if k.Stuck {
		t.Message, t.Key.Stuck = t.Message+"; "+k.Remedy(), true
	}
	return t
}

// joined returns names in order, as a part of a key.
func joined(names []string) string { return strings.Join(slices.Sorted(slices.Values(names)), ",") }

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

func (f Facts) ended(pod *corev1.Pod) *Problem {
	return &Problem{
		Code: CodePodNotReady, Pod: pod.Name, Message: "has ended: " + Clauses(string(pod.Status.Phase), pod.Status.Reason, pod.Status.Message),
		Command: []string{"describe", "pod", pod.Name}, Key: ProblemKey{Code: ProblemEnded, Reason: pod.Status.Reason}, Own: pod.Status.Message != "",
	}
}

// unscheduled has the scheduler's message, and the phase of the PVC that it may be waiting
// for.
func (f Facts) unscheduled(pod *corev1.Pod) *Problem {
	c := podCondition(pod, corev1.PodScheduled)
	t := &Problem{Code: CodePodUnscheduled, Pod: pod.Name, Message: "is Pending and not scheduled yet", Since: pod.CreationTimestamp.Time, Command: []string{"describe", "pod", pod.Name}, Key: ProblemKey{Code: ProblemUnscheduled, Object: pod.Labels[v1beta2.LabelProcessClass]}}
	if c != nil && c.Status == corev1.ConditionFalse {
		t.Message, t.Key.Reason = "is Pending, no node fits: "+Clauses(readings.NoNodeFits(pod)), c.Reason
		t.Since = c.LastTransitionTime.Time
	}
	if key := objects.DistributionKeyOf(pod); key != "" && distribution.Of(f.Cluster).Required() {
		t.Message += fmt.Sprintf("; spec.distributionConfig.required lets it run only in %s", f.domainOf(key))
		t.Key.Object, t.Own = key, true
	}
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		name := v.PersistentVolumeClaim.ClaimName
		if claim := f.Volumes[name]; claim != nil && claim.Status.Phase != corev1.ClaimBound && claim.Status.Phase != "" {
			t.Message += fmt.Sprintf("; its PVC %s is %s", name, claim.Status.Phase)
			t.Key.Phase, t.Own = string(claim.Status.Phase), true
		}
	}
	return t
}

// domainOf describes the fault domain of the pods with a distribution key.
func (f Facts) domainOf(key string) string {
	var domains []string
	for _, g := range f.Groups() {
		if pod := f.Pod(g); pod != nil && pod.Spec.NodeName != "" && objects.DistributionKeyOf(pod) == key {
			domain := "the fault domain of node " + pod.Spec.NodeName
			if zone := f.Group(g).Zone; zone != "" {
				domain = "fault domain " + zone
			}
			domains = append(domains, domain)
		}
	}
	slices.Sort(domains)
	if domains = slices.Compact(domains); len(domains) == 0 {
		return fmt.Sprintf("a fault domain without pods of other distribution keys than %s", key)
	}
	return fmt.Sprintf("%s, with the other pods of the distribution key %s", strings.Join(domains, " or "), key)
}

// startsSoon is how long a pod may take to start before that is a problem.
const startsSoon = 2 * time.Minute

// waitingContainer is the problem of a container that cannot start: its image, its
// configuration, or a program that crashes repeatedly.
func (f Facts) waitingContainer(pod *corev1.Pod) *Problem {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		w := c.State.Waiting
		if w == nil {
			continue
		}
		t := &Problem{Code: CodePodNotReady, Pod: pod.Name, Since: scheduledAt(pod), Command: []string{"describe", "pod", pod.Name}, Key: ProblemKey{Code: ProblemCannotStart, Object: c.Name, Reason: w.Reason}, Own: w.Message != ""}
		if f.justStarts(pod, w) {
			continue
		}
		t.Message = fmt.Sprintf("cannot start container %s: %s", c.Name, Clauses(w.Reason, OneLine(w.Message)))
		if readings.MustBeCorrected(w) && w.Message == "" { // the kubelet's message has the image
			t.Message += ", image " + readings.ImageOf(pod, c)
		}
		if last := c.LastTerminationState.Terminated; last != nil && !readings.MustBeCorrected(w) {
			t.Since = time.Time{}
			t.Message += "; " + exitWords(*last, c.RestartCount)
			t.Key.ExitCode, t.Own = last.ExitCode, true
			t.Command = []string{"logs", pod.Name, "-c", c.Name, "--previous", "--tail=50"}
		}
		return t
	}
	return nil
}

func exitWords(last corev1.ContainerStateTerminated, restarts int32) string {
	return fmt.Sprintf("it ended with exit code %d (%s), and was restarted %s", last.ExitCode, phrase.Or(last.Reason, "no reason given"), phrase.Count(restarts, "time"))
}

// justStarts reports whether a container waits as each does at first, and not for long yet.
func (f Facts) justStarts(pod *corev1.Pod, w *corev1.ContainerStateWaiting) bool {
	return (w.Reason == "ContainerCreating" || w.Reason == "PodInitializing") && f.Now.Sub(scheduledAt(pod)) < startsSoon
}

// starting is the problem of a pod whose containers are not ready yet, which time solves.
func (f Facts) starting(g *v1beta2.ProcessGroupStatus) *Problem {
	pod := f.Pod(g)
	for _, c := range pod.Status.ContainerStatuses {
		if w := c.State.Waiting; !c.Ready && w != nil && f.justStarts(pod, w) {
			return &Problem{
				Code: CodePodNotReady, Pod: pod.Name, Message: fmt.Sprintf("starts container %s: %s", c.Name, w.Reason), Since: scheduledAt(pod),
				Command: []string{"describe", "pod", pod.Name}, Key: ProblemKey{Code: ProblemStarting, Object: c.Name, Reason: w.Reason}, Passes: f.silent(g) == nil,
			}
		}
	}
	return nil
}

// onLostNode is the problem of a pod on a node that is not ready or no longer exists.
func (f Facts) onLostNode(pod *corev1.Pod) *Problem {
	node, lost := f.lost(pod.Spec.NodeName)
	if !lost {
		return nil
	}
	message := fmt.Sprintf("is on node %s, which %s", node.name, node.words())
	if node.reason != "" {
		message += ": " + node.reason
	}
	return &Problem{
		Code: CodeNodeLost, Pod: pod.Name, Message: message, Since: node.since, Command: node.command(), Key: ProblemKey{Code: ProblemNode, Node: node.name},
	}
}

func (f Facts) crashed(pod *corev1.Pod) *Problem {
	for _, c := range pod.Status.ContainerStatuses {
		if end := c.State.Terminated; end != nil {
			return &Problem{
				Code: CodePodNotReady, Pod: pod.Name, Message: fmt.Sprintf("does not run container %s: %s", c.Name, exitWords(*end, c.RestartCount)),
				Command: []string{"logs", pod.Name, "-c", c.Name, "--tail=50"}, Key: ProblemKey{Code: ProblemExited, Object: c.Name, Reason: end.Reason, ExitCode: end.ExitCode}, Own: true,
			}
		}
	}
	return nil
}

func (f Facts) notReady(pod *corev1.Pod) *Problem {
	for _, c := range pod.Status.ContainerStatuses {
		if c.Ready || c.State.Waiting != nil || c.State.Terminated != nil {
			continue
		}
		t := &Problem{Code: CodePodNotReady, Pod: pod.Name, Message: fmt.Sprintf("runs, and its container %s is not ready", c.Name), Command: []string{"logs", pod.Name, "-c", c.Name, "--tail=50"}, Key: ProblemKey{Code: ProblemNotReady, Object: c.Name}}
		if ready := podCondition(pod, corev1.PodReady); ready != nil {
			t.Since = ready.LastTransitionTime.Time
		}
		return t
	}
	return nil
}

// silent is the problem of a pod whose processes do not report to the database.
// An unavailable database lists few processes, which explains nothing.
func (f Facts) silent(g *v1beta2.ProcessGroupStatus) *Problem {
	pod := f.Pod(g)
	if !f.Database.Available() || g.IsRemovable() || !f.isNotReporting(g) {
		return nil
	}
	reporting, all := len(f.ProcessesOf(g)), f.processCountOf(g)
	return &Problem{
		Code: codeOf(g, CodeNotReporting), Pod: pod.Name,
		Message: fmt.Sprintf("is %s, and %s %s to the database", pod.Status.Phase, phrase.CountOf(reporting, all, "process"), phrase.EitherOf(reporting, all, "reports", "report")),
		Since:   f.Outage(g).Since, Command: []string{"logs", pod.Name, "-c", v1beta2.ContainerMain, "--tail=50"},
		Key: ProblemKey{Code: ProblemNotReporting, Phase: string(pod.Status.Phase), Reporting: reporting, All: all},
	}
}

// onPurpose adds that the spec itself requests the problem.
func (f Facts) onPurpose(g *v1beta2.ProcessGroupStatus, t *Problem) *Problem {
	b := f.Cluster.Spec.Buggify
	var requested []string
	if slices.Contains(b.NoSchedule, g.ProcessGroupID) {
		requested = append(requested, "noSchedule")
	}
	for _, c := range b.CrashLoopContainers {
		if slices.Contains(c.Targets, g.ProcessGroupID) || slices.Contains(c.Targets, v1beta2.AllProcessGroups) {
			requested = append(requested, "crashLoopContainers")
			break
		}
	}
	if b.EmptyMonitorConf {
		requested = append(requested, "emptyMonitorConf")
	}
	if len(requested) > 0 {
		t.Message += "; spec.buggify requests that (" + strings.Join(requested, ", ") + ")"
		t.Key.Purpose = true
	}
	return t
}

func podCondition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func scheduledAt(pod *corev1.Pod) time.Time {
	if c := podCondition(pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionTrue {
		return c.LastTransitionTime.Time
	}
	return pod.CreationTimestamp.Time
}

// Clauses joins the words that are not empty: "ImagePullBackOff: Back-off pulling image …".
func Clauses(words ...string) string {
	given := slices.DeleteFunc(words, func(w string) bool { return w == "" })
	return phrase.Or(strings.TrimRight(strings.Join(given, ": "), ". "), "no reason is given")
}
