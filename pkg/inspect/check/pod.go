package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// pods returns the rules about pods as Kubernetes reports them: they need no database.
func pods() []Rule {
	return []Rule{
		{
			Code: "POD-001", Severity: Error, Title: "Every process group has its pod",
			Why:  "A pass recreates it with its existing PVC.",
			find: missingPods,
		},
		{
			Code: "POD-002", Severity: Error, Title: "Every pod is scheduled",
			Why: "A pod without a node has no processes; its events have the reason.",
			find: func(f Facts) ([]Finding, string) {
				return f.podsThat(func(p *corev1.Pod) string {
					if p.Spec.NodeName != "" || p.DeletionTimestamp != nil {
						return ""
					}
					return "the pod is not scheduled" + unscheduled(p)
				}), ""
			},
		},
		{
			Code: "POD-003", Severity: Error, Title: "All containers are ready",
			Why:  "The pod serves nothing, or crashes repeatedly.",
			find: func(f Facts) ([]Finding, string) { return f.podsThat(notReady), "" },
		},
		{
			Code: "POD-004", Severity: Warning, Title: "No pod, PVC or service terminates slowly",
			Why:  "A finalizer may hold it, or its node may be lost: Kubernetes waits for the kubelet to confirm the end. The process group waits with it, also one that was removed.",
			find: slowToTerminate,
		},
		{
			Code: "POD-005", Severity: Info, Title: "Unreachable-node tolerations match the process class",
			Why:  "How long a pod stays bound to a lost node should depend on what it holds; docs/eviction.md has the table. A changed template replaces process groups or recreates pods, so choose the time.",
			find: func(f Facts) ([]Finding, string) { return tolerationFindings(f, waitsForAWhile) },
		},
		{
			Code: "POD-006", Severity: Warning, Title: "Pods with the only copy of data wait for their node",
			Why:  "Without a toleration Kubernetes evicts a pod from a lost node after 300 s. With one replica no other process has its data: the eviction gains nothing, and interrupts the database once more when the node returns. A changed template replaces process groups or recreates pods, so choose the time.",
			find: func(f Facts) ([]Finding, string) { return tolerationFindings(f, waitsForever) },
		},
		{
			Code: "POD-007", Severity: Error, Title: "The values on pods can be used",
			Why:  "Annotations and variables record how a pod was created, and what its monitor has loaded. With a value that cannot be used passes leave the pod alone, until the value is corrected or the process group replaced; all others are reconciled.",
			find: invalidValues,
		},
	}
}

func invalidValues(f Facts) ([]Finding, string) {
	var found []Finding
	for _, p := range f.InvalidPods() {
		found = append(found, one(pod(p.Pod), p.Message, p.Fix...)...)
	}
	return found, ""
}

func pod(name string) string { return "pod/" + name }

func missingPods(f Facts) ([]Finding, string) {
	finding := Finding{Message: "its pod is missing", Fix: f.fix("plan")}
	for _, g := range f.Remaining() {
		if f.Pod(g) == nil {
			finding.Subjects = append(finding.Subjects, group(g.ProcessGroupID))
			since, _ := f.Since(g, v1beta2.ConditionMissingPod)
			finding.began(since)
		}
	}
	return finding.some(), ""
}

// podsThat groups pods by the problem that wrong returns; empty is none.
func (f Facts) podsThat(wrong func(*corev1.Pod) string) []Finding {
	byMessage := map[string]*Finding{}
	for _, g := range f.Groups() {
		p := f.Pod(g)
		if p == nil {
			continue
		}
		message := wrong(p)
		if message == "" {
			continue
		}
		if byMessage[message] == nil {
			byMessage[message] = &Finding{Message: message, Fix: []string{"describe", "pod", p.Name}}
		}
		byMessage[message].Subjects = append(byMessage[message].Subjects, pod(p.Name))
		byMessage[message].began(p.CreationTimestamp.Time)
	}
	found := make([]Finding, 0, len(byMessage))
	for _, message := range slices.Sorted(maps.Keys(byMessage)) {
		found = append(found, *byMessage[message])
	}
	return found
}

func unscheduled(p *corev1.Pod) string {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Message != "" {
			return ": " + c.Message
		}
	}
	return ""
}

// notReady returns which container of a scheduled pod is not ready, and why.
func notReady(p *corev1.Pod) string {
	if p.Spec.NodeName == "" || p.DeletionTimestamp != nil {
		return ""
	}
	if p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
		return "the pod terminated: " + cmp.Or(p.Status.Reason, string(p.Status.Phase))
	}
	for _, c := range p.Status.ContainerStatuses {
		switch {
		case c.Ready:
		case c.State.Waiting != nil:
			return fmt.Sprintf("container %s is waiting: %s", c.Name, c.State.Waiting.Reason)
		case c.State.Terminated != nil:
			return fmt.Sprintf("container %s terminated: %s", c.Name, c.State.Terminated.Reason)
		default:
			return fmt.Sprintf("container %s is not ready", c.Name)
		}
	}
	return ""
}

func slowToTerminate(f Facts) ([]Finding, string) {
	var found []Finding
	for _, g := range f.Groups() {
		for _, t := range readings.TerminatingOf(f.Snapshot, g) {
			slow := t.Stuck || f.Now.Sub(t.Due) > f.Cluster.IgnoreTerminatingPodsFor()
			endsWithPod := t.Pod != "" && len(t.Finalizers) == 0 // its pod is a finding, or DEL-003 has it
			if !slow || endsWithPod {
				continue
			}
			message := t.Text(f.Now)
			if remedy := t.Remedy(); remedy != "" {
				message += "; " + remedy
			}
			kind := strings.ToLower(t.Kind)
			subject := kind + "/" + t.Name
			if t.Kind == readings.KindPVC {
				subject = claim(t.Name)
			}
			found = append(found, Finding{Subjects: []string{subject}, Message: message, Since: t.Due, Fix: []string{"describe", kind, t.Name}})
		}
	}
	return found, ""
}

// waitsForever selects the classes whose pods should never leave a lost node.
func waitsForever(t corev1.Toleration) bool { return t.TolerationSeconds == nil }

// waitsForAWhile selects the classes whose pods should leave it at some time.
func waitsForAWhile(t corev1.Toleration) bool { return !waitsForever(t) }

// tolerationFindings compares the pod template of each class with docs/eviction.md, or its pods where
// passes set their tolerations, for the classes whose desired tolerations are selected.
func tolerationFindings(f Facts, selected func(corev1.Toleration) bool) ([]Finding, string) {
	var found []Finding
	applied, err := plan.OptedIn(f.Cluster, plan.AnnotationTolerations)
	if err != nil {
		return nil, err.Error()
	}
	for _, class := range v1beta2.ProcessClasses() {
		if f.Cluster.DesiredProcessCounts()[class] <= 0 {
			continue
		}
		want := safety.TolerationsFor(f.Cluster, class)
		if !selected(want[0]) || suits(f.Cluster.Settings(class).PodTemplate, want) {
			continue
		}
		message := "pods should wait " + waitText(want[0]) + " for a node that is not ready or not reachable"
		if applied {
			if pods := unsuitablePods(f, class, want); len(pods) > 0 {
				found = append(found, Finding{Subjects: pods, Message: message, Fix: f.fix("reconcile")})
			}
			continue
		}
		patch, err := tolerationPatch(f.Resource, class, want)
		if err != nil {
			return found, err.Error()
		}
		found = append(found, Finding{
			Subjects: []string{"class/" + string(class)}, Message: message,
			Fix: f.patch(patch),
		})
	}
	return found, ""
}

// unsuitablePods returns the running pods of a class with other tolerations.
func unsuitablePods(f Facts, class v1beta2.ProcessClass, want []corev1.Toleration) []string {
	var names []string
	for _, g := range f.Remaining() {
		p := f.Pod(g)
		if g.ProcessClass == class && p != nil && p.DeletionTimestamp == nil && !suits(&corev1.PodTemplateSpec{Spec: p.Spec}, want) {
			names = append(names, pod(p.Name))
		}
	}
	return names
}

func waitText(t corev1.Toleration) string {
	if t.TolerationSeconds == nil {
		return "forever"
	}
	return fmt.Sprintf("%d s", *t.TolerationSeconds)
}

// defaultTolerationSeconds is how long a pod without own tolerations stays on a lost node.
const defaultTolerationSeconds = 300

// suits reports whether a template has the desired tolerations, or gets them by default.
func suits(template *corev1.PodTemplateSpec, want []corev1.Toleration) bool {
	for _, w := range want {
		have, found := tolerationOf(template, w.Key)
		switch {
		case found && w.TolerationSeconds == nil && have.TolerationSeconds == nil:
		case found && w.TolerationSeconds != nil && have.TolerationSeconds != nil && *w.TolerationSeconds == *have.TolerationSeconds:
		case !found && w.TolerationSeconds != nil && *w.TolerationSeconds == defaultTolerationSeconds:
		default:
			return false
		}
	}
	return true
}

func tolerationOf(template *corev1.PodTemplateSpec, key string) (t corev1.Toleration, found bool) {
	if template == nil {
		return t, false
	}
	taint := corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute}
	i := slices.IndexFunc(template.Spec.Tolerations, func(t corev1.Toleration) bool { return tolerates(t, taint) })
	if i < 0 {
		return t, false
	}
	return template.Spec.Tolerations[i], true
}

// tolerates is the rule of Kubernetes for taints without a value.
func tolerates(t corev1.Toleration, taint corev1.Taint) bool {
	return (t.Effect == "" || t.Effect == taint.Effect) && (t.Key == taint.Key || (t.Key == "" && t.Operator == corev1.TolerationOpExists)) &&
		(t.Operator == corev1.TolerationOpExists || t.Value == "")
}

// tolerationPatch returns a merge patch that gives a class the tolerations and changes
// nothing else: other tolerations stay.
func tolerationPatch(cluster *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass, want []corev1.Toleration) (string, error) {
	template, err := inheritedTemplate(cluster, class)
	if err != nil {
		return "", err
	}
	spec := corev1.PodSpec{}
	if own := cluster.Settings(class).PodTemplate; own != nil {
		spec = own.Spec
	}
	others := slices.DeleteFunc(slices.Clone(spec.Tolerations), func(t corev1.Toleration) bool {
		return slices.ContainsFunc(want, func(w corev1.Toleration) bool { return w.Key == t.Key })
	})
	child(template, "spec")["tolerations"] = slices.Concat(others, want)
	return templatePatch(class, template)
}
