package session

import "github.com/spf13/cobra"

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
