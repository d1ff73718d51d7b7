package recovery

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
)

// withoutPods is a cluster that lost all pods, and a process group without data.
func withoutPods() Facts {
	f := rebooted()
	f.Groups = append(f.Groups, Group{ID: "stateless-6", Class: "stateless", Names: Names{Pod: "sample-stateless-6", PVC: "sample-stateless-6-data"}})
	for i := range f.Groups {
		g := &f.Groups[i]
		g.Pod, g.PodUID, g.Phase, g.Now, g.Files = "", "", "", nil, nil
	}
	f.Quorum, f.Available, f.Queried, f.Unknown = nil, nil, nil, "no pod"
	slices.Reverse(f.Groups) // coordinators are the last ones
	return f
}

// created is the cluster after its pods were created, each at another address.
func created() Facts {
	f := withoutPods()
	for i := range f.Groups {
		g := &f.Groups[i]
		n := g.ID[len(g.ID)-1:]
		g.Pod, g.PodUID, g.Phase, g.Now = g.Names.Pod, "new-"+n, phaseRunning, []string{"10.0.9." + n}
		g.Files = &datadir.Files{ClusterFile: recorded, Generation: "sample:abc", Processes: []int{1}}
		if n <= "3" {
			g.Files.Coordination = []datadir.File{{Bytes: 4096, Current: true}}
		}
	}
	f.Quorum, f.Available, f.Queried = new(false), new(false), []string{"10.0.0.1:4501", "10.0.0.2:4501", "10.0.0.3:4501"}
	return f
}

func planOf(t *testing.T, f Facts) Plan {
	t.Helper()
	p, err := NewPlan("sample", "fdb", f, command)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRecoverCreatesCoordinatorPodsFirst(t *testing.T) {
	p := planOf(t, withoutPods())
	var got []string
	for _, c := range p.Create {
		got = append(got, fmt.Sprintf("%s %s %t", c.Pod, c.Volume, c.Coordinator))
	}
	want := []string{"sample-storage-3 pv-3 true", "sample-storage-2 pv-2 true", "sample-storage-1 pv-1 true", "sample-storage-5 pv-5 false", "sample-storage-4 pv-4 false", "sample-stateless-6  false"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Step{StepPods, StepPodsRun, StepAddresses, StepAvailable}, p.Steps); d != "" || p.Check("sample", "fdb") != nil {
		t.Error(d, p.Check("sample", "fdb"))
	}
}

func TestARecoveryPlanKeepsCoordinatorDNSNames(t *testing.T) {
	f := withoutPods()
	f.Recorded = "sample:abc@sample-storage-1.sample.fdb.svc.cluster.local:4501"
	f.ConfigMap = f.Recorded
	f.Coordinators = []Coordinator{{Address: "sample-storage-1.sample.fdb.svc.cluster.local:4501"}}
	p := planOf(t, f)
	if slices.Contains(p.Steps, StepAddresses) || !p.Create[0].Coordinator || p.Create[0].Group != "storage-1" || p.Create[1].Coordinator {
		t.Errorf("%+v", p)
	}
}

func TestRecoverCreatesNoPodsIfTheirStateIsUncertain(t *testing.T) {
	tests := map[string]struct {
		edit func(*Facts)
		want string
	}{
		"a PVC that another pod mounts":      {edit: func(f *Facts) { f.Groups[1].UsedBy = []string{"shell"} }, want: "is mounted by shell"},
		"unknown which pods mount PVCs":      {edit: func(f *Facts) { f.UsersUnknown = "forbidden" }, want: "is unknown: forbidden"},
		"a PVC that is being deleted":        {edit: func(f *Facts) { f.Groups[1].PVCPhase = phaseTerminating }, want: "is being deleted"},
		"a pod that has ended":               {edit: func(f *Facts) { f.Groups[1].Pod, f.Groups[1].Phase = "sample-storage-5", "Failed" }, want: "has ended"},
		"another connection string for them": {edit: func(f *Facts) { f.ConfigMap = strings.Replace(recorded, "abc", "def", 1) }, want: "different connection strings"},
		"two released volumes of one PVC":    {edit: func(f *Facts) { release(f, 2); f.Released[1].PVC = f.Released[0].PVC }, want: "two or more released volumes"},
		"a released volume that is deleted":  {edit: func(f *Facts) { release(f, 1); f.Released[0].Policy = "Delete" }, want: "can be deleted"},
		"a volume that is not released yet": {edit: func(f *Facts) {
			release(f, 2)
			late := f.Released[1]
			f.Released, f.Releasing = f.Released[:1], []ReleasingVolume{{Name: late.Name, PVC: late.PVC, Phase: "Bound"}}
		}, want: "plan again once the volume is Released"},
		"no volume that is released yet": {edit: func(f *Facts) {
			release(f, 1)
			late := f.Released[0]
			f.Released, f.Releasing = nil, []ReleasingVolume{{Name: late.Name, PVC: late.PVC, Phase: "Bound"}}
		}, want: "plan again once the volume is Released"},
		"a PVC that was created with no data": {edit: func(f *Facts) { release(f, 1); f.Groups[5].PVC, f.Groups[5].Volume = "sample-storage-1-data", "pv-9" }, want: "which one has the data is unknown"},
		"coordinators without a volume":       {edit: func(f *Facts) { release(f, 3); f.Released = f.Released[:1] }, want: "2 of 3 coordinators without a volume, 2 required"},
		"an unknown quorum of pods that run":  {edit: func(f *Facts) { release(f, 1); f.Groups[1].Pod, f.Groups[1].Phase = "sample-storage-5", phaseRunning }, want: "and pods run: no pod"},
		"a reserved volume and another to use": {edit: func(f *Facts) {
			release(f, 1)
			f.Released = append(f.Released, ReleasedVolume{Name: "pv-x", PVC: f.Released[0].PVC, Policy: "Retain"})
		}, want: "two or more"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := withoutPods()
			tc.edit(&f)
			p := planOf(t, f)
			if p.Handled || len(p.Steps) > 0 || !strings.Contains(strings.Join(p.Obstacles, "; "), tc.want) {
				t.Errorf("%s, obstacles %q, want %q", p.Kind, p.Obstacles, tc.want)
			}
		})
	}
}

func TestChangesSinceAPlanToCreatePodsAreDetected(t *testing.T) {
	tests := map[string]struct {
		given, now func() Facts
		edit       func(*Facts)
		// want is part of the only difference; empty for none.
		want string
	}{
		"nothing":                             {now: withoutPods},
		"pods that the plan created":          {now: created},
		"what the plan wrote since":           {now: created, edit: func(f *Facts) { withFilesWritten(f); f.Recorded, f.ConfigMap = movedTo, movedTo }},
		"half of what the plan wrote since":   {now: created, edit: func(f *Facts) { f.Groups[1].Files.ClusterFile = movedTo }},
		"another resource":                    {now: withoutPods, edit: func(f *Facts) { f.UID = "2" }, want: "is another one"},
		"another volume":                      {now: withoutPods, edit: func(f *Facts) { f.Groups[1].Volume = "pv-9" }, want: "another volume"},
		"a PVC that was deleted":              {now: withoutPods, edit: func(f *Facts) { f.Groups[1].PVC, f.Groups[1].Volume = "", "" }, want: "another volume"},
		"a new process group":                 {now: withoutPods, edit: func(f *Facts) { f.Groups = append(f.Groups, Group{ID: "log-1"}) }, want: "a new process group"},
		"another pod of a group that had one": {given: created, now: created, edit: func(f *Facts) { f.Groups[1].PodUID = "newer" }, want: "another pod"},
		"another connection string":           {now: withoutPods, edit: func(f *Facts) { f.ConfigMap = strings.Replace(recorded, "abc", "def", 1) }, want: "not of the plan"},
		"a PVC that another pod mounts":       {now: withoutPods, edit: func(f *Facts) { f.Groups[1].UsedBy = []string{"shell"} }, want: "is mounted by shell"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			given := withoutPods()
			if tc.given != nil {
				given = tc.given()
				given.Groups[0].Phase = "Pending"
				given.Groups[5].Phase = "Pending"
			}
			p, f := planOf(t, given), tc.now()
			if p.Kind != PodsLost {
				t.Fatal(p.Kind)
			}
			if tc.edit != nil {
				tc.edit(&f)
			}
			oneDifference(t, p.Moved(f), tc.want)
		})
	}
}

// oneDifference verifies that there is one difference with a text, or none without one.
func oneDifference(t *testing.T, got []string, want string) {
	t.Helper()
	if want == "" && len(got) == 0 {
		return
	}
	if len(got) != 1 || !strings.Contains(got[0], want) || want == "" {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestARecoveryPlanFollowsCoordinatorsToTheirNewPodAddresses(t *testing.T) {
	p := planOf(t, withoutPods())
	tests := map[string]struct {
		edit func(*Facts)
		// to is empty if nothing is written; obstacle is part of one.
		to, obstacle string
	}{
		"all moved":                      {edit: func(*Facts) {}, to: movedTo},
		"half written":                   {edit: func(f *Facts) { f.Groups[1].Files.ClusterFile, f.ConfigMap = movedTo, movedTo }, to: movedTo},
		"all written":                    {edit: func(f *Facts) { withFilesWritten(f); f.Recorded, f.ConfigMap = movedTo, movedTo }, to: movedTo},
		"none moved":                     {edit: atFormerAddresses},
		"a former one answers elsewhere": {edit: func(f *Facts) { f.Coordinators[0].Reachable = new(true) }, obstacle: "belongs to no pod"},
		"an address that a pod without state has": {edit: func(f *Facts) { f.Groups[1].Now = []string{"10.0.0.1"} }, to: movedTo},
		"a quorum that is pods without state": {edit: func(f *Facts) {
			f.Quorum, f.Groups[1].Now, f.Groups[2].Now = new(true), []string{"10.0.0.1"}, []string{"10.0.0.2"}
		}, obstacle: "are a quorum without state"},
		"an address that a pod with state has": {edit: func(f *Facts) {
			f.Groups[1].Now, f.Groups[1].Files.Coordination = []string{"10.0.0.1"}, []datadir.File{{Bytes: 4096, Current: true}}
		}, obstacle: "is the address of sample-storage-5 now"},
		"an address that a pod has which cannot be read": {edit: func(f *Facts) {
			f.Groups[1].Now, f.Groups[1].Files = []string{"10.0.0.1"}, nil
		}, obstacle: "is the address of sample-storage-5 now"},
		"a coordinator without its state":                 {edit: func(f *Facts) { f.Groups[5].Files.Coordination = nil }, obstacle: "which ones were coordinators is unknown"},
		"a quorum of the former ones":                     {edit: func(f *Facts) { f.Quorum = new(true) }, obstacle: "a quorum of the former coordinators answers"},
		"a quorum of them, and the database is available": {edit: func(f *Facts) { f.Quorum, f.Available = new(true), new(true) }},
		"available with coordinators of another string":   {edit: func(f *Facts) { f.Quorum, f.Available, f.Queried = new(true), new(true), []string{"10.9.9.9:4501"} }, obstacle: "not of the plan"},
		"an unknown quorum":                               {edit: func(f *Facts) { f.Quorum, f.Unknown = nil, "timeout" }, obstacle: "is unknown"},
		"another connection string":                       {edit: func(f *Facts) { f.ConfigMap = strings.Replace(recorded, "abc", "def", 1) }, obstacle: "different connection strings"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := created()
			tc.edit(&f)
			next, obstacles := p.Follow(f)
			if got := strings.Join(obstacles, "; "); !strings.Contains(got, tc.obstacle) || (got != "") != (tc.obstacle != "") {
				t.Fatalf("obstacles %q, want %q", got, tc.obstacle)
			}
			if tc.obstacle == "" && (len(next.Steps) > 0) != (tc.to != "") || tc.to != "" && (next.To != tc.to || next.From != recorded || next.Digest != p.Digest) {
				t.Errorf("%+v", next)
			}
		})
	}
}

func atFormerAddresses(f *Facts) {
	for i := range f.Groups {
		f.Groups[i].Now = []string{"10.0.0." + f.Groups[i].ID[len(f.Groups[i].ID)-1:]}
	}
}

func TestRecoverWaitsForAQuorumOfCoordinatorPods(t *testing.T) {
	p, f := planOf(t, withoutPods()), created()
	for _, i := range []int{3, 4, 5} {
		f.Groups[i].Phase = "Pending"
	}
	if p.CoordinatorsRun(f) {
		t.Error("none runs")
	}
	f.Groups[3].Phase = phaseRunning
	if p.CoordinatorsRun(f) {
		t.Error("one of three runs")
	}
	f.Groups[4].Phase = phaseRunning
	if !p.CoordinatorsRun(f) {
		t.Error("two of three run")
	}
}

func TestRecoverReportsThePodsItWaitsFor(t *testing.T) {
	p := planOf(t, withoutPods())
	for want, edit := range map[string]func(*Facts){
		"":                               func(*Facts) {},
		"sample-storage-5 (not created)": func(f *Facts) { f.Groups[1].Pod = "" },
		"sample-storage-5 (Pending)":     func(f *Facts) { f.Groups[1].Phase = "Pending" },
		"sample-storage-5 (timeout)":     func(f *Facts) { f.Groups[1].Files, f.Groups[1].Unread = nil, "timeout" },
		"is unknown: timeout":            func(f *Facts) { f.Quorum, f.Unknown = nil, "timeout" },
	} {
		f := created()
		edit(&f)
		if got := p.Missing(f); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// release releases the volumes of so many coordinators, the first ones.
func release(f *Facts, n int) {
	for i := 1; i <= n; i++ {
		g := &f.Groups[len(f.Groups)-i]
		f.Released = append(f.Released, ReleasedVolume{Name: g.Volume, UID: "volume-" + g.ID, PVC: g.PVC, ClaimUID: "claim-" + g.ID, Policy: "Retain"})
		g.PVC, g.Volume, g.PVCPhase = "", "", ""
	}
}

func TestReleasedVolumesAreBoundToTheirPVCs(t *testing.T) {
	f := withoutPods()
	release(&f, 2)
	f.Groups[1].PVC, f.Groups[1].Volume = "", "" // lost
	p := planOf(t, f)
	want := []Binding{
		{Group: "storage-2", PVC: "sample-storage-2-data", Volume: "pv-2", VolumeUID: "volume-storage-2", ClaimUID: "claim-storage-2"},
		{Group: "storage-1", PVC: "sample-storage-1-data", Volume: "pv-1", VolumeUID: "volume-storage-1", ClaimUID: "claim-storage-1"},
	}
	if d := cmp.Diff(want, p.Bind); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Step{StepReserveVolumes, StepPVCs, StepPods, StepPodsRun, StepAddresses, StepAvailable}, p.Steps); d != "" {
		t.Error(d)
	}
	if !strings.Contains(p.Lost, "storage-5") || slices.ContainsFunc(p.Create, func(c Creation) bool { return c.Group == "storage-5" }) || len(p.Create) != 5 || p.Create[1].Volume != "pv-2" {
		t.Errorf("%s, %+v", p.Lost, p.Create)
	}
}

func TestChangesSinceAPlanToBindVolumesAreDetected(t *testing.T) {
	bound := func(f *Facts) {
		f.Groups[5].PVC, f.Groups[5].Volume, f.Released = "sample-storage-1-data", "pv-1", nil
	}
	tests := map[string]struct {
		edit func(*Facts)
		want string
	}{
		"nothing":                            {edit: func(*Facts) {}},
		"a volume that the plan reserved":    {edit: func(f *Facts) { f.Released[0].ClaimUID = "" }},
		"a PVC that the plan bound":          {edit: bound},
		"a database that the plan recovered": {edit: func(f *Facts) { bound(f); f.Quorum = new(true) }},
		"a volume of another PVC since":      {edit: func(f *Facts) { f.Released[0].ClaimUID = "claim-9" }, want: "was used by another PVC"},
		"another volume of this name":        {edit: func(f *Facts) { f.Released[0].UID = "volume-9" }, want: "is another one"},
		"a volume that was removed":          {edit: func(f *Facts) { f.Released = nil }, want: "has 0 released volumes, 1 required"},
		"two volumes":                        {edit: func(f *Facts) { f.Released = append(f.Released, f.Released[0]) }, want: "has 2 released volumes"},
		"a volume that can be deleted":       {edit: func(f *Facts) { f.Released[0].Policy = "Delete" }, want: "Retain required"},
		"a quorum of the former ones":        {edit: func(f *Facts) { f.Quorum = new(true) }, want: "a quorum of the former coordinators answers"},
		"an unknown quorum of pods that run": {edit: func(f *Facts) { f.Groups[1].Pod, f.Groups[1].Phase = "sample-storage-5", phaseRunning }, want: "is unknown, and pods run"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := withoutPods()
			release(&f, 1)
			p := planOf(t, f)
			tc.edit(&f)
			oneDifference(t, p.Moved(f), tc.want)
		})
	}
	f := withoutPods()
	release(&f, 1)
	p := planOf(t, f)
	f.Groups[5].PVC, f.Groups[5].Volume = "sample-storage-1-data", "pv-9" // as a pass creates it
	if len(p.Moved(f)) == 0 {
		t.Error("a PVC with another volume is no difference")
	}
}

// withoutStatus is a cluster whose resource was recreated: its process groups are known by volumes.
func withoutStatus() Facts {
	f := withoutPods()
	release(&f, 6)
	f.Groups, f.Released, f.ConfigMap = f.Groups[1:], f.Released[:5], ""
	for i := range f.Groups {
		f.Groups[i].Inferred, f.Groups[i].Addresses = true, nil
	}
	return f
}

func TestAnEmptyStatusIsRebuiltFromVolumes(t *testing.T) {
	p := planOf(t, withoutStatus())
	if d := cmp.Diff([]Step{StepReserveVolumes, StepRebuild, StepPVCs, StepPods, StepPodsRun, StepAddresses, StepAvailable}, p.Steps); d != "" {
		t.Error(d)
	}
	if len(p.Rebuild) != 5 || len(p.Bind) != 5 || p.From != recorded || !strings.Contains(p.Lost, "unknown") {
		t.Errorf("%+v", p)
	}
	oneDifference(t, p.Moved(withoutStatus()), "")
	rebuilt := withoutStatus()
	for i := range rebuilt.Groups {
		rebuilt.Groups[i].Inferred = false
	}
	oneDifference(t, p.Moved(rebuilt), "")
	f := withoutStatus()
	f.Recorded, f.Coordinators = "", nil
	if p := planOf(t, f); p.Handled || len(p.Obstacles) != 1 || !strings.Contains(p.Obstacles[0], "spec.seedConnectionString") {
		t.Errorf("%+v", p.Obstacles)
	}
}
