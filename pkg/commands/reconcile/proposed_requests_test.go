package reconcile_test

import (
	"context"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// requests are those that change something in the API server, and how many would without their dry run.
type requests struct {
	writes []string
	dry    int
}

// recording returns a client whose requests are recorded. Reviews of permissions are created, and not stored.
func (r *requests) recording(t *testing.T, c client.Client) client.Client {
	t.Helper()
	watching, is := c.(client.WithWatch)
	if !is {
		t.Fatalf("%T cannot be recorded", c)
	}
	note := func(verb string, o client.Object, dryRun []string) {
		kind := fmt.Sprintf("%T", o)
		switch {
		case len(dryRun) > 0:
			r.dry++
		case kind != "*v1.SelfSubjectAccessReview" && kind != "*v1.SelfSubjectRulesReview":
			r.writes = append(r.writes, verb+" "+kind+" "+o.GetName())
		}
	}
	return interceptor.NewClient(watching, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			note("create", o, (&client.CreateOptions{}).ApplyOptions(opts).DryRun)
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			note("update", o, (&client.UpdateOptions{}).ApplyOptions(opts).DryRun)
			return c.Update(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			note("patch", o, (&client.PatchOptions{}).ApplyOptions(opts).DryRun)
			return c.Patch(ctx, o, p, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			note("delete", o, (&client.DeleteOptions{}).ApplyOptions(opts).DryRun)
			return c.Delete(ctx, o, opts...)
		},
		DeleteAllOf: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteAllOfOption) error {
			note("delete all of", o, (&client.DeleteAllOfOptions{}).ApplyOptions(opts).DryRun)
			return c.DeleteAllOf(ctx, o, opts...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			note("update "+sub+" of", o, nil)
			return c.SubResource(sub).Update(ctx, o, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			note("patch "+sub+" of", o, nil)
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	})
}

func TestPlansAndChecksOfManifestsSendNoRequestThatChangesSomething(t *testing.T) {
	tests := map[string]struct {
		args func(t *testing.T) []string
		// stores is true for the command with which the test shows that it sees a change.
		stores bool
	}{
		"a plan of manifests":             {args: func(t *testing.T) []string { t.Helper(); return []string{"plan", "-f", together(t)} }},
		"a plan of single fields":         {args: words("plan", "sample", "--set", "processCounts.storage=6")},
		"a plan with what is not there":   {args: func(t *testing.T) []string { t.Helper(); return []string{"plan", "-f", directory(t), "--prune"} }},
		"a dry run":                       {args: func(t *testing.T) []string { t.Helper(); return []string{"reconcile", "-f", together(t), "--dry-run"} }},
		"a check of manifests":            {args: func(t *testing.T) []string { t.Helper(); return []string{"check", "-f", together(t)} }},
		"a question about a version":      {args: words("can", "upgrade", "sample", "--to", "7.3.80")},
		"a change, which stores the spec": {args: func(t *testing.T) []string { t.Helper(); return []string{"reconcile", "-f", together(t), "--yes"} }, stores: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v, all := readVault(t), &requests{}
			v.API = all.recording(t, v.API)
			code := v.RunOn(all.recording(t, v.Client()), tc.args(t)...)
			if all.dry == 0 || code == exit.ExitUsage || code == exit.ExitInternal {
				t.Errorf("exit code %d, %d requests without effect: %s", code, all.dry, &v.Err)
			}
			if stored := len(all.writes) > 0 || len(v.Changes()) > 0; stored != tc.stores {
				t.Errorf("requests %q, did %v", all.writes, v.Changes())
			}
		})
	}
}
