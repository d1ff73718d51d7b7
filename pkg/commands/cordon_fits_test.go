package commands

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestCordonShowsWhetherGroupsFitOnOtherNodes(t *testing.T) {
	tests := map[string]struct {
		given func(*given)
		pods  error // what listing pods meets
		want  string
	}{
		"another node has room":    {want: "  yes\n"},
		"all others are cordoned":  {given: func(g *given) { g.cordonAllBut(g.nodeOfStorage()) }, want: "no (4 cordoned)"},
		"a big pod fills each":     {given: func(g *given) { g.fill() }, want: "with too little "},
		"pods that ended are none": {given: func(g *given) { g.fill(); g.end() }, want: "  yes\n"},
		"pods may not be listed":   {pods: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("RBAC")), want: "? (not permitted to list the pods of all namespaces)"},
		"pods cannot be listed":    {pods: errNoAnswer, want: "? (pods on nodes are unknown: "},
		"nodes may not be read":    {given: func(g *given) { g.cluster.NodesHidden = "nodes is forbidden" }, want: "? (nodes is forbidden)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := up(t)
			if tc.given != nil {
				tc.given(g)
			}
			env := g.environment()
			env.Client = func() (client.Client, error) {
				return interceptor.NewClient(g.client().(client.WithWatch), interceptor.Funcs{
					List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
						if _, pods := l.(*corev1.PodList); pods && tc.pods != nil {
							return tc.pods
						}
						return c.List(ctx, l, opts...)
					},
				}), nil
			}
			g.out.Reset()
			g.err.Reset()
			Run(t.Context(), env, []string{"cordon", g.nodeOfStorage(), "-c", "sample", "--evacuate=now", "--dry-run"})
			if !strings.Contains(g.err.String(), "FITS") || !strings.Contains(g.err.String(), tc.want) {
				t.Errorf("no %q in:\n%s%s", tc.want, &g.err, &g.out)
			}
		})
	}
}

func (g *given) cordonAllBut(node string) {
	g.cluster.Cordoned = map[string]bool{}
	for _, name := range g.cluster.Nodes {
		g.cluster.Cordoned[name] = name != node
	}
}

// fill puts a pod on each node that wants all of it.
func (g *given) fill() {
	for _, name := range g.cluster.Nodes {
		g.objects = append(g.objects, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "big-" + name, Namespace: "elsewhere"},
			Spec: corev1.PodSpec{NodeName: name, Containers: []corev1.Container{{Name: "big", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"),
			}}}}},
		})
	}
}

// end has all pods that fill nodes succeed.
func (g *given) end() {
	for _, o := range g.objects {
		o.(*corev1.Pod).Status.Phase = corev1.PodSucceeded
	}
}
