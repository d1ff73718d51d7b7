package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Trouble is what keeps the servers of a process group from running or from reporting,
// as its pod, its volume claim and its node show it.
type Trouble struct {
	// Pod is the pod's name, whether or not it is there.
	Pod string
	// Message says of the pod what is wrong, in one clause: "is not taken by any node: 0/3 …".
	Message string
	// Since is when that began; zero when nothing tells.
	Since time.Time
	// Look are the words of a kubectl command that shows more and changes nothing.
	Look []string

	// key identifies the problem whatever process group has it; own is true where the message
	// has a name or a number of that group.
	key string
	own bool
}

// words are the trouble as one clause of a sentence about the process group.
func (t Trouble) words() string { return "its pod " + t.Message }

// troubleOf is the first thing that is wrong, in the order in which each explains what
// comes after it; nil when nothing is.
func (f Facts) troubleOf(g *v1beta2.ProcessGroupStatus) *Trouble {
	pod := f.Pod(g)
	if pod == nil {
		return f.withoutPod(g)
	}
	for _, ask := range []func(*corev1.Pod) *Trouble{f.terminating, f.ended, f.unscheduled, f.waitingContainer, f.onSickNode, f.crashed, f.notReady} {
		if t := ask(pod); t != nil {
			return f.onPurpose(g, t)
		}
	}
	return f.onPurpose(g, f.silentServers(g, pod))
}

func (f Facts) withoutPod(g *v1beta2.ProcessGroupStatus) *Trouble {
	if g.IsGone() {
		return nil // it is not to have one any more
	}
	name := g.PodName(f.Cluster)
	since, _ := f.Since(g, v1beta2.ConditionMissingPod)
	return &Trouble{
		Pod: name, Message: "does not exist", Since: since, key: "missing",
		Look: []string{"get", "events", "--field-selector", "involvedObject.name=" + name},
	}
}

// terminating is of a pod that does not end. Nothing here ends it by force: while its
// node is away its servers may still run, with the same volume.
func (f Facts) terminating(pod *corev1.Pod) *Trouble {
	if pod.DeletionTimestamp == nil {
		return nil
	}
	t := &Trouble{Pod: pod.Name, Since: pod.DeletionTimestamp.Time, Look: []string{"describe", "pod", pod.Name}, key: "terminating", own: true}
	if grace := pod.DeletionGracePeriodSeconds; grace != nil {
		t.Since = t.Since.Add(-v1beta2.Seconds(*grace))
	}
	if left := pod.DeletionTimestamp.Sub(f.Now); left > 0 {
		t.Message = fmt.Sprintf("is terminating, %s of its grace period left", phrase.Duration(left))
		return t
	}
	t.Message, t.key, t.own = "does not terminate", "overdue", false
	if len(pod.Finalizers) > 0 {
		t.Message += ", waits for its finalizers " + strings.Join(pod.Finalizers, ", ")
		t.key += " " + strings.Join(pod.Finalizers, ",")
	}
	if sick := f.onSickNode(pod); sick != nil {
		t.Message += ", " + sick.Message
		t.Look, t.key = sick.Look, t.key+" "+sick.key
	}
	return t
}

func (f Facts) ended(pod *corev1.Pod) *Trouble {
	if pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded {
		return nil
	}
	return &Trouble{
		Pod: pod.Name, Message: "has ended: " + clauses(string(pod.Status.Phase), pod.Status.Reason, pod.Status.Message),
		Look: []string{"describe", "pod", pod.Name}, key: "ended " + pod.Status.Reason, own: pod.Status.Message != "",
	}
}

// unscheduled has the scheduler's own words, and those of the volume claim that it may
// be waiting for.
func (f Facts) unscheduled(pod *corev1.Pod) *Trouble {
	c := podCondition(pod, corev1.PodScheduled)
	if pod.Spec.NodeName != "" {
		return nil
	}
	t := &Trouble{Pod: pod.Name, Message: "is Pending and not scheduled yet", Since: pod.CreationTimestamp.Time, Look: []string{"describe", "pod", pod.Name}, key: "unscheduled"}
	if c != nil && c.Status == corev1.ConditionFalse {
		reason := clauses(schedulerWords(c.Message))
		t.Message, t.key = "is Pending, no node fits: "+reason, t.key+" "+reason
		t.Since = c.LastTransitionTime.Time
	}
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		name := v.PersistentVolumeClaim.ClaimName
		if claim := f.Volumes[name]; claim != nil && claim.Status.Phase != corev1.ClaimBound && claim.Status.Phase != "" {
			t.Message += fmt.Sprintf("; its PVC %s is %s", name, claim.Status.Phase)
			t.key, t.own = t.key+" "+string(claim.Status.Phase), true
		}
	}
	return t
}

// schedulerWords are why each node was turned down. What follows in the scheduler's
// message is that evicting other pods, or giving back claims, would not help either.
func schedulerWords(message string) string {
	words := oneLine(message)
	for _, tail := range []string{" preemption:", " no new claims to deallocate"} {
		words, _, _ = strings.Cut(words, tail)
	}
	return words
}

// startsSoon is how long a pod may be made ready by its node before that is trouble.
const startsSoon = 2 * time.Minute

// waitingContainer is of a container that cannot start: its image, its configuration, or
// a program that ends again and again.
func (f Facts) waitingContainer(pod *corev1.Pod) *Trouble {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		w := c.State.Waiting
		if w == nil {
			continue
		}
		starting := w.Reason == "ContainerCreating" || w.Reason == "PodInitializing"
		t := &Trouble{Pod: pod.Name, Since: scheduledAt(pod), Look: []string{"describe", "pod", pod.Name}, key: "cannot-start " + c.Name + " " + w.Reason, own: w.Message != ""}
		if starting && f.Now.Sub(t.Since) < startsSoon {
			continue
		}
		t.Message = fmt.Sprintf("cannot start container %s: %s", c.Name, clauses(w.Reason, oneLine(w.Message)))
		if last := c.LastTerminationState.Terminated; last != nil {
			t.Message += "; " + exitWords(*last, c.RestartCount)
			t.key, t.own = fmt.Sprint(t.key, last.ExitCode, last.Reason), true
			t.Look = []string{"logs", pod.Name, "-c", c.Name, "--previous", "--tail=50"}
		}
		return t
	}
	return nil
}

func exitWords(last corev1.ContainerStateTerminated, restarts int32) string {
	return fmt.Sprintf("it ended with exit code %d (%s), and was restarted %s", last.ExitCode, phrase.Or(last.Reason, "no reason given"), phrase.Count(restarts, "time"))
}

// onSickNode is of a node that says, or of which Kubernetes says, that it is not ready.
func (f Facts) onSickNode(pod *corev1.Pod) *Trouble {
	node := f.Nodes[pod.Spec.NodeName]
	if node == nil {
		return nil
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return &Trouble{
				Pod: pod.Name, Message: fmt.Sprintf("is on node %s, which is not ready: %s", node.Name, clauses(c.Reason, oneLine(c.Message))),
				Since: c.LastTransitionTime.Time, Look: []string{"describe", "node", node.Name}, key: "node " + node.Name,
			}
		}
	}
	return nil
}

func (f Facts) crashed(pod *corev1.Pod) *Trouble {
	for _, c := range pod.Status.ContainerStatuses {
		if end := c.State.Terminated; end != nil {
			return &Trouble{
				Pod: pod.Name, Message: fmt.Sprintf("does not run container %s: %s", c.Name, exitWords(*end, c.RestartCount)),
				Since: end.FinishedAt.Time, Look: []string{"logs", pod.Name, "-c", c.Name, "--tail=50"}, key: fmt.Sprint("exited ", c.Name, end.ExitCode, end.Reason), own: true,
			}
		}
	}
	return nil
}

func (f Facts) notReady(pod *corev1.Pod) *Trouble {
	for _, c := range pod.Status.ContainerStatuses {
		if c.Ready || c.State.Running == nil {
			continue
		}
		t := &Trouble{Pod: pod.Name, Message: fmt.Sprintf("runs, and its container %s is not ready", c.Name), Look: []string{"logs", pod.Name, "-c", c.Name, "--tail=50"}, key: "not-ready " + c.Name}
		if ready := podCondition(pod, corev1.PodReady); ready != nil {
			t.Since = ready.LastTransitionTime.Time
		}
		return t
	}
	return nil
}

// silentServers is of a pod with which nothing is wrong and whose servers the database
// does not see. One that does not serve sees next to nobody, which explains nothing.
func (f Facts) silentServers(g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) *Trouble {
	if !f.Database.Available() || g.IsGone() || !f.isSilent(g) {
		return nil
	}
	since, _ := f.Since(g, v1beta2.ConditionMissingProcesses)
	reporting, all := len(f.processesOf(g)), f.serversOf(g.ProcessClass)
	return &Trouble{
		Pod:     pod.Name,
		Message: fmt.Sprintf("is %s, and %s %s to the database", pod.Status.Phase, phrase.CountOf(reporting, all, "process"), phrase.EitherOf(reporting, all, "reports", "report")),
		Since:   since, Look: []string{"logs", pod.Name, "-c", v1beta2.ContainerMain, "--tail=50"},
		key: fmt.Sprint("not-reporting ", pod.Status.Phase, reporting, all),
	}
}

// onPurpose says of trouble that the spec itself asks for it.
func (f Facts) onPurpose(g *v1beta2.ProcessGroupStatus, t *Trouble) *Trouble {
	if t == nil {
		return nil
	}
	b := f.Cluster.Spec.Buggify
	var asked []string
	if slices.Contains(b.NoSchedule, g.ProcessGroupID) {
		asked = append(asked, "noSchedule")
	}
	for _, c := range b.CrashLoopContainers {
		if slices.Contains(c.Targets, g.ProcessGroupID) || slices.Contains(c.Targets, v1beta2.AllProcessGroups) {
			asked = append(asked, "crashLoopContainers")
			break
		}
	}
	if b.EmptyMonitorConf {
		asked = append(asked, "emptyMonitorConf")
	}
	if len(asked) > 0 {
		t.Message += "; spec.buggify requests that (" + strings.Join(asked, ", ") + ")"
		t.key += " on purpose"
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

// clauses joins what there is: "ImagePullBackOff: Back-off pulling image …".
func clauses(words ...string) string {
	said := slices.DeleteFunc(words, func(w string) bool { return w == "" })
	return phrase.Or(strings.TrimRight(strings.Join(said, ": "), ". "), "no reason is given")
}
