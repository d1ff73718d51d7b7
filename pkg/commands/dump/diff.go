package dump

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/dumps"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/changes"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	changestext "github.com/kubectl-fdb/kubectl-fdb/pkg/ui/changes"
)

// diffOptions are the options of `kubectl fdb dump diff`.
type diffOptions struct {
	format.Flags
	cluster string
}

// newDiff returns the command `dump diff`.
func newDiff(env *session.Env) *cobra.Command {
	var o diffOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads,
		Needs:  cmdutil.Viewing,
	}, &cobra.Command{
		Use:   "diff DUMP [DUMP]",
		Short: "Show what changed since a dump",
		Long: `Show what changed between two dumps of a cluster, or since a dump: availability, spec,
versions, configuration of the database, coordinators, process groups and their conditions,
exclusions, pods, nodes and locks. Facts are compared field by field.

Times, loads, lags and roles are not compared, nor IDs of connection strings and other
secrets, which dumps hide. What is unknown at one of the times is shown as unknown, and is
no difference. Nothing is changed, and with two dumps no API server is read.

The exit code is 0 without differences, 1 with differences, and 8 if there is none among
what is known.`,
		Example: `  # Show what changed since a dump was written
  kubectl fdb dump diff sample.tar.zst

  # Compare two dumps, as a document
  kubectl fdb dump diff before.tar.zst after.tar.zst -o json`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Output(cmd, &o.Flags)
	cmd.Flags().StringVarP(&o.cluster, "fdb-cluster", "c", "", "name of the FoundationDBCluster, for dumps of several clusters")
	complete.FlagWith(cmd, "fdb-cluster", func(_ context.Context, _ *cobra.Command, args []string) []string { return clustersOf(args) })
	return cmd
}

// clustersOf returns the names of the clusters of the first dump.
func clustersOf(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	d, err := dumps.Open(args[0])
	if err != nil {
		return nil
	}
	var names []string
	for _, c := range d.Manifest.Clusters {
		names = append(names, c.Name)
	}
	return names
}

func (o diffOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if err := o.Check(); err != nil {
		return err
	}
	var compared []*dumps.Dump
	for _, file := range args {
		d, err := dumps.Open(file)
		if err != nil {
			return exit.Usage(fmt.Errorf("%s: %w", file, err))
		}
		compared = append(compared, d)
	}
	key, err := o.choose(env, args, compared)
	if err != nil {
		return err
	}
	env.Run.About = key
	v, err := compare(ctx, env, key, args, compared)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	if err := o.Print(env.Out, format.Printable{Document: v, Names: namesOf(v), Table: func(w io.Writer) error {
		return changestext.Write(w, v, ui.Table{NoHeaders: o.NoHeaders})
	}}); err != nil {
		return err
	}
	switch {
	case v.Differences > 0:
		return exit.AnswerError{Code: exit.ExitNo}
	case len(v.Items) > 0:
		return exit.AnswerError{Code: exit.ExitUnreachable}
	default:
		return nil
	}
}

// namesOf returns what changed, for -o name.
func namesOf(v changes.View) []string {
	var names []string
	for _, c := range v.Items {
		name := string(c.Section) + "/" + cmp.Or(c.Object, v.Metadata.Cluster)
		if c.Kind != changes.Unknown && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// choose returns the cluster to compare: the one that the flags name, or the only one of the first dump.
// Every dump has to have it.
func (o diffOptions) choose(env *session.Env, files []string, dumps []*dumps.Dump) (types.NamespacedName, error) {
	var fitting []types.NamespacedName
	all := dumps[0].Manifest.Clusters
	for _, c := range all {
		namespace := *env.Kube.Namespace
		if (o.cluster == "" || o.cluster == c.Name) && (namespace == "" || namespace == c.Namespace) {
			fitting = append(fitting, c.Key())
		}
	}
	switch len(fitting) {
	case 0:
		return types.NamespacedName{}, exit.Usagef("%s: the dump has no such cluster: it has %s", files[0], strings.Join(wordsOf(all), ", "))
	case 1:
	default:
		return types.NamespacedName{}, exit.Usagef("%s: a cluster is required, with -c and -n: the dump has %s", files[0], strings.Join(wordsOf(all), ", "))
	}
	for i, d := range dumps {
		if !slices.Contains(wordsOf(d.Manifest.Clusters), fitting[0].String()) {
			return types.NamespacedName{}, exit.Usagef("%s: the dump has no cluster %s: it has %s", files[i], fitting[0], strings.Join(wordsOf(d.Manifest.Clusters), ", "))
		}
	}
	return fitting[0], nil
}

func wordsOf(clusters []dumps.Cluster) []string {
	words := make([]string, len(clusters))
	for i, c := range clusters {
		words[i] = c.Key().String()
	}
	return words
}

// compare reads the facts of both times.
func compare(ctx context.Context, env *session.Env, key types.NamespacedName, files []string, dumps []*dumps.Dump) (changes.View, error) {
	if len(dumps) == 1 {
		now, err := present(ctx, env, key)
		if err != nil {
			return changes.View{}, err
		}
		files, dumps = append(slices.Clone(files), ""), append(slices.Clone(dumps), now)
	}
	var sides []changes.Side
	for i, d := range dumps {
		side, err := sideOf(ctx, session.Dumping(env, session.NewDumped(d), io.Discard), key)
		if err != nil {
			return changes.View{}, fmt.Errorf("%s: %w", cmp.Or(files[i], "read the cluster"), err)
		}
		side.Moment = changes.Moment{At: d.Manifest.At.UTC(), File: files[i], Context: d.Manifest.Context, Tool: d.Manifest.Tool}
		sides = append(sides, side)
	}
	return changes.New(env.Metadata(key), sides[0], sides[1]), nil
}

// present returns a dump of the facts that are compared, as they are now. Its secrets are hidden like
// those of the other dump, so that hiding them is no difference.
func present(ctx context.Context, env *session.Env, key types.NamespacedName) (*dumps.Dump, error) {
	d := dumps.New()
	d.Manifest = dumps.Manifest{
		Tool: "kubectl-fdb " + session.Version, At: env.Clock.Now().UTC(), Seed: env.Random(),
		Context: env.Connection().ContextName(), Namespace: key.Namespace, Clusters: []dumps.Cluster{{Namespace: key.Namespace, Name: key.Name}},
	}
	recording, err := session.NewRecording(d, env)
	if err != nil {
		return nil, err
	}
	if _, err := sideOf(ctx, session.Dumping(env, recording, io.Discard), key); err != nil {
		return nil, err
	}
	dumps.Trim(d)
	return d, dumps.Redact(d, rand.Text())
}

// sideOf reads the facts of a cluster that are compared, in an environment that reads a dump.
func sideOf(ctx context.Context, env *session.Env, key types.NamespacedName) (changes.Side, error) {
	facts, err := session.ClusterReader{Env: env, Key: key, Asks: plan.Database, Nodes: true}.Facts(ctx)
	if err != nil {
		return changes.Side{}, err
	}
	side := changes.Side{Facts: facts}
	for _, read := range []struct {
		into *(*plan.CoordinationFacts)
		read func(session.Reader, context.Context) (plan.CoordinationFacts, error)
	}{{&side.Exclusions, session.Reader.ReadExclusions}, {&side.Shared, session.Reader.ReadShared}} {
		var failed error
		with, err := cmdutil.CoordinationFacts(ctx, session.ClusterReader{Env: env, Key: key, Asks: plan.Database}, "", func(ctx context.Context, r session.Reader, into *plan.CoordinationFacts) error {
			*into, failed = read.read(r, ctx)
			return failed
		})
		if err != nil {
			return changes.Side{}, err
		}
		if failed == nil && with.Database.Available() {
			*read.into = &with.Coordination
		}
	}
	return side, ctx.Err()
}

// text is what a command prints. Progress is printed concurrently with results.
type text struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

// Write implements io.Writer.
func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept.Write(p)
}

func (t *text) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.kept.Bytes())
}
