package diagnose

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// whyOptions are the options of `kubectl fdb why`.
type whyOptions struct {
	session.ClusterFlag
	format.Flags
	sites            sites.Flags
	performance, all bool
}

// NewWhy returns the command `why`.
func NewWhy(env *session.Env) *cobra.Command {
	var o whyOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Group: declare.Inspection, Pages: []string{"why.md"}, Dumps: true,
		Needs: whyNeeds,
		With: map[string]func() []declare.Requirement{
			"--contexts":    cmdutil.OverSites(whyNeeds)["--contexts"],
			"--performance": cmdutil.Viewing,
			"fdbbackup": func() []declare.Requirement {
				return slices.Concat(cmdutil.ViewingBackups("foundationdbbackups"), cmdutil.Operators())
			},
			"fdbrestore": func() []declare.Requirement {
				return slices.Concat(cmdutil.ViewingBackups("foundationdbrestores"), cmdutil.Operators(), aroundRestores())
			},
		},
	}, &cobra.Command{
		Use:   "why [CLUSTER | fdbbackup/NAME | fdbrestore/NAME] [ID...]",
		Short: "Explain what blocks a cluster and how to fix it",
		Long: `Explain what blocks a cluster and how to fix it. The scope is the cluster with its backups
and the restores into it, some of its process groups, or one backup or restore. The output
is a chain from the desired state to its blocker; act on the first line. Nothing is
changed.

ID is a process group ID, a pod name, an address, or - for stdin.

With -A it explains the clusters of all namespaces, and ends with the worst code of them.

With --contexts or --sites it explains the resources of one database in several Kubernetes
clusters, those first that cannot be read.

With --performance it explains why the database is slow instead: causes with their figures,
thresholds and the source of the thresholds.

Exit code 0: nothing is blocked or slows the database. 1: something is or does. 8: unknown.`,
		Example: `  # Explain why the cluster is not reconciled
  kubectl fdb why sample-cluster

  # Explain why a process group is not removed yet
  kubectl fdb why sample-cluster storage-12345

  # Explain why a restore does not start
  kubectl fdb why fdbrestore/nightly-again

  # Explain why the database is slow
  kubectl fdb why sample-cluster --performance

  # Explain all clusters of all namespaces
  kubectl fdb why -A

  # Explain a database with resources in three Kubernetes clusters
  kubectl fdb why --contexts dc1,dc2,dc3

  # Print one row per reason
  kubectl fdb why sample-cluster -o wide`,
		ValidArgsFunction: complete.From(env).ClusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Output(cmd, &o.Flags)
	flags.Sites(cmd, &o.sites, env)
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "If true, explain the clusters of all namespaces")
	cmd.Flags().BoolVar(&o.performance, "performance", false, "If true, explain what makes the database slow")
	return cmd
}

func whyNeeds() []declare.Requirement {
	return slices.Concat(cmdutil.Viewing(), cmdutil.Operators(), cmdutil.BackupsToo("backups are not read"))
}

func (o whyOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if err := o.Check(); err != nil {
		return err
	}
	kind, name := session.ResourceKindOf(args)
	named, err := o.sites.Sites(env, sites.Scope{Other: o.all || o.performance || kind != nil || len(args) > 1, Words: "-A, --performance, and names of process groups, backups and restores"})
	switch {
	case err != nil:
		return err
	case o.all && (len(args) > 0 || o.Name != "" || o.performance):
		return exit.Usagef("-A conflicts with a cluster name and with --performance")
	case o.all:
		return o.runAll(ctx, env)
	case len(named) > 0:
		return o.runOverSites(ctx, env, named, args)
	}
	if o.performance {
		return o.runPerformance(ctx, env, args)
	}
	if kind != nil {
		return o.runOn(ctx, env, kind, name)
	}
	cluster, ids := session.GroupArgs(ctx, env, args, o.Name)
	ids, err = cmdutil.ExpandArgs(ids, env.In)
	if err != nil {
		return err
	}
	resource, err := env.Cluster(ctx, cluster, o.Name, session.Reads)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: resource.Namespace, Name: resource.Name}
	env.Run.About = key
	report, err := explain(ctx, env, key, ids)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	return o.printReport(env, report)
}

func (o whyOptions) printReport(env *session.Env, report why.Report) error {
	for _, warning := range report.Warnings {
		env.Logf("warning: %s", warning)
	}
	if err := o.Print(env.Out, o.printable(env, report)); err != nil {
		return err
	}
	return whyEnd(report.State)
}

// explain reads a cluster, decides what a pass would do, and joins both. Backups do not matter to
// process groups.
func explain(ctx context.Context, e *session.Env, key types.NamespacedName, words []string) (why.Report, error) {
	backups := func() (inspect.ClusterBackups, error) { return inspect.ClusterBackups{}, nil }
	if len(words) == 0 {
		backups = session.BackupsReader{Env: e, Key: key}.Beside(ctx)
	}
	l, err := session.ClusterReader{Env: e, Key: key}.Read(ctx)
	if err != nil {
		return why.Report{}, err
	}
	groups, err := session.GroupsNamed(l.Snapshot, words)
	if err != nil {
		return why.Report{}, err
	}
	preview, err := apply.Preview(ctx, l, e, key, live.GateOptions{})
	if err != nil {
		return why.Report{}, err
	}
	e.Lookup().WithNodes(ctx, &l.Facts)
	found, err := backups()
	if err != nil {
		return why.Report{}, err
	}
	l.Backups = &found
	return why.NewReport(e.Metadata(key), why.Input{Facts: l.Facts, Plan: preview, Only: idsOf(groups), Commands: e.Commands()}), nil
}

func idsOf(groups []*v1beta2.ProcessGroupStatus) []v1beta2.ProcessGroupID {
	ids := make([]v1beta2.ProcessGroupID, len(groups))
	for i, g := range groups {
		ids[i] = g.ProcessGroupID
	}
	return ids
}

func (o whyOptions) printable(env *session.Env, v why.Report) format.Printable {
	var names []string
	for _, c := range v.Items {
		for _, subject := range c.Subjects {
			name := session.GroupPrefix + subject
			if c.IsOfResource() {
				name = subject
			}
			if (c.IsOfGroups() || c.IsOfResource()) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return format.Printable{Document: v, Names: names, Table: func(w io.Writer) error {
		if o.Format == "wide" {
			return ui.WriteWhyTable(w, v, o.List(env, w))
		}
		return ui.WriteWhy(w, v, ui.WhyOptions{ListOptions: o.List(env, w)})
	}}
}

func whyEnd(state why.State) error {
	switch state {
	case why.Ready:
		return nil
	case why.Unknown:
		return exit.AnswerError{Code: exit.ExitUnreachable}
	case why.Waiting, why.Blocked:
		return exit.AnswerError{Code: exit.ExitNo}
	}
	return exit.AnswerError{Code: exit.ExitInternal}
}

// aroundRestores returns what is required to read what restores wait for and leave behind: the
// database of their cluster, its backups, and the other restores into it.
func aroundRestores() []declare.Requirement {
	return slices.Concat(
		cmdutil.Optional("whether the database is locked is unknown", session.ViewPermissions()...),
		cmdutil.BackupsToo("whether agents are paused is unknown"),
	)
}

// runAll explains the clusters of all namespaces, a few at a time. If one cannot be read, its report
// has the reason and the others are still explained.
func (o whyOptions) runAll(ctx context.Context, env *session.Env) error {
	reports, err := cmdutil.OfEach(ctx, env, "", func(key types.NamespacedName, _ *session.Cluster) why.Report {
		r, err := explain(ctx, env.Within(key.Namespace, io.Discard), key, nil)
		if err != nil {
			return why.NewUnread(env.Metadata(key), exit.Explain(err))
		}
		return r
	})
	if err != nil {
		return err
	}
	if len(reports) == 0 {
		env.Logf("no FoundationDBCluster found %s", session.InNamespace(""))
	}
	return o.printAll(env, reports)
}

// runOverSites explains the sites of one database. The reports of those that cannot be read come first, with the reason.
func (o whyOptions) runOverSites(ctx context.Context, env *session.Env, named []sites.Site, args []string) error {
	opened, err := sites.Open(ctx, env, named, args, o.Name)
	if err != nil {
		return err
	}
	reports, unread, err := cmdutil.OfEachSite(ctx, opened, func(ctx context.Context, reader session.ClusterReader, site *sites.Opened) (why.Report, error) {
		return explain(ctx, site.Env.Within(reader.Key.Namespace, io.Discard), reader.Key, nil)
	})
	if err != nil {
		return err
	}
	var all []why.Report
	for _, u := range unread {
		all = append(all, why.NewUnread(u.Metadata(env.Metadata(types.NamespacedName{})), u.Reason))
	}
	for _, words := range sites.Contradictions(opened) {
		env.Logf("warning: %s", words)
	}
	return o.printAll(env, append(all, reports...))
}

func (o whyOptions) printAll(env *session.Env, reports []why.Report) error {
	list := why.NewReportList(env.Metadata(types.NamespacedName{}), env.Clock.Now(), reports)
	for _, r := range list.Items {
		for _, warning := range r.Warnings {
			env.Logf("warning: %s: %s", r.Metadata.Subject(), warning)
		}
	}
	if err := o.Print(env.Out, o.printableList(env, list)); err != nil {
		return err
	}
	return whyEnd(list.State)
}

func (o whyOptions) printableList(env *session.Env, l why.ReportList) format.Printable {
	p := format.Printable{Document: l, Table: func(w io.Writer) error {
		if o.Format == "wide" {
			return ui.WriteWhyListTable(w, l, o.List(env, w))
		}
		return ui.WriteWhyList(w, l, ui.WhyOptions{ListOptions: o.List(env, w)})
	}}
	for _, r := range l.Items {
		if r.State != why.Ready {
			p.Names = append(p.Names, "foundationdbcluster/"+r.Metadata.Cluster)
		}
	}
	return p
}

// runOn explains the state of one backup or restore.
func (o whyOptions) runOn(ctx context.Context, env *session.Env, kind *session.ResourceKind, name string) error {
	selected, err := apply.StageFlags{}.StagesOn(kind, name, o.Name)
	if err != nil {
		return err
	}
	namespace, err := env.Connection().Namespace()
	if err != nil {
		return err
	}
	r := apply.Run{Env: env, StageList: selected, Seed: env.Random(), ResourceKind: kind}
	key := types.NamespacedName{Namespace: namespace, Name: name}
	if err := kind.MustExist(ctx, env, key); err != nil {
		return exit.CauseOf(ctx, err)
	}
	facts, err := aroundResource(ctx, env, kind, key)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	if err := r.Open(ctx, key); err != nil {
		return err
	}
	env.Run.About = kind.Named(key)
	preview, _, err := r.Preview(ctx)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	facts.Now = env.Clock.Now()
	facts.Lease = env.Lookup().LeaseNamed(ctx, types.NamespacedName{Namespace: namespace, Name: r.Lease}).Of(r.LeaseUID())
	return o.printReport(env, why.NewResourceWhyReport(env.Metadata(kind.Named(key)), why.Input{Facts: facts, Plan: preview, Commands: env.Commands()}))
}

// aroundResource reads a backup alone. What a restore waits for and leaves behind is in the
// backups and the database of its cluster, so it reads them as `why` of the cluster does.
func aroundResource(ctx context.Context, e *session.Env, kind *session.ResourceKind, key types.NamespacedName) (inspect.Facts, error) {
	if kind == session.BackupKind {
		seen, err := readResource(ctx, e, kind, key, &inspect.RestoreHistory{})
		return inspect.Facts{Backups: &seen}, err
	}
	s, err := e.Lookup().ObserveResource(ctx, kind, key, plan.Restore)
	if err != nil {
		return inspect.Facts{}, err
	}
	cluster := types.NamespacedName{Namespace: key.Namespace, Name: s.Restore.Spec.DestinationClusterName}
	backups := session.BackupsReader{Env: e, Key: cluster}.Beside(ctx)
	facts := inspect.Facts{}
	facts.Database = databaseOf(ctx, e, cluster)
	found, err := backups()
	if err != nil {
		return facts, err
	}
	facts.Backups = &found
	if slices.ContainsFunc(found.Restores, func(r inspect.SeenRestore) bool { return r.Resource.Name == key.Name && r.View != nil }) {
		return facts, nil
	}
	alone, err := readResource(ctx, e, kind, key, &inspect.RestoreHistory{})
	found.Restores = alone.Restores
	return facts, err
}

// databaseOf returns what the database of a cluster reports. A failure to query it is a fact.
func databaseOf(ctx context.Context, e *session.Env, cluster types.NamespacedName) plan.DatabaseFacts {
	l, err := session.ClusterReader{Env: e, Key: cluster, Asks: plan.Database}.Read(ctx)
	if err != nil {
		return plan.DatabaseFacts{Unreachable: exit.Explain(err), Forbidden: apierrors.IsForbidden(err)}
	}
	return l.Database
}

// readResource reads one backup or restore alone, and adds the progress of a restore to the history.
func readResource(ctx context.Context, e *session.Env, kind *session.ResourceKind, key types.NamespacedName, h *inspect.RestoreHistory) (inspect.ClusterBackups, error) {
	found, metadata := inspect.ClusterBackups{}, e.Metadata(kind.Named(key))
	if kind == session.BackupKind {
		s, err := e.Lookup().ObserveResource(ctx, kind, key, plan.Backup|plan.Agents|plan.BackupStatus)
		if err != nil {
			return found, err
		}
		v := inspect.NewBackupStatusView(metadata, session.BackupFacts(s, inspect.DefaultMaxLag))
		found.Backups = []inspect.SeenBackup{{Resource: s.Backup, View: &v}}
		return found, nil
	}
	s, err := e.Lookup().ObserveResource(ctx, kind, key, plan.ClusterResource|plan.Restore|plan.RestoreStatus)
	if err != nil {
		return found, err
	}
	v := inspect.NewRestoreStatusView(metadata, session.RestoreFacts(s), h)
	found.Restores = []inspect.SeenRestore{{Resource: s.Restore, View: &v}}
	return found, nil
}
