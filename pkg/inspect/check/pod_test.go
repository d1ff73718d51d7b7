package check

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// A patch copies the general pod template, and reports are posted as comments.
func TestAFixDoesNotPrintValuesOfAPodTemplate(t *testing.T) {
	f := healthy(t)
	for name, tc := range map[string]struct{ patch, verb string }{
		"a variable":         {`{"spec":{"containers":[{"env":[{"name":"DB_PASS","value":"hunter2"}]}]}}`, "edit"},
		"an annotation":      {`{"metadata":{"annotations":{"example.com/token":"hunter2"}}}`, "edit"},
		"an argument":        {`{"spec":{"containers":[{"args":["--apikey","hunter2"]}]}}`, "edit"},
		"tolerations":        {`{"spec":{"tolerations":[{"key":"a","operator":"Exists"}]}}`, "patch"},
		"a known annotation": {`{"metadata":{"annotations":{"cluster-autoscaler.kubernetes.io/safe-to-evict":"false"}}}`, "patch"},
	} {
		if got := f.patch(tc.patch); got[0] != tc.verb || slices.ContainsFunc(got, func(word string) bool { return strings.Contains(word, "hunter2") }) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// storageTemplate changes the pod template of storage.
func storageTemplate(edit func(*corev1.PodSpec)) func(*Facts) {
	return func(f *Facts) {
		template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: v1beta2.ContainerMain}}}}
		edit(&template.Spec)
		f.Cluster.Spec.Processes[v1beta2.ProcessClassStorage] = v1beta2.ProcessSettings{PodTemplate: template}
	}
}

func agentTemplate(edit func(*corev1.PodSpec)) func(*Facts) {
	return func(f *Facts) {
		template := &corev1.PodTemplateSpec{}
		edit(&template.Spec)
		f.Backups.Backups[0].Resource.Spec.PodTemplateSpec = template
	}
}

func forbidding(r objects.TemplateRestrictions) func(*Facts) {
	return func(f *Facts) { f.Templates = r }
}

func hostPID(s *corev1.PodSpec) { s.HostPID = true }

var templateProblems = map[string]problem{
	"a template that the run forbids": {
		"SEC-001", both(storageTemplate(hostPID), forbidding(objects.TemplateRestrictions{ForbidHostPID: true})),
		"spec.processes[storage].podTemplate.spec.hostPID (true) is forbidden by --allow-host-pid=false", "edit foundationdbcluster sample",
	},
	"the network of the node":       {"SEC-002", storageTemplate(func(s *corev1.PodSpec) { s.HostNetwork = true }), "spec.hostNetwork (true)", "edit foundationdbcluster sample"},
	"the processes of the node":     {"SEC-002", storageTemplate(hostPID), "spec.hostPID (true)", "edit foundationdbcluster sample"},
	"the shared memory of the node": {"SEC-002", storageTemplate(func(s *corev1.PodSpec) { s.HostIPC = true }), "spec.hostIPC (true)", "edit foundationdbcluster sample"},
	"a privileged init container": {"SEC-003", storageTemplate(func(s *corev1.PodSpec) {
		s.InitContainers = []corev1.Container{{Name: "a", SecurityContext: &corev1.SecurityContext{Privileged: new(true)}}}
	}), "spec.processes[storage].podTemplate.spec.initContainers[0].securityContext.privileged (true)", "edit foundationdbcluster sample"},
	"a capability beyond the baseline": {"SEC-003", storageTemplate(func(s *corev1.PodSpec) {
		s.Containers[0].SecurityContext = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"CHOWN", "SYS_ADMIN"}}}
	}), "containers[0].securityContext.capabilities.add[1] (SYS_ADMIN)", "edit foundationdbcluster sample"},
	"a directory of the node": {"SEC-004", storageTemplate(func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "a", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
	}), "spec.volumes[0].hostPath.path (/)", "edit foundationdbcluster sample"},
	"an account of another program":                    {"SEC-005", storageTemplate(func(s *corev1.PodSpec) { s.ServiceAccountName = "kubectl-fdb" }), "spec.serviceAccountName (kubectl-fdb)", "edit foundationdbcluster sample"},
	"the account of another program, as it was called": {"SEC-005", storageTemplate(func(s *corev1.PodSpec) { s.DeprecatedServiceAccount = "kubectl-fdb" }), "spec.serviceAccount (kubectl-fdb)", "edit foundationdbcluster sample"},
	"agents with the processes of the node":            {"BACKUP-015", agentTemplate(hostPID), "spec.podTemplateSpec.spec.hostPID (true)", "edit foundationdbbackup nightly"},
	"agents that the run forbids": {
		"BACKUP-015", both(agentTemplate(func(s *corev1.PodSpec) { s.ServiceAccountName = "default" }), forbidding(objects.TemplateRestrictions{Accounts: []string{"agents"}})),
		"spec.podTemplateSpec.spec.serviceAccountName (default) is forbidden: --allowed-service-account-names has agents", "edit foundationdbbackup nightly",
	},
}

func TestOrdinaryTemplatesHaveNoPrivileges(t *testing.T) {
	f := healthy(t)
	storageTemplate(func(s *corev1.PodSpec) {
		s.ServiceAccountName = "fdb-kubernetes"
		s.Volumes = []corev1.Volume{{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "tls"}}}}
		s.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(false), Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_BIND_SERVICE"}}}
	})(&f)
	for _, item := range reportOn(f, Options{}).Items {
		if strings.HasPrefix(item.Rule, "SEC-") && item.Outcome != Passed {
			t.Errorf("%s: %s %+v", item.Rule, item.Outcome, item.Findings)
		}
	}
}
