package diagnose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/proposal"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
	uicheck "github.com/kubectl-fdb/kubectl-fdb/pkg/ui/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// checkOptions are the options of `kubectl fdb check`.
type checkOptions struct {
	session.ClusterFlag
	format.Flags
	rules   []string
	skip    []string
	failOn  string
	sites   sites.Flags
	list    bool
	all     bool
	wait    bool
	timeout time.Duration
	files   proposal.Files
	local   bool
	served  *servedReads
}

// reportFormats are the report formats of CI systems.
var reportFormats = []string{"junit", "sarif", "markdown", formatPatch}

// formatPatch prints what lines of manifests must be.
const formatPatch = "patch"

// NewCheck returns the command `check`.
func NewCheck(env *session.Env) *cobra.Command {
	o := checkOptions{Flags: format.Flags{Own: reportFormats}, served: newServedReads()}
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Group: declare.Inspection, Pages: []string{"check.md"}, Dumps: true,
		Needs: checkNeeds, With: cmdutil.OverSites(checkNeeds),
	}, &cobra.Command{
		Use:     "check [CLUSTER]",
		Aliases: []string{"analyze"},
		Short:   "Check a cluster for problems by rule",
		Long: `Check a cluster for problems, by rules with codes and severities. Each row is a finding
about one or more subjects, with a command that fixes it or shows more; no such command is
run. A rule that could not be evaluated prints the cause, and never counts as passed.

With --contexts or --sites check the resources of one database in several Kubernetes
clusters. One that cannot be read is not checked, and never counts as passed.

With -f or -k check manifests of clusters, backups and restores before they are applied, by
the rules that they alone answer. The API server reports what it would drop or reject, by a
dry run that stores nothing. With --local there is no request at all: the types and rules of
this program decide, and what only a Kubernetes cluster has is not checked.

Exit code 0: no finding of --fail-on severity or higher. 1: such a finding. 8: no such
finding, but a rule that could produce one was not evaluated; use --skip to ignore it.`,
		Example: `  # Check a cluster
  kubectl fdb check sample-cluster

  # Check all clusters that you may read
  kubectl fdb check -A

  # Check a database with resources in three Kubernetes clusters
  kubectl fdb check --contexts dc1,dc2,dc3

  # Explain all rules
  kubectl fdb check --list

  # For a pipeline: fail on warnings, and skip one rule with a reason
  kubectl fdb check sample-cluster --fail-on warning --skip POD-005="nodes never restart" -o junit

  # Check only volumes and one rule about coordinators
  kubectl fdb check sample-cluster --rules VOL,COORD-001

  # Check manifests before they are applied, with findings at their lines for a code review
  kubectl fdb check -f deploy/ -o sarif

  # Correct what is certain: names of fields, quotes, apiVersion
  kubectl fdb check -f deploy/ -o patch | patch -p0

  # The same on a machine that reaches no Kubernetes cluster
  kubectl fdb check -k deploy/prod --local`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Output(cmd, &o.Flags)
	flags.Sites(cmd, &o.sites, env)
	flags.Manifests(cmd, &o.files, "to check before they are applied")
	flags := cmd.Flags()
	flags.StringSliceVar(&o.rules, "rules", nil, "comma-separated rules to evaluate: codes, or groups such as VOL")
	flags.StringArrayVar(&o.skip, "skip", nil, "rule or group to skip: RULE or RULE=REASON; can be repeated")
	flags.StringVar(&o.failOn, "fail-on", string(check.Error), "minimum severity of findings for exit code 1: info, warning, error or critical")
	flags.BoolVarP(&o.all, "all-namespaces", "A", false, "If true, check the clusters of all namespaces")
	flags.BoolVar(&o.list, "list", false, "If true, explain the rules without checking a cluster")
	flags.BoolVar(&o.wait, "wait", false, "If true, wait until no finding has --fail-on severity or higher, and all rules for such findings were evaluated")
	flags.DurationVar(&o.timeout, "timeout", 0, "maximum time to wait (exit code 3); 0 means no limit")
	flags.BoolVar(&o.local, "local", false, "If true, check the manifests of -f or -k without any request to an API server")
	complete.Flag(cmd, "fail-on", func() []string { return phrase.Strings(findings.Severities()) })
	complete.Flag(cmd, "rules", ruleNames)
	complete.Flag(cmd, "skip", ruleNames)
	return cmd
}

func checkNeeds() []declare.Requirement {
	return slices.Concat(cmdutil.Viewing(), cmdutil.Optional("certificates are not checked", session.Permission{Verb: "get", Resource: "secrets"}), cmdutil.BackupsToo("backups are not checked"), cmdutil.Optional("quotas are not compared with manifests", session.NamespacePermissions()...), otherControllers())
}

func ruleNames() []string {
	var names []string
	for _, r := range check.Rules() {
		if !slices.Contains(names, r.Family()) {
			names = append(names, r.Family())
		}
		names = append(names, r.Code)
	}
	return names
}

func (o checkOptions) run(ctx context.Context, env *session.Env, args []string) error {
	options, err := o.parse()
	if err != nil {
		return err
	}
	switch {
	case o.list:
		return o.explain(env, args)
	case o.all && (len(args) > 0 || o.Name != ""):
		return exit.Usagef("-A conflicts with a cluster name")
	}
	named, err := o.sites.Sites(env, sites.Scope{Other: o.all || o.files.Given(), Words: "-A, -f and -k"})
	if err != nil {
		return err
	}
	ctx, stop := session.WithTimeout(ctx, env.Clock, o.timeout)
	defer stop()
	if o.files.Given() {
		return o.checkManifests(ctx, env, args, options)
	}
	if o.all {
		return o.until(ctx, env, func(ctx context.Context) (checked, error) { return o.evaluateAll(ctx, env, options) })
	}
	if len(named) > 0 {
		served := map[string]*servedReads{}
		for _, site := range named {
			served[site.Name] = newServedReads()
		}
		return o.until(ctx, env, func(ctx context.Context) (checked, error) {
			return o.evaluateSites(ctx, env, named, args, served, options)
		})
	}
	cluster, err := env.Cluster(ctx, args, o.Name, session.Reads)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	env.Run.About = key
	options.Command = env.Kubectl
	return o.until(ctx, env, func(ctx context.Context) (checked, error) {
		r, err := o.evaluate(ctx, env, key, options)
		return checked{verdict: r.Verdict, words: r.Text(), write: func() error { return o.write(env, r) }}, err
	})
}

// checked is the result of one check, of one cluster or of all.
type checked struct {
	verdict check.Verdict
	words   string
	write   func() error
}

// parse validates the flags before anything is read.
func (o checkOptions) parse() (check.Options, error) {
	options := check.Options{Only: o.rules, Skip: map[string]string{}, FailOn: check.Severity(o.failOn)}
	if err := o.Check(); err != nil {
		return options, err
	}
	switch {
	case !slices.Contains(findings.Severities(), options.FailOn):
		return options, exit.Usagef("--fail-on must be one of %s, not %q", phrase.List(findings.Severities()), o.failOn)
	case o.list && (o.wait || o.all || o.files.Given() || slices.Contains(reportFormats, o.Format)):
		return options, exit.Usagef("--list only explains rules: it conflicts with -f, -k, --all-namespaces, --wait and report formats")
	case o.files.Given() && (o.wait || o.all):
		return options, exit.Usagef("-f and -k conflict with --all-namespaces and --wait: a manifest stays as it is")
	case o.Format == formatPatch && !o.files.Given():
		return options, exit.Usagef("-o patch requires -f: only files of manifests are corrected")
	case o.local && !o.files.Given():
		return options, exit.Usagef("--local requires -f or -k")
	}
	if err := flags.CheckManifests(o.files); err != nil {
		return options, err
	}
	for _, s := range o.skip {
		name, reason, given := strings.Cut(s, "=")
		if !given || reason == "" {
			reason = "--skip"
		}
		options.Skip[name] = reason
	}
	for _, names := range [][]string{o.rules, keys(options.Skip)} {
		if _, unknown := check.Named(names); unknown != "" {
			return options, exit.Usage(fmt.Errorf("unknown rule or group %s%s", session.Quoted(unknown), session.OrMeant(unknown, ruleNames())), "kubectl fdb check --list")
		}
	}
	return options, nil
}

func keys(m map[string]string) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// explain prints the rules.
func (o checkOptions) explain(env *session.Env, args []string) error {
	if len(args) > 0 || o.Name != "" {
		return exit.Usagef("--list conflicts with a cluster name")
	}
	rules, _ := check.Named(o.rules)
	list := check.NewRuleList(env.Metadata(types.NamespacedName{}), rules)
	p := format.Printable{Document: list, Table: func(w io.Writer) error { return uicheck.WriteRules(w, rules, o.List(env, w)) }}
	for _, r := range rules {
		p.Names = append(p.Names, "rule/"+r.Code)
	}
	return o.Print(env.Out, p)
}

// evaluate checks the cluster once.
func (o checkOptions) evaluate(ctx context.Context, env *session.Env, key types.NamespacedName, options check.Options) (check.Report, error) {
	c, err := env.Client()
	if err != nil {
		return check.Report{}, err
	}
	facts := check.Facts{Templates: session.TemplateRestrictions(env)}
	backups := backupsBeside(ctx, env, key, options)
	seen, err := (session.ClusterReader{Env: env, Key: key}).Read(ctx)
	if err != nil {
		return check.Report{}, err
	}
	facts.Facts = seen.Facts
	lookUpNames(ctx, seen.Session, &facts, options)
	if facts.Backups, err = backups(); err != nil {
		return check.Report{}, err
	}
	if facts.Resource, err = env.Read(ctx, c, key); err != nil {
		return check.Report{}, err
	}
	facts.Status = inspect.NewStatusView(env.Metadata(key), facts.Facts)
	facts.Others = othersOf(ctx, c, key.Namespace, options)
	facts.Secrets = CertificatesOf(ctx, c, facts.Snapshot)
	o.served.read(ctx, env.Clock.Now(), key, seen.Session, &facts, options)
	missing, err := session.MissingPermissions(ctx, c, key.Namespace, session.ReconcilePermissions())
	facts.Missing, facts.MissingRead = missing, err == nil
	if ctx.Err() != nil {
		return check.Report{}, exit.CauseOf(ctx, ctx.Err())
	}
	return check.NewReport(env.Metadata(key), facts, options), nil
}

// backupsBeside reads backups concurrently if a rule needs them. The returned function waits
// for the result; the backup tools have timeouts of their own.
func backupsBeside(ctx context.Context, env *session.Env, key types.NamespacedName, options check.Options) func() (inspect.ClusterBackups, error) {
	if !options.AsksFor("BACKUP", "RESTORE", "RBAC", "UPGRADE-003") {
		return func() (inspect.ClusterBackups, error) { return inspect.ClusterBackups{}, nil }
	}
	return session.BackupsReader{Env: env, Key: key}.Beside(ctx)
}

// until checks once, or with --wait until the answer is yes.
func (o checkOptions) until(ctx context.Context, env *session.Env, look func(context.Context) (checked, error)) error {
	printed := ""
	for {
		r, err := look(ctx)
		if err != nil {
			return o.ended(ctx, err, printed)
		}
		if !o.wait || r.verdict == check.VerdictPassed {
			return r.end(env)
		}
		if r.words != printed {
			env.Logf("waiting: %s", r.words)
			printed = r.words
		}
		if err := env.Waiting().Pause(ctx, cmdutil.PollInterval, printed); err != nil {
			return o.ended(ctx, err, printed)
		}
	}
}

// ended handles a wait that was interrupted.
func (o checkOptions) ended(ctx context.Context, err error, lastReason string) error {
	cause := exit.CauseOf(ctx, err)
	if errors.Is(cause, exit.ErrTimeout) && lastReason != "" {
		return &exit.Error{Code: exit.ExitWaiting, Err: errors.New(exit.ErrTimeout.Error() + " after " + o.timeout.String() + ": " + lastReason)}
	}
	return cause
}

func (r checked) end(env *session.Env) error {
	if err := r.write(); err != nil {
		return err
	}
	env.Logf("%s", r.words)
	switch r.verdict {
	case check.VerdictPassed:
		return nil
	case check.VerdictFailed:
		return exit.AnswerError{Code: exit.ExitNo}
	case check.VerdictCannotTell:
	}
	return exit.AnswerError{Code: exit.ExitUnreachable}
}

func (o checkOptions) write(env *session.Env, r check.Report) error {
	for _, warning := range r.Warnings {
		env.Logf("warning: %s", warning)
	}
	switch o.Format {
	case "junit":
		return uicheck.WriteJUnit(layout.Raw(env.Out), r)
	case "sarif":
		return uicheck.WriteSARIF(layout.Raw(env.Out), r)
	case "markdown":
		return uicheck.WriteMarkdown(layout.Raw(env.Out), r, o.List(env, env.Out))
	}
	p := format.Printable{Document: r, Table: func(w io.Writer) error { return uicheck.WriteTable(w, r, o.List(env, w)) }}
	for _, item := range r.Items {
		if len(item.Findings) > 0 {
			p.Names = append(p.Names, "rule/"+item.Rule)
		}
	}
	return o.Print(env.Out, p)
}

// otherControllers returns what is required to check what other controllers do to pods and volumes.
// That nodes are listed is among beyond.
func otherControllers() []declare.Requirement {
	return append(
		cmdutil.Optional("disruption budgets are not checked", session.BudgetPermissions()[0]),
		cmdutil.Everywhere(cmdutil.Optional("storage classes are not checked", session.Permission{Verb: "list", Group: "storage.k8s.io", Resource: "storageclasses"}))...,
	)
}

// lookUpNames measures how the coordinators' DNS names resolve in a pod, if there are names and
// a rule needs them. A failed measurement is a fact.
func lookUpNames(ctx context.Context, r session.Reader, into *check.Facts, options check.Options) {
	names, unknown := into.CoordinatorNames()
	if len(names) == 0 || unknown != "" || !options.AsksFor("CONN-003") && !options.AsksFor("CONN-004") {
		return
	}
	lookups, err := r.ReadNames(ctx, names)
	if err != nil {
		into.NamesUnread = exit.Explain(err)
		return
	}
	into.Names = lookups
}

// servedAge is how long served certificates are not read again by one command: fdbserver delays connections of a host
// after its second failed handshake within nine seconds (TLS_SERVER_CONNECTION_THROTTLE_TIMEOUT).
const servedAge = time.Minute

// servedReads are the certificates that were read last, of each cluster.
type servedReads struct {
	mu sync.Mutex
	of map[types.NamespacedName]servedRead
}

func newServedReads() *servedReads {
	return &servedReads{of: map[types.NamespacedName]servedRead{}}
}

type servedRead struct {
	at     time.Time
	served []fdb.ServedCertificate
	unread string
}

// read reads the certificates that processes serve, if there are some and a rule needs them. A failed read is a fact.
func (s *servedReads) read(ctx context.Context, now time.Time, key types.NamespacedName, r session.Reader, into *check.Facts, options check.Options) {
	addresses := into.TLSAddresses()
	if len(addresses) == 0 || !options.AsksFor("CERT-004", "CERT-005") {
		return
	}
	s.mu.Lock()
	last, known := s.of[key]
	s.mu.Unlock()
	if !known || now.Sub(last.at) >= servedAge {
		last = servedRead{at: now}
		served, err := r.ReadServed(ctx, addresses)
		if err != nil {
			last.unread = exit.Explain(err)
		}
		last.served = served
		s.mu.Lock()
		s.of[key] = last
		s.mu.Unlock()
	}
	into.Served, into.ServedUnread = last.served, last.unread
}
