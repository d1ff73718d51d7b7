package check

import (
	"fmt"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// inDataCenters puts the processes of a database in two regions into data centers in turn, the
// coordinators first.
func inDataCenters(n int) func(*Facts) {
	return func(f *Facts) {
		c := &f.Cluster.Spec.DatabaseConfiguration
		c.UsableRegions, c.Regions = 2, nil
		for i := range n {
			c.Regions = append(c.Regions, v1beta2.Region{Datacenters: []v1beta2.DataCenter{{ID: fmt.Sprintf("dc%d", i)}}})
		}
		coordinators := 0
		for id, p := range f.Database.Status.Cluster.Processes {
			p.Locality[fdb.LocalityDCID] = "dc0"
			if f.Database.Status.IsCoordinator(p) {
				p.Locality[fdb.LocalityDCID] = fmt.Sprintf("dc%d", coordinators%n)
				coordinators++
			}
			f.Database.Status.Cluster.Processes[id] = p
		}
	}
}

func TestCheckFailsIfOneDataCenterHasAMajorityOfCoordinators(t *testing.T) {
	for name, tc := range map[string]struct {
		given func(*Facts)
		want  Outcome
	}{
		"one data center, whose loss is no question": {func(*Facts) {}, Passed},
		"two data centers":                           {inDataCenters(2), Failed},
		"three data centers":                         {inDataCenters(3), Passed},
		"several with one usable region": {both(inDataCenters(2), func(f *Facts) {
			f.Cluster.Spec.DatabaseConfiguration.UsableRegions = 1
		}), Passed},
		"no quorum, which COORD-001 reports": {both(inDataCenters(2), func(f *Facts) {
			f.Database.Status.Client.Coordinators.Coordinators[0].Address.Host = "10.9.9.9"
			f.Database.Status.Client.Coordinators.Coordinators[1].Address.Host = "10.9.9.8"
		}), Passed},
	} {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(&f)
			if item := itemOf(t, reportOn(f, Options{}), "COORD-005"); item.Outcome != tc.want {
				t.Errorf("%s, want %s: %+v", item.Outcome, tc.want, item)
			}
		})
	}
}

// Pods that hold nothing are for information, and the only copy of data is a warning.
func TestMissingTolerationsOfTheOnlyReplicaAreAWarning(t *testing.T) {
	f := healthy(t)
	f.Cluster.Spec.Processes = nil
	f.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeSingle
	report := reportOn(f, Options{})
	classes := func(code string) (subjects []string) {
		for _, finding := range itemOf(t, report, code).Findings {
			subjects = append(subjects, finding.Subjects...)
		}
		return subjects
	}
	if got := fmt.Sprint(classes("POD-005")); got != "[class/stateless]" {
		t.Errorf("POD-005 is about %s", got)
	}
	if got := fmt.Sprint(classes("POD-006")); got != "[class/storage class/log]" {
		t.Errorf("POD-006 is about %s", got)
	}
	if item := itemOf(t, report, "POD-006"); item.Severity != Warning {
		t.Errorf("POD-006 is of severity %s", item.Severity)
	}
}
