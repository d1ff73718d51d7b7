package apply

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// AddConfirm marks a command that may lose data, about a resource of a kind: --yes alone is not
// enough for it.
func (f *ChangeFlags) AddConfirm(cmd *cobra.Command, of *session.ResourceKind) {
	f.Dangerous, f.named = true, noun(of)
	cmd.Flags().StringVar(&f.Confirmed, "confirm", "", "name of the "+noun(of)+", to confirm the command if stdin is not a terminal")
}

// ConfirmedAs fails if --confirm does not match the name.
func (f ChangeFlags) ConfirmedAs(name string) error {
	if f.Confirmed == "" || f.Confirmed == name {
		return nil
	}
	return &exit.Error{Code: exit.ExitUnconfirmed, Err: fmt.Errorf("--confirm %s does not match the name of the %s, which is %s (nothing was changed)", f.Confirmed, f.whose(), name)}
}

// whose is the noun of what --confirm must name.
func (f ChangeFlags) whose() string { return cmp.Or(f.named, "cluster") }

// placeholder is the placeholder of that name in a hint.
func (f ChangeFlags) placeholder() string {
	if f.named == "" {
		return "CLUSTER"
	}
	return "NAME"
}
