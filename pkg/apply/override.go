package apply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// overridable are the gates that a user may override, one at a time and with a reason. All
// others protect data or other runs: they open with time or repair. Of G-CONFIG only the checks
// of distributions and of specs of new clusters read overrides.
var overridable = []plan.Gate{plan.GateClock, plan.GateConfig, plan.GateDeletion, plan.GateLockOwner, plan.GateOperator}

// OverrideFlags are the gates that the user overrides.
type OverrideFlags struct{ Given []string }

// Overridable returns them.
func Overridable() []plan.Gate { return slices.Clone(overridable) }

// Gates returns the gates with their reasons.
func (o *OverrideFlags) Gates() (map[plan.Gate]string, error) {
	gates := map[plan.Gate]string{}
	for _, text := range o.Given {
		name, reason, _ := strings.Cut(text, "=")
		gate := plan.Gate(name)
		switch {
		case !slices.Contains(overridable, gate):
			return nil, exit.Usagef("--override %s: gate cannot be overridden: must be one of %s%s", name, phrase.List(overridable), session.OrMeant(name, phrase.Strings(overridable)))
		case strings.TrimSpace(reason) == "":
			return nil, exit.Usage(fmt.Errorf("--override %s requires a reason", name), fmt.Sprintf("add the reason: --override '%s=REASON'", name))
		}
		gates[gate] = reason
	}
	return gates, nil
}
