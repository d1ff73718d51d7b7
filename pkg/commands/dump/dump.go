// Package dump has the command dump: it writes all that is known of clusters to a file, which
// other commands read with --from.
package dump

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/dumps"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// Runner runs a command line of this program in an environment.
type Runner func(ctx context.Context, env *session.Env, args []string) int

const (
	// defaultDuration is how long status documents are read.
	defaultDuration = time.Minute
	// maxWarnings bounds how much of what could not be read is printed.
	maxWarnings = 12
	// defaultLogBytes bounds all logs and trace files of a dump together.
	defaultLogBytes = "256Mi"
)

// options are the options of `kubectl fdb dump`.
type options struct {
	session.ClusterFlag
	all      bool
	file     string
	force    bool
	duration time.Duration
	logBytes string

	run Runner
}

// New returns the command `dump`.
func New(env *session.Env, run Runner) *cobra.Command {
	o := options{run: run}
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Saves, Group: declare.Support, Pages: []string{"dumps.md"},
		Needs: cmdutil.Dumping,
	}, &cobra.Command{
		Use:   "dump [CLUSTER]",
		Short: "Write all facts about a cluster to a file",
		Long: `Write all facts about a cluster to a file, for an analysis later or elsewhere: resources,
pods, PVCs, services, events, nodes, Leases, logs and trace files (also those of the
previous container), status documents, the answers of fdbcli, locks, permissions, the
audit, and the output of status, describe, why, check, plan and other commands.

Most commands that only read can read the file instead of the API server, with --from FILE,
and print what they would have printed when the dump was written. Nothing is changed.

Secrets are hidden before the file is written: values of Secrets, passwords, tokens,
private keys, credentials in URLs, IDs of connection strings, keys and values in trace
files. manifest.json in the file lists its contents, what was hidden, and what could not
be read and why. The file is a tar archive, compressed with zstd. Its flag is --file,
because -o selects the output format in all other commands.`,
		Example: `  # Write a dump of a cluster to a file in this directory
  kubectl fdb dump sample-cluster

  # Name the file, and read one status document only
  kubectl fdb dump sample-cluster -f sample.tar.zst --duration 0

  # Show the health of the cluster at that time
  kubectl fdb status sample-cluster --from sample.tar.zst

  # Dump all clusters that you may read, with at most 1 GiB of logs
  kubectl fdb dump -A --max-log-bytes 1Gi`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.write(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags := cmd.Flags()
	flags.BoolVarP(&o.all, "all-namespaces", "A", false, "If true, dump the clusters of all namespaces")
	flags.StringVarP(&o.file, "file", "f", "", "file to write; empty means NAME-TIME.tar.zst in the current directory")
	flags.BoolVar(&o.force, "force", false, "If true, replace an existing file")
	flags.DurationVar(&o.duration, "duration", defaultDuration, "time during which a status document is read every 10 seconds; 0 reads one")
	flags.StringVar(&o.logBytes, "max-log-bytes", defaultLogBytes, "maximum size of all logs and trace files together; the end of each is kept")
	declare.NotInSteps(cmd, "file", "force")
	cmd.AddCommand(newDiff(env))
	return cmd
}

// check validates the flags, and returns the maximum size of logs.
func (o options) check(args []string) (logBytes int64, err error) {
	if o.all && (len(args) > 0 || o.Name != "") {
		return 0, exit.Usagef("-A conflicts with a cluster name")
	}
	quantity, err := resource.ParseQuantity(o.logBytes)
	if err != nil || quantity.Sign() < 0 {
		return 0, exit.Usagef("invalid --max-log-bytes %q: must be a number of bytes such as 1048576, 64Mi or 1Gi", o.logBytes)
	}
	return quantity.Value(), nil
}

// target returns the file to write. One that exists is only replaced with --force.
func (o options) target(name string, at time.Time) (string, error) {
	path := o.file
	if path == "" {
		path = name + "-" + at.UTC().Format("20060102T150405Z") + ".tar.zst"
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return "", exit.Usagef("--file %s: must be a file, not a directory", path)
	case err == nil && !o.force:
		return "", exit.Usage(fmt.Errorf("--file %s: file already exists", path), "use --force to replace it")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", exit.Usage(fmt.Errorf("--file: %w", err))
	}
	directory := filepath.Dir(path)
	if info, err := os.Stat(directory); err != nil || !info.IsDir() {
		return "", exit.Usagef("--file %s: directory %s not found", path, directory)
	}
	return path, nil
}

func (o options) write(ctx context.Context, env *session.Env, args []string) error {
	logBytes, err := o.check(args)
	if err != nil {
		return err
	}
	if o.file != "" {
		if _, err := o.target("", env.Clock.Now()); err != nil {
			return err // before anything is read
		}
	}
	clusters, err := o.clusters(ctx, env, args)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	name := "clusters"
	if len(clusters) == 1 {
		name = clusters[0].Name
	}
	path, err := o.target(name, env.Clock.Now())
	if err != nil {
		return err
	}
	c, err := newCollector(env, o, clusters)
	if err != nil {
		return err
	}
	if err := c.collect(ctx, logBytes); err != nil {
		return exit.CauseOf(ctx, err)
	}
	return o.finish(env, c.dump, path)
}

// clusters returns the clusters to dump, sorted.
func (o options) clusters(ctx context.Context, env *session.Env, args []string) ([]session.Cluster, error) {
	if !o.all {
		one, err := env.Cluster(ctx, args, o.Name, session.Reads)
		if err != nil {
			return nil, err
		}
		env.Run.About.Namespace, env.Run.About.Name = one.Namespace, one.Name
		return []session.Cluster{*one}, nil
	}
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	all, err := session.ClustersIn(ctx, c, "")
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, exit.Usagef("no FoundationDBCluster %s", session.InNamespace(""))
	}
	stable.Sort(all, func(a, b session.Cluster) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	return all, nil
}

// finish hides secrets and writes the file.
func (o options) finish(env *session.Env, d *dumps.Dump, path string) error {
	env.Logf("hiding secrets, and writing %s…", path)
	size, err := o.save(d, path)
	if err != nil {
		return err
	}
	for i, u := range d.Manifest.Unread {
		if i == maxWarnings {
			env.Logf("warning: not in the dump: %s more, see manifest.json in it", phrase.Count(len(d.Manifest.Unread)-i, "fact"))
			break
		}
		env.Logf("warning: not in the dump: %s: %s", u.What, u.Reason)
	}
	hidden := 0
	for _, n := range d.Manifest.Redacted {
		hidden += n
	}
	fmt.Fprintf(env.Out, "%s: %s of %s, %s; %s hidden, %s could not be read\n", path, phrase.Bytes(size), phrase.Count(len(d.Manifest.Clusters), "cluster"),
		phrase.Count(len(d.Manifest.Files), "file"), phrase.Count(hidden, "secret"), phrase.Count(len(d.Manifest.Unread), "fact"))
	return nil
}

// save hides secrets and writes the file under another name first: no part of a dump is ever at its
// path, and no secret is ever on the disk.
func (o options) save(d *dumps.Dump, path string) (size int64, err error) {
	dumps.Trim(d)
	if err := dumps.Redact(d, rand.Text()); err != nil {
		return 0, err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // readable by the user only
	if err != nil {
		return 0, exit.Usage(fmt.Errorf("--file: %w", err))
	}
	defer func() { _ = os.Remove(file.Name()) }() // which fails once it was moved
	err = dumps.Write(file, d)
	info, failed := file.Stat()
	if err = cmp.Or(err, failed, file.Sync(), file.Close()); err != nil {
		return 0, notWritten(path, err)
	}
	if err := o.move(file.Name(), path); err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// notWritten names the file of the user: the other name does not exist any more.
func notWritten(path string, err error) error {
	if of, is := errors.AsType[*fs.PathError](err); is {
		err = of.Err
	}
	return fmt.Errorf("write %s: %w", path, err)
}

// move gives the complete file its name. Without --force it never replaces another file, even one
// that was created meanwhile.
func (o options) move(from, to string) error {
	if o.force {
		return os.Rename(from, to)
	}
	err := os.Link(from, to)
	if errors.Is(err, fs.ErrExist) {
		return exit.Usage(fmt.Errorf("--file %s: file already exists", to), "use --force to replace it")
	}
	if err != nil { // a file system without links
		return os.Rename(from, to)
	}
	return nil
}

// Writer returns a function that writes a dump of a cluster while another command runs, with one
// status document. It replaces an earlier file of the path.
func Writer(run Runner) func(ctx context.Context, env *session.Env, key types.NamespacedName, path string, logBytes int64) error {
	return func(ctx context.Context, env *session.Env, key types.NamespacedName, path string, logBytes int64) error {
		api, err := env.Client()
		if err != nil {
			return err
		}
		cluster, err := env.Read(ctx, api, key)
		if err != nil {
			return err
		}
		o := options{run: run, file: path, force: true}
		c, err := newCollector(env, o, []session.Cluster{*cluster})
		if err != nil {
			return err
		}
		if err := c.collect(ctx, logBytes); err != nil {
			return err
		}
		_, err = o.save(c.dump, path)
		return err
	}
}
