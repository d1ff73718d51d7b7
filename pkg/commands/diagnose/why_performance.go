package diagnose

import (
	"context"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	ui "github.com/kubectl-fdb/kubectl-fdb/pkg/ui/workload"
)

// runPerformance explains what makes the database of a cluster slow.
func (o whyOptions) runPerformance(ctx context.Context, env *session.Env, args []string) error {
	kind, _ := session.ResourceKindOf(args)
	cluster, ids := session.SplitIDs(args, o.Name)
	if kind != nil || len(ids) > 0 {
		return exit.Usagef("--performance requires a cluster alone, without process groups, backups and restores")
	}
	resource, err := env.Cluster(ctx, cluster, o.Name, session.Reads)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: resource.Namespace, Name: resource.Name}
	env.Run.About = key
	facts, err := session.ClusterReader{Env: env, Key: key, Asks: plan.Database}.Facts(ctx)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	v := workload.NewView(env.Metadata(key), workload.Input{Facts: facts, Commands: env.Commands()})
	r := workload.NewReport(v, env.Commands())
	for _, warning := range r.Warnings {
		env.Logf("warning: %s", warning)
	}
	if err := o.Print(env.Out, o.performanceOf(env, r)); err != nil {
		return err
	}
	return performanceEnd(r)
}

func (o whyOptions) performanceOf(env *session.Env, r workload.Report) format.Printable {
	names := []string{}
	for _, c := range r.Items {
		if name := "cause/" + string(c.Code); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return format.Printable{Document: r, Names: names, Table: func(w io.Writer) error {
		if o.Format == "wide" {
			return ui.WriteReportTable(w, r, o.List(env, w))
		}
		return ui.WriteReport(w, r)
	}}
}

func performanceEnd(r workload.Report) error {
	switch r.State {
	case workload.Fine, workload.NearLimit:
		return nil
	case workload.Slow:
		return exit.AnswerError{Code: exit.ExitNo}
	case workload.StateUnknown:
		return exit.AnswerError{Code: exit.ExitUnreachable}
	}
	return exit.AnswerError{Code: exit.ExitInternal}
}
