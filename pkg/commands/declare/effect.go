package declare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Effect is what a command may do beyond printing. Every command declares its own, beside its use: nothing
// infers one from the flags that a command has or lacks.
type Effect string

const (
	// Reads is the effect of a command that changes nothing: no object, no database, no file.
	Reads Effect = "reads"
	// Saves is the effect of a command that only writes files of this machine.
	Saves Effect = "saves"
	// Changes is the effect of a command that changes objects or databases. With --dry-run it reads.
	Changes Effect = "changes"
	// Programs is the effect of a command that runs programs or scripts of the user, which may do anything.
	Programs Effect = "programs"
)

// known reports whether an effect is one of those.
func (e Effect) known() bool {
	switch e {
	case Reads, Saves, Changes, Programs:
		return true
	default:
		return false
	}
}

// dryRunFlag is the flag of a command's dry run.
const dryRunFlag = "dry-run"

// EffectOf returns the effect of a command with the flags that were parsed: the declared one, and that of
// reading for a dry run of changes.
func EffectOf(cmd *cobra.Command) (Effect, bool) {
	d, declared := Of(cmd)
	if f := cmd.Flags().Lookup(dryRunFlag); d.Effect == Changes && f != nil && f.Value.String() != f.DefValue {
		return Reads, declared
	}
	return d.Effect, declared
}

// notInSteps is the annotation of flags that no step of a runbook may have.
const notInSteps = "kubectl-fdb/not-in-steps"

// NotInSteps marks flags that reach beyond a runbook: to files, streams and listeners of the machine that
// runs it, or over a refusal. No step may have them.
func NotInSteps(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		if err := cmd.Flags().SetAnnotation(name, notInSteps, []string{}); err != nil {
			panic(err) // a flag that does not exist
		}
	}
}

// valuesNotInSteps is the annotation of flags of which some values are not for steps: how these begin.
const valuesNotInSteps = "kubectl-fdb/values-not-in-steps"

// ValuesNotInSteps marks the values of a flag that reach beyond a runbook, by how they begin. No step may have them.
func ValuesNotInSteps(cmd *cobra.Command, flag string, beginnings ...string) {
	if err := cmd.Flags().SetAnnotation(flag, valuesNotInSteps, beginnings); err != nil {
		panic(err) // a flag that does not exist
	}
}

// flagsOfSteps are the global flags that a step may have, by their letters if they have one. All others select an API server, a database, an
// identity or a file: those are the ones that the run was started with.
var flagsOfSteps = []string{"n", "q", "v", "color"}

// FitsSteps reports whether a step of a runbook may have a flag of its command, with the value that it has.
func FitsSteps(cmd *cobra.Command, flag *pflag.Flag) bool {
	if cmd.Root().PersistentFlags().Lookup(flag.Name) == flag {
		return slices.Contains(flagsOfSteps, cmp.Or(flag.Shorthand, flag.Name))
	}
	_, marked := flag.Annotations[notInSteps]
	beyond := slices.ContainsFunc(flag.Annotations[valuesNotInSteps], func(beginning string) bool { return strings.HasPrefix(flag.Value.String(), beginning) })
	return !marked && !beyond
}
