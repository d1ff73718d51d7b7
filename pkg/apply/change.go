package apply

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/proposal"
)

// Values of --dry-run.
const (
	DryRunClient = "client"
	DryRunServer = "server"
	DryRunNone   = "none"
)

// longestFieldManager is the maximum length that the API server accepts.
const longestFieldManager = 128

// ChangeFlags are the flags of every command that changes a cluster: such a command is a list
// of stages for the engine, with common approval, output and waiting.
type ChangeFlags struct {
	DryRun  string
	Yes     bool
	Coexist bool
	Wait    bool
	// Join is true for a command that acts beside another run's operation.
	Join bool
	// WaitAll is true if the command also waits for housekeeping.
	WaitAll  bool
	Timeout  time.Duration
	Interval time.Duration
	Output   string
	Reason   string
	Plan     string
	// FieldManager is the field manager of changes; empty means the default.
	FieldManager string
	OverrideFlags
	// shows is how a dry run is printed; nil is as Output asks, with a forecast.
	shows *PlanOptions

	// Reversible is true for a command that another one reverts without a trace: it never
	// prompts.
	Reversible bool
	// Removes is true for a command whose passes remove process groups, and so may leave
	// housekeeping.
	Removes bool
	// RespectPDB is true if pods are deleted by the eviction API.
	RespectPDB bool
	// Dangerous is true for a command that may lose data: --yes is not enough.
	Dangerous bool
	// PlannedBy are the words of a command line that print a plan for --plan.
	PlannedBy string
	// Confirmed is the name of the cluster or resource given with --confirm; empty if none.
	Confirmed string
	// Named is the kind of that resource; empty for a cluster.
	Named string
	// OverSites is true for a command over the sites of one database.
	OverSites bool
}

// Check validates the flags before anything is read, and notes the overridden gates.
func (f ChangeFlags) Check(env *session.Env) (err error) {
	if err := (format.Flags{Format: f.Output}).Check(); err != nil {
		return err
	}
	switch {
	case f.dry() && f.Plan != "":
		return exit.Usagef("--dry-run conflicts with --plan")
	case f.OverSites && f.DryRun == DryRunServer:
		return exit.Usagef("--dry-run=server is not supported with --contexts or --sites: must be client")
	case f.OverSites && !f.dry() && f.Output != "json" && !f.PrintsText():
		return exit.Usagef("-o %s is not supported with --contexts or --sites: must be text or json", f.Output)
	}
	if err := f.CheckSteps(env); err != nil || f.Plan == "" || f.OverSites { // what carries out several changes reads their plans
		return err
	}
	env.Run.Planned, err = ReadPlan(f.Plan)
	return err
}

// CheckSteps validates the flags of a command that carries out steps, whose plan is a document of its own.
func (f ChangeFlags) CheckSteps(env *session.Env) (err error) {
	switch {
	case !f.dry() && f.DryRun != DryRunNone:
		return exit.Usagef("--dry-run must be none, client or server, not %q", f.DryRun)
	case len(f.FieldManager) > longestFieldManager:
		return exit.Usagef("--field-manager must be no more than %d characters", longestFieldManager)
	}
	if _, err := longestRestOf(env); err != nil {
		return err
	}
	env.Run.FieldManager, env.Run.Reason = f.FieldManager, f.Reason
	env.Run.Overrides, err = f.Gates()
	return err
}

// canAsk fails where the command needs approval and stdin is not a terminal. It comes after the names
// that the user typed were checked: a typing error is the better answer.
func (f ChangeFlags) canAsk(env *session.Env) error {
	switch {
	case env.Observer != nil: // it answers
		return nil
	case f.DryRun == DryRunNone && !f.Yes && !f.Reversible && !env.IsTerminal(env.In):
		return &exit.Error{
			Code: exit.ExitUnconfirmed, Err: errors.New("stdin is not a terminal: use --yes to confirm (nothing was changed)"),
			Hints: []string{"preview the changes with --dry-run"},
		}
	case f.DryRun == DryRunNone && f.Dangerous && !f.agreed() && !env.IsTerminal(env.In):
		return &exit.Error{
			Code: exit.ExitUnconfirmed, Err: errors.New("stdin is not a terminal and data may be lost: --yes is not sufficient (nothing was changed)"),
			Hints: []string{"all of these flags are required: --yes --confirm " + f.placeholder() + " --plan FILE --reason TEXT; " + f.PlannedBy + " prints the plan"},
		}
	default:
		return nil
	}
}

// Approve prompts with a question, unless flags approve the change.
func (f ChangeFlags) Approve(ctx context.Context, env *session.Env, question string) error {
	if err := f.canAsk(env); err != nil || f.agreed() || f.dry() {
		return err
	}
	return env.Prompt().Confirm(ctx, question)
}

// dry reports whether the command makes no changes.
func (f ChangeFlags) dry() bool { return f.DryRun == DryRunClient || f.DryRun == DryRunServer }

// PrintsText reports whether progress is printed as text on stdout, which is otherwise reserved for
// a document.
func (f ChangeFlags) PrintsText() bool { return format.Flags{Format: f.Output}.IsTable() }

// Intent returns the access that the command needs: a dry run only reads.
func (f ChangeFlags) Intent() session.Intent {
	if f.dry() {
		return session.Reads
	}
	return session.Writes
}

// Shared returns the flags to repeat when the command is run again.
func (f ChangeFlags) Shared() []string {
	var words []string
	for flag, set := range map[string]bool{"--yes": f.Yes, "--coexist": f.Coexist, "--join": f.Join, "--respect-pdb": f.RespectPDB} {
		if set {
			words = append(words, flag)
		}
	}
	if wait := f.waitFlag(); wait != "" {
		words = append(words, wait)
	}
	slices.Sort(words)
	for _, override := range f.Given {
		words = append(words, "--override", override)
	}
	if f.FieldManager != "" && f.FieldManager != live.FieldManager {
		words = append(words, "--field-manager", f.FieldManager)
	}
	if f.Plan != "" {
		words = append(words, "--plan", f.Plan)
	}
	if f.Confirmed != "" {
		words = append(words, "--confirm", f.Confirmed, "--reason", f.Reason)
	}
	return words
}

// Change is what a command does to one resource.
type Change struct {
	ChangeFlags
	// Args are the command and its arguments, without the flags common to all changes.
	Args []string
	// Stages are the stages of one pass; none for a change by steps.
	Stages []plan.Stage
	// Procedure is what the change does where no stage decides it; nil for passes.
	Procedure *Procedure
	// Permissions are the required permissions.
	Permissions []session.Permission
	// Goal is what the command waits for; nil means that no stage has anything left to do.
	Goal goal
	// Undo is the command that reverts it; nil if there is none.
	Undo []string
	// Nodes is true for commands about nodes.
	Nodes bool
	// Beside is true if running operators do not matter, because the command is about them.
	Beside bool
	// Proposal is the change of the resource that comes first; nil for the resource as it is stored.
	Proposal *proposal.Change
	// Given is the cluster as the command has just read it, for the first observation.
	Given live.Given
	// Lockless is true for commands that never need the database lock.
	Lockless bool
	// Begins is true if passes that the command does not run have to complete what it is for.
	Begins bool
	// Across is the command over several sites of which it is the part at one; nil for a change of its own.
	Across *Across
	// Partial is true if stages of a full pass are missing.
	Partial bool
	// ResourceKind is the kind of the resource if it is not a cluster.
	ResourceKind *session.ResourceKind
	// Of is the name of the cluster of such a resource, where the command may carry out changes of that, too.
	Of string
}

// Command returns the command with all flags that affect what it does. Approval, reason and
// --join are not among them.
func (c Change) Command() []string {
	c.Yes, c.Join, c.Plan, c.Confirmed = false, false, "", ""
	return slices.Concat(c.Args, c.Shared())
}

// goal is what a command waits for, where that is less than a reconciled cluster.
type goal interface {
	// Progress returns how far each target is, and whether all are reached. It may read the
	// cluster again.
	Progress(ctx context.Context, s session.Session) (targets []inspect.Target, reached bool, err error)
	// Summary describes what was reached, or begun if the command does not wait.
	Summary(to Extent) string
}

// Extent is how far a command came with its goal.
type Extent int

const (
	// Begun is a goal that is not reached yet.
	Begun Extent = iota
	// Reached is a goal whose targets are all reached.
	Reached
)

// Noting is a goal that depends on the events of the passes.
type Noting interface{ Note(e reconcile.Event) }

// Answering is a goal whose end is an answer, with its exit code, and not a success. It counts
// where the passes did not fail.
type Answering interface{ Answer() error }

// PassesOver returns the passes of a change, once its permissions are verified.
func PassesOver(ctx context.Context, e *session.Env, key types.NamespacedName, c Change) (*Passes, error) {
	if err := session.MayDo(ctx, e, key.Namespace, c.required()); err != nil {
		return nil, err
	}
	e.Run.Reason = c.Reason // also of a change that no command line names
	return openPasses(ctx, e, key, c, NewAuditor(e, key, c))
}

func openPasses(ctx context.Context, e *session.Env, key types.NamespacedName, c Change, audit *Auditor) (*Passes, error) {
	p := newPasses(runOf(e, c), c)
	if c.ResourceKind == nil {
		p.uid = string(session.FirstRead(e, key))
	}
	p.Approved, p.audit, p.approved = Approval{Everything: c.agreed()}, audit, e.Run.Planned
	if p.approved != nil {
		if err := p.adopt(p.approved, key); err != nil {
			return nil, err
		}
	}
	return p, p.Open(ctx, key)
}

// agreed reports whether no prompt is needed.
func (f ChangeFlags) agreed() bool {
	if f.Dangerous {
		return f.agreedByName()
	}
	return f.Yes || f.Reversible
}

func runOf(e *session.Env, c Change) Run {
	return Run{Env: e, StageList: c.stages(), Seed: e.Random(), Command: c.Command(), Gates: live.GateOptions{Coexist: c.Coexist || c.Beside}, readsNodes: c.Nodes, lockless: c.Lockless, given: c.Given, ResourceKind: c.ResourceKind, begins: c.Begins, proposal: c.Proposal}
}

// CarryOut previews a change, or confirms it and carries it out.
func CarryOut(ctx context.Context, e *session.Env, key types.NamespacedName, c Change) error {
	if c.Procedure != nil {
		return carryOutSteps(ctx, e, key, c)
	}
	if c.dry() {
		return preview(ctx, e, key, c)
	}
	if err := c.canAsk(e); err != nil {
		return err
	}
	p, err := PassesOver(ctx, e, key, c)
	if err != nil {
		return err
	}
	return p.All(ctx)
}

// preview is a dry run.
func preview(ctx context.Context, e *session.Env, key types.NamespacedName, c Change) error {
	r := runOf(e, c)
	if err := r.Open(ctx, key); err != nil {
		return err
	}
	return r.showPlan(ctx, c.Printed())
}

// Values of --wait. A plain --wait means WaitDone.
const (
	WaitNone = "none"
	WaitDone = "done"
	WaitAll  = "all"
)

// waitFlag returns --wait to repeat the command; empty if it does not wait.
func (f ChangeFlags) waitFlag() string {
	switch {
	case !f.Wait:
		return ""
	case f.WaitAll:
		return "--wait=" + WaitAll
	default:
		return "--wait"
	}
}

// Of finds the cluster of a command that changes it, once its flags are validated.
func Of(ctx context.Context, f session.ClusterFlag, env *session.Env, args []string, c ChangeFlags) (types.NamespacedName, error) {
	if err := c.Check(env); err != nil {
		return types.NamespacedName{}, err
	}
	cluster, err := env.Cluster(ctx, args, f.Name, c.Intent())
	if err != nil {
		return types.NamespacedName{}, exit.CauseOf(ctx, err)
	}
	return types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}, nil
}

// printPause warns once that a pass works on a cluster that is paused for operators: the user
// who paused it may not expect that.
func (p *Passes) printPause() func(reconcile.Event) {
	if p.Beside {
		return func(reconcile.Event) {}
	}
	return func(e reconcile.Event) {
		o, ok := e.(reconcile.Observed)
		if !ok || o.Facets&plan.ClusterResource == 0 || o.Snapshot.Cluster == nil {
			return
		}
		state, words := "", ""
		if v := inspect.NewPauseView(inspect.Facts{Snapshot: o.Snapshot}); v != nil {
			words = "paused: " + v.Text(o.Snapshot.Now) + "; this run acts on it regardless"
			state = v.Reason + v.By + map[bool]string{true: "overdue", false: "paused"}[v.Overdue]
			if v.Overdue {
				words = "warning: " + words + "; to end the pause: " + p.Env.Command("resume", p.Key.Name)
			}
		}
		if state != p.paused && words != "" {
			p.Env.Logf("%s", words)
		}
		p.paused = state
	}
}

// PatchCommand returns the kubectl command that merges a patch into a cluster's resource.
func PatchCommand(e *session.Env, cluster *v1beta2.FoundationDBCluster, patch []byte) string {
	return e.Where(cluster.Namespace).ShellLine([]string{"kubectl", "patch", "foundationdbcluster", cluster.Name}, []string{"--type", "merge", "-p", string(patch)})
}
