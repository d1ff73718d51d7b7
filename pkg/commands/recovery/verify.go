package recovery

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

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
		Table: func(w io.Writer) error { return ui.WriteRecoveryVerification(w, v, o.List(env)) },
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
