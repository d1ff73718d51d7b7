package objects

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Fields of a pod that variables are filled from.
const (
	fieldPodName   = "metadata.name"
	fieldNamespace = "metadata.namespace"
	fieldNodeName  = "spec.nodeName"
	fieldPodIP     = "status.podIP"
	fieldPodIPs    = "status.podIPs"
	fieldPublicIP  = "metadata.annotations['" + v1beta2.AnnotationPublicIP + "']"
)

func variable(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }

func fieldVariable(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: path},
	}}
}

// substitutedVariables are what the arguments of the processes refer to.
func substitutedVariables(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) []corev1.EnvVar {
	variables := []corev1.EnvVar{fieldVariable(v1beta2.EnvPublicIP, publicIPField(c))}
	if c.NeedsExplicitListenAddress() {
		variables = append(variables, fieldVariable(v1beta2.EnvPodIP, podIPField(c)))
	}
	variables = append(variables, faultDomainVariables(c)...)
	variables = append(variables, variable(v1beta2.EnvInstanceID, string(g.ProcessGroupID)))
	if c.DefineDNSLocalityFields() {
		variables = append(variables, variable(v1beta2.EnvDNSName, g.DNSName(c)))
	}
	return variables
}

func publicIPField(c *v1beta2.FoundationDBCluster) string {
	if c.PublicIPFromService() {
		return fieldPublicIP
	}
	return podIPField(c)
}

func podIPField(c *v1beta2.FoundationDBCluster) string {
	if c.PodIPFamily() == 0 {
		return fieldPodIP
	}
	return fieldPodIPs
}

// faultDomainVariables identify the fault domain of a pod. A zone that comes from
// a variable of the user's own has none here.
func faultDomainVariables(c *v1beta2.FoundationDBCluster) []corev1.EnvVar {
	machine := fieldVariable(v1beta2.EnvMachineID, fieldNodeName)
	switch {
	case c.FaultDomainKey() == v1beta2.FaultDomainKeyNone:
		return []corev1.EnvVar{
			fieldVariable(v1beta2.EnvMachineID, fieldPodName),
			fieldVariable(v1beta2.EnvZoneID, fieldPodName),
		}
	case c.FaultDomainKey() == v1beta2.FaultDomainKeyKubernetesCluster:
		return []corev1.EnvVar{machine, variable(v1beta2.EnvZoneID, c.Spec.FaultDomain.Value)}
	case strings.HasPrefix(c.FaultDomainValueFrom(), "$"):
		return []corev1.EnvVar{machine}
	default:
		return []corev1.EnvVar{machine, fieldVariable(v1beta2.EnvZoneID, c.FaultDomainValueFrom())}
	}
}

// serversVariable has the number of processes of a pod; none for a single one.
func serversVariable(l Launch) []corev1.EnvVar {
	if l.Servers <= 1 {
		return nil
	}
	return []corev1.EnvVar{variable(l.Class.ServersPerPodVariable(), decimal(l.Servers))}
}

// addVariables appends what the user's template does not set itself.
func addVariables(c *corev1.Container, variables ...corev1.EnvVar) {
	c.Env = appendMissing(c.Env, variables, func(v corev1.EnvVar) string { return v.Name })
}

// addMounts appends the mounts, given as volume and path, whose volume the user's
// template does not mount itself.
func addMounts(c *corev1.Container, pairs ...[2]string) {
	var mounts []corev1.VolumeMount
	for _, p := range pairs {
		mounts = append(mounts, corev1.VolumeMount{Name: p[0], MountPath: p[1]})
	}
	c.VolumeMounts = appendMissing(c.VolumeMounts, mounts, func(m corev1.VolumeMount) string { return m.Name })
}

// appendMissing appends those of more whose name nothing in all has.
func appendMissing[T any](all, more []T, name func(T) string) []T {
	have := map[string]bool{}
	for _, one := range all {
		have[name(one)] = true
	}
	for _, one := range more {
		if !have[name(one)] {
			all = append(all, one)
		}
	}
	return all
}
