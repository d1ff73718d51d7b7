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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
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
	return o.printAll(env, reports)
}

// runOverSites explains the sites of one database. The reports of those that cannot be read come first, with the reason.
func (o whyOptions) runOverSites(ctx context.Context, env *session.Env, named []sites.Site, args []string) error {
	opened, err := sites.Open(ctx, env, named, args, o.Name)
	if err != nil {
		return err
	}
	reports, unread, err := cmdutil.OfEachSite(ctx, opened, func(ctx context.Context, reader session.ClusterReader, site *sites.Opened) (why.Report, error) {
		return explain(ctx, site.Env.Within(reader.Key.Namespace, io.Discard), reader.Key, nil)
	})
	if err != nil {
		return err
	}
	var all []why.Report
	for _, u := range unread {
		all = append(all, why.NewUnread(u.Metadata(env.Metadata(types.NamespacedName{})), u.Reason))
	}
	for _, words := range sites.Contradictions(opened) {
		env.Logf("warning: %s", words)
	}
	return o.printAll(env, append(all, reports...))
}

func (o whyOptions) printAll(env *session.Env, reports []why.Report) error {
	list := why.NewReportList(env.Metadata(types.NamespacedName{}), env.Clock.Now(), reports)
	for _, r := range list.Items {
		for _, warning := range r.Warnings {
			env.Logf("warning: %s: %s", r.Metadata.Subject(), warning)
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
