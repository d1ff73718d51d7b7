package commands

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"
)

// addConfirm marks a command that may lose data, about a resource of a kind: --yes alone is not
// enough for it.
func (f *changeFlags) addConfirm(cmd *cobra.Command, of *recordKind) {
	f.dangerous, f.named = true, of.noun()
	cmd.Flags().StringVar(&f.confirmed, "confirm", "", "name of the "+of.noun()+", to confirm the command if stdin is not a terminal")
}

// confirmedAs fails if --confirm does not match the name.
func (f changeFlags) confirmedAs(name string) error {
	if f.confirmed == "" || f.confirmed == name {
		return nil
	}
	return &failure{code: ExitUnconfirmed, err: fmt.Errorf("--confirm %s does not match the name of the %s, which is %s (nothing was changed)", f.confirmed, f.whose(), name)}
}

// whose is the noun of what --confirm must name.
func (f changeFlags) whose() string { return cmp.Or(f.named, "cluster") }

// placeholder is the placeholder of that name in a hint.
func (f changeFlags) placeholder() string {
	if f.named == "" {
		return "CLUSTER"
	}
	return "NAME"
}
