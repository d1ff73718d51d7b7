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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
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
	return o.together(env, reports, options), nil
}

// evaluateSites checks the sites of one database. The reports of those that cannot be read come first, with the reason.
func (o checkOptions) evaluateSites(ctx context.Context, env *session.Env, named []sites.Site, args []string, served map[string]*servedReads, options check.Options) (checked, error) {
	opened, err := sites.Open(ctx, env, named, args, o.Name)
	if err != nil {
		return checked{}, err
	}
	reports, unread, err := cmdutil.OfEachSite(ctx, opened, func(ctx context.Context, reader session.ClusterReader, site *sites.Opened) (check.Report, error) {
		here, options := o, options
		here.served = served[site.Name]
		options.Command = func(words ...string) string { return site.Env.KubectlIn(reader.Key.Namespace, words...) }
		return here.evaluate(ctx, site.Env, reader.Key, options)
	})
	if err != nil {
		return checked{}, err
	}
	var all []check.Report
	for _, u := range unread {
		all = append(all, check.NewProblem(u.Metadata(env.Metadata(types.NamespacedName{})), u.Reason, options.FailOn))
	}
	for _, words := range sites.Contradictions(opened) {
		env.Logf("warning: %s", words)
	}
	return o.together(env, append(all, reports...), options), nil
}

// together returns the result of several checks.
func (o checkOptions) together(env *session.Env, reports []check.Report, options check.Options) checked {
	list := check.NewReportList(env.Metadata(types.NamespacedName{}), env.Clock.Now(), reports, options.FailOn)
	return checked{verdict: list.Verdict, words: list.Text(), write: func() error { return o.writeAll(env, list) }}
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
			env.Logf("warning: %s: %s", r.Name(), warning)
		}
	}
	switch o.Format {
	case "junit":
		return uicheck.WriteJUnits(layout.Raw(env.Out), l)
	case "sarif":
		return uicheck.WriteSARIFs(layout.Raw(env.Out), l)
	case formatPatch:
		return uicheck.WritePatch(layout.Raw(env.Out), l.Items)
	case "markdown":
		return uicheck.WriteMarkdowns(layout.Raw(env.Out), l, o.List(env, env.Out))
	}
	p := format.Printable{Document: l, Table: func(w io.Writer) error { return uicheck.WriteTables(w, l, o.List(env, w)) }}
	for _, r := range l.Items {
		if r.Verdict != check.VerdictPassed {
			p.Names = append(p.Names, "foundationdbcluster/"+r.Metadata.Cluster)
		}
	}
	return o.Print(env.Out, p)
}
