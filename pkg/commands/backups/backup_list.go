package backups

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// backupListOptions are the options of `kubectl fdb backup list`.
type backupListOptions struct {
	format.Flags
	cmdutil.PollOptions
	all   bool
	store bool
}

func newBackupList(env *session.Env) *cobra.Command {
	var o backupListOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: listingBackups,
	}, &cobra.Command{
		Use:   "list",
		Short: "List backups and their restorable points",
		Long: `List the backups of the namespace: whether they run, the newest restorable version and its
age, and the number of ready agents. ? means unknown.

--store also lists the content of their buckets, with the FoundationDBBackup resources that
it belongs to; - means that it belongs to none of those listed.`,
		Example: `  # List the backups of this namespace
  kubectl fdb backup list

  # List the backups of all namespaces, and the content of their stores
  kubectl fdb backup list -A --store

  # List those that write to a cluster, with a label of each
  kubectl fdb backup list --field-selector cluster=sample-cluster -L team`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), env) },
	})
	flags.Output(cmd, &o.Flags)
	flags.Sorting(cmd, &o.Flags, lists.BackupListView{})
	o.AddWatch(cmd)
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "If true, list the backups of all namespaces")
	cmd.Flags().BoolVar(&o.store, "store", false, "If true, also list the content of the buckets")
	return cmd
}

func (o backupListOptions) run(ctx context.Context, env *session.Env) error {
	if err := errors.Join(o.Flags.Check(), o.PollOptions.Check()); err != nil {
		return err
	}
	namespace, err := env.Connection().NamespaceUnless(o.all)
	if err != nil {
		return err
	}
	return o.Run(ctx, env, o.Flags, func(ctx context.Context) (cmdutil.Output, error) {
		return o.view(ctx, env, namespace)
	})
}

func (o backupListOptions) view(ctx context.Context, env *session.Env, namespace string) (cmdutil.Output, error) {
	keys, err := session.BackupKind.Keys(ctx, env, namespace)
	if err != nil {
		return cmdutil.Output{}, err
	}
	v := lists.BackupListView{
		Document: inspect.NewDocument("BackupList", env.Metadata(types.NamespacedName{Namespace: namespace}), env.Clock.Now(), inspect.SourceLive),
		Items:    make([]inspect.BackupStatusView, len(keys)), Stores: []lists.BackupStoreView{},
	}
	warnings := make([][]string, len(keys))
	var group errgroup.Group
	group.SetLimit(session.ParallelReads)
	for i, key := range keys {
		group.Go(func() error {
			v.Items[i], warnings[i] = backupOrWhyNot(ctx, env, key)
			return nil
		})
	}
	_ = group.Wait() // errors are in the views
	if o.store && ctx.Err() == nil {
		v.Stores = storesOf(ctx, env, keys, v.Items)
	}
	if ctx.Err() != nil {
		return cmdutil.Output{}, exit.CauseOf(ctx, ctx.Err())
	}
	v.Warnings = append(v.Warnings, emptyStoreWarnings(v)...)
	for _, w := range slices.Concat(warnings...) {
		if !slices.Contains(v.Warnings, w) { // all backups have the same clock
			v.Warnings = append(v.Warnings, w)
		}
	}
	names := session.NamesOf("foundationdbbackup", v.Items, func(b inspect.BackupStatusView) string { return b.Name })
	r := cmdutil.Output{Warnings: v.Warnings, Printable: o.Listed(env, v, names)}
	backups := r.Table
	r.Table = func(w io.Writer) error {
		if err := backups(w); err != nil {
			return err
		}
		return ui.WriteStores(w, v.Stores, o.List(env, w))
	}
	if len(keys) == 0 {
		r.None = "no FoundationDBBackup found " + session.InNamespace(namespace)
	}
	return r, nil
}

// backupOrWhyNot reads one backup of several. If it cannot be read, the others are still shown.
func backupOrWhyNot(ctx context.Context, env *session.Env, key types.NamespacedName) (inspect.BackupStatusView, []string) {
	s, conn := plan.Snapshot{}, session.Session(nil)
	conn, err := session.BackupKind.Connect(env, key)
	if err == nil {
		err = conn.Observe(ctx, &s, plan.Backup|plan.Agents|plan.BackupStatus)
	}
	if err == nil {
		return inspect.NewBackupStatusView(env.Metadata(session.BackupKind.Named(key)), session.BackupFacts(s, inspect.DefaultMaxLag)), s.Clock.Warnings()
	}
	why, unread := exit.Explain(err), s.Backup == nil
	if unread {
		s.Backup = &v1beta2.FoundationDBBackup{}
		s.Backup.Name, s.Backup.Namespace = key.Name, key.Namespace
	}
	s.Now, s.BackupStatus = env.Clock.Now(), plan.BackupFacts{Unreachable: why}
	v := inspect.NewBackupStatusView(env.Metadata(session.BackupKind.Named(key)), session.BackupFacts(s, inspect.DefaultMaxLag))
	if unread {
		v.Labels = nil
	}
	return v, []string{key.Namespace + "/" + key.Name + " could not be read: " + why}
}

// emptyStoreWarnings returns warnings about backups that the database reports as restorable although their
// stores hold no data of them: it never checks the store again.
func emptyStoreWarnings(v lists.BackupListView) []string {
	var all []string
	for _, b := range v.Items {
		at := slices.IndexFunc(v.Stores, func(s lists.BackupStoreView) bool { return s.Found != nil && fdb.SharesBackupPlace(s.URL, b.URL) })
		if at < 0 || b.LatestRestorable == nil {
			continue
		}
		if !slices.ContainsFunc(v.Stores[at].Found, func(f lists.FoundBackupView) bool { return fdb.SameBackupPlace(f.URL, b.URL) }) {
			all = append(all, b.Metadata.Namespace+"/"+b.Name+": reported restorable by the database, but its store holds no data of it")
		}
	}
	return all
}

// storeLister is a session that can list the content of a store.
type storeLister interface {
	session.Session
	Found(ctx context.Context, base string) ([]string, error)
}

// storesOf returns the buckets of the backups, each listed once: through the agents of the
// first backup that answers.
func storesOf(ctx context.Context, env *session.Env, keys []types.NamespacedName, backups []inspect.BackupStatusView) []lists.BackupStoreView {
	all := []lists.BackupStoreView{}
	for i, b := range backups {
		base, err := fdb.BackupBase(b.URL)
		if b.URL == "" || err != nil {
			continue
		}
		at := slices.IndexFunc(all, func(s lists.BackupStoreView) bool { return fdb.SameBackupPlace(s.URL, base) })
		if at < 0 {
			all = append(all, lists.BackupStoreView{URL: fdb.WithoutSecrets(base)})
			at = len(all) - 1
		}
		if all[at].Found != nil {
			continue
		}
		found, err := foundBy(ctx, env, keys[i], base)
		if err != nil {
			all[at].UnknownReason = exit.Explain(err)
			continue
		}
		all[at].UnknownReason, all[at].Found = "", withOwners(found, backups)
	}
	return all
}

func foundBy(ctx context.Context, env *session.Env, key types.NamespacedName, base string) ([]string, error) {
	conn, err := session.BackupKind.Connect(env, key)
	if err != nil {
		return nil, err
	}
	lister, ok := conn.(storeLister)
	if !ok {
		return nil, errors.New("listing stores is not supported here")
	}
	if err := lister.Observe(ctx, &plan.Snapshot{}, plan.Backup|plan.Agents); err != nil {
		return nil, err
	}
	return lister.Found(ctx, base)
}

// withOwners sets the owner of each destination in a store.
func withOwners(found []string, backups []inspect.BackupStatusView) []lists.FoundBackupView {
	all := []lists.FoundBackupView{}
	for _, url := range found {
		f := lists.FoundBackupView{URL: url, Backups: []string{}}
		for _, b := range backups {
			wrote := b.Recorded != nil && b.Recorded.URL != "" && fdb.SameBackupPlace(b.Recorded.URL, url)
			if wrote || fdb.SameBackupPlace(b.URL, url) {
				f.Backups = append(f.Backups, b.Metadata.Namespace+"/"+b.Name)
			}
		}
		all = append(all, f)
	}
	stable.Sort(all, func(a, b lists.FoundBackupView) int { return strings.Compare(a.URL, b.URL) })
	return all
}

// listingBackups returns what is required to read all backups, which takes no name.
func listingBackups() []declare.Requirement {
	needs := cmdutil.ViewingBackups("foundationdbbackups")
	needs[len(needs)-1].Without = ""
	return needs
}
