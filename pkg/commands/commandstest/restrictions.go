package commandstest

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// ShareHostPID has storage pods see the processes of their node.
func (g *Given) ShareHostPID() {
	g.Cluster.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
		v1beta2.ProcessClassStorage: {PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{HostPID: true}}},
	}
	g.Cluster.Resource.Generation++
}
