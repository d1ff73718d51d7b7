package commands

import (
	"context"
	"io"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/check"
)

// evaluateAll checks the clusters of all namespaces, a few at a time. If one cannot be read, its
// report has the reason and the others are still checked.
func (o checkOptions) evaluateAll(ctx context.Context, env *Env, wanted check.Options) (checked, error) {
	reports, err := ofEach(ctx, env, "", func(key types.NamespacedName, _ *cluster) check.Report {
		return o.evaluateOrWarn(ctx, env, key, wanted)
	})
	if err != nil {
		return checked{}, err
	}
	if len(reports) == 0 {
		env.logf("no FoundationDBCluster found %s", inNamespace(""))
	}
	list := check.NewReportList(env.metadata(types.NamespacedName{}), env.Clock.Now(), reports, wanted.FailOn)
	return checked{verdict: list.Verdict, words: list.Words(), write: func() error { return o.writeAll(env, list) }}, nil
}

// evaluateOrWarn checks one cluster, or reports why it could not be read.
func (o checkOptions) evaluateOrWarn(ctx context.Context, env *Env, key types.NamespacedName, wanted check.Options) check.Report {
	wanted.Command = func(words ...string) string { return env.kubectlIn(key.Namespace, words...) }
	r, err := o.evaluate(ctx, env, key, wanted)
	if err != nil {
		return check.NewProblem(env.metadata(key), explain(err), wanted.FailOn)
	}
	return r
}

func (o checkOptions) writeAll(env *Env, l check.ReportList) error {
	for _, r := range l.Items {
		for _, warning := range r.Warnings {
			env.logf("warning: %s/%s: %s", r.Metadata.Namespace, r.Metadata.Cluster, warning)
		}
	}
	switch o.format {
	case "junit":
		return check.WriteJUnits(env.Out, l)
	case "sarif":
		return check.WriteSARIFs(env.Out, l)
	case "markdown":
		return check.WriteMarkdowns(env.Out, l, o.outputFlags.list(env))
	}
	p := printable{document: l, table: func(w io.Writer) error { return check.WriteTables(w, l, o.outputFlags.list(env)) }}
	for _, r := range l.Items {
		if r.Verdict != check.VerdictPassed {
			p.names = append(p.names, "foundationdbcluster/"+r.Metadata.Cluster)
		}
	}
	return o.print(env.Out, p)
}
