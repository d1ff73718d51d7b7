// Package logs has the command logs: lines of containers and events of trace files, of all pods of
// a cluster.
package logs

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/logs"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const (
	// defaultTail is how many entries of each log are printed.
	defaultTail = 100
	// defaultBytes bounds what is read of all logs together.
	defaultBytes = "16Mi"
	// maxSeverity is more than any severity of FoundationDB.
	maxSeverity = 40
)

// options are the options of `kubectl fdb logs`.
type options struct {
	session.ClusterFlag
	cmdutil.Selection
	containers []string
	origins    []string
	severity   int
	since      time.Duration
	tail       int
	follow     bool
	previous   bool
	maxBytes   string
	output     string

	limit int64 // of maxBytes
}

// New returns the command `logs`.
func New(env *session.Env) *cobra.Command {
	o := &options{}
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Group: declare.Inspection, Pages: []string{"logs.md"}, Dumps: true,
		Needs: logging,
	}, &cobra.Command{
		Use:   "logs [CLUSTER] [PROCESS_GROUP...]",
		Short: "Print logs and trace events of a cluster",
		Long: `Print the logs of containers and the events of FoundationDB's trace files of a cluster, or
of some of its process groups, merged by time. Each line begins with its time, process
group and container; events of trace files have their severity: 5 debug, 10 information,
20 warning, 30 warning that is never suppressed, 40 error.

The last 100 lines of each container and events of each pod are printed, or with --since
all since then. What is read is bounded by --max-bytes: where the beginning of a log is
omitted, a warning is printed. A log that cannot be read is a warning as well and does not
hide the others; the exit code is 9 then. Text is printed as it is, as kubectl logs does;
dumps hide secrets.

With --follow containers are followed, also those of new pods, and trace files are read
every 5 seconds: a program that follows a file could remain in the pod. With --from the
logs of a dump are printed.`,
		Example: `  # Print the last logs and trace events of all process groups
  kubectl fdb logs sample-cluster

  # Print the warnings and errors of storage processes in the last ten minutes
  kubectl fdb logs sample-cluster --class storage --origin trace --severity 20 --since 10m

  # Follow two process groups
  kubectl fdb logs sample-cluster storage-30317 log-15462 -f

  # Print one object a line, for jq
  kubectl fdb logs sample-cluster --severity 30 -o json

  # Print the logs of containers that ran before
  kubectl fdb logs sample-cluster --previous`,
		ValidArgsFunction: complete.From(env).ClusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.since > 0 && !cmd.Flags().Changed("tail") {
				o.tail = -1
			}
			return o.run(cmd.Context(), env, args)
		},
	})
	o.add(cmd, env)
	return cmd
}

func (o *options) add(cmd *cobra.Command, env *session.Env) {
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags := cmd.Flags()
	flags.StringSliceVar(&o.Classes, "class", nil, "comma-separated process classes")
	flags.StringSliceVar(&o.Zones, "zone", nil, "comma-separated zones")
	flags.StringSliceVar(&o.Nodes, "node", nil, "comma-separated nodes")
	flags.StringSliceVar(&o.containers, "container", nil, "comma-separated containers; empty means all but init containers. Trace files are those of "+v1beta2.ContainerMain)
	flags.StringSliceVar(&o.origins, "origin", origins(), "comma-separated origins: container for what containers printed, trace for events of trace files")
	flags.IntVar(&o.severity, "severity", 0, "least severity of trace events, such as 20 or 30; lines of containers have none and are not filtered")
	flags.DurationVar(&o.since, "since", 0, "maximum age of lines and events; 0 means no limit")
	flags.IntVar(&o.tail, "tail", defaultTail, "maximum number of lines of each container and of events of each pod; -1 means no limit, as does --since")
	flags.BoolVarP(&o.follow, "follow", "f", false, "If true, also print new lines and events as they are written")
	flags.BoolVarP(&o.previous, "previous", "p", false, "If true, print the logs of the containers that ran before, where one restarted, instead of the present ones")
	flags.StringVar(&o.maxBytes, "max-bytes", defaultBytes, "maximum size of what is read at first of all logs and trace files together, the same share for each pod")
	flags.StringVarP(&o.output, "output", "o", "text", "output format: text, or json with one object a line")
	completion := complete.From(env)
	complete.Flag(cmd, "class", func() []string { return phrase.Strings(v1beta2.ProcessClasses()) })
	complete.FlagWith(cmd, "zone", completion.GroupValues(func(g *v1beta2.ProcessGroupStatus) string { return string(g.FaultDomain) }))
	complete.Flag(cmd, "container", func() []string { return []string{v1beta2.ContainerMain, v1beta2.ContainerSidecar} })
	complete.Flag(cmd, "origin", origins)
	complete.Flag(cmd, "severity", func() []string { return []string{"10", "20", "30", "40"} })
	complete.Flag(cmd, "output", func() []string { return []string{"text", "json"} })
}

func origins() []string { return []string{string(logs.FromContainer), string(logs.FromTrace)} }

// check rejects invalid flags before anything is read.
func (o *options) check() error {
	if o.output != "text" && o.output != "json" {
		return exit.Usagef("-o must be text or json, not %q", o.output)
	}
	for _, origin := range o.origins {
		if !slices.Contains(origins(), origin) {
			return session.Unknown("origin", origin, origins())
		}
	}
	switch {
	case o.severity < 0 || o.severity > maxSeverity:
		return exit.Usagef("--severity must be from 0 to %d, not %d", maxSeverity, o.severity)
	case o.tail < -1:
		return exit.Usagef("--tail must be -1 or more, not %d", o.tail)
	case o.previous && o.follow:
		return exit.Usagef("--previous conflicts with --follow")
	}
	most, err := resource.ParseQuantity(o.maxBytes)
	if err != nil || most.Value() <= 0 {
		return exit.Usagef("invalid --max-bytes %q: must be a number of bytes such as 1048576, 64Mi or 1Gi", o.maxBytes)
	}
	o.limit = most.Value()
	_, err = o.Filter()
	return err
}

func (o *options) run(ctx context.Context, env *session.Env, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	cluster, ids := session.GroupArgs(ctx, env, args, o.Name)
	ids, err := cmdutil.ExpandArgs(ids, env.In)
	if err != nil {
		return err
	}
	o.IDs = ids
	object, err := env.Cluster(ctx, cluster, o.Name, session.Reads)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	env.Run.About = types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
	r := newReader(env, o, env.Run.About)
	pods, err := r.pods(ctx)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	if len(pods) == 0 {
		env.Logf("no matching pods found for cluster %s", object.Name)
	}
	if o.follow {
		return r.follow(ctx, pods)
	}
	r.once(ctx, pods)
	if ctx.Err() != nil {
		return exit.CauseOf(ctx, ctx.Err())
	}
	return r.faults.end()
}

// logging returns what is required for logs: either of both origins can do without the other.
func logging() []declare.Requirement {
	return slices.Concat(
		cmdutil.Required(cmdutil.TheResource(), session.Permission{Verb: "list", Resource: "pods"}),
		cmdutil.Optional("lines of containers are not printed", session.Permission{Verb: "get", Resource: "pods", Subresource: "log"}),
		cmdutil.Optional("trace events are not printed", session.Permission{Verb: "create", Resource: "pods", Subresource: "exec"}), cmdutil.Finding(),
	)
}

// faults are the logs that could not be read. They are safe for concurrent use.
type faults struct {
	env *session.Env

	mu     sync.Mutex
	read   int
	errs   []error
	warned map[string]bool
}

// note counts the reading of a log, and prints why one failed: once, however often it is tried.
func (f *faults) note(what string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.read++
		return
	}
	if f.warn(what + ": " + exit.Explain(err)) {
		f.errs = append(f.errs, err)
	}
}

// limited prints that the beginning of a log is omitted.
func (f *faults) limited(what, flag string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.warn(what + ": the beginning is omitted (" + flag + ")")
}

// warn prints a warning, unless it was printed before.
func (f *faults) warn(text string) (printed bool) {
	if f.warned[text] {
		return false
	}
	f.warned[text] = true
	f.env.Logf("warning: %s", text)
	return true
}

// end returns the end of the command.
func (f *faults) end() error {
	if len(f.errs) == 0 {
		return nil
	}
	code := exit.Worst(f.errs)
	if f.read > 0 {
		code = exit.ExitPartly
	}
	return &exit.Error{Code: code, Err: fmt.Errorf("read logs: %d of %s failed: %s", len(f.errs), phrase.Count(f.read+len(f.errs), "read"), exit.Explain(f.errs[0]))}
}
