package recovery

import (
	"strings"
	"testing"
)

// remote is a database in two regions: one of its three coordinators is of this resource, and answers.
func remote() Facts {
	f := rebooted()
	f.Placement.Regions = 2
	f.Groups = f.Groups[2:]
	f.Groups[0].Now, f.Coordinators[2].Reachable = []string{"10.0.0.3"}, new(true)
	return f
}

func TestUnreachableCoordinatorsOfAnotherRegionAreReportedAsRegionLost(t *testing.T) {
	tests := map[string]struct {
		edit func(*Facts)
		is   bool
	}{
		"the other region is lost": {edit: func(*Facts) {}, is: true},
		"one region":               {edit: func(f *Facts) { f.Placement.Regions = 1 }},
		"a coordinator of this resource does not answer":        {edit: func(f *Facts) { f.Coordinators[2].Reachable = new(false) }},
		"whether it answers is unknown":                         {edit: func(f *Facts) { f.Coordinators[2].Reachable = nil }},
		"whether a quorum answers is unknown":                   {edit: func(f *Facts) { f.Quorum, f.Unknown = nil, "no pod" }},
		"no coordinator is of this resource":                    {edit: func(f *Facts) { f.Groups = f.Groups[1:] }},
		"a majority of coordinators is of this resource":        {edit: func(f *Facts) { f.Groups[1].Addresses, f.Coordinators[1].Reachable = []string{"10.0.0.2"}, new(true) }},
		"the database is available: a quorum of others answers": {edit: func(f *Facts) { f.Quorum, f.Available = new(true), new(true) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := remote()
			tc.edit(&f)
			a := Assess(f)
			if (a.Kind == RegionLost) != tc.is || a.Kind == RegionLost && a.Handled {
				t.Fatalf("%s, handled: %t: %v", a.Kind, a.Handled, a.Evidence)
			}
			if !tc.is {
				return
			}
			for _, part := range []string{"1 of 3 coordinators of this resource answers, 2 required", "10.0.0.1:4501, 10.0.0.2:4501"} {
				if !strings.Contains(strings.Join(a.Evidence, "; "), part) {
					t.Errorf("no %q in %v", part, a.Evidence)
				}
			}
			if steps := strings.Join(manual("sample", f, a, command), "; "); !strings.Contains(steps, "delete no PVC") || !strings.Contains(steps, "recover verify sample") {
				t.Errorf("%s", steps)
			}
		})
	}
}
