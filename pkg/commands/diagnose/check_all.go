package diagnose

import (
	"context"
	"io"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	uicheck "github.com/kubectl-fdb/kubectl-fdb/pkg/ui/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// evaluateAll checks the clusters of all namespaces, a few at a time. If one cannot be read, its
// report has the reason and the others are still checked.
func (o checkOptions) evaluateAll(ctx context.Context, env *session.Env, options check.Options) (checked, error) {
	reports, err := cmdutil.OfEach(ctx, env, "", func(key types.NamespacedName, _ *session.Cluster) check.Report {
		return o.evaluateOrWarn(ctx, env, key, options)
	})
	if err != nil {
		return checked{}, err
	}
	if len(reports) == 0 {
		env.Logf("no FoundationDBCluster found %s", session.InNamespace(""))
	}
	list := check.NewReportList(env.Metadata(types.NamespacedName{}), env.Clock.Now(), reports, options.FailOn)
	return checked{verdict: list.Verdict, words: list.Text(), write: func() error { return o.writeAll(env, list) }}, nil
}

// evaluateOrWarn checks one cluster, or reports why it could not be read.
func (o checkOptions) evaluateOrWarn(ctx context.Context, env *session.Env, key types.NamespacedName, options check.Options) check.Report {
	options.Command = func(words ...string) string { return env.KubectlIn(key.Namespace, words...) }
	r, err := o.evaluate(ctx, env, key, options)
	if err != nil {
		return check.NewProblem(env.Metadata(key), exit.Explain(err), options.FailOn)
	}
	return r
}

func (o checkOptions) writeAll(env *session.Env, l check.ReportList) error {
	for _, r := range l.Items {
		for _, warning := range r.Warnings {
			env.Logf("warning: %s/%s: %s", r.Metadata.Namespace, r.Metadata.Cluster, warning)
		}
	}
	switch o.Format {
	case "junit":
		return uicheck.WriteJUnits(layout.Raw(env.Out), l)
	case "sarif":
		return uicheck.WriteSARIFs(layout.Raw(env.Out), l)
	case "markdown":
		return uicheck.WriteMarkdowns(layout.Raw(env.Out), l, o.List(env))
	}
	p := format.Printable{Document: l, Table: func(w io.Writer) error { return uicheck.WriteTables(w, l, o.List(env)) }}
	for _, r := range l.Items {
		if r.Verdict != check.VerdictPassed {
			p.Names = append(p.Names, "foundationdbcluster/"+r.Metadata.Cluster)
		}
	}
	return o.Print(env.Out, p)
}
