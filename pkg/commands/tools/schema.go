package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/changes"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/orphans"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/rebuild"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/runbooks"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/schema"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/workload"
)

// schemaOptions are the options of `kubectl fdb schema`.
type schemaOptions struct{ format.Flags }

// NewSchema returns the command `schema`.
func NewSchema(env *session.Env) *cobra.Command {
	var o schemaOptions
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Automation, Pages: []string{"commands.md#json"}, Local: true}, &cobra.Command{
		Use:   "schema [KIND]",
		Short: "Print the JSON schemas of the output",
		Long: `Print the JSON schemas (2020-12) of the output. Without KIND the kinds of documents are
listed. No API server is contacted.

Fields are added but never removed, so the schemas allow additional fields.`,
		Example: `  # List the kinds of documents
  kubectl fdb schema

  # Write the schema of status -o json
  kubectl fdb schema ClusterStatus > cluster-status.schema.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(env, args) },
	})
	cmd.ValidArgs = kindNames()
	flags.Output(cmd, &o.Flags)
	return cmd
}

// AllKinds returns the kinds of documents of all packages by name.
func AllKinds() []ui.Kind {
	kinds := slices.Concat(ui.Kinds(), check.Kinds(), runbooks.Kinds(), workload.Kinds(), changes.Kinds(), orphans.Kinds(), rebuild.Kinds())
	stable.Sort(kinds, func(a, b ui.Kind) int { return strings.Compare(a.Name, b.Name) })
	return kinds
}

func kindNames() []string {
	var names []string
	for _, kind := range AllKinds() {
		names = append(names, kind.Name)
	}
	return names
}

func (o schemaOptions) run(env *session.Env, args []string) error {
	if err := o.Check(); err != nil {
		return err
	}
	if len(args) == 0 {
		return o.list(env)
	}
	for _, kind := range AllKinds() {
		if strings.EqualFold(kind.Name, args[0]) {
			return o.describe(env, kind)
		}
	}
	return session.Unknown("kind", args[0], kindNames())
}

func (o schemaOptions) list(env *session.Env) error {
	v := ui.NewKindListView(inspect.Metadata{Tool: "kubectl-fdb " + session.Version, RunID: env.RunID}, AllKinds())
	return o.Print(env.Out, format.Printable{Document: v, Names: kindNames(), Table: func(w io.Writer) error {
		return ui.WriteKinds(w, v, o.List(env, w))
	}})
}

// describe prints JSON unless another format was requested: a schema has no table.
func (o schemaOptions) describe(env *session.Env, kind ui.Kind) error {
	n := kind.Schema(schema.Options{})
	return o.Print(env.Out, format.Printable{
		Document: n, Names: []string{kind.Name},
		Table: func(w io.Writer) error { return ui.WriteIndentedJSON(w, n) },
	})
}

// execOptions are the options of `kubectl fdb exec`.
type execOptions struct {
	session.ClusterFlag
	cmdutil.PodChoice
	container string
	stdin     bool
	timeout   time.Duration
}

// NewExec returns the command `exec`.
func NewExec(env *session.Env) *cobra.Command {
	var o execOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Programs, Group: declare.Support, Pages: []string{"support.md#fdbcli-and-programs-in-pods"}, Prints: "what a program prints",
		Lacks: declare.Lacking("it runs a program of the user, of which nothing is known"),
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(session.ToolPermissions()...), cmdutil.Finding())
		},
	}, &cobra.Command{
		Use:                   "exec [CLUSTER] [ID] [flags] -- PROGRAM [ARGUMENT...]",
		DisableFlagsInUseLine: true,
		Short:                 "Run a program in a pod of a cluster",
		Long: `Run a program in a pod of a cluster: the pod of the process group, or of --pod, else the pod
that is most likely to stay. The output is streamed and the exit code passed through. The
program has no terminal. No gate is checked: this is kubectl exec with a selected pod.`,
		Example: `  # Run a program in any running pod
  kubectl fdb exec sample-cluster -- ls /var/fdb/data

  # Run a program in the pod of a process group
  kubectl fdb exec sample-cluster storage-30317 -- df /var/fdb/data`,
		ValidArgsFunction: complete.From(env).ClusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			before, program, err := cmdutil.AtDash(cmd, args)
			if err != nil {
				return err
			}
			cluster, err := o.take(cmd.Context(), env, before)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), env, cluster, program)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags := cmd.Flags()
	flags.StringVar(&o.Pod, "pod", "", "name of the pod")
	flags.StringVar(&o.Group, "process-group", "", "process group, by ID, to run the program in the pod of")
	flags.StringVar(&o.container, "container", v1beta2.ContainerMain, "container of the pod")
	flags.BoolVarP(&o.stdin, "stdin", "i", false, "If true, pass stdin to the program")
	flags.DurationVar(&o.timeout, "timeout", 0, "maximum run time of the program (exit code 124); 0 means no limit")
	declare.NotInSteps(cmd, "stdin")
	complete.FlagWith(cmd, "pod", complete.From(env).PodNames)
	complete.FlagWith(cmd, "process-group", complete.From(env).GroupValues(func(g *v1beta2.ProcessGroupStatus) string { return string(g.ProcessGroupID) }))
	return cmd
}

// take takes the process group from the arguments, and returns the cluster among them.
func (o *execOptions) take(ctx context.Context, env *session.Env, args []string) (cluster []string, err error) {
	cluster, ids := session.GroupArgs(ctx, env, args, o.Name)
	switch {
	case len(ids) > 1:
		return nil, exit.Usagef("only one process group is allowed, not %s", strings.Join(ids, " and "))
	case len(ids) == 1 && o.Group != "":
		return nil, exit.Usagef("process group %s conflicts with --process-group", ids[0])
	case len(ids) == 1:
		o.Group = ids[0]
	}
	return cluster, nil
}

func (o execOptions) run(ctx context.Context, env *session.Env, args, program []string) error {
	if err := o.Check(); err != nil {
		return err
	}
	cluster, err := env.Cluster(ctx, args, o.Name, session.Reads)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	s, err := cmdutil.Pods(ctx, env, cluster)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	pod, err := o.In(s)
	if err != nil {
		return err
	}
	env.Logf("using pod %s", pod.Name)
	tool, err := env.Tool(pod, o.container)
	if err != nil {
		return err
	}
	code, err := o.pass(ctx, env, tool, program)
	if err != nil {
		return exit.CauseOf(ctx, fmt.Errorf("run %s in pod %s: %w", program[0], pod.Name, unreachable(err)))
	}
	return ended(code)
}

// pass runs the program and connects its streams.
func (o execOptions) pass(ctx context.Context, env *session.Env, tool admin.Transport, program []string) (code int, err error) {
	running, err := tool.Open(ctx, admin.Command{Argv: program, Limit: o.timeout})
	if err != nil {
		return 0, err
	}
	defer running.Close()
	go func() {
		if o.stdin {
			_, _ = io.Copy(running.Stdin, env.In) // the program may end before its input does
		}
		_ = running.Stdin.Close()
	}()
	printed := make(chan error, 1)
	go func() {
		_, err := io.Copy(streamOf(env, env.ErrOut), running.Stderr)
		printed <- err
	}()
	_, err = io.Copy(streamOf(env, env.Out), running.Stdout)
	err = errors.Join(err, <-printed)
	code, waitErr := running.Wait()
	return code, errors.Join(waitErr, err)
}

// streamOf returns where a stream of the program goes: as it is into a file or another program, for which it
// may be no text; on a terminal with its control characters shown.
func streamOf(env *session.Env, stream io.Writer) io.Writer {
	if env.IsTerminal(stream) {
		return layout.Asked(stream)
	}
	return layout.Terminal(stream)
}

// ended returns the end of the command: it has the exit code of the program.
func ended(code int) error {
	if code == 0 {
		return nil
	}
	return exit.AnswerError{Code: code}
}

// unreachable marks the error of a program that could not be run to its end.
func unreachable(err error) error {
	if _, lost := errors.AsType[*admin.TransportError](err); lost {
		return &exit.Error{Code: exit.ExitUnreachable, Err: err}
	}
	return err
}
