package objects

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// The flags of TemplateRestrictions, as operators since release 2.31 have them.
const (
	FlagAllowToken           = "allow-automount-service-account-token"
	FlagAllowHostNetwork     = "allow-host-network"
	FlagAllowHostPID         = "allow-host-pid"
	FlagAllowHostIPC         = "allow-host-ipc"
	FlagAllowedAccounts      = "allowed-service-account-names"
	FlagAllowedVolumeSources = "allowed-additional-volume-sources"
	FlagAllowedVolumeMounts  = "allowed-additional-volume-mounts"
)

// TemplateRestrictions are what the pod templates of resources must not have. The zero value forbids
// nothing, as the operator does by default.
type TemplateRestrictions struct {
	// ForbidToken forbids a token of the ServiceAccount in the pods, which they get by default.
	ForbidToken bool
	// ForbidHostNetwork, ForbidHostPID and ForbidHostIPC forbid namespaces of the node.
	ForbidHostNetwork, ForbidHostPID, ForbidHostIPC bool
	// Accounts are the ServiceAccounts that a template may name; empty allows all.
	Accounts []string
	// VolumeSources are the kinds of volumes that a template may add, as their fields are called;
	// empty allows all.
	VolumeSources []string
	// VolumeMounts are the names of volumes that containers of a template may mount; empty allows all.
	VolumeMounts []string
}

// None reports whether nothing is forbidden.
func (r TemplateRestrictions) None() bool {
	return !r.ForbidToken && !r.ForbidHostNetwork && !r.ForbidHostPID && !r.ForbidHostIPC &&
		len(r.Accounts) == 0 && len(r.VolumeSources) == 0 && len(r.VolumeMounts) == 0
}

// Args returns the restrictions as flags of a command line.
func (r TemplateRestrictions) Args() []string {
	var args []string
	for _, f := range []struct {
		name string
		set  bool
	}{{FlagAllowToken, r.ForbidToken}, {FlagAllowHostNetwork, r.ForbidHostNetwork}, {FlagAllowHostPID, r.ForbidHostPID}, {FlagAllowHostIPC, r.ForbidHostIPC}} {
		if f.set {
			args = append(args, "--"+f.name+"=false")
		}
	}
	for _, f := range []struct {
		name   string
		values []string
	}{{FlagAllowedAccounts, r.Accounts}, {FlagAllowedVolumeSources, r.VolumeSources}, {FlagAllowedVolumeMounts, r.VolumeMounts}} {
		for _, value := range f.values {
			args = append(args, "--"+f.name+"="+value)
		}
	}
	return args
}

// Forbidden is a value of a pod template that a restriction forbids.
type Forbidden struct {
	// Field is the path of the field, and Value what it has.
	Field, Value string
	// Flag is the flag that forbids it.
	Flag string
	// Allowed are the values that the flag allows; nil where it is a question of yes or no.
	Allowed []string
}

// Text returns the field, its value, and the flag that forbids it.
func (f Forbidden) Text() string {
	if f.Allowed == nil {
		return fmt.Sprintf("%s (%s) is forbidden by --%s=false", f.Field, f.Value, f.Flag)
	}
	return fmt.Sprintf("%s (%s) is forbidden: --%s has %s", f.Field, f.Value, f.Flag, phrase.List(f.Allowed))
}

// OfCluster returns what is forbidden of the pod templates of a cluster, and of the pod of its failure
// detector. The cluster must be normalized: a class without a template of its own has the general one, which
// is always there.
func (r TemplateRestrictions) OfCluster(c *v1beta2.FoundationDBCluster) ([]Forbidden, error) {
	var all []Forbidden
	for _, class := range slices.Sorted(maps.Keys(c.Spec.Processes)) {
		if template := c.Spec.Processes[class].PodTemplate; template != nil {
			all = append(all, r.of(templatePath(class), template.Spec)...)
		}
	}
	if r.None() || !c.RunsFailureDetector() {
		return all, nil
	}
	pod, err := detectorTemplate(c)
	return append(all, r.of(detectorPath(), pod)...), err
}

// detectorTemplate is the pod of a failure detector, whose image the user sets, with only those volumes and
// containers that the template of the user has.
func detectorTemplate(c *v1beta2.FoundationDBCluster) (corev1.PodSpec, error) {
	job, _, err := FailureDetector(c)
	if err != nil {
		return corev1.PodSpec{}, err
	}
	pod := job.Spec.JobTemplate.Spec.Template.Spec
	pod.Volumes, pod.Containers, pod.InitContainers = nil, nil, nil
	if own := c.FailureDetection().Template; own != nil {
		of := own.JobTemplate.Spec.Template.Spec
		pod.Volumes, pod.Containers, pod.InitContainers = of.Volumes, of.Containers, of.InitContainers
	}
	return pod, nil
}

// OfBackup returns what is forbidden of the pod template of a backup's agents.
func (r TemplateRestrictions) OfBackup(b *v1beta2.FoundationDBBackup) []Forbidden {
	if b.Spec.PodTemplateSpec == nil {
		return nil
	}
	return r.of(agentPath(), b.Spec.PodTemplateSpec.Spec)
}

func (r TemplateRestrictions) of(path *field.Path, pod corev1.PodSpec) []Forbidden {
	all := r.flags(path, pod)
	for _, account := range accountsOf(pod) {
		if account.name != "" {
			all = append(all, unlisted(path.Child(account.field), account.name, FlagAllowedAccounts, r.Accounts)...)
		}
	}
	for i, volume := range pod.Volumes {
		for _, source := range sourcesOf(volume) {
			all = append(all, unlisted(path.Child("volumes").Index(i), source, FlagAllowedVolumeSources, r.VolumeSources)...)
		}
	}
	return append(append(all, r.mounts(path.Child("containers"), pod.Containers)...), r.mounts(path.Child("initContainers"), pod.InitContainers)...)
}

// flags are the questions of yes or no. A pod gets the token unless its template refuses it.
func (r TemplateRestrictions) flags(path *field.Path, pod corev1.PodSpec) []Forbidden {
	var all []Forbidden
	if token := pod.AutomountServiceAccountToken; r.ForbidToken && (token == nil || *token) {
		value := "true, the default"
		if token != nil {
			value = strconv.FormatBool(*token)
		}
		all = append(all, Forbidden{Field: path.Child("automountServiceAccountToken").String(), Value: value, Flag: FlagAllowToken})
	}
	for _, f := range []struct {
		forbidden, set bool
		field, flag    string
	}{
		{r.ForbidHostNetwork, pod.HostNetwork, "hostNetwork", FlagAllowHostNetwork},
		{r.ForbidHostPID, pod.HostPID, "hostPID", FlagAllowHostPID},
		{r.ForbidHostIPC, pod.HostIPC, "hostIPC", FlagAllowHostIPC},
	} {
		if f.forbidden && f.set {
			all = append(all, Forbidden{Field: path.Child(f.field).String(), Value: "true", Flag: f.flag})
		}
	}
	return all
}

func (r TemplateRestrictions) mounts(path *field.Path, containers []corev1.Container) []Forbidden {
	var all []Forbidden
	for i, c := range containers {
		for j, mount := range c.VolumeMounts {
			all = append(all, unlisted(path.Index(i).Child("volumeMounts").Index(j), mount.Name, FlagAllowedVolumeMounts, r.VolumeMounts)...)
		}
	}
	return all
}

func unlisted(path *field.Path, value, flag string, allowed []string) []Forbidden {
	if len(allowed) == 0 || slices.Contains(allowed, value) {
		return nil
	}
	return []Forbidden{{Field: path.String(), Value: value, Flag: flag, Allowed: allowed}}
}

// sourcesOf returns the kinds of a volume: the names of its fields. One without a kind that is known has "none",
// which no list should allow.
func sourcesOf(v corev1.Volume) []string {
	fields := map[string]json.RawMessage{}
	text, err := json.Marshal(v.VolumeSource)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err != nil || len(fields) == 0 {
		return []string{"none"}
	}
	return slices.Sorted(maps.Keys(fields))
}

// ForbiddenText returns what is forbidden and what to do about it.
func ForbiddenText(all []Forbidden) string {
	words := make([]string, len(all))
	for i, f := range all {
		words[i] = f.Text()
	}
	return strings.Join(words, "; ") + "; correct the pod template, or the flags of the run"
}

// VolumeSources are the kinds of volumes of Kubernetes, as their fields are called.
func VolumeSources() []string {
	var names []string
	for source := range reflect.TypeFor[corev1.VolumeSource]().Fields() {
		name, _, _ := strings.Cut(source.Tag.Get("json"), ",")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
