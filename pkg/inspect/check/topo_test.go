package check

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// packedInTwo packs the pods, of which the first two of storage have one key.
func packedInTwo(f *Facts) {
	f.Cluster.Spec.DistributionConfig = &v1beta2.DistributionConfig{Enabled: new(true), DesiredFaultDomains: new(3)}
	storage := 0
	for _, g := range f.Remaining() {
		if g.ProcessClass == v1beta2.ProcessClassStorage && storage < 2 {
			f.Pod(g).Labels = map[string]string{v1beta2.LabelDistributionKey: "storage-1"}
			storage++
		}
	}
}

// TestMisplacedPodsAreErrorsIfTheDistributionIsRequired compares the severities.
func TestMisplacedPodsAreErrorsIfTheDistributionIsRequired(t *testing.T) {
	for required, want := range map[bool]Severity{false: Warning, true: Error} {
		f := healthy(t)
		packedInTwo(&f)
		f.Cluster.Spec.DistributionConfig.Required = &required
		item := itemOf(t, reportOn(f, Options{}), "TOPO-003")
		if item.Severity != want || item.Outcome != Failed || len(item.Findings) != 1 {
			t.Errorf("required %t: %s, %s, %+v", required, item.Severity, item.Outcome, item.Findings)
		}
	}
	f := healthy(t)
	packedInTwo(&f)
	f.Cluster.Spec.DistributionConfig = nil
	if item := itemOf(t, reportOn(f, Options{}), "TOPO-003"); item.Outcome != Passed {
		t.Errorf("without packing: %+v", item)
	}
}
