package commands

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// Values of --dry-run.
const (
	dryRunClient = "client"
	dryRunServer = "server"
	dryRunNone   = "none"
)

// longestFieldManager is what an API server takes.
const longestFieldManager = 128

// changeFlags are those of every command that changes a cluster: such a command is a
// list of stages for the engine, and what it may do, says and waits for is the same.
type changeFlags struct {
	dryRun  string
	yes     bool
	coexist bool
	wait    bool
	// waitAll is true where housekeeping is waited for as well.
	waitAll  bool
	timeout  time.Duration
	interval time.Duration
	output   string
	reason   string
	plan     string
	// fieldManager is the name under which objects are changed; empty is the default.
	fieldManager string
	overrideFlags

	// reversible is true for a command that another one takes back, without a trace: nobody
	// is asked whether it may.
	reversible bool
	// removes is true for a command whose passes remove process groups, so that they may leave
	// housekeeping.
	removes bool
	// dangerous is true for a command that may lose data: a yes is not enough.
	dangerous bool
	// confirmed is the name of the cluster or of the record, said once more; empty when
	// nobody did.
	confirmed string
	// named is the kind of the record whose name that is; empty for a cluster.
	named string
}

// add adds the flags; waitsFor ends the sentence "repeat passes until …".
func (f *changeFlags) add(cmd *cobra.Command, waitsFor string) {
	f.addBrief(cmd)
	f.overrideFlags.add(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.coexist, "coexist", false, "If true, act although an operator manages the cluster")
	f.addWait(cmd, waitsFor)
	flags.DurationVar(&f.timeout, "timeout", 0, "maximum time to wait (exit code 3); 0 means no limit")
	flags.DurationVar(&f.interval, "interval", pace.DefaultInterval, "minimum interval between passes")
}

// addReversible adds the flags of a command that does what another takes back. Nobody is
// asked; that everybody agrees is taken all the same, for scripts that always say so.
func (f *changeFlags) addReversible(cmd *cobra.Command, waitsFor string) {
	f.reversible = true
	f.add(cmd, waitsFor)
}

// addBrief adds the flags of a command that is done at once, and that nothing of the
// cluster is in the way of.
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
	flags.StringVar(&f.reason, "reason", "", "reason for the audit, and for other runs that find the Lease of this one")
	flags.StringVar(&f.plan, "plan", "", "plan file to apply, and nothing else, as printed by --dry-run -o json of the same command; exit code 6 if the cluster state has changed since")
	complete(cmd, "output", func() []string {
		return []string{"text", "json", "yaml", "name", "jsonpath=", "go-template=", "custom-columns="}
	})
	complete(cmd, "dry-run", func() []string { return []string{dryRunClient, dryRunServer, dryRunNone} })
}

// check finds what is wrong with the flags before anything is read, and notes the gates
// that are waved through.
func (f changeFlags) check(env *Env) (err error) {
	if err := (outputFlags{format: f.output}).check(); err != nil {
		return err
	}
	switch {
	case !f.dry() && f.dryRun != dryRunNone:
		return usagef("--dry-run is client, server or none, not %q", f.dryRun)
	case f.dry() && f.plan != "":
		return usagef("--dry-run makes a plan, --plan carries one out: choose one")
	case len(f.fieldManager) > longestFieldManager:
		return usagef("--field-manager has %d characters at most", longestFieldManager)
	case f.timeout < 0 || f.interval < 0:
		return usagef("--timeout and --interval cannot be negative")
	case f.dryRun == dryRunNone && !f.yes && !f.reversible && !env.IsTerminal(env.In):
		return &failure{
			code: ExitUnconfirmed, err: errors.New("nobody can be asked without a terminal; nothing was changed"),
			hints: []string{"add --yes to agree beforehand, or look first with --dry-run"},
		}
	case f.dryRun == dryRunNone && f.dangerous && !f.agreed() && !env.IsTerminal(env.In):
		return &failure{
			code: ExitUnconfirmed, err: errors.New("data may be lost, so that --yes is not enough without a terminal; nothing was changed"),
			hints: []string{"--yes --confirm " + f.placeholder() + " --plan FILE --reason TEXT, all of them; --dry-run -o json prints the plan"},
		}
	}
	env.fieldManager = f.fieldManager
	if env.Overrides, err = f.gates(); err != nil || f.plan == "" {
		return err
	}
	env.planned, err = readPlan(f.plan)
	return err
}

// dry reports whether nothing is to be changed.
func (f changeFlags) dry() bool { return f.dryRun == dryRunClient || f.dryRun == dryRunServer }

// tells reports whether what happens is told in words on stdout; else that has a document.
func (f changeFlags) tells() bool { return outputFlags{format: f.output}.isTable() }

// intent is what the command means to do: a dry run only reads.
func (f changeFlags) intent() intent {
	if f.dry() {
		return reads
	}
	return writes
}

// shared are the flags that mean the same when the command is run once more.
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

// change is what a command wants to have done to one cluster.
type change struct {
	changeFlags
	// words are the command and what it is told beyond the flags that all changes have.
	words []string
	// stages are those of one pass.
	stages []plan.Stage
	// needs are what one has to be allowed to do.
	needs []power
	// purpose is what the command is for; nil where it is that nothing is left to do.
	purpose purpose
	// undo is the command that takes it back; nil where there is none.
	undo []string
	// nodes is true for commands that are about nodes.
	nodes bool
	// beside says that it does not matter whether an operator acts on the cluster: the
	// command is about that.
	beside bool
	// lockless is true for commands that never need the database's lock.
	lockless bool
	// partial says that steps are missing which a whole pass has.
	partial bool
	// record is what the change is about, where that is no cluster.
	record *recordKind
}

// command is the command with all flags that make a difference to what it does. Neither
// who agreed nor why is among them.
func (c change) command() []string {
	c.yes, c.plan, c.confirmed = false, "", ""
	return slices.Concat(c.words, c.shared())
}

// purpose is what a command is for, where it is less than a cluster as its spec asks.
type purpose interface {
	// look says how far each target is, and whether all are where they should be. It may
	// read the cluster anew.
	look(ctx context.Context, s Session) (targets []ui.Target, reached bool, err error)
	// did says what was reached, or begun where the command does not wait.
	did(reached bool) string
}

// passesOver are the passes of a change, once it is known that we may make it.
func (e *Env) passesOver(ctx context.Context, key types.NamespacedName, c change) (*passes, error) {
	if err := e.mayDo(ctx, key.Namespace, c.needs); err != nil {
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

// agreed reports whether nobody has to be asked.
func (f changeFlags) agreed() bool {
	if f.dangerous {
		return f.agreedByName()
	}
	return f.yes || f.reversible
}

func (e *Env) runOf(c change) run {
	return run{env: e, steps: c.stages, seed: e.Random(), command: c.command(), gates: live.GateOptions{Coexist: c.coexist || c.beside}, readsNodes: c.nodes, lockless: c.lockless, record: c.record}
}

// carryOut shows a change and asks, or does it.
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
