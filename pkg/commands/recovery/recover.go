// Package recovery holds the commands for recovery after losses that no pass can repair.
package recovery

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery/collect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// New returns the parent of the recover commands. It does nothing by itself.
func New(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Management, Pages: []string{"recovery.md"}}, &cobra.Command{
		Use:   "recover",
		Short: "Plan and apply a recovery without a quorum",
	})
	cmd.AddCommand(newCollect(env), newManifest(env), newPlan(env), newApply(env), newVerify(env))
	cmdutil.AsParent(cmd, "recover command")
	return cmd
}

// collectOptions are the options of `kubectl fdb recover collect`.
type collectOptions struct{ cmdutil.ViewOptions }

func newCollect(env *session.Env) *cobra.Command {
	var o collectOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads,
		Needs:  func() []declare.Requirement { return slices.Concat(cmdutil.Viewing(), cmdutil.ReleasedVolumes()) },
	}, &cobra.Command{
		Use:   "collect [CLUSTER]",
		Short: "Show what was lost and what can be saved",
		Long: `Show what was lost and what can be saved: coordinators and whether they answer, pods with
their addresses, PVCs and released volumes, and of each running pod the cluster file, the
coordination files and the fdbserver processes. What may be lost is printed first.

Nothing is changed, and no quorum of coordinators is required. What cannot be read is
reported as unknown, never as lost.

Exit code 0: nothing has to be recovered. 1: something was lost, or the loss is unknown.`,
		Example: `  # Show what was lost
  kubectl fdb recover collect sample-cluster

  # Keep all facts for later
  kubectl fdb recover collect sample-cluster -o json > facts.json`,
	})
	o.AddView(cmd, env, o.view)
	return cmd
}

func (o *collectOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	read, err := read(ctx, env, key)
	if err != nil {
		return cmdutil.Output{}, err
	}
	v := recovery.NewReportView(env.Metadata(key), read.seen.Now, read.facts, read.warnings)
	code := exit.ExitNo
	if v.Assessment.Kind == recovery.NothingLost {
		code = exit.ExitDone
	}
	return cmdutil.Output{Warnings: v.Warnings, Code: code, Printable: format.Printable{
		Document: v, Names: []string{"loss/" + string(v.Assessment.Kind)},
		Table: func(w io.Writer) error { return ui.WriteRecoveryReport(w, v, o.List(env, w)) },
	}}, nil
}

// reading is one read of a cluster.
type reading struct {
	facts    recovery.Facts
	warnings []string
	seen     plan.Snapshot
	session  session.Session
}

// readLimit is how long the tools may take together. A plan decides about data, so it waits longer than a view for the
// answer that distinguishes a lost quorum from a slow one: two pods one after the other, of which each may take a minute.
const readLimit = 2 * time.Minute

// read reads a cluster, without a quorum if necessary.
func read(ctx context.Context, env *session.Env, key types.NamespacedName) (reading, error) {
	observed, err := session.ClusterReader{Env: env, Key: key, Asks: plan.Database, Within: readLimit}.Read(ctx)
	if err != nil {
		return reading{}, exit.CauseOf(ctx, err)
	}
	r := reading{seen: observed.Seen, session: observed.Session}
	return r, r.readFacts(ctx, env)
}

// readFacts reads the facts about a loss, for the cluster of the snapshot.
func (r *reading) readFacts(ctx context.Context, env *session.Env) error {
	c, err := env.Client()
	if err != nil {
		return err
	}
	r.facts, r.warnings, err = collect.Reader{Client: c, Tool: env.Tool}.Read(ctx, r.seen)
	return exit.CauseOf(ctx, err)
}

// verifyOptions are the options of `kubectl fdb recover verify`.
type verifyOptions struct{ cmdutil.ViewOptions }

func newVerify(env *session.Env) *cobra.Command {
	var o verifyOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads,
		Needs:  func() []declare.Requirement { return slices.Concat(cmdutil.Viewing(), cmdutil.ReleasedVolumes()) },
	}, &cobra.Command{
		Use:   "verify [CLUSTER]",
		Short: "Verify a cluster after a recovery",
		Long: `Verify a cluster after a recovery: status, ConfigMap and all pods have one connection
string, a quorum of its coordinators answers, the database is available, all data has its
copies, and every process group with data reports to this database. What is unknown does
not hold.

Exit code 0: every check holds. 1: some do not.`,
		Example: `  # Verify after recover apply
  kubectl fdb recover verify sample-cluster

  # Wait until all data has its copies again
  kubectl fdb recover verify sample-cluster --wait --timeout 10m`,
	})
	o.AddView(cmd, env, o.view)
	o.AddWait(cmd, "every check holds")
	return cmd
}

func (o *verifyOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	read, err := read(ctx, env, key)
	if err != nil {
		return cmdutil.Output{}, err
	}
	v := recovery.NewVerificationView(env.Metadata(key), read.seen.Now, read.facts, recovery.HealthOf(read.seen.Database))
	v.Warnings = append(v.Warnings, read.warnings...)
	out := cmdutil.Output{Warnings: v.Warnings, Printable: format.Printable{
		Document: v, Names: []string{"recoveryverification/" + key.Name},
		Table: func(w io.Writer) error { return ui.WriteRecoveryVerification(w, v, o.List(env, w)) },
	}}
	var failing []string
	for _, c := range v.Items {
		if !c.Holds {
			failing = append(failing, string(c.ID)+": "+c.Evidence)
		}
	}
	if len(failing) > 0 {
		out.Code, out.Reason = exit.ExitNo, strings.Join(failing, "; ")
	}
	return out, nil
}
