package recovery

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
)

// The address of the coordinator that is left of [bereft] stays.
const copiedToAddresses = "sample:abc@10.0.0.1:4501,10.0.9.4:4501,10.0.9.5:4501"

var modified = time.Date(2026, 11, 25, 3, 0, 0, 0, time.UTC)

// bereft is a cluster of six process groups that lost two of three coordinators with their volumes.
func bereft() Facts {
	f := rebooted()
	f.Groups[0].Now = []string{"10.0.0.1"}
	f.Placement = Placement{Desired: 3, Candidates: []Candidate{}, Volumes: []string{}}
	lose(&f, 3)
	f.Groups[0] = rebooted().Groups[0]
	f.Groups[0].Now = []string{"10.0.0.1"}
	f.Groups[0].Files.Coordination = pairOf(modified)
	last := rebooted().Groups[4]
	last.ID, last.Pod, last.PodUID, last.PVC, last.Volume, last.Addresses, last.Now = "storage-6", "sample-storage-6", "pod-6", "pvc-6", "pv-6", []string{"10.0.0.6"}, []string{"10.0.9.6"}
	f.Groups = append(f.Groups, last)
	for _, n := range []int{1, 4, 5, 6} {
		address := fmt.Sprintf("10.0.9.%d:4501", n)
		if n == 1 {
			address = "10.0.0.1:4501"
		}
		f.Placement.Candidates = append(f.Placement.Candidates, Candidate{Group: fmt.Sprintf("storage-%d", n), Zone: fmt.Sprintf("zone-%d", n), Address: address, Directory: "/var/fdb/data/1"})
	}
	return f
}

func pairOf(at time.Time) []datadir.File {
	return []datadir.File{
		{Path: "/var/fdb/data/1/" + CoordinationFile0, Bytes: 4096, Modified: at, Current: true},
		{Path: "/var/fdb/data/1/" + CoordinationFile1, Bytes: 4096, Modified: at.Add(-time.Hour)},
	}
}

func TestCoordinatorRecoveryRequiresProofThatAMajorityIsLost(t *testing.T) {
	tests := map[string]struct {
		edit func(*Facts)
		// obstacle is part of the only one; empty for none.
		obstacle string
	}{
		"two of three are lost":                     {edit: func(*Facts) {}},
		"one of the lost ones answers":              {edit: func(f *Facts) { f.Coordinators[1].Reachable = new(true) }, obstacle: "10.0.0.2:4501 answers, although"},
		"another pod has the address of a lost one": {edit: func(f *Facts) { f.Coordinators[1].Reachable = new(true); f.Groups[5].Now = []string{"10.0.0.2"} }},
		"whether a quorum answers is unknown":       {edit: func(f *Facts) { f.Quorum, f.Unknown = nil, "no pod" }, obstacle: "whether a quorum of coordinators answers is unknown: no pod"},
		"volumes cannot be listed":                  {edit: func(f *Facts) { f.Placement.VolumesUnknown = "forbidden" }, obstacle: "whether volumes of deleted PVCs exist is unknown: forbidden"},
		"a volume is still being deleted":           {edit: func(f *Facts) { f.Placement.Volumes = []string{"pv-2"} }, obstacle: "volume pv-2 of a deleted PVC still exists"},
		"the last state is not a pair":              {edit: func(f *Facts) { f.Groups[0].Files.Coordination = pairOf(modified)[:1] }, obstacle: "1 coordination file of the pair"},
		"the last state cannot be read":             {edit: func(f *Facts) { f.Groups[0].Files = nil }, obstacle: "could not be read"},
		"the last one has no state":                 {edit: func(f *Facts) { f.Groups[0].Files.Coordination = nil }, obstacle: "no coordination state is left"},
		"two processes of a pod have state":         {edit: func(f *Facts) { addDirectory(f) }, obstacle: "2 data directories with coordination state"},
		"a pod cannot be read":                      {edit: func(f *Facts) { f.Groups[5].Files = nil }, obstacle: "sample-storage-6 could not be read"},
		"a pod is missing whose PVC exists":         {edit: func(f *Facts) { f.Groups[5].Pod, f.Groups[5].Files = "", nil }, obstacle: "pvc-6 could not be read"},
		"connection strings differ":                 {edit: func(f *Facts) { f.ConfigMap = strings.Replace(recorded, "abc", "def", 1) }, obstacle: "2 different connection strings"},
		"others have state as well":                 {edit: func(f *Facts) { f.Groups[4].Files.Coordination = pairOf(modified.Add(time.Hour)) }},
		"too few zones":                             {edit: func(f *Facts) { sameZone(f) }, obstacle: "2 process groups can be coordinators, each in a zone of its own, 3 required"},
		"too few process groups":                    {edit: func(f *Facts) { f.Placement.Candidates = f.Placement.Candidates[:2] }, obstacle: "2 process groups can be coordinators"},
		"the number of coordinators is unknown":     {edit: func(f *Facts) { f.Placement.Desired = 0 }, obstacle: "0 required"},
		"several regions":                           {edit: func(f *Facts) { f.Placement.Shared = "the database has several regions, 1 required" }, obstacle: "several regions"},
		"a coordinator is in no process group": {edit: func(f *Facts) {
			fiveCoordinators(f)
			f.Groups[3].Addresses, f.Placement.Claims = nil, []string{"pvc-9"}
		}, obstacle: "0 process groups at this address"},
		"one that only its files identify": {edit: func(f *Facts) { fiveCoordinators(f); f.Groups[3].Addresses = nil }},
		"a coordinator is in two process groups": {edit: func(f *Facts) {
			fiveCoordinators(f)
			f.Groups[4].Addresses, f.Placement.Volumes = f.Groups[3].Addresses, []string{"pv-9"}
		}, obstacle: "2 process groups at this address"},
		"one that does not answer may come back": {edit: func(f *Facts) { fiveCoordinators(f); f.Groups[3].Phase, f.Groups[3].Files = "Unknown", nil }, obstacle: "10.0.0.4:4501 of sample-storage-4 may come back: it could not be read"},
		"one without a pod whose PVC exists":     {edit: func(f *Facts) { fiveCoordinators(f); f.Groups[3].Pod, f.Groups[3].Files = "", nil }, obstacle: "may come back: it could not be read"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := bereft()
			tc.edit(&f)
			a := Assess(f)
			if a.Kind != CoordinatorsLost || a.Handled != (tc.obstacle == "") || a.Handled != (a.Copy != nil) {
				t.Fatalf("%s, handled: %t, obstacles: %q", a.Kind, a.Handled, a.Obstacles)
			}
			if !a.Handled && (!strings.Contains(strings.Join(a.Obstacles, "; "), tc.obstacle) || a.Lost != "unknown") {
				t.Errorf("obstacles %q, want %q; lost: %s", a.Obstacles, tc.obstacle, a.Lost)
			}
		})
	}
}

// recreated is [bereft] after the pods of the lost coordinators were recreated with empty volumes.
func recreated() Facts {
	f := bereft()
	for i := 1; i <= 2; i++ {
		f.Groups[i] = rebooted().Groups[i]
		f.Groups[i].Addresses, f.Groups[i].Files.Coordination = f.Groups[i].Now, nil
	}
	return f
}

// Coordinators whose volumes were recreated are lost only if every volume was read.
func TestCoordinatorsCountAsLostOnlyAfterAllVolumesWereRead(t *testing.T) {
	tests := map[string]struct {
		edit    func(*Facts)
		handled bool
	}{
		"all volumes were read":                    {edit: func(*Facts) {}, handled: true},
		"the status has their former addresses":    {edit: func(f *Facts) { f.Groups[1].Addresses = []string{"10.0.0.2"} }, handled: true},
		"a pod cannot be read":                     {edit: func(f *Facts) { f.Groups[5].Files = nil }},
		"a PVC is of no process group":             {edit: func(f *Facts) { f.Placement.Claims = []string{"pvc-9"} }},
		"a volume is of no PVC":                    {edit: func(f *Facts) { f.Placement.Volumes = []string{"pv-9"} }},
		"a volume was released":                    {edit: func(f *Facts) { f.Released = []ReleasedVolume{{Name: "pv-2", PVC: f.Groups[1].PVC}} }},
		"volumes cannot be listed":                 {edit: func(f *Facts) { f.Placement.VolumesUnknown = "forbidden" }},
		"state that cannot be used is on a volume": {edit: func(f *Facts) { f.Groups[4].Files.Coordination = pairOf(modified)[:1] }},
		"more volumes have state than there are open": {edit: func(f *Facts) {
			for i := 1; i <= 5; i++ {
				f.Groups[i].Files.Coordination = pairOf(modified)
			}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := recreated()
			tc.edit(&f)
			a := Assess(f)
			if a.Handled != tc.handled || tc.handled != (a.Kind == CoordinatorsLost) {
				t.Fatalf("%s, handled: %t, obstacles: %q", a.Kind, a.Handled, a.Obstacles)
			}
			if tc.handled && (a.Copy.Source.Group != "storage-1" || !strings.Contains(a.Lost, "recreated since")) {
				t.Errorf("%+v", a)
			}
		})
	}
}

func addDirectory(f *Facts) {
	f.Groups[0].Files.Coordination = append(f.Groups[0].Files.Coordination, datadir.File{Path: "/var/fdb/data/2/" + CoordinationFile0, Current: true})
}

func sameZone(f *Facts) {
	for i := range f.Placement.Candidates[1:] {
		f.Placement.Candidates[i+1].Zone = "zone-4"
	}
}

// fiveCoordinators gives a cluster that lost three of five: the first, the fourth and the fifth group are left.
func fiveCoordinators(f *Facts) {
	lost := f.Groups[1]
	lost.ID, lost.Addresses = "storage-7", []string{"10.0.0.7"}
	f.Groups = append(f.Groups, lost)
	const five = "sample:abc@10.0.0.1:4501,10.0.0.2:4501,10.0.0.3:4501,10.0.0.4:4501,10.0.0.7:4501"
	f.Recorded, f.ConfigMap, f.Queried = five, five, []string{"10.0.0.1:4501", "10.0.0.2:4501", "10.0.0.3:4501", "10.0.0.4:4501", "10.0.0.7:4501"}
	f.Coordinators = append(f.Coordinators, Coordinator{Address: "10.0.0.4:4501", Reachable: new(false)}, Coordinator{Address: "10.0.0.7:4501", Reachable: new(false)})
	for i := range f.Groups {
		if f.Groups[i].Files != nil {
			f.Groups[i].Files.ClusterFile = five
		}
	}
	f.Groups[3].Files.Coordination = pairOf(modified.Add(time.Minute))
}

func copying(t *testing.T, f Facts) Plan {
	t.Helper()
	p, err := NewPlan("sample", "fdb", f, command)
	if err != nil || p.Copy == nil {
		t.Fatalf("%+v: %v", p, err)
	}
	return p
}

func TestACoordinationStateCopyPlanReportsTheDataLoss(t *testing.T) {
	p := copying(t, bereft())
	if p.From != recorded || p.To != copiedToAddresses || !slices.Equal(p.Steps, copiedSteps()) || len(p.Manual) != 0 || p.Check("sample", "fdb") != nil {
		t.Errorf("%+v", p)
	}
	if p.Lost != "commits that this state does not know: 2 lost coordinators may have had a newer one; data that only the lost volumes had of storage-2, storage-3" {
		t.Error(p.Lost)
	}
	if !p.LosesData() || planned(t).LosesData() {
		t.Error("only the copy of coordination state loses data")
	}
}

// As observed on FoundationDB 7.3.79: a database whose last logs are all lost never recovers.
func TestLosingAllLogReplicasIsReportedAsLosingTheDatabase(t *testing.T) {
	const want = "the whole database, except for its backups, if it had its logs there: 2 of 3 log process groups lost, 1 at most"
	tests := map[string]struct {
		logs, replicas int
		warned         bool
	}{
		"as many as copies":      {logs: 3, replicas: 2, warned: true},
		"fewer than copies":      {logs: 3, replicas: 3},
		"none":                   {logs: 0, replicas: 1},
		"unknown number of them": {logs: 3},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := bereft()
			f.Outage.Replicas = tc.replicas
			for i := range tc.logs { // the second and the third group are lost
				f.Groups[i].Class = "log"
			}
			if a := Assess(f); strings.Contains(a.Lost, want) != tc.warned {
				t.Error(a.Lost)
			}
		})
	}
}

// A process modifies its coordination files when it starts, so which of two states is newer is unknown:
// both are read, and none is copied.
func TestRecoverCopiesNoCoordinationStateIfTwoSurvive(t *testing.T) {
	f := bereft()
	fiveCoordinators(&f)
	f.Placement.Desired = 5
	p := copying(t, f)
	if p.To != "sample:abc@10.0.0.1:4501,10.0.9.4:4501" {
		t.Error(p.To)
	}
	for _, n := range p.Copy.Coordinators {
		if !n.Keeps {
			t.Errorf("%+v gets a copy", n)
		}
	}
}

func TestRecoverRefusesAmbiguousCoordinationStates(t *testing.T) {
	tests := map[string]struct {
		survivors []string
		want      string
	}{
		"three":                            {survivors: []string{"storage-1", "storage-4", "storage-5"}, want: "which of 3 coordination states is the newest is unknown, 2 at most"},
		"one that cannot be a coordinator": {survivors: []string{"storage-1", "storage-9"}, want: "which of 2 coordination states is the newest is unknown, and pod-of-storage-9 cannot be a coordinator"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var survivors []Survivor
			for _, group := range tc.survivors {
				survivors = append(survivors, Survivor{Group: group, Pod: "pod-of-" + group})
			}
			if chosen, got := bereft().newCoordinators(survivors); got != tc.want || len(chosen) > 0 {
				t.Errorf("%q with %v, want %q", got, chosen, tc.want)
			}
		})
	}
}

func TestNewCoordinatorsAreOfThePreferredClass(t *testing.T) {
	f := bereft()
	f.Placement.Candidates[3].Priority = 1
	if p := copying(t, f); !strings.HasSuffix(p.To, "@10.0.0.1:4501,10.0.9.6:4501,10.0.9.4:4501") {
		t.Error(p.To)
	}
}

func TestLostCoordinatorsAreFoundByDNSName(t *testing.T) {
	f := bereft()
	const named = "sample:abc@one.sample:4501,two.sample:4501,three.sample:4501"
	f.Recorded, f.ConfigMap, f.Queried = named, named, []string{"one.sample:4501", "two.sample:4501", "three.sample:4501"}
	for i, name := range []string{"one", "two", "three"} {
		f.Groups[i].Names.DNS, f.Coordinators[i].Address = name+".sample", name+".sample:4501"
	}
	f.Coordinators[0].Reachable = new(true)
	for i := range f.Groups {
		if f.Groups[i].Files != nil {
			f.Groups[i].Files.ClusterFile = named
		}
	}
	p := copying(t, f)
	if moved := p.Moved(f); len(moved) > 0 || len(p.Copy.Lost) != 2 {
		t.Errorf("%+v: %q", p.Copy, moved)
	}
}

func TestChangesSinceAPlanToCopyStateAreDetected(t *testing.T) {
	tests := map[string]struct {
		edit func(*Facts)
		// want is part of the only difference; empty for none.
		want string
	}{
		"nothing":                           {edit: func(*Facts) {}},
		"state that the plan itself copied": {edit: func(f *Facts) { f.Groups[3].Files.Coordination = pairOf(modified) }},
		"all that the plan itself wrote":    {edit: withCopiedState},
		"a lost pod came back":              {edit: func(f *Facts) { f.Groups[1] = rebooted().Groups[1]; f.Groups[1].Files.Coordination = nil }, want: "storage-2: its addresses"},
		"a lost one answers":                {edit: func(f *Facts) { f.Coordinators[1].Reachable = new(true) }, want: "10.0.0.2:4501 answers"},
		"the last one answers":              {edit: func(f *Facts) { f.Coordinators[0].Reachable = new(true) }},
		"a volume was released":             {edit: func(f *Facts) { f.Released = []ReleasedVolume{{Name: "pv-2", PVC: "pvc-2"}} }, want: "pv-2 of PVC pvc-2 was released"},
		"a volume is being deleted":         {edit: func(f *Facts) { f.Placement.Volumes = []string{"pv-2"} }, want: "pv-2 of a deleted PVC still exists"},
		"volumes cannot be listed":          {edit: func(f *Facts) { f.Placement.VolumesUnknown = "forbidden" }, want: "is unknown: forbidden"},
		"the last state was written":        {edit: func(f *Facts) { f.Groups[0].Files.Coordination = pairOf(modified.Add(time.Second)) }, want: "storage-1: its coordination state changed"},
		"the last state was written by a database that came back before all cluster files were written": {edit: func(f *Facts) {
			withCopiedState(f)
			f.Groups[0].Files.ClusterFile = recorded
		}},
		"a pod cannot be read":        {edit: func(f *Facts) { f.Groups[5].Files = nil }, want: "sample-storage-6 could not be read"},
		"a quorum of the former ones": {edit: func(f *Facts) { f.Quorum = new(true) }, want: "a quorum of the former coordinators answers"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p, f := copying(t, bereft()), bereft()
			tc.edit(&f)
			got := p.Moved(f)
			if tc.want == "" && len(got) == 0 {
				return
			}
			if len(got) != 1 || tc.want == "" || !strings.Contains(got[0], tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// withCopiedState is the state after a run that was interrupted before processes were restarted.
func withCopiedState(f *Facts) {
	f.Recorded, f.ConfigMap, f.Queried, f.Quorum = copiedToAddresses, copiedToAddresses, []string{"10.0.0.1:4501", "10.0.9.4:4501", "10.0.9.5:4501"}, new(true)
	f.Coordinators = []Coordinator{{Address: "10.0.0.1:4501", Reachable: new(true)}, {Address: "10.0.9.4:4501", Reachable: new(true)}}
	for i := range f.Groups {
		if f.Groups[i].Files != nil {
			f.Groups[i].Files.ClusterFile = copiedToAddresses
		}
	}
	f.Groups[0].Files.Coordination = pairOf(modified.Add(time.Hour))
	f.Groups[3].Files.Coordination = pairOf(modified)
	f.Groups[4].Files.Coordination = pairOf(modified)
}
