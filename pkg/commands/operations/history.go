package operations

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// historyOptions are the options of `kubectl fdb history`.
type historyOptions struct {
	cmdutil.ViewOptions
	since time.Duration
	run   string
}

// NewHistory returns the command `history`.
func NewHistory(env *session.Env) *cobra.Command {
	var o historyOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Group: declare.Inspection, Pages: []string{"audit.md#history"}, Dumps: true,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(cmdutil.TheResource()), cmdutil.Optional("runs of other users are not shown", session.Permission{Verb: "list", Resource: "events"}), cmdutil.Optional("an active operation is not marked", cmdutil.ReadingLease()), cmdutil.Finding())
		},
	}, &cobra.Command{
		Use:   "history [CLUSTER]",
		Short: "Show recent changes to a cluster, of all users",
		Long: `Show the runs that changed a cluster, the newest first: who ran which command, why, how many
actions it carried out, and how long that took. With --run, show the actions of one run.

Your own runs are read from the audit file of this machine, those of others from Events on
the cluster, which API servers delete after an hour by default. What an operator did is not
recorded in either. Runs on another cluster of the same name are omitted.`,
		Example: `  # Show the runs that changed a cluster
  kubectl fdb history sample-cluster

  # Show those of the last hour
  kubectl fdb history sample-cluster --since 1h

  # Show the actions of the newest run
  kubectl fdb history sample-cluster --run latest`,
	})
	o.AddView(cmd, env, o.view)
	flags.Sorting(cmd, &o.Flags, inspect.HistoryView{})
	cmd.Flags().DurationVar(&o.since, "since", 0, "only runs that ended within this time (30m, 24h); 0 means all")
	cmd.Flags().StringVar(&o.run, "run", "", "show the actions of the run with this ID, or of the latest")
	return cmd
}

// latest is the value of --run for the newest run.
const latest = "latest"

func (o *historyOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	v, err := o.read(ctx, env, key)
	if err != nil {
		return cmdutil.Output{}, err
	}
	r := cmdutil.Output{Warnings: v.Warnings}
	if o.run != "" && (o.run != latest || len(v.Items) > 0) {
		if v.Items, err = o.chosen(v.Items); err != nil {
			return cmdutil.Output{}, err
		}
	}
	for _, item := range v.Items {
		r.Names = append(r.Names, "run/"+item.RunID)
	}
	if len(v.Items) == 0 {
		r.None = "no recorded changes of " + key.Name
	}
	r.Printable = o.Listed(env, v, r.Names)
	if o.run != "" {
		r.Table = func(w io.Writer) error { return ui.WriteRun(w, v.Items[0], o.List(env, w)) }
	}
	return r, nil
}

// chosen returns the run of --run.
func (o *historyOptions) chosen(items []inspect.Run) ([]inspect.Run, error) {
	at := slices.IndexFunc(items, func(i inspect.Run) bool { return o.run == latest || i.RunID == o.run })
	if at < 0 {
		return nil, exit.Usagef("run %q not found among the %s that are recorded%s", o.run, phrase.Count(len(items), "run"), session.OrMeant(o.run, idsOf(items)))
	}
	return items[at : at+1], nil
}

// idsOf returns the ID of each run, and the word for the latest.
func idsOf(items []inspect.Run) []string {
	ids := []string{latest}
	for _, i := range items {
		ids = append(ids, i.RunID)
	}
	return ids
}

// read joins all records. One that cannot be read is a warning, as long as another can be.
func (o *historyOptions) read(ctx context.Context, env *session.Env, key types.NamespacedName) (inspect.HistoryView, error) {
	of, err := clusterOf(ctx, env, key)
	if err != nil {
		return inspect.HistoryView{}, err
	}
	now := env.Clock.Now()
	v := inspect.HistoryView{Document: inspect.NewDocument("History", env.Metadata(key), now, inspect.SourceLive)}
	in := audit.Records{UID: of.UID}
	if o.since > 0 {
		in.After = now.Add(-o.since)
	}
	var warnings []string
	in.Entries, warnings, err = ownRuns(env, of)
	v.Warnings = append(v.Warnings, warnings...)
	if err != nil {
		v.Warnings = append(v.Warnings, "your own runs may be missing: "+err.Error())
	}
	events, hidden := env.Lookup().EventsOf(ctx, key, key.Name)
	if ctx.Err() != nil {
		return v, ctx.Err()
	}
	if hidden != "" {
		v.Warnings = append(v.Warnings, "runs of other users may be missing: "+hidden)
	}
	in.Events = events
	lease := session.ClusterReader{Env: env, Key: key}.Lease(ctx).Of(of.UID)
	if lease.OperationActive {
		in.Operation = lease.Operation
	}
	v.Items = in.Runs()
	if unproven := withoutUID(v.Items); len(unproven) > 0 {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%s without the UID of the cluster, which changed a cluster of this name that may be another one: %s", phrase.Count(len(unproven), "run"), phrase.Some(unproven, 10)))
	}
	return v, nil
}

// clusterOf returns what identifies the cluster in records.
func clusterOf(ctx context.Context, env *session.Env, key types.NamespacedName) (audit.Run, error) {
	c, err := env.Client()
	if err != nil {
		return audit.Run{}, err
	}
	cluster, err := env.Read(ctx, c, key)
	if err != nil {
		return audit.Run{}, err
	}
	return audit.Run{Context: env.Connection().ContextName(), Namespace: key.Namespace, Cluster: key.Name, UID: cluster.UID}, nil
}

// withoutUID returns the runs of which it is unknown whether they changed this cluster.
func withoutUID(items []inspect.Run) []string {
	var runs []string
	for _, i := range items {
		if i.UID == "" {
			runs = append(runs, i.RunID)
		}
	}
	return runs
}

// ownRuns reads the audit file of this machine, or that of the dump that the command reads.
func ownRuns(env *session.Env, of audit.Run) (entries []audit.Entry, warnings []string, err error) {
	var broken int
	where := "the audit of the dump"
	if text, dumped := env.Connection().DumpedAudit(); dumped {
		entries, broken, err = audit.Read(bytes.NewReader(text), of)
	} else if where, err = audit.Path(env.Getenv); err == nil {
		entries, broken, err = audit.ReadFile(where, of)
	}
	if broken > 0 {
		warnings = append(warnings, fmt.Sprintf("%s of %s could not be read", phrase.Count(broken, "line"), where))
	}
	return entries, warnings, err
}
