package plan

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"
	"time"
)

// Every reason and every gate is either ordinary or trouble, on purpose.
func TestEveryHoldAndEveryGateIsClassified(t *testing.T) {
	holds, gates := constantsOf(t, "hold.go", "HoldCode"), constantsOf(t, "plan.go", "Gate")
	if len(holds) < 90 || len(gates) < 20 {
		t.Fatalf("found only %d holds and %d gates", len(holds), len(gates))
	}
	for _, code := range holds {
		if _, classified := ordinaryHolds[HoldCode(code)]; !classified && HoldCode(code) != HoldCheckRefused {
			t.Errorf("hold %s is not classified", code)
		}
	}
	for _, gate := range gates {
		if _, classified := ordinaryGates[Gate(gate)]; !classified {
			t.Errorf("gate %s is not classified", gate)
		}
	}
}

// constantsOf returns the values of the constants of a type that a file declares.
func constantsOf(t *testing.T, file, of string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == of {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, value)
		}
		return true
	})
	return values
}

func TestHoldsAreClassifiedAsOrdinaryOrProblem(t *testing.T) {
	refused := func(gates ...Gate) []Check {
		all := []Check{{Gate: GateAvailable, OK: true}}
		for _, g := range gates {
			all = append(all, Check{Gate: g})
		}
		return all
	}
	for name, c := range map[string]struct {
		d    Decision
		want Nature
	}{
		"no hold":                              {Decision{}, Ordinary},
		"data has to move":                     {Decision{Hold: &Hold{Code: HoldExclusionBudget}}, Ordinary},
		"the same with manual intervention":    {Decision{Hold: &Hold{Code: HoldExclusionBudget, Manual: true}}, Problem},
		"an unavailable database":              {Decision{Hold: &Hold{Code: HoldDatabaseUnavailable}}, Problem},
		"a code that does not exist":           {Decision{Hold: &Hold{Code: "new"}}, Problem},
		"a recent recovery":                    {Decision{Hold: &Hold{Code: HoldCheckRefused}, Checks: refused(GateRecovery)}, Ordinary},
		"a refused check without a gate":       {Decision{Hold: &Hold{Code: HoldCheckRefused}, Checks: refused("")}, Ordinary},
		"a lock by a restore":                  {Decision{Hold: &Hold{Code: HoldCheckRefused}, Checks: refused(GateRecovery, GateDBLock)}, Problem},
		"a gate that does not exist":           {Decision{Hold: &Hold{Code: HoldCheckRefused}, Checks: refused("G-NEW")}, Problem},
		"a refused check of an ordinary cause": {Decision{Hold: &Hold{Code: HoldPodsPending}, Checks: refused(GateAvailable)}, Ordinary},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.d.Nature(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Only what ends by time alone has a remaining time.
func TestRemainingTimeOfAHold(t *testing.T) {
	refused := func(checks ...Check) []Check { return append([]Check{{OK: true, Left: time.Hour}}, checks...) }
	for name, c := range map[string]struct {
		d    Decision
		want time.Duration
	}{
		"no hold":                        {Decision{}, 0},
		"the interval of removals":       {Decision{Hold: &Hold{Code: HoldRemovalInterval, RetryAfter: time.Minute}}, time.Minute},
		"pods that start":                {Decision{Hold: &Hold{Code: HoldPodsPending, RetryAfter: time.Minute}, Checks: refused(Check{Left: time.Second})}, 0},
		"a recent recovery":              {Decision{Hold: &Hold{Code: HoldCheckRefused, RetryAfter: time.Minute}, Checks: refused(Check{Left: 3 * time.Second}, Check{Left: time.Second})}, 3 * time.Second},
		"an exclusion after a recovery":  {Decision{Hold: &Hold{Code: HoldExclusionBudget}, Checks: refused(Check{Left: time.Second})}, time.Second},
		"others that have to be drained": {Decision{Hold: &Hold{Code: HoldExclusionBudget, RetryAfter: time.Minute}, Checks: refused()}, 0},
		"data that moves as well":        {Decision{Hold: &Hold{Code: HoldCheckRefused}, Checks: refused(Check{Left: time.Second}, Check{})}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.d.Left(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
