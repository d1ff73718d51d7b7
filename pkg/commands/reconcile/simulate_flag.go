package reconcile

import (
	"fmt"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
)

const (
	// maxSimulations bounds the number of --simulate.
	maxSimulations = 1000
	// simulateAll is the value of --simulate for each fault at each step.
	simulateAll = "all"
)

// simulateFlag is the value of --simulate: a number, or all.
type simulateFlag struct{ shows *apply.PlanOptions }

// String implements pflag.Value.
func (f *simulateFlag) String() string {
	switch {
	case f.shows == nil || !f.shows.SimulateAll && f.shows.Simulate == 0:
		return "" // a number alone would be taken for a duration
	case f.shows.SimulateAll:
		return simulateAll
	default:
		return strconv.Itoa(f.shows.Simulate)
	}
}

// Set implements pflag.Value.
func (f *simulateFlag) Set(text string) error {
	if text == simulateAll {
		f.shows.Simulate, f.shows.SimulateAll = 0, true
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxSimulations {
		return fmt.Errorf("must be %s, or from 0 to %d", simulateAll, maxSimulations)
	}
	f.shows.Simulate, f.shows.SimulateAll = n, false
	return nil
}

// Type implements pflag.Value.
func (*simulateFlag) Type() string { return "string" }
