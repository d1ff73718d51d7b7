package diagnose

import (
	"context"
	"io"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// runAll explains the clusters of all namespaces, a few at a time. If one cannot be read, its report
// has the reason and the others are still explained.
func (o whyOptions) runAll(ctx context.Context, env *session.Env) error {
	reports, err := cmdutil.OfEach(ctx, env, "", func(key types.NamespacedName, _ *session.Cluster) why.Report {
		r, err := explain(ctx, env.Within(key.Namespace, io.Discard), key, nil)
		if err != nil {
			return why.NewUnread(env.Metadata(key), exit.Explain(err))
		}
		return r
	})
	if err != nil {
		return err
	}
	if len(reports) == 0 {
		env.Logf("no FoundationDBCluster found %s", session.InNamespace(""))
	}
	list := why.NewReportList(env.Metadata(types.NamespacedName{}), env.Clock.Now(), reports)
	for _, r := range list.Items {
		for _, warning := range r.Warnings {
			env.Logf("warning: %s/%s: %s", r.Metadata.Namespace, r.Metadata.Cluster, warning)
		}
	}
	if err := o.Print(env.Out, o.printableList(env, list)); err != nil {
		return err
	}
	return whyEnd(list.State)
}

func (o whyOptions) printableList(env *session.Env, l why.ReportList) format.Printable {
	p := format.Printable{Document: l, Table: func(w io.Writer) error {
		if o.Format == "wide" {
			return ui.WriteWhyListTable(w, l, o.List(env))
		}
		return ui.WriteWhyList(w, l, ui.WhyOptions{Paint: env.Paint(w), ListOptions: o.List(env)})
	}}
	for _, r := range l.Items {
		if r.State != why.Ready {
			p.Names = append(p.Names, "foundationdbcluster/"+r.Metadata.Cluster)
		}
	}
	return p
}
