package objects

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// ValidateOwned returns an error for what a spec sets although a pass sets it: arguments of
// processes, keys of the ConfigMap, variables and annotations of pods, by which a pass finds its
// processes and configures them. Validate accepts them, so that a cluster which has them can still
// be read; a pass must not carry them out.
func ValidateOwned(c *v1beta2.FoundationDBCluster) error {
	overrides := Overrides(c)
	errs := make([]error, len(overrides))
	for i, err := range overrides {
		errs[i] = err
	}
	return errors.Join(errs...)
}

// Overrides returns an error per value of the spec that overrides what a pass sets. What a pass sets
// is read from what it writes, with the spec's own parameters, data and variables removed.
func Overrides(c *v1beta2.FoundationDBCluster) field.ErrorList {
	var errs field.ErrorList
	for _, class := range slices.Sorted(maps.Keys(c.Spec.Processes)) {
		path := field.NewPath("spec", "processes").Key(string(class))
		errs = append(errs, overridingParameters(c, class, path.Child("customParameters"))...)
		if template := c.Spec.Processes[class].PodTemplate; template != nil {
			errs = append(errs, overridingAnnotations(template.Annotations, path.Child("podTemplate", "metadata", "annotations"))...)
			errs = append(errs, overridingLabels(template.Labels, path.Child("podTemplate", "metadata", "labels"))...)
			errs = append(errs, overridingVariables(c, class, path.Child("podTemplate", "spec"))...)
		}
	}
	return append(errs, overridingKeys(c)...)
}

// classesOf returns the classes to which the settings of a class apply.
func classesOf(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) []v1beta2.ProcessClass {
	if class != v1beta2.ProcessClassGeneral {
		return []v1beta2.ProcessClass{class}
	}
	return slices.Sorted(maps.Keys(c.DesiredProcessCounts()))
}

// written is a cluster that writes everything which a pass may write for a class of c, and nothing
// that the user adds.
func written(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass, t v1beta2.ImageType) *v1beta2.FoundationDBCluster {
	w := c.DeepCopy()
	w.Spec.ImageType, w.Spec.ConfigMap, w.Spec.Buggify.EmptyMonitorConf = &t, nil, false
	w.Spec.Routing.DefineDNSLocalityFields = new(true)
	w.Spec.StorageServersPerPod, w.Spec.LogServersPerPod = 2, 2
	w.Status.HasListenIPsForAllPods = true
	w.Status.ConnectionString = "a:b@c:1"
	settings := c.Settings(class)
	settings.CustomParameters = nil
	template := corev1.PodTemplateSpec{}
	if settings.PodTemplate != nil {
		template = *settings.PodTemplate.DeepCopy()
	}
	template.ObjectMeta = metav1.ObjectMeta{}
	for container := range containers(&template.Spec) {
		container.Env = nil
	}
	settings.PodTemplate = &template
	w.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: settings}
	return w
}

// OwnArguments returns the arguments that a pass sets for the processes of a class, by their names
// with underscores, and the settings of fdbmonitor that it writes beside them. A literal value is
// that of the argument; other values are empty.
func OwnArguments(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) map[string]string {
	own := map[string]string{}
	for _, servers := range []int{1, 2} {
		// Only a custom parameter can be invalid, and there is none.
		text, _ := MonitorConf(written(c, class, v1beta2.ImageTypeSplit), Launch{Class: class, Servers: servers}, nil)
		for line := range strings.Lines(text) {
			if name, _, found := strings.Cut(line, " = "); found && own[name] == "" {
				own[name] = ""
			}
		}
		m, _ := MonitorConfiguration(written(c, class, v1beta2.ImageTypeUnified), Launch{Class: class, ImageType: v1beta2.ImageTypeUnified, Servers: servers})
		for _, a := range m.Arguments {
			name, value := argumentOf(a)
			own[name] = value
		}
	}
	return own
}

// ArgumentsOfAnyCluster returns the names, with underscores, of the arguments that a pass sets for the
// processes of any cluster.
func ArgumentsOfAnyCluster() map[string]bool {
	c := &v1beta2.FoundationDBCluster{Spec: v1beta2.FoundationDBClusterSpec{DataCenter: "a", DataHall: "a"}}
	c.Spec.MainContainer.PeerVerificationRules = "a"
	names := map[string]bool{}
	for name := range OwnArguments(c, v1beta2.ProcessClassStorage) {
		names[name] = true
	}
	return names
}

// argumentOf returns the name of an argument, and its value if that is the same in all pods.
func argumentOf(a fdb.Argument) (name, value string) {
	if len(a.Values) > 0 {
		name, _, _ = strings.Cut(a.Values[0].Value, "=")
	} else {
		name, value, _ = strings.Cut(a.Value, "=")
	}
	return strings.TrimPrefix(name, "--"), value
}

// otherNames are further names that fdbserver has for arguments of a pass.
// Source: the options of fdbserver 7.1 to 7.4.
var otherNames = map[string]string{
	"machine_id": "locality_" + fdb.LocalityMachineID, "datacenter_id": "locality_" + fdb.LocalityDCID, "seed_connection_string": "seed_cluster_file",
}

// ArgumentName returns the name by which fdbserver knows an argument: it takes dashes for underscores,
// localities in any case, and some arguments by two names.
func ArgumentName(parameter string) string {
	name, _, _ := strings.Cut(parameter, "=")
	name = strings.ToLower(strings.ReplaceAll(strings.Trim(strings.TrimSpace(name), "-"), "-", "_"))
	if other, found := otherNames[name]; found {
		return other
	}
	return name
}

// sources are the fields that the value of an argument comes from.
var sources = map[string]string{
	"class": "the key of spec.processes", "public_address": "spec.routing", "listen_address": "spec.routing", "loggroup": "spec.logGroup",
	"tls_verify_peers":                  "spec.mainContainer.peerVerificationRules",
	"locality_" + fdb.LocalityZoneID:    "spec.faultDomain",
	"locality_" + fdb.LocalityMachineID: "the node of the pod",
	"locality_" + fdb.LocalityDCID:      "spec.dataCenter",
	"locality_" + fdb.LocalityDataHall:  "spec.dataHall",
}

func overridingParameters(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass, path *field.Path) field.ErrorList {
	parameters := c.Spec.Processes[class].CustomParameters
	if len(parameters) == 0 {
		return nil
	}
	var own []map[string]string
	for _, one := range classesOf(c, class) {
		own = append(own, OwnArguments(c, one))
	}
	var errs field.ErrorList
	for i, parameter := range parameters {
		if !slices.ContainsFunc(own, func(own map[string]string) bool { return overridesArgument(parameter, own) }) {
			continue
		}
		name, from := ArgumentName(string(parameter)), ""
		if source := sources[name]; source != "" {
			from = ", from " + source
		}
		errs = append(errs, field.Forbidden(path.Index(i), fmt.Sprintf("%s: a pass sets %s itself%s: remove the parameter", parameter, name, from)))
	}
	return errs
}

// overridesArgument reports whether a parameter sets an argument of a pass to another value. The same
// value twice changes nothing.
func overridesArgument(parameter v1beta2.FoundationDBCustomParameter, own map[string]string) bool {
	value, set := own[ArgumentName(string(parameter))]
	_, custom, _ := strings.Cut(string(parameter), "=")
	return set && (value == "" || strings.TrimSpace(custom) != value)
}

// overridingKeys returns an error per key of spec.configMap.data under which a pass writes.
func overridingKeys(c *v1beta2.FoundationDBCluster) field.ErrorList {
	if c.Spec.ConfigMap == nil {
		return nil
	}
	var errs field.ErrorList
	path, own := field.NewPath("spec", "configMap", "data"), clusterData(c)
	for _, key := range slices.Sorted(maps.Keys(c.Spec.ConfigMap.Data)) {
		if _, set := own[key]; set || strings.HasPrefix(key, monitorKeyPrefix) {
			errs = append(errs, field.Forbidden(path.Key(key), "a pass writes this key itself: remove it"))
		}
	}
	return errs
}

// monitorRecords are the annotations by which pods report what they run; the monitor and passes write
// them.
var monitorRecords = []string{
	v1beta2.AnnotationCurrentConfiguration, v1beta2.AnnotationEnvironment, v1beta2.AnnotationClusterFileChange,
	v1beta2.AnnotationOutdatedConfigMapSeen, v1beta2.AnnotationCurrentNode,
}

// podRecords returns the annotations that a pass reads back from pods: those which it creates them
// with, and those of monitorRecords.
func podRecords() []string {
	pod := &corev1.Pod{}
	RecordConfigMap(pod, "")
	RecordPublicIP(pod, "")
	maps.Copy(pod.Annotations, creationRecords(&v1beta2.FoundationDBCluster{}, ""))
	return slices.Concat(slices.Collect(maps.Keys(pod.Annotations)), monitorRecords)
}

func overridingAnnotations(annotations map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	records := podRecords()
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if slices.Contains(records, key) {
			errs = append(errs, field.Forbidden(path.Key(key), "a pass reads this annotation as its own record: remove it"))
		}
	}
	return errs
}

// overridingLabels checks the one label that a pass does not write to every pod. It overwrites the others.
func overridingLabels(labels map[string]string, path *field.Path) field.ErrorList {
	if _, set := labels[v1beta2.LabelDistributionKey]; !set {
		return nil
	}
	return field.ErrorList{field.Forbidden(path.Key(v1beta2.LabelDistributionKey), "a pass sets this label itself, from spec.distributionConfig: remove it")}
}

// freeVariables are those of a pass that a template may set: none of them identifies a process.
var freeVariables = []string{v1beta2.EnvTLSCAFile, v1beta2.EnvTLSVerifyPeers, v1beta2.EnvTraceLogGroup, v1beta2.EnvTraceEnable}

// ownVariables returns the variables that a pass sets in the containers of a class, by container. A
// template that sets one wins.
func ownVariables(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) map[string][]corev1.EnvVar {
	own := map[string][]corev1.EnvVar{}
	for _, one := range classesOf(c, class) {
		spec, err := PodSpec(written(c, one, c.ImageType()), &v1beta2.ProcessGroupStatus{ProcessClass: one, ProcessGroupID: c.ProcessGroupIDFor(one, 1)})
		if err != nil {
			continue // a pass ends at this template anyway
		}
		for container := range containers(spec) {
			own[container.Name] = append(own[container.Name], container.Env...)
		}
	}
	return own
}

func overridingVariables(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass, path *field.Path) field.ErrorList {
	spec := &c.Spec.Processes[class].PodTemplate.Spec
	var errs field.ErrorList
	var own map[string][]corev1.EnvVar
	check := func(path *field.Path, list []corev1.Container) {
		for i := range list {
			if len(list[i].Env) > 0 && own == nil {
				own = ownVariables(c, class)
			}
			for j := range list[i].Env {
				if v := &list[i].Env[j]; overridesOneOf(v, own[list[i].Name]) {
					errs = append(errs, field.Forbidden(path.Index(i).Child("env").Index(j), variableRemedy(v.Name)))
				}
			}
		}
	}
	check(path.Child("containers"), spec.Containers)
	check(path.Child("initContainers"), spec.InitContainers)
	return errs
}

func variableRemedy(name string) string {
	remedy := "remove it"
	if name == v1beta2.EnvZoneID {
		remedy = "remove it, or set spec.faultDomain.valueFrom to $" + name
	}
	return fmt.Sprintf("a pass sets %s itself: %s", name, remedy)
}

// overridesOneOf reports whether a variable of a template replaces one of a pass with another value.
func overridesOneOf(v *corev1.EnvVar, own []corev1.EnvVar) bool {
	if slices.Contains(freeVariables, v.Name) {
		return false
	}
	set := false
	for i := range own {
		if own[i].Name != v.Name {
			continue
		}
		if sameSource(v, &own[i]) {
			return false
		}
		set = true
	}
	return set
}

// sameSource compares literals and fields of the pod. The number of processes is never the same: it
// is a field of the spec.
func sameSource(a, b *corev1.EnvVar) bool {
	if a.ValueFrom == nil || b.ValueFrom == nil {
		return a.ValueFrom == nil && b.ValueFrom == nil && a.Value == b.Value && !strings.HasSuffix(a.Name, serversSuffix)
	}
	x, y := a.ValueFrom.FieldRef, b.ValueFrom.FieldRef
	return x != nil && y != nil && x.FieldPath == y.FieldPath
}
