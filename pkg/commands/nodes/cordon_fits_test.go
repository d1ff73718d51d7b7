package nodes_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
)

func TestCordonShowsWhetherGroupsFitOnOtherNodes(t *testing.T) {
	tests := map[string]struct {
		given func(*commandstest.Given)
		pods  error // what listing pods meets
		want  string
	}{
		"another node has room":    {want: "  yes\n"},
		"all others are cordoned":  {given: func(g *commandstest.Given) { g.CordonAllBut(g.NodeOfStorage()) }, want: "no (4 cordoned)"},
		"a big pod fills each":     {given: func(g *commandstest.Given) { g.Fill() }, want: "with too little "},
		"pods that ended are none": {given: func(g *commandstest.Given) { g.Fill(); g.End() }, want: "  yes\n"},
		"pods may not be listed":   {pods: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("RBAC")), want: "? (not permitted to list the pods of all namespaces)"},
		"pods cannot be listed":    {pods: commandstest.ErrNoAnswer, want: "? (pods on nodes are unknown: "},
		"nodes may not be read":    {given: func(g *commandstest.Given) { g.Cluster.NodesHidden = "nodes is forbidden" }, want: "? (nodes is forbidden)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			if tc.given != nil {
				tc.given(g)
			}
			env := g.Environment()
			env.Client = func() (client.Client, error) {
				return interceptor.NewClient(g.Client().(client.WithWatch), interceptor.Funcs{
					List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
						if _, pods := l.(*corev1.PodList); pods && tc.pods != nil {
							return tc.pods
						}
						return c.List(ctx, l, opts...)
					},
				}), nil
			}
			g.Out.Reset()
			g.Err.Reset()
			commands.Run(t.Context(), env, []string{"cordon", g.NodeOfStorage(), "-c", "sample", "--evacuate=now", "--dry-run"})
			if !strings.Contains(g.Err.String(), "FITS") || !strings.Contains(g.Err.String(), tc.want) {
				t.Errorf("no %q in:\n%s%s", tc.want, &g.Err, &g.Out)
			}
		})
	}
}
