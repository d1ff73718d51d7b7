package commands

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"
)

// addConfirm makes a command one that may lose data, about a record of a kind: a yes is not
// enough for it.
func (f *changeFlags) addConfirm(cmd *cobra.Command, of *recordKind) {
	f.dangerous, f.named = true, of.noun()
	cmd.Flags().StringVar(&f.confirmed, "confirm", "", "name of the "+of.noun()+", to confirm the command if stdin is not a terminal")
}

// confirmedAs refuses when --confirm names something else.
func (f changeFlags) confirmedAs(name string) error {
	if f.confirmed == "" || f.confirmed == name {
		return nil
	}
	return &failure{code: ExitUnconfirmed, err: fmt.Errorf("--confirm %s is not the name of the %s, which is %s; nothing was changed", f.confirmed, f.whose(), name)}
}

// whose name it is that is to be typed.
func (f changeFlags) whose() string { return cmp.Or(f.named, "cluster") }

// placeholder stands for that name in a hint.
func (f changeFlags) placeholder() string {
	if f.named == "" {
		return "CLUSTER"
	}
	return "NAME"
}
