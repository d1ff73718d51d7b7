package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// overridable are the gates that a user may override, one at a time and with a reason. All
// others protect data or other runs: they open with time or repair.
var overridable = []plan.Gate{plan.GateLockOwner, plan.GateOperator}

// overrideFlags are the gates that the user overrides.
type overrideFlags struct{ given []string }

func (o *overrideFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&o.given, "override", nil, "gate to override, as GATE=REASON; can be repeated. Gates: "+gateNames())
	complete(cmd, "override", func() []string {
		names := make([]string, len(overridable))
		for i, gate := range overridable {
			names[i] = string(gate) + "="
		}
		return names
	})
}

func gateNames() string { return phrase.List(overridable) }

// gates returns the gates with their reasons.
func (o *overrideFlags) gates() (map[plan.Gate]string, error) {
	gates := map[plan.Gate]string{}
	for _, text := range o.given {
		name, reason, _ := strings.Cut(text, "=")
		gate := plan.Gate(name)
		switch {
		case !slices.Contains(overridable, gate):
			return nil, usagef("--override %s: gate cannot be overridden: must be one of %s", name, gateNames())
		case strings.TrimSpace(reason) == "":
			return nil, usage(fmt.Errorf("--override %s requires a reason", name), fmt.Sprintf("add the reason: --override '%s=REASON'", name))
		}
		gates[gate] = reason
	}
	return gates, nil
}
