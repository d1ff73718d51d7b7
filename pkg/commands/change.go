package commands

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Values of --dry-run.
const (
	dryRunClient = "client"
	dryRunServer = "server"
	dryRunNone   = "none"
)

// longestFieldManager is the maximum length that the API server accepts.
const longestFieldManager = 128

// changeFlags are the flags of every command that changes a cluster: such a command is a list
// of stages for the engine, with common approval, output and waiting.
type changeFlags struct {
	dryRun  string
	yes     bool
	coexist bool
	wait    bool
	// waitAll is true if the command also waits for housekeeping.
	waitAll  bool
	timeout  time.Duration
	interval time.Duration
	output   string
	reason   string
	plan     string
	// fieldManager is the field manager of changes; empty means the default.
	fieldManager string
	overrideFlags

	// reversible is true for a command that another one reverts without a trace: it never
	// prompts.
	reversible bool
	// removes is true for a command whose passes remove process groups, and so may leave
	// housekeeping.
	removes bool
	// dangerous is true for a command that may lose data: --yes is not enough.
	dangerous bool
	// confirmed is the name of the cluster or resource given with --confirm; empty if none.
	confirmed string
	// named is the kind of that resource; empty for a cluster.
	named string
}

// add adds the flags; waitsFor completes the sentence "repeat passes until …".
func (f *changeFlags) add(cmd *cobra.Command, waitsFor string) {
	f.addBrief(cmd)
	f.overrideFlags.add(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.coexist, "coexist", false, "If true, act although an operator manages the cluster")
	f.addWait(cmd, waitsFor)
	flags.DurationVar(&f.timeout, "timeout", 0, "maximum time to wait (exit code 3); 0 means no limit")
	flags.DurationVar(&f.interval, "interval", pace.DefaultInterval, "minimum interval between passes")
}

// addReversible adds the flags of a command that another one reverts. It never prompts; --yes
// is accepted for scripts that always pass it.
func (f *changeFlags) addReversible(cmd *cobra.Command, waitsFor string) {
	f.reversible = true
	f.add(cmd, waitsFor)
}

// addBrief adds the flags of a command that completes at once and is not blocked by the state
// of the cluster.
func (f *changeFlags) addBrief(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.dryRun, "dry-run", dryRunNone, "none, client or server: client prints the plan without changes; server also submits it to the API server without persisting it")
	flags.Lookup("dry-run").NoOptDefVal = dryRunClient
	flags.StringVarP(&f.output, "output", "o", "text", "output format: text; json prints a line per event and the result; yaml, name, jsonpath=TEMPLATE, go-template=TEMPLATE and custom-columns=SPEC print only the result")
	yes := "If true, approve without a prompt"
	if f.reversible {
		yes = "If true, approve; this command has no prompt, since another one reverts it"
	}
	flags.BoolVarP(&f.yes, "yes", "y", false, yes)
	flags.StringVar(&f.fieldManager, "field-manager", live.FieldManager, "name of the field manager for changes of Kubernetes objects")
	flags.StringVar(&f.reason, "reason", "", "reason recorded in the audit log and the Lease")
	flags.StringVar(&f.plan, "plan", "", "plan file to apply exclusively, as printed by --dry-run -o json of the same command; exit code 6 if the cluster state changed since")
	complete(cmd, "output", func() []string {
		return []string{"text", "json", "yaml", "name", "jsonpath=", "go-template=", "custom-columns="}
	})
	complete(cmd, "dry-run", func() []string { return []string{dryRunClient, dryRunServer, dryRunNone} })
}

// check validates the flags before anything is read, and notes the overridden gates.
func (f changeFlags) check(env *Env) (err error) {
	if err := (outputFlags{format: f.output}).check(); err != nil {
		return err
	}
	switch {
	case !f.dry() && f.dryRun != dryRunNone:
		return usagef("--dry-run must be none, client or server, not %q", f.dryRun)
	case f.dry() && f.plan != "":
		return usagef("--dry-run conflicts with --plan")
	case len(f.fieldManager) > longestFieldManager:
		return usagef("--field-manager must be no more than %d characters", longestFieldManager)
	case f.timeout < 0 || f.interval < 0:
		return usagef("--timeout and --interval must not be negative")
	case f.dryRun == dryRunNone && !f.yes && !f.reversible && !env.IsTerminal(env.In):
		return &failure{
			code: ExitUnconfirmed, err: errors.New("stdin is not a terminal: use --yes to confirm (nothing was changed)"),
			hints: []string{"preview the changes with --dry-run"},
		}
	case f.dryRun == dryRunNone && f.dangerous && !f.agreed() && !env.IsTerminal(env.In):
		return &failure{
			code: ExitUnconfirmed, err: errors.New("stdin is not a terminal and data may be lost: --yes is not sufficient (nothing was changed)"),
			hints: []string{"all of these flags are required: --yes --confirm " + f.placeholder() + " --plan FILE --reason TEXT; --dry-run -o json prints the plan"},
		}
	}
	env.fieldManager = f.fieldManager
	if env.Overrides, err = f.gates(); err != nil || f.plan == "" {
		return err
	}
	env.planned, err = readPlan(f.plan)
	return err
}

// dry reports whether the command makes no changes.
func (f changeFlags) dry() bool { return f.dryRun == dryRunClient || f.dryRun == dryRunServer }

// printsText reports whether progress is printed as text on stdout, which is otherwise reserved for
// a document.
func (f changeFlags) printsText() bool { return outputFlags{format: f.output}.isTable() }

// intent returns the access that the command needs: a dry run only reads.
func (f changeFlags) intent() intent {
	if f.dry() {
		return reads
	}
	return writes
}

// shared returns the flags to repeat when the command is run again.
func (f changeFlags) shared() []string {
	var words []string
	for flag, set := range map[string]bool{"--yes": f.yes, "--coexist": f.coexist} {
		if set {
			words = append(words, flag)
		}
	}
	if wait := f.waitFlag(); wait != "" {
		words = append(words, wait)
	}
	slices.Sort(words)
	for _, override := range f.given {
		words = append(words, "--override", override)
	}
	if f.fieldManager != "" && f.fieldManager != live.FieldManager {
		words = append(words, "--field-manager", f.fieldManager)
	}
	if f.plan != "" {
		words = append(words, "--plan", f.plan)
	}
	if f.confirmed != "" {
		words = append(words, "--confirm", f.confirmed, "--reason", f.reason)
	}
	return words
}

// change is what a command does to one resource.
type change struct {
	changeFlags
	// words are the command and its arguments, without the flags common to all changes.
	words []string
	// stages are the stages of one pass.
	stages []plan.Stage
	// permissions are the required permissions.
	permissions []permission
	// goal is what the command waits for; nil means that no stage has anything left to do.
	goal goal
	// undo is the command that reverts it; nil if there is none.
	undo []string
	// nodes is true for commands about nodes.
	nodes bool
	// beside is true if running operators do not matter, because the command is about them.
	beside bool
	// lockless is true for commands that never need the database lock.
	lockless bool
	// partial is true if stages of a full pass are missing.
	partial bool
	// record is the kind of the resource if it is not a cluster.
	record *recordKind
}

// command returns the command with all flags that affect what it does. Approval and reason are
// not among them.
func (c change) command() []string {
	c.yes, c.plan, c.confirmed = false, "", ""
	return slices.Concat(c.words, c.shared())
}

// goal is what a command waits for, where that is less than a reconciled cluster.
type goal interface {
	// progress returns how far each target is, and whether all are reached. It may read the
	// cluster again.
	progress(ctx context.Context, s Session) (targets []inspect.Target, reached bool, err error)
	// summary describes what was reached, or begun if the command does not wait.
	summary(reached bool) string
}

// passesOver returns the passes of a change, once its permissions are verified.
func (e *Env) passesOver(ctx context.Context, key types.NamespacedName, c change) (*passes, error) {
	if err := e.mayDo(ctx, key.Namespace, c.permissions); err != nil {
		return nil, err
	}
	audit := e.auditor(key, c)
	if c.reason != "" {
		e.Holder += " (" + c.reason + ")"
	}
	return e.openPasses(ctx, key, c, audit)
}

func (e *Env) openPasses(ctx context.Context, key types.NamespacedName, c change, audit *auditor) (*passes, error) {
	p := &passes{run: e.runOf(c), change: c, approved: approval{everything: c.agreed()}, audit: audit}
	if e.planned != nil {
		if err := p.adopt(e.planned, key); err != nil {
			return nil, err
		}
	}
	return p, p.open(ctx, key)
}

// agreed reports whether no prompt is needed.
func (f changeFlags) agreed() bool {
	if f.dangerous {
		return f.agreedByName()
	}
	return f.yes || f.reversible
}

func (e *Env) runOf(c change) run {
	return run{env: e, stageList: c.stages, seed: e.Random(), command: c.command(), gates: live.GateOptions{Coexist: c.coexist || c.beside}, readsNodes: c.nodes, lockless: c.lockless, record: c.record}
}

// carryOut previews a change, or confirms it and carries it out.
func (e *Env) carryOut(ctx context.Context, key types.NamespacedName, c change) error {
	if c.dry() {
		return e.preview(ctx, key, c)
	}
	p, err := e.passesOver(ctx, key, c)
	if err != nil {
		return err
	}
	return p.all(ctx)
}

// preview is a dry run.
func (e *Env) preview(ctx context.Context, key types.NamespacedName, c change) error {
	r := e.runOf(c)
	if err := r.open(ctx, key); err != nil {
		return err
	}
	return r.showPlan(ctx, planOptions{outputFlags: outputFlags{format: c.output}, server: c.dryRun == dryRunServer})
}
