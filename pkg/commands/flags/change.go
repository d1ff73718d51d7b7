// Package flags adds the flags that commands share, with their completions. What the flags of changes mean is in package apply.
package flags

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/metrics"
)

// minInterval bounds the load of repeated passes on API server and database.
const minInterval = time.Second

// Change adds the flags of a change by passes; waitsFor completes the sentence "repeat passes until …".
func Change(cmd *cobra.Command, f *apply.ChangeFlags, waitsFor string) {
	Brief(cmd, f)
	beside(cmd, f)
	addWait(cmd, f, waitsFor)
	cmd.Flags().DurationVar(&f.Timeout, "timeout", 0, "maximum time to wait (exit code 3); 0 means no limit")
	cmd.Flags().DurationVar(&f.Interval, "interval", pace.DefaultInterval, "minimum interval between passes, at least 1s")
	AtLeast(cmd, "interval", minInterval)
}

// Removing adds the flags of a change whose passes remove process groups.
func Removing(cmd *cobra.Command, f *apply.ChangeFlags, waitsFor string) {
	f.Removes = true
	Change(cmd, f, waitsFor)
	cmd.Flags().BoolVar(&f.RespectPDB, "respect-pdb", false,
		"If true, delete pods by the eviction API, so that PodDisruptionBudgets and eviction webhooks can refuse: the stage then waits")
}

// Reversible adds the flags of a change that another one reverts. It never prompts; --yes is accepted for scripts that
// always pass it.
func Reversible(cmd *cobra.Command, f *apply.ChangeFlags, waitsFor string) {
	f.Reversible = true
	Change(cmd, f, waitsFor)
}

// Brief adds the flags of a change that completes at once and is not blocked by the state of the cluster, and so acts
// beside any operation.
func Brief(cmd *cobra.Command, f *apply.ChangeFlags) {
	f.Join = true
	cmd.Flags().StringVarP(&f.Output, "output", "o", "text", "output format: text; json prints a line per event and the result; the others print only the result: yaml, kyaml, name, "+format.Templates)
	complete.Flag(cmd, "output", func() []string {
		return append([]string{"text", "json", "yaml", "kyaml", "name"}, format.TemplateCompletions()...)
	})
	keepFilesFromSteps(cmd)
	recorded(cmd, f, "--dry-run -o json of the same command")
}

// Steps adds the flags of a change by steps, which prints its result in a way of its own. A command line with the words
// of plannedBy prints a plan for it.
func Steps(cmd *cobra.Command, f *apply.ChangeFlags, plannedBy string) {
	recorded(cmd, f, plannedBy)
	beside(cmd, f)
}

// Timeout adds --timeout of a change by steps.
func Timeout(cmd *cobra.Command, f *apply.ChangeFlags, most time.Duration) {
	cmd.Flags().DurationVar(&f.Timeout, "timeout", most, "maximum time to wait (exit code 3)")
}

// Approval adds the flags by which a change is shown and approved.
func Approval(cmd *cobra.Command, f *apply.ChangeFlags) {
	cmd.Flags().StringVar(&f.DryRun, "dry-run", apply.DryRunNone, "none, client or server: client prints the plan without changes; server also submits it to the API server without persisting it")
	cmd.Flags().Lookup("dry-run").NoOptDefVal = apply.DryRunClient
	yes := "If true, approve without a prompt"
	if f.Reversible {
		yes = "If true, approve; this command has no prompt, since another one reverts it"
	}
	cmd.Flags().BoolVarP(&f.Yes, "yes", "y", false, yes)
	cmd.Flags().StringVar(&f.FieldManager, "field-manager", live.FieldManager, "name of the field manager for changes of Kubernetes objects")
	complete.Flag(cmd, "dry-run", func() []string { return []string{apply.DryRunClient, apply.DryRunServer, apply.DryRunNone} })
}

// Confirm marks a change that may lose data, about a resource of a kind: --yes alone is not enough for it.
func Confirm(cmd *cobra.Command, f *apply.ChangeFlags, of *session.ResourceKind) {
	f.Dangerous, f.Named = true, apply.Noun(of)
	cmd.Flags().StringVar(&f.Confirmed, "confirm", "", "name of the "+f.Named+", to confirm the command if stdin is not a terminal")
}

// recorded adds the flags by which a change is shown, approved, planned and recorded.
func recorded(cmd *cobra.Command, f *apply.ChangeFlags, plannedBy string) {
	f.PlannedBy = plannedBy
	Approval(cmd, f)
	cmd.Flags().StringVar(&f.Reason, "reason", "", "reason recorded in the audit log and the Lease")
	cmd.Flags().StringVar(&f.Plan, "plan", "", "plan file to apply exclusively, as printed by "+plannedBy+"; exit code 6 if the cluster state changed since")
}

// beside adds the flags of a change that may be refused because of what else changes the cluster.
func beside(cmd *cobra.Command, f *apply.ChangeFlags) {
	cmd.Flags().StringArrayVar(&f.Given, "override", nil, "gate to override, as GATE=REASON; can be repeated. Gates: "+phrase.List(apply.Overridable()))
	complete.Flag(cmd, "override", func() []string {
		var names []string
		for _, gate := range apply.Overridable() {
			names = append(names, string(gate)+"=")
		}
		return names
	})
	cmd.Flags().BoolVar(&f.Coexist, "coexist", false, "If true, act although an operator manages the cluster")
	cmd.Flags().BoolVar(&f.Join, "join", false, "If true, act although another run carries out an operation on the cluster; otherwise the command ends with exit code 6")
}

// Stages adds the flags that select the stages of a pass.
func Stages(cmd *cobra.Command, f *apply.StageFlags) {
	cmd.Flags().StringSliceVar(&f.Only, "only", nil, "comma-separated stages to run, after the status was recorded, by which each decides")
	cmd.Flags().StringSliceVar(&f.Skip, "skip", nil, "comma-separated stages to skip; the status is recorded before the first stage all the same")
	cmd.Flags().BoolVar(&f.Options.ReplaceOnSecurityContextChange, "replace-on-security-context-change", false,
		"If true, also replace process groups whose pods were created with another file group, user or group")
	cmd.Flags().BoolVar(&f.Options.Adopt, "adopt", false,
		"If true, take over pods and PVCs unchanged: record that they were created from the current spec, and report where they differ from it")
	for _, flag := range []string{"only", "skip"} {
		complete.Flag(cmd, flag, func() []string { return phrase.Strings(apply.StageNames()) })
	}
}

// Telemetry returns the metrics of a watch over a cluster. Now returns the time.
var Telemetry = func(key types.NamespacedName, now func() time.Time) apply.Telemetry {
	return metrics.NewWatch(key.Name, key.Namespace, now)
}

// Watch adds --watch and the flags that go with it.
func Watch(cmd *cobra.Command, f *apply.WatchFlags) {
	f.Telemetry = Telemetry
	cmd.Flags().BoolVarP(&f.Watch, "watch", "w", false, "If true, repeat passes at every change until a signal")
	cmd.Flags().DurationVar(&f.Resync, "resync", pace.DefaultResync, "maximum interval between passes with --watch")
	cmd.Flags().StringVar(&f.MetricsAddr, "metrics-addr", "", "address (HOST:PORT) of /metrics, /healthz and /readyz with --watch; port 0 selects a free port")
	declare.NotInSteps(cmd, "metrics-addr")
	dumps(cmd, &f.Dumps)
}

func dumps(cmd *cobra.Command, f *apply.DumpFlags) {
	cmd.Flags().StringVar(&f.Dir, "dump-dir", "", "directory in which --watch keeps the newest dumps of the cluster; empty writes none")
	cmd.Flags().DurationVar(&f.Interval, "dump-interval", apply.DefaultDumpInterval, "time between two dumps of --dump-dir")
	cmd.Flags().DurationVar(&f.Keep, "dump-keep", apply.DefaultDumpKeep, "maximum age of dumps in --dump-dir; older ones are removed")
	cmd.Flags().StringVar(&f.MaxBytes, "dump-max-bytes", apply.DefaultDumpBytes, "maximum size of all dumps in --dump-dir; the oldest are removed")
	AtLeast(cmd, "dump-interval", apply.MinDumpInterval)
	declare.NotInSteps(cmd, "dump-dir")
}

// Output adds the flags of a command that prints documents and tables.
func Output(cmd *cobra.Command, o *format.Flags) {
	Format(cmd, o)
	cmd.Flags().BoolVar(&o.NoHeaders, "no-headers", false, "If true, omit the header row of tables")
	cmd.Flags().BoolVar(&o.Absolute, "absolute-time", false, "If true, print times instead of ages")
}

// Format adds -o alone.
func Format(cmd *cobra.Command, o *format.Flags) {
	cmd.Flags().StringVarP(&o.Format, "output", "o", "table", "output format: "+strings.Join(o.Named(), ", ")+", "+format.Templates)
	complete.Flag(cmd, "output", o.Completions)
	keepFilesFromSteps(cmd)
}

// Sorting adds --sort-by and --field-selector to a command whose lists are such documents, and -L and --show-labels where
// their items have labels.
func Sorting(cmd *cobra.Command, o *format.Flags, of list.Document) {
	by, where, known := o.Orders(of)
	cmd.Flags().StringVar(where, "field-selector", "", "paths of fields of the items, with the values of those to list: PATH=VALUE or PATH!=VALUE, comma-separated")
	if _, labeled := of.(list.Labeled); labeled {
		keys, all := o.Labels()
		cmd.Flags().StringSliceVarP(keys, "label-columns", "L", nil, "comma-separated keys of labels, each a column of the table")
		cmd.Flags().BoolVar(all, "show-labels", false, "If true, print all labels as the last column of the table")
	}
	cmd.Flags().StringVar(by, "sort-by", "", "path of a field of the items, or title of a column, to sort by, such as .zone or ZONE; items without a value are last")
	complete.Flag(cmd, "sort-by", known)
}

// keepFilesFromSteps has no step of a runbook read a file of the machine that runs it by -o.
func keepFilesFromSteps(cmd *cobra.Command) {
	declare.ValuesNotInSteps(cmd, "output", format.OfFiles()...)
}
