package check

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// pods returns the rules about pods as Kubernetes reports them: they need no database.
func pods() []Rule {
	return append(rulesOf(inspect.PodRules()), []Rule{
		{
			Code: "POD-005", OfSpec: true, Severity: Info, Title: "Unreachable-node tolerations match the process class",
			Why:  "How long a pod stays bound to a lost node should depend on what it holds; docs/eviction.md has the table. A changed template replaces process groups or recreates pods, so choose the time.",
			Find: func(f Facts) ([]Finding, string) { return tolerationFindings(f, waitsForAWhile) },
		},
		{
			Code: "POD-006", OfSpec: true, Severity: Warning, Title: "Pods with the only copy of data wait for their node",
			Why:  "Without a toleration Kubernetes evicts a pod from a lost node after 300 s. With one replica no other process has its data: the eviction gains nothing, and interrupts the database once more when the node returns. A changed template replaces process groups or recreates pods, so choose the time.",
			Find: func(f Facts) ([]Finding, string) { return tolerationFindings(f, waitsForever) },
		},
		{
			Code: "POD-007", Severity: Error, Title: "The values on pods can be used",
			Why:  "Annotations and variables record how a pod was created, and what its monitor has loaded. With a value that cannot be used passes leave the pod alone, until the value is corrected or the process group replaced; all others are reconciled.",
			Find: invalidValues,
		},
	}...)
}

func invalidValues(f Facts) ([]Finding, string) {
	var found []Finding
	for _, p := range f.InvalidPods() {
		found = append(found, one(findings.Pod(p.Pod), p.Message, p.Fix...)...)
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
			Subjects: []string{"class/" + string(class)}, Message: message, Field: f.templateField(class),
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
			names = append(names, findings.Pod(p.Name))
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
