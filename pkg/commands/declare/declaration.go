// Package declare has what commands declare of themselves: what they may do beyond printing, which guarantees their changes
// give, which permissions they use, and where they are described.
package declare

import (
	"cmp"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// Declaration is what a command declares of itself, beside its use. The help, the roles, the rules of
// runbooks, the reference pages and the tests over all commands are derived from it, so that a command
// is known to all of them by being in the tree. Nothing has a default that would permit anything.
type Declaration struct {
	Effect Effect
	// Lacks is why a command that changes something cannot have some of the guarantees that all others have.
	Lacks map[Guarantee]string
	// Group is the group of a command of the first level in the help.
	Group Group
	// Pages are the sections of the documentation that describe a command and those below it: "inspect.md#health".
	Pages []string
	// Needs returns the permissions that the command uses without any of the words of With.
	Needs func() []Requirement
	// With returns the permissions that it uses with other words, instead of Needs: by "--watch" or "fdbbackup".
	With map[string]func() []Requirement
	// Local is true for a command that sends no request of its own to an API server.
	Local bool
	// Dumps is true for a command that --from can have read a dump.
	Dumps bool
	// Waits is true for a command that only waits.
	Waits bool
	// Endless is true for a command that goes on until it is ended. No step of a runbook may have it.
	Endless bool
	// Planned is true for a command that requires --plan, also for a dry run.
	Planned bool
	// NoStep is why no step of a runbook may have the command; empty if one may.
	NoStep string
	// Prints is what the command prints if that is not laid out for a terminal: "a manifest".
	Prints string
}

// Group is a group of commands in the help.
type Group string

// The groups, by their IDs.
const (
	Inspection Group = "see"
	Management Group = "change"
	Automation Group = "automate"
	Support    Group = "support"
)

// Groups returns all groups in the order of the help.
func Groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: string(Inspection), Title: "Inspection Commands:"},
		{ID: string(Management), Title: "Management Commands:"},
		{ID: string(Automation), Title: "Automation Commands:"},
		{ID: string(Support), Title: "Support Commands:"},
	}
}

// Requirement is a permission that a command uses.
type Requirement struct {
	session.Permission
	// Everywhere is true for permissions outside of the cluster's namespace.
	Everywhere bool
	// Without describes what is missing without it; empty if it is mandatory.
	Without string
}

// declarations are those of all commands that are still in use, by weak pointers: cobra's type has no room for
// them but in texts, and the permissions of all commands as texts would take longer than the rest of the start.
var declarations sync.Map

// Command returns a command after noting what it declares.
func Command(d Declaration, cmd *cobra.Command) *cobra.Command {
	key := weak.Make(cmd)
	declarations.Store(key, d)
	runtime.AddCleanup(cmd, func(key weak.Pointer[cobra.Command]) { declarations.Delete(key) }, key)
	return cmd
}

// Of returns what a command declares; false for a command without an effect, of which nothing may be
// assumed.
func Of(cmd *cobra.Command) (Declaration, bool) {
	found, _ := declarations.Load(weak.Make(cmd))
	d, _ := found.(Declaration)
	return d, d.Effect.known()
}

// NeedsOf are the permissions that one command line uses.
type NeedsOf struct {
	// Command is the command with the words that make the difference: "reconcile --watch".
	Command string
	Needs   []Requirement
}

// AllNeeds returns the permissions of all commands of a tree that use any, in its order.
func AllNeeds(parent *cobra.Command) []NeedsOf {
	var all []NeedsOf
	for _, cmd := range parent.Commands() {
		d, _ := Of(cmd)
		path := PathOf(cmd)
		if d.Needs != nil {
			all = append(all, NeedsOf{path, d.Needs()})
		}
		for _, words := range slices.Sorted(maps.Keys(d.With)) {
			all = append(all, NeedsOf{path + " " + words, d.With[words]()})
		}
		all = append(all, AllNeeds(cmd)...)
	}
	return all
}

// PathOf returns the words of a command after the name of the program: "top processes".
func PathOf(cmd *cobra.Command) string {
	_, path, _ := strings.Cut(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().CommandPath()), " ")
	return path
}

// FindNeeds returns the permissions of a command line of a tree, in whatever order and by whatever names and letters its
// words are written; false if there is no such command, or it uses none.
func FindNeeds(root *cobra.Command, line string) (NeedsOf, bool) {
	cmd, rest, err := root.Find(strings.Fields(line))
	if err != nil || cmd == root {
		return NeedsOf{}, false
	}
	for i, word := range rest {
		if letter, short := strings.CutPrefix(word, "-"); short && len(letter) == 1 {
			if f := cmd.Flags().ShorthandLookup(letter); f != nil {
				rest[i] = "--" + f.Name
			}
		}
	}
	words := slices.Sorted(slices.Values(append(strings.Fields(PathOf(cmd)), rest...)))
	all := AllNeeds(root)
	i := slices.IndexFunc(all, func(n NeedsOf) bool { return slices.Equal(slices.Sorted(strings.FieldsSeq(n.Command)), words) })
	if i < 0 {
		return NeedsOf{}, false
	}
	return all[i], true
}

// Guarantee is what every command that changes something gives. Its name is that of the flag by which a user sees it.
type Guarantee string

// The guarantees.
const (
	// DryRuns shows what would be done: --dry-run with the values none, client and server.
	DryRuns Guarantee = "dry-run"
	// Plans carries out exactly what a saved plan has, or nothing.
	Plans Guarantee = "plan"
	// Reasons records why, with the Lease, in the audit and in the history.
	Reasons Guarantee = "reason"
	// FieldManagers names who manages the fields that are written.
	FieldManagers Guarantee = "field-manager"
	// Overrides names the gates that may be overridden, each with a reason.
	Overrides Guarantee = "override"
	// GatedByOperators evaluates the gates immediately before the first change; --coexist allows a live operator.
	GatedByOperators Guarantee = "coexist"
	// OneOperation refuses to act beside the operation of another run, without --join.
	OneOperation Guarantee = "join"
)

// Guarantees returns all of them.
func Guarantees() []Guarantee {
	return []Guarantee{DryRuns, Plans, Reasons, FieldManagers, Overrides, GatedByOperators, OneOperation}
}

// HasGuarantee reports whether a command has the flag of a guarantee, and --dry-run has all of its values.
func HasGuarantee(cmd *cobra.Command, g Guarantee) bool {
	flag := cmd.Flags().Lookup(string(g))
	return flag != nil && (g != DryRuns || flag.Value.Type() == "string")
}

// Lacking returns why a command cannot have guarantees; none named means all.
func Lacking(why string, named ...Guarantee) map[Guarantee]string {
	if len(named) == 0 {
		named = Guarantees()
	}
	lacks := map[Guarantee]string{}
	for _, g := range named {
		lacks[g] = why
	}
	return lacks
}

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
