package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// canOptions are the options of all `kubectl fdb can` commands.
type canOptions struct {
	clusterFlag
	outputFlags
}

// newCan is the parent of the can commands. It does nothing by itself.
func newCan(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "can VERB",
		Short: "Check whether an operation is safe to run now",
		Long: `Check whether an operation is safe to run now, and show every gate with its evidence and
its requirement. Nothing is changed. The checks are those of a pass before the same
operation; the answer is valid only now.

Exit code 0: yes. 1: no. 8: unknown, which counts as no.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("operation is required"), "kubectl fdb can --help")
			}
			return usage(fmt.Errorf("unknown operation %q", args[0]), "kubectl fdb can --help")
		},
	}
	cmd.AddCommand(newCanDelete(env), newCanDrain(env), newCanReconcile(env), newCanReplace(env), newCanRestart(env), newCanUpgrade(env))
	return cmd
}

func (o *canOptions) add(cmd *cobra.Command, env *Env) {
	o.clusterFlag.add(cmd, env)
	o.outputFlags.add(cmd)
}

// question is one can command: its arguments and how it is answered.
type question struct {
	verb string
	// ids are the process groups in question, by ID, pod or address.
	ids []string
	// chosen selects process groups by flags.
	chosen selection
	// needsIDs is true if at least one process group is required.
	needsIDs bool
	// answer fills in the checks.
	answer func(ctx context.Context, l observation, groups []*v1beta2.ProcessGroupStatus, in *lists.CanInput) error
}

// ask observes the cluster that args name, and answers.
func (o canOptions) ask(ctx context.Context, env *Env, cluster []string, q question) error {
	if err := o.check(); err != nil {
		return err
	}
	words, err := expandArgs(q.ids, env.In)
	if err != nil {
		return err
	}
	q.chosen.ids = words
	if q.needsIDs && !q.chosen.chooses() {
		return usage(fmt.Errorf("can %s requires process groups: by ID, pod or address, or by flags", q.verb), "kubectl fdb can "+q.verb+" --help")
	}
	record, err := env.cluster(ctx, cluster, o.name, reads)
	if err != nil {
		return causeOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	env.about = key
	v, err := env.can(ctx, key, q)
	if err != nil {
		return causeOf(ctx, err)
	}
	err = o.print(env.Out, printable{document: v, names: v.Subjects, table: func(w io.Writer) error {
		return ui.WriteCan(w, v, ui.CanOptions{Paint: env.paint(w), ListOptions: o.list(env)})
	}})
	if err != nil {
		return err
	}
	return canEnd(v.Answer)
}

func (e *Env) can(ctx context.Context, key types.NamespacedName, q question) (lists.CanReport, error) {
	l, err := clusterReader{env: e, key: key}.read(ctx)
	if err != nil {
		return lists.CanReport{}, err
	}
	var groups []*v1beta2.ProcessGroupStatus
	if q.chosen.chooses() {
		if groups, err = q.chosen.match(e, key, l.Facts); err != nil {
			return lists.CanReport{}, err
		}
		if len(groups) == 0 {
			return lists.CanReport{}, usagef("no process group of %s matches", key.Name)
		}
	}
	in := lists.CanInput{Facts: l.Facts, Verb: q.verb, NeedsDatabase: true, Commands: e.commands()}
	for _, g := range groups {
		in.Subjects = append(in.Subjects, groupPrefix+string(g.ProcessGroupID))
	}
	if err := q.answer(ctx, l, groups, &in); err != nil {
		return lists.CanReport{}, err
	}
	return lists.NewCanReport(e.metadata(key), in), nil
}

func canEnd(a lists.Answer) error {
	switch a {
	case lists.AnswerYes:
		return nil
	case lists.AnswerUnknown:
		return answer{ExitUnreachable}
	case lists.AnswerNo:
		return answer{ExitNo}
	}
	return answer{ExitInternal}
}

// askAbout answers for the process groups selected by arguments or flags.
func (o canOptions) askAbout(ctx context.Context, env *Env, args []string, chosen selection, q question) error {
	cluster, ids := idsOnly(args, o.name)
	if chosen.chooses() { // a single word is then the cluster
		cluster, ids = splitIDs(args, o.name)
	}
	if _, err := chosen.filter(); err != nil {
		return err
	}
	q.ids, q.chosen = append(ids, chosen.ids...), chosen
	return o.ask(ctx, env, cluster, q)
}

// idsOnly splits arguments of which at least one must be a process group: a single word is one.
func idsOnly(args []string, flag string) (cluster, ids []string) {
	if len(args) == 1 {
		return nil, args
	}
	return splitIDs(args, flag)
}

// inWords joins names for a sentence.
func inWords(groups []*v1beta2.ProcessGroupStatus, name func(*v1beta2.ProcessGroupStatus) string) string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = name(g)
	}
	return strings.Join(names, ", ")
}
