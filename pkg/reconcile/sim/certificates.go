package sim

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// certificateVariables name the files that processes and tools need for TLS.
var certificateVariables = []string{v1beta2.EnvTLSCertificateFile, v1beta2.EnvTLSKeyFile, v1beta2.EnvTLSCAFile}

// tlsEnvironment are the TLS variables of a pod's main container.
func tlsEnvironment(pod *corev1.Pod) map[string]string {
	variables := map[string]string{}
	for _, variable := range mainContainer(pod).Env {
		if slices.Contains(certificateVariables, variable.Name) {
			variables[variable.Name] = variable.Value
		}
	}
	return variables
}

// mountCertificates puts the files into a pod that its variables name, where a Secret is
// mounted for them.
func (p *runningPod) mountCertificates(pod *corev1.Pod) {
	for _, path := range tlsEnvironment(pod) {
		if fromSecret(pod, path) {
			p.files[path] = []byte("certificate")
		}
	}
}

// fromSecret reports whether a Secret is mounted where a file should be.
func fromSecret(pod *corev1.Pod, path string) bool {
	return slices.ContainsFunc(mainContainer(pod).VolumeMounts, func(m corev1.VolumeMount) bool {
		return strings.HasPrefix(path, m.MountPath+"/") && slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.Name == m.Name && v.Secret != nil
		})
	})
}

// canListen reports whether a process can start with such addresses: with TLS it needs
// its certificate, its key and its authorities.
func (p *runningPod) canListen(pod *corev1.Pod, addresses []fdb.Address) bool {
	if !slices.ContainsFunc(addresses, func(a fdb.Address) bool { return a.TLS }) {
		return true
	}
	variables := tlsEnvironment(pod)
	return !slices.ContainsFunc(certificateVariables, func(name string) bool { return p.files[variables[name]] == nil })
}

func mainContainer(pod *corev1.Pod) corev1.Container {
	for _, c := range pod.Spec.Containers {
		if c.Name == v1beta2.ContainerMain {
			return c
		}
	}
	return corev1.Container{}
}
