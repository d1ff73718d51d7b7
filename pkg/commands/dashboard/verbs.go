package dashboard

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/groups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/nodes"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// screenVerb returns the change of a key, like the command of that name.
type screenVerb func(ctx context.Context, env *session.Env, key types.NamespacedName, subjects []string) (apply.Change, error)

// ScreenVerbs are the commands behind keys.
var ScreenVerbs = map[string]screenVerb{
	"replace":   screenReplace,
	"keep":      screenKeep,
	"exclude":   screenExclude,
	"include":   screenInclude,
	"restart":   screenRestart,
	"reconcile": screenReconcile,
	"cordon":    screenCordon,
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
	o := groups.ReplaceOptions{ChangeFlags: waitingFlags(), Selection: cmdutil.Selection{IDs: subjects}, Most: 1}
	chosen, err := o.Choose(ctx, env, key)
	if err != nil {
		return apply.Change{}, err
	}
	return o.Change(key.Name, chosen), nil
}

// screenKeep reverts a replacement, and prints how the spec keeps the process groups from now on.
func screenKeep(ctx context.Context, env *session.Env, key types.NamespacedName, subjects []string) (apply.Change, error) {
	o := groups.ReplaceOptions{ChangeFlags: waitingFlags(), Selection: cmdutil.Selection{IDs: subjects}, Most: 1, Undo: true, Include: true}
	record, err := env.Cluster(ctx, []string{key.Name}, "", session.Writes)
	if err != nil {
		return apply.Change{}, err
	}
	chosen, err := o.Choose(ctx, env, key)
	if err != nil {
		return apply.Change{}, err
	}
	o.HintAfterUndo(env, record, chosen, nil)
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
	return apply.Change{ChangeFlags: o.ChangeFlags, Words: o.Words(key.Name), Stages: selected, Permissions: o.Permissions()}, err
}

// screenCordon cordons the node and moves no data, so that it needs no prompt.
func screenCordon(ctx context.Context, env *session.Env, key types.NamespacedName, subjects []string) (apply.Change, error) {
	o := nodes.CordonOptions{ChangeFlags: screenFlags(), Evacuate: nodes.EvacuateNone, Most: 1}
	o.Reversible = true
	nodes, err := o.Names(ctx, env, subjects)
	if err != nil {
		return apply.Change{}, err
	}
	return o.Prepare(ctx, env, key, nodes, nil)
}
