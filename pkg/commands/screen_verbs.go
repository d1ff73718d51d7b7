package commands

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
)

// screenVerb returns the change of a key, like the command of that name.
type screenVerb func(ctx context.Context, env *Env, key types.NamespacedName, subjects []string) (change, error)

// screenVerbs are the commands behind keys.
var screenVerbs = map[string]screenVerb{
	"replace":   screenReplace,
	"keep":      screenKeep,
	"exclude":   screenExclude,
	"include":   screenInclude,
	"restart":   screenRestart,
	"reconcile": screenReconcile,
	"cordon":    screenCordon,
}

// screenFlags are the flags of a command of a key: its progress is followed to the end if wait
// is set, and the user answers in the TUI.
func screenFlags(wait bool) changeFlags {
	return changeFlags{dryRun: dryRunNone, output: "text", wait: wait, interval: pace.DefaultInterval}
}

func screenReplace(ctx context.Context, env *Env, key types.NamespacedName, subjects []string) (change, error) {
	o := replaceOptions{changeFlags: screenFlags(true), selection: selection{ids: subjects}, most: 1}
	chosen, err := o.choose(ctx, env, key)
	if err != nil {
		return change{}, err
	}
	return o.change(key.Name, chosen), nil
}

// screenKeep reverts a replacement, and prints how the spec keeps the process groups from now on.
func screenKeep(ctx context.Context, env *Env, key types.NamespacedName, subjects []string) (change, error) {
	o := replaceOptions{changeFlags: screenFlags(true), selection: selection{ids: subjects}, most: 1, undo: true, include: true}
	record, err := env.cluster(ctx, []string{key.Name}, "", writes)
	if err != nil {
		return change{}, err
	}
	chosen, err := o.choose(ctx, env, key)
	if err != nil {
		return change{}, err
	}
	o.hintAfterUndo(env, record, chosen, nil)
	return o.change(key.Name, chosen), nil
}

func screenExclude(ctx context.Context, env *Env, key types.NamespacedName, subjects []string) (change, error) {
	return excludeOptions{changeFlags: screenFlags(false), selection: selection{ids: subjects}}.prepare(ctx, env, key)
}

func screenInclude(ctx context.Context, env *Env, key types.NamespacedName, subjects []string) (change, error) {
	o := includeOptions{changeFlags: screenFlags(false), selection: selection{ids: subjects}}
	o.reversible = true
	return o.prepare(ctx, env, key)
}

func screenRestart(ctx context.Context, env *Env, key types.NamespacedName, subjects []string) (change, error) {
	o := restartOptions{changeFlags: screenFlags(true), selection: selection{ids: subjects}, strategy: string(operations.RestartByWave)}
	return o.prepare(ctx, env, key)
}

func screenReconcile(_ context.Context, _ *Env, key types.NamespacedName, _ []string) (change, error) {
	o := reconcileOptions{changeFlags: screenFlags(false)}
	selected, err := o.stages()
	return change{changeFlags: o.changeFlags, words: o.words(key.Name), stages: selected, permissions: o.permissions()}, err
}

// screenCordon evacuates groups by taint if the spec has a rule for it, and otherwise only
// cordons.
func screenCordon(ctx context.Context, env *Env, key types.NamespacedName, subjects []string) (change, error) {
	o := cordonOptions{changeFlags: screenFlags(false), evacuate: evacuateByTaint, most: 1}
	o.reversible = true
	record, err := env.cluster(ctx, []string{key.Name}, "", writes)
	if err != nil {
		return change{}, err
	}
	var taint *corev1.Taint
	if taint, err = o.taintFor(record, nil); err != nil {
		env.logf("process groups stay: no rule of the spec replaces them because of a taint")
		o.evacuate = evacuateNone
	}
	nodes, err := o.names(ctx, env, subjects)
	if err != nil {
		return change{}, err
	}
	return o.prepare(ctx, env, key, nodes, taint)
}
