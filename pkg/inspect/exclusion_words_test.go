package inspect

import (
	"slices"
	"testing"
)

// Too few coordinators for the tolerance of the spec are named as the cause.
func TestStatusNamesTooFewCoordinators(t *testing.T) {
	f := healthy(t)
	c := &f.Database.Status.Client.Coordinators
	c.Coordinators = c.Coordinators[:1]
	f.Database.Status.Cluster.FaultTolerance.WithoutLosingData = new(0)
	v := NewStatusView(meta, f)
	if !slices.Contains(v.Reasons, "1 of 3 desired coordinators") {
		t.Errorf("reasons %q", v.Reasons)
	}
}
