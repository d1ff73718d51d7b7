package objects

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// PrivilegeKind is what a pod template requests beyond its own pod.
type PrivilegeKind string

// The kinds of privileges.
const (
	PrivilegeHostNetwork PrivilegeKind = "host-network" // the network of the node
	PrivilegeHostPID     PrivilegeKind = "host-pid"     // the processes of the node
	PrivilegeHostIPC     PrivilegeKind = "host-ipc"     // the shared memory of the node
	PrivilegeHostPath    PrivilegeKind = "host-path"    // files of the node
	PrivilegePrivileged  PrivilegeKind = "privileged"   // everything on the node
	PrivilegeCapability  PrivilegeKind = "capability"   // a part of the rights of root on the node
	PrivilegeAccount     PrivilegeKind = "account"      // the rights of a ServiceAccount
)

// Privilege is one value of a pod template by which its pods get more than a database needs.
type Privilege struct {
	Kind PrivilegeKind `json:"kind"`
	// Field is the path of the field.
	Field string `json:"field"`
	// Value is what it has: true, a path, a name.
	Value string `json:"value"`
}

// Text returns the field and its value.
func (p Privilege) Text() string { return p.Field + " (" + p.Value + ")" }

// podAccounts are the ServiceAccounts of pods of databases: that of pods that name none, and that of the
// operator's samples.
var podAccounts = []string{"", "default", "fdb-kubernetes"}

// baselineCapabilities are those that the Pod Security Standard "baseline" allows to add.
// Source: https://kubernetes.io/docs/concepts/security/pod-security-standards/
var baselineCapabilities = []corev1.Capability{
	"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
}

// Privileges returns those of the pod templates of a cluster, and of the template of its failure detector.
func Privileges(c *v1beta2.FoundationDBCluster) []Privilege {
	var all []Privilege
	for _, class := range slices.Sorted(maps.Keys(c.Spec.Processes)) {
		if template := c.Spec.Processes[class].PodTemplate; template != nil {
			all = append(all, privilegesOf(templatePath(class), template.Spec)...)
		}
	}
	if template := c.FailureDetection().Template; template != nil {
		all = append(all, privilegesOf(detectorPath(), template.JobTemplate.Spec.Template.Spec)...)
	}
	return all
}

// BackupPrivileges returns those of the pod template of a backup's agents.
func BackupPrivileges(b *v1beta2.FoundationDBBackup) []Privilege {
	if b.Spec.PodTemplateSpec == nil {
		return nil
	}
	return privilegesOf(agentPath(), b.Spec.PodTemplateSpec.Spec)
}

func templatePath(class v1beta2.ProcessClass) *field.Path {
	return field.NewPath("spec", "processes").Key(string(class)).Child("podTemplate", "spec")
}

func agentPath() *field.Path { return field.NewPath("spec", "podTemplateSpec", "spec") }

func detectorPath() *field.Path {
	return field.NewPath("spec", "automationOptions", "replacements", "failureDetectionCronJob", "template", "jobTemplate", "spec", "template", "spec")
}

func privilegesOf(path *field.Path, pod corev1.PodSpec) []Privilege {
	var all []Privilege
	add := func(kind PrivilegeKind, at *field.Path, value string) {
		all = append(all, Privilege{kind, at.String(), value})
	}
	for _, f := range []struct {
		set  bool
		kind PrivilegeKind
		name string
	}{{pod.HostNetwork, PrivilegeHostNetwork, "hostNetwork"}, {pod.HostPID, PrivilegeHostPID, "hostPID"}, {pod.HostIPC, PrivilegeHostIPC, "hostIPC"}} {
		if f.set {
			add(f.kind, path.Child(f.name), "true")
		}
	}
	for _, account := range accountsOf(pod) {
		if !slices.Contains(podAccounts, account.name) {
			add(PrivilegeAccount, path.Child(account.field), account.name)
		}
	}
	for i, v := range pod.Volumes {
		if v.HostPath != nil {
			add(PrivilegeHostPath, path.Child("volumes").Index(i).Child("hostPath", "path"), v.HostPath.Path)
		}
	}
	for _, list := range []struct {
		field      string
		containers []corev1.Container
	}{{"containers", pod.Containers}, {"initContainers", pod.InitContainers}} {
		for i, c := range list.containers {
			all = append(all, containerPrivileges(path.Child(list.field).Index(i).Child("securityContext"), c.SecurityContext)...)
		}
	}
	return all
}

func containerPrivileges(path *field.Path, c *corev1.SecurityContext) []Privilege {
	if c == nil {
		return nil
	}
	var all []Privilege
	if ptr.Deref(c.Privileged, false) {
		all = append(all, Privilege{PrivilegePrivileged, path.Child("privileged").String(), "true"})
	}
	for i, added := range ptr.Deref(c.Capabilities, corev1.Capabilities{}).Add {
		if !slices.Contains(baselineCapabilities, corev1.Capability(strings.TrimPrefix(strings.ToUpper(string(added)), "CAP_"))) {
			all = append(all, Privilege{PrivilegeCapability, fmt.Sprintf("%s[%d]", path.Child("capabilities", "add"), i), string(added)})
		}
	}
	return all
}

// accountOf is a field of a pod that names a ServiceAccount.
type accountOf struct{ field, name string }

// accountsOf returns both fields, of which the second is the former name of the first.
func accountsOf(pod corev1.PodSpec) []accountOf {
	return []accountOf{{"serviceAccountName", pod.ServiceAccountName}, {"serviceAccount", pod.DeprecatedServiceAccount}}
}
