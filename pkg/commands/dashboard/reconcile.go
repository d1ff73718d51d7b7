package dashboard

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/backups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/coordinators"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/groups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/nodes"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
)

// ReconcilingFeed is a feed that also runs passes, like reconcile --watch.
type ReconcilingFeed struct {
	tui.Feed
	Actions *ScreenActions
	once    sync.Once

	mu  sync.Mutex
	err error // why passes ended before the user quit
}

// Follow implements tui.Feed.
func (r *ReconcilingFeed) Follow(ctx context.Context, cluster string, send func(tui.Entry)) {
	r.once.Do(func() {
		r.Actions.running.Go(func() { r.run(ctx, cluster, send) })
	})
	r.Feed.Follow(ctx, cluster, send)
}

// run runs passes until the user quits. If passes cannot run, the TUI reports that and
// continues.
func (r *ReconcilingFeed) run(left context.Context, cluster string, send func(tui.Entry)) {
	env := r.Actions.env.Beside(&capturedOutput{})
	env.Observer = r.Actions.observer(env, tui.Ask{Cluster: cluster}, send)
	key := types.NamespacedName{Namespace: r.Actions.namespace, Name: cluster}
	err := reconcile.Guarded(func() error { return r.passes(left, env, key) })
	interrupted := new(*exit.InterruptedError)
	if err == nil || errors.As(err, interrupted) {
		return
	}
	env.Observer.Document(ui.NewError(env.Metadata(key), exit.Code(err), exit.Explain(err), nil))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

func (r *ReconcilingFeed) passes(left context.Context, env *session.Env, key types.NamespacedName) error {
	ctx, stop := untilLeft(left)
	defer stop()
	o := apply.ReconcileOptions{ChangeFlags: screenFlags(), WatchFlags: apply.WatchFlags{Watch: true, Resync: pace.DefaultResync, Telemetry: flags.Telemetry}}
	list, err := o.Stages()
	if err != nil {
		return err
	}
	change := apply.Change{ChangeFlags: o.ChangeFlags, Args: o.Args(key.Name), Stages: list, Permissions: o.Permissions()}
	return apply.WatchOver(ctx, env, key, change, o.WatchFlags)
}

// End returns why passes ended before the user quit; nil if they did not.
func (r *ReconcilingFeed) End() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// screenVerb returns the change of a key, like the command of that name.
type screenVerb func(ctx context.Context, env *session.Env, key types.NamespacedName, subjects []string) (apply.Change, error)

// followed is a change with what follows its end, as in its command.
type followed struct {
	apply.Change
	// after is called with the error of the change, and returns that of both; nil for nothing.
	after func(ctx context.Context, end error) error
}

// screenChange returns the change of a key, and the resource that it is about.
func screenChange(ctx context.Context, env *session.Env, key types.NamespacedName, ask tui.Ask) (followed, types.NamespacedName, error) {
	if ask.Verb == "drain" {
		c, after, err := nodes.DrainOptions{ChangeFlags: waitingFlags(), Max: 1}.Prepare(ctx, env, key, ask.Subjects)
		return followed{c, after}, key, err
	}
	if verb, is := backupVerbs[ask.Verb]; is {
		if len(ask.Subjects) != 1 {
			return followed{}, key, fmt.Errorf("%s requires one backup", ask.Verb)
		}
		key.Name = ask.Subjects[0]
		c, err := backups.ChangeOf(waitingFlags(), key.Name, verb)
		return followed{Change: c}, key, err
	}
	verb, known := ScreenVerbs[ask.Verb]
	if !known {
		return followed{}, key, fmt.Errorf("unknown action %q", ask.Verb)
	}
	c, err := verb(ctx, env, key, ask.Subjects)
	return followed{Change: c}, key, err
}

// backupVerbs are the changes of a backup behind keys.
var backupVerbs = map[string]string{"start backup": "start", "stop backup": "stop", "pause backups": "pause", "resume backups": "resume"}

// ScreenVerbs are the commands behind keys.
var ScreenVerbs = map[string]screenVerb{
	"replace":   screenReplace,
	"keep":      screenKeep,
	"exclude":   screenExclude,
	"include":   screenInclude,
	"restart":   screenRestart,
	"reconcile": screenReconcile,
	"cordon":    screenCordon,
	"uncordon":  screenUncordon,

	"change coordinators": screenCoordinators,
}

// screenFlags are the flags of a command of a key: the user answers in the TUI.
func screenFlags() apply.ChangeFlags {
	return apply.ChangeFlags{DryRun: apply.DryRunNone, Output: "text", Interval: pace.DefaultInterval}
}

// waitingFlags are those of a command whose progress is followed to the end.
func waitingFlags() apply.ChangeFlags {
	flags := screenFlags()
	flags.Wait = true
	return flags
}

func screenReplace(ctx context.Context, env *session.Env, key types.NamespacedName, subjects []string) (apply.Change, error) {
	o := groups.ReplaceOptions{ChangeFlags: waitingFlags(), Selection: cmdutil.Selection{IDs: subjects}, Max: 1}
	chosen, err := o.Choose(ctx, env, key)
	if err != nil {
		return apply.Change{}, err
	}
	return o.Change(key.Name, chosen), nil
}

// screenKeep reverts a replacement, and prints how the spec keeps the process groups from now on.
func screenKeep(ctx context.Context, env *session.Env, key types.NamespacedName, subjects []string) (apply.Change, error) {
	o := groups.ReplaceOptions{ChangeFlags: waitingFlags(), Selection: cmdutil.Selection{IDs: subjects}, Max: 1, Undo: true, Include: true}
	cluster, err := env.Cluster(ctx, []string{key.Name}, "", session.Writes)
	if err != nil {
		return apply.Change{}, err
	}
	chosen, err := o.Choose(ctx, env, key)
	if err != nil {
		return apply.Change{}, err
	}
	o.HintAfterUndo(env, cluster, chosen, nil)
	return o.Change(key.Name, chosen), nil
}

func screenExclude(ctx context.Context, env *session.Env, key types.NamespacedName, subjects []string) (apply.Change, error) {
	return groups.ExcludeOptions{ChangeFlags: screenFlags(), Selection: cmdutil.Selection{IDs: subjects}}.Prepare(ctx, env, key)
}

func screenInclude(ctx context.Context, env *session.Env, key types.NamespacedName, subjects []string) (apply.Change, error) {
	o := groups.IncludeOptions{ChangeFlags: screenFlags(), Selection: cmdutil.Selection{IDs: subjects}}
	o.Reversible = true
	return o.Prepare(ctx, env, key)
}

func screenRestart(ctx context.Context, env *session.Env, key types.NamespacedName, subjects []string) (apply.Change, error) {
	o := groups.RestartOptions{ChangeFlags: waitingFlags(), Selection: cmdutil.Selection{IDs: subjects}, Strategy: string(operations.RestartByWave)}
	return o.Prepare(ctx, env, key)
}

func screenReconcile(_ context.Context, _ *session.Env, key types.NamespacedName, _ []string) (apply.Change, error) {
	o := apply.ReconcileOptions{ChangeFlags: screenFlags()}
	selected, err := o.Stages()
	return apply.Change{ChangeFlags: o.ChangeFlags, Args: o.Args(key.Name), Stages: selected, Permissions: o.Permissions()}, err
}

// screenCordon cordons the node and moves no data, so that it needs no prompt.
func screenCordon(ctx context.Context, env *session.Env, key types.NamespacedName, subjects []string) (apply.Change, error) {
	o := nodes.CordonOptions{ChangeFlags: screenFlags(), Evacuate: nodes.EvacuateNone, Max: 1}
	o.Reversible = true
	nodes, err := o.Names(ctx, env, subjects)
	if err != nil {
		return apply.Change{}, err
	}
	return o.Prepare(ctx, env, key, nodes, nil)
}

func screenUncordon(ctx context.Context, env *session.Env, key types.NamespacedName, subjects []string) (apply.Change, error) {
	o := nodes.CordonOptions{ChangeFlags: screenFlags()}
	o.Reversible = true
	names, err := o.Names(ctx, env, subjects)
	if err != nil {
		return apply.Change{}, err
	}
	return o.Uncordon(key.Name, names, nil), nil
}

// screenCoordinators moves coordinators off process groups; without any it moves those that do not
// match the spec.
func screenCoordinators(ctx context.Context, env *session.Env, key types.NamespacedName, subjects []string) (apply.Change, error) {
	return coordinators.ChangeOptions{ChangeFlags: waitingFlags(), Away: subjects}.Prepare(ctx, env, key)
}
