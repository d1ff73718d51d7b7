package diagnose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// canOptions are the options of all `kubectl fdb can` commands.
type canOptions struct {
	session.ClusterFlag
	format.Flags
}

// NewCan is the parent of the can commands. It does nothing by itself.
func NewCan(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Inspection, Pages: []string{"why.md#check-before-you-act"}}, &cobra.Command{
		Use:   "can VERB",
		Short: "Check whether an operation is safe to run now",
		Long: `Check whether an operation is safe to run now, and show every gate that refuses or is
unknown, with its evidence and its requirement; -o wide and -v show those that passed too.
Nothing is changed. The checks are those of a pass before the same operation; the answer is
valid only now.

Exit code 0: yes. 1: no. 8: unknown, which counts as no.`,
	})
	cmd.AddCommand(newCanDelete(env), newCanDrain(env), newCanReconcile(env), newCanReplace(env), newCanRestart(env), newCanUpgrade(env))
	cmdutil.AsParent(cmd, "operation")
	return cmd
}

func (o *canOptions) add(cmd *cobra.Command, env *session.Env) {
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Output(cmd, &o.Flags)
}

// question is one can command: its arguments and how it is answered.
type question struct {
	verb string
	// ids are the process groups in question, by ID, pod or address.
	ids []string
	// chosen selects process groups by flags.
	chosen cmdutil.Selection
	// needsIDs is true if at least one process group is required.
	needsIDs bool
	// answer fills in the checks.
	answer func(ctx context.Context, env *session.Env, l session.Observation, groups []*v1beta2.ProcessGroupStatus, in *lists.CanInput) error
}

// ask observes the cluster that args name, and answers.
func (o canOptions) ask(ctx context.Context, env *session.Env, cluster []string, q question) error {
	if err := o.Check(); err != nil {
		return err
	}
	words, err := cmdutil.ExpandArgs(q.ids, env.In)
	if err != nil {
		return err
	}
	q.chosen.IDs = words
	if q.needsIDs && !q.chosen.Chooses() {
		return exit.Usage(fmt.Errorf("can %s requires process groups: by ID, pod or address, or by flags", q.verb), "kubectl fdb can "+q.verb+" --help")
	}
	resource, err := env.Cluster(ctx, cluster, o.Name, session.Reads)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: resource.Namespace, Name: resource.Name}
	env.Run.About = key
	v, err := can(ctx, env, key, q)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	err = o.Print(env.Out, format.Printable{Document: v, Names: v.Subjects, Table: func(w io.Writer) error {
		options := ui.CanOptions{Paint: env.Paint(w), ListOptions: o.List(env)}
		options.Wide = options.Wide || env.Global.Verbose > 0
		return ui.WriteCan(w, v, options)
	}})
	if err != nil {
		return err
	}
	return canEnd(v.Answer)
}

func can(ctx context.Context, e *session.Env, key types.NamespacedName, q question) (lists.CanReport, error) {
	l, err := session.ClusterReader{Env: e, Key: key}.Read(ctx)
	if err != nil {
		return lists.CanReport{}, err
	}
	var groups []*v1beta2.ProcessGroupStatus
	if q.chosen.Chooses() {
		if groups, err = q.chosen.Match(l.Facts); err != nil {
			return lists.CanReport{}, err
		}
		if len(groups) == 0 {
			return lists.CanReport{}, exit.Usagef("no process group of %s matches", key.Name)
		}
	}
	in := lists.CanInput{Facts: l.Facts, Verb: q.verb, NeedsDatabase: true, Commands: e.Commands()}
	for _, g := range groups {
		in.Subjects = append(in.Subjects, session.GroupPrefix+string(g.ProcessGroupID))
	}
	if invalid := validSpec(l.Facts); !invalid.OK { // every answer is about what a pass would do
		in.NeedsDatabase = false
		in.Checks, in.Instead = lists.About("", []plan.Check{invalid}), []string{e.KubectlIn(key.Namespace, "edit", "foundationdbcluster", key.Name)}
	} else if err := q.answer(ctx, e, l, groups, &in); err != nil {
		return lists.CanReport{}, err
	}
	return lists.NewCanReport(e.Metadata(key), in), nil
}

// validSpec is the check whether the next pass would accept the spec.
func validSpec(f inspect.Facts) plan.Check {
	err := errors.Join(plan.InvalidSpecError(f.InvalidSpec), objects.ValidateForPass(f.Cluster))
	c := plan.Check{ID: plan.CheckSpecValid, Question: "is the spec valid?", OK: err == nil, Evidence: "no pass refuses it"}
	if err != nil {
		c.Evidence = "invalid: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return c
}

func canEnd(a lists.Answer) error {
	switch a {
	case lists.AnswerYes:
		return nil
	case lists.AnswerUnknown:
		return exit.AnswerError{Code: exit.ExitUnreachable}
	case lists.AnswerNo:
		return exit.AnswerError{Code: exit.ExitNo}
	}
	return exit.AnswerError{Code: exit.ExitInternal}
}

// askAbout answers for the process groups selected by arguments or flags.
func (o canOptions) askAbout(ctx context.Context, env *session.Env, args []string, chosen cmdutil.Selection, q question) error {
	cluster, ids := session.IDsOnly(args, o.Name)
	if chosen.Chooses() { // a single word is then the cluster
		cluster, ids = session.GroupArgs(ctx, env, args, o.Name)
	}
	if _, err := chosen.Filter(); err != nil {
		return err
	}
	q.ids, q.chosen = append(ids, chosen.IDs...), chosen
	return o.ask(ctx, env, cluster, q)
}

// inText joins names for a sentence.
func inText(groups []*v1beta2.ProcessGroupStatus, name func(*v1beta2.ProcessGroupStatus) string) string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = name(g)
	}
	return strings.Join(names, ", ")
}
