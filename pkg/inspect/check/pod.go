package check

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
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

// inheritedTemplate returns what a merge patch of the pod template of a class has to begin with, so
// that it changes nothing: a class without its own template gets a copy of the general one, which
// it would otherwise lose. Merged into an own template it is empty.
func inheritedTemplate(cluster *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) (map[string]any, error) {
	template := map[string]any{}
	if cluster.Spec.Processes[class].PodTemplate != nil {
		return template, nil
	}
	if general := cluster.Spec.Processes[v1beta2.ProcessClassGeneral].PodTemplate; general != nil {
		text, err := json.Marshal(general)
		if err != nil {
			return nil, fmt.Errorf("copy the general pod template: %w", err)
		}
		if err := json.Unmarshal(text, &template); err != nil {
			return nil, fmt.Errorf("copy the general pod template: %w", err)
		}
	}
	if spec := child(template, "spec"); spec["containers"] == nil {
		spec["containers"] = []map[string]string{{"name": v1beta2.ContainerMain}} // a template needs one
	}
	return template, nil
}

// child returns the object under a key, which it adds if there is none.
func child(of map[string]any, key string) map[string]any {
	found, is := of[key].(map[string]any)
	if !is {
		found = map[string]any{}
		of[key] = found
	}
	return found
}

// templatePatch returns a merge patch of the pod template of a class.
func templatePatch(class v1beta2.ProcessClass, template map[string]any) (string, error) {
	text, err := json.Marshal(map[string]any{"spec": map[string]any{"processes": map[string]any{string(class): map[string]any{"podTemplate": template}}}})
	if err != nil {
		return "", fmt.Errorf("write the patch: %w", err)
	}
	return string(text), nil
}

// patch returns the command that changes the resource by a merge patch. A patch that repeats values which may be secrets,
// out of the general pod template, is not printed: the resource has to be edited.
func (f Facts) patch(patch string) []string {
	var content any
	if err := json.Unmarshal([]byte(patch), &content); err != nil || redact.Secrets(content) {
		return []string{"edit", "foundationdbcluster", f.Cluster.Name}
	}
	return []string{"patch", "foundationdbcluster", f.Cluster.Name, "--type", "merge", "-p", patch}
}

// templates returns the rules about what the pod templates of the cluster, and that of its failure detector,
// request beyond their own pods.
func templates() []Rule {
	return []Rule{
		{
			Code: "SEC-001", OfSpec: true, Severity: Error, Title: "The restrictions of the run allow all pod templates",
			Why:  "With these flags no pass runs over the resource. Correct the pod template, or the flags. Without flags nothing is restricted.",
			Find: forbiddenTemplates,
		},
		{
			Code: "SEC-002", OfSpec: true, Severity: Warning, Title: "No pod template uses namespaces of its node",
			Why:  "Processes of the pod can see or reach what runs on the node. Passes create such pods for everyone who may change the resource; flags such as --allow-host-pid=false refuse them.",
			Find: privileged(objects.PrivilegeHostNetwork, objects.PrivilegeHostPID, objects.PrivilegeHostIPC),
		},
		{
			Code: "SEC-003", OfSpec: true, Severity: Warning, Title: "No container is privileged",
			Why:  "It can do everything on its node, or a capability allows more than the Pod Security Standard baseline. Passes create such pods for everyone who may change the resource; Pod Security of the namespace refuses them.",
			Find: privileged(objects.PrivilegePrivileged, objects.PrivilegeCapability),
		},
		{
			Code: "SEC-004", OfSpec: true, Severity: Warning, Title: "No pod template mounts files of its node",
			Why:  "A hostPath volume reaches files of the node, and its data stays there when the pod moves. --allowed-additional-volume-sources refuses it.",
			Find: privileged(objects.PrivilegeHostPath),
		},
		{
			Code: "SEC-005", OfSpec: true, Severity: Info, Title: "Pods have no account of other programs",
			Why:  "They have all rights of the ServiceAccount, which is neither default nor fdb-kubernetes. Whoever may change the resource has them too. --allowed-service-account-names refuses others.",
			Find: privileged(objects.PrivilegeAccount),
		},
	}
}

func forbiddenTemplates(f Facts) ([]Finding, string) {
	forbidden, err := f.Templates.OfCluster(f.Cluster)
	if err != nil {
		return nil, err.Error()
	}
	return forbiddenOf("foundationdbcluster", f.Cluster.Name, forbidden), ""
}

func forbiddenOf(kind, name string, all []objects.Forbidden) []Finding {
	var found []Finding
	for _, forbidden := range all {
		found = append(found, edit(kind, name, kind+"/"+name, forbidden.Field, forbidden.Text()))
	}
	return found
}

// privileged returns a function that finds privileges of some kinds in the templates of a cluster.
func privileged(kinds ...objects.PrivilegeKind) func(Facts) ([]Finding, string) {
	return func(f Facts) ([]Finding, string) {
		selected := slices.DeleteFunc(objects.Privileges(f.Cluster), func(p objects.Privilege) bool { return !slices.Contains(kinds, p.Kind) })
		return privilegesOf("foundationdbcluster", f.Cluster.Name, selected), ""
	}
}

func privilegesOf(kind, name string, all []objects.Privilege) []Finding {
	var found []Finding
	for _, p := range all {
		found = append(found, edit(kind, name, kind+"/"+name, p.Field, "the pod template has "+p.Text()))
	}
	return found
}

// privilegedAgents finds what the pod templates of backup agents request, or what is forbidden of them.
func privilegedAgents(f Facts) ([]Finding, string) {
	var found []Finding
	for _, b := range f.Backups.Backups {
		found = append(found, forbiddenOf("foundationdbbackup", b.Resource.Name, f.Templates.OfBackup(b.Resource))...)
		found = append(found, privilegesOf("foundationdbbackup", b.Resource.Name, objects.BackupPrivileges(b.Resource))...)
	}
	return found, ""
}
