package apply

import (
	"cmp"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// ConfirmedAs fails if --confirm does not match the name.
func (f ChangeFlags) ConfirmedAs(name string) error {
	if f.Confirmed == "" || f.Confirmed == name {
		return nil
	}
	return &exit.Error{Code: exit.ExitUnconfirmed, Err: fmt.Errorf("--confirm %s does not match the name of the %s, which is %s (nothing was changed)", f.Confirmed, f.whose(), name)}
}

// whose is the noun of what --confirm must name.
func (f ChangeFlags) whose() string { return cmp.Or(f.Named, "cluster") }

// placeholder is the placeholder of that name in a hint.
func (f ChangeFlags) placeholder() string {
	if f.Named == "" {
		return "CLUSTER"
	}
	return "NAME"
}
