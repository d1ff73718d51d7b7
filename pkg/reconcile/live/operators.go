package live

import (
	"context"
	"path"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Operator is a Deployment of the FoundationDB operator.
type Operator struct {
	Namespace, Name string
	// Version is the tag of its image; empty when it has none.
	Version string
	// Ready is how many of its pods are ready.
	Ready int
}

// Operators are the operators of the whole Kubernetes cluster. Without permission to list
// Deployments in all namespaces the error is Forbidden.
func Operators(ctx context.Context, c client.Client) ([]Operator, error) {
	deployments, err := listed[appsv1.Deployment](ctx, c, nil, &appsv1.DeploymentList{})
	if err != nil {
		return nil, err
	}
	found := []Operator{}
	for _, d := range operatorsAmong(deployments) {
		o := Operator{Namespace: d.Namespace, Name: d.Name, Ready: int(d.Status.ReadyReplicas)}
		for _, container := range d.Spec.Template.Spec.Containers {
			if isOperator(container) {
				o.Version = tagOf(container.Image)
			}
		}
		found = append(found, o)
	}
	return found, nil
}

// tagOf is the tag of an image; empty without one.
func tagOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(path.Base(image), ":")
	return tag
}
