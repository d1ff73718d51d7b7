package recovery

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
)

func TestAssess(t *testing.T) {
	tests := map[string]struct {
		edit    func(*Facts)
		want    Kind
		handled bool
		// obstacle is part of one; empty for none.
		obstacle string
	}{
		"coordinators with other addresses":           {edit: func(*Facts) {}, want: CoordinatorsMoved, handled: true},
		"one that stays":                              {edit: func(f *Facts) { f.Groups[0].Now = []string{"10.0.0.1"} }, want: CoordinatorsMoved, handled: true},
		"a status that has the new addresses":         {edit: withNewStatus, want: CoordinatorsMoved, handled: true},
		"a healthy cluster":                           {edit: func(f *Facts) { f.Quorum, f.Available = new(true), new(true) }, want: NothingLost},
		"a quorum without a database":                 {edit: func(f *Facts) { f.Quorum = new(true) }, want: DatabaseDown},
		"pods that are missing":                       {edit: func(f *Facts) { f.Groups[4].Pod, f.Groups[4].Now = "", nil }, want: PodsLost, handled: true},
		"a pod that does not run":                     {edit: func(f *Facts) { f.Groups[4].Phase = "Pending" }, want: PodsLost, handled: true},
		"volumes that were released":                  {edit: withReleased, want: VolumesReleased, handled: true},
		"a majority that is lost":                     {edit: func(f *Facts) { lose(f, 2) }, want: CoordinatorsLost, obstacle: "0 process groups can be coordinators"},
		"a minority that is lost, and the rest moved": {edit: func(f *Facts) { lose(f, 1) }, want: CoordinatorsMoved, obstacle: "which ones were coordinators is unknown"},
		"coordinators of another string are queried":  {edit: func(f *Facts) { f.Queried = []string{"10.0.0.8:4501"} }, want: Undetermined},
		"no connection string":                        {edit: func(f *Facts) { f.Recorded = "" }, want: Undetermined},
		"an unknown quorum":                           {edit: func(f *Facts) { f.Quorum, f.Unknown = nil, "no pod" }, want: CoordinatorsMoved, obstacle: "whether a quorum of coordinators answers is unknown"},
		"another connection string in a pod":          {edit: func(f *Facts) { f.Groups[4].Files.ClusterFile = strings.Replace(recorded, "abc", "def", 1) }, want: CoordinatorsMoved, obstacle: "different connection strings exist"},
		"an address that a pod without state has now": {edit: func(f *Facts) { f.Groups[4].Now = []string{"10.0.0.1"} }, want: CoordinatorsMoved, handled: true},
		"the only addresses of a quorum, with pods without state": {edit: func(f *Facts) {
			f.Groups[3].Now, f.Groups[4].Now = []string{"10.0.0.2"}, []string{"10.0.0.1"}
		}, want: CoordinatorsMoved, obstacle: "are a quorum without state"},
		"a quorum that is pods without state": {edit: func(f *Facts) {
			f.Quorum, f.Groups[3].Now, f.Groups[4].Now = new(true), []string{"10.0.0.2"}, []string{"10.0.0.1"}
		}, want: CoordinatorsMoved, obstacle: "delete these pods"},
		"a quorum of pods of which one cannot be read": {edit: func(f *Facts) {
			f.Quorum, f.Groups[3].Now, f.Groups[4].Now, f.Groups[4].Files = new(true), []string{"10.0.0.2"}, []string{"10.0.0.1"}, nil
		}, want: DatabaseDown},
		"an address that a pod with state has now": {edit: func(f *Facts) {
			f.Groups[4].Now, f.Groups[4].Files.Coordination = []string{"10.0.0.1"}, []datadir.File{{Bytes: 4096, Current: true}}
		}, want: CoordinatorsMoved, obstacle: "the address of sample-storage-5 now"},
		"an answer from outside of the cluster": {edit: func(f *Facts) { f.Coordinators[0].Reachable = new(true) }, want: CoordinatorsMoved, obstacle: "10.0.0.1:4501 answers, and belongs to no pod"},
		"a pod that cannot be read":             {edit: func(f *Facts) { f.Groups[4].Files, f.Groups[4].Unread = nil, "timeout" }, want: CoordinatorsMoved, obstacle: "could not be read: timeout"},
		"a coordinator without its files":       {edit: func(f *Facts) { f.Groups[0].Files.Coordination = nil }, want: CoordinatorsMoved, obstacle: "which ones were coordinators is unknown"},
		"files of another generation":           {edit: func(f *Facts) { f.Groups[0].Files.Coordination[0].Current = false }, want: CoordinatorsMoved, obstacle: "which ones were coordinators is unknown"},
		"files that are not of coordinators":    {edit: withTooManyFiles, want: CoordinatorsMoved, obstacle: "which ones were coordinators is unknown"},
		"two addresses":                         {edit: func(f *Facts) { f.Groups[0].Now = []string{"10.0.9.1", "fd00::1"} }, want: CoordinatorsMoved, obstacle: "1 required"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := rebooted()
			tc.edit(&f)
			a := Assess(f)
			if a.Kind != tc.want || a.Handled != tc.handled {
				t.Fatalf("%s, handled: %t, want %s, %t: %v %v", a.Kind, a.Handled, tc.want, tc.handled, a.Evidence, a.Obstacles)
			}
			if got := strings.Join(a.Obstacles, "; "); !strings.Contains(got, tc.obstacle) || (got != "") != (tc.obstacle != "") {
				t.Errorf("obstacles %q, want %q", got, tc.obstacle)
			}
			if (a.Handled && a.Kind == CoordinatorsMoved) != (len(a.Moves) > 0) {
				t.Errorf("moves %v", a.Moves)
			}
			if a.Kind == CoordinatorsMoved && !a.Handled && a.Lost == "nothing" {
				t.Error("nothing is lost of a state that is unknown")
			}
		})
	}
}

// withNewStatus is a cluster whose status was written since: only the files tell who coordinated.
func withNewStatus(f *Facts) {
	for i := range f.Groups {
		f.Groups[i].Addresses = f.Groups[i].Now
	}
}

func withTooManyFiles(f *Facts) {
	withNewStatus(f)
	f.Groups[4].Files.Coordination = f.Groups[0].Files.Coordination
}

func withReleased(f *Facts) {
	f.Groups[4].PVC, f.Groups[4].Volume = "", ""
	f.Released = []ReleasedVolume{{Name: "pv-5", UID: "volume-5", PVC: "sample-storage-5-data", ClaimUID: "claim-5", Policy: "Retain"}}
}

// lose loses so many coordinators with their volumes.
func lose(f *Facts, n int) {
	for i := range n {
		g := &f.Groups[i]
		g.Pod, g.PVC, g.Volume, g.Now, g.Files, g.Phase = "", "", "", nil, nil, ""
	}
}

func TestAMovedCoordinatorIsIdentifiedByStatusOrFiles(t *testing.T) {
	f := rebooted()
	if a := Assess(f); a.Moves[0].By != ByStatus || a.Moves[0].To != "10.0.9.1:4501" {
		t.Errorf("%+v", a.Moves[0])
	}
	withNewStatus(&f)
	if a := Assess(f); a.Moves[0].By != ByFiles {
		t.Errorf("%+v", a.Moves[0])
	}
}

func TestALostVolumeCountsAsDataLoss(t *testing.T) {
	f := rebooted()
	f.Groups[4].Pod, f.Groups[4].Now = "", nil
	if a := Assess(f); a.Lost != "nothing" {
		t.Error(a.Lost)
	}
	f.Groups[3].Pod, f.Groups[3].PVC = "", ""
	if a := Assess(f); a.Kind != PodsLost || a.Lost == "nothing" {
		t.Errorf("%s: %s", a.Kind, a.Lost)
	}
}

// down is a database that is not available, although a quorum answers.
func down(state string) Facts {
	f := rebooted()
	f.Quorum = new(true)
	f.Outage = Outage{RecoveryState: state, Replicas: 2}
	for i, class := range []string{"log", "log", "log", "log", "stateless"} {
		f.Groups[i].Class = class
	}
	return f
}

func TestTheRecoveryPlanOfADatabaseThatIsDownDependsOnItsState(t *testing.T) {
	tests := map[string]struct {
		state string
		edit  func(*Facts)
		// lost and steps are parts of the plan; never is what it must not.
		lost, steps, never string
		obstacle           string
	}{
		"too few processes to recruit":  {state: "recruiting_transaction_servers", lost: "nothing, as long as no volume is deleted", steps: "which needs no database: kubectl fdb reconcile sample --set processCounts.log=6 --set processCounts.stateless=2"},
		"include comes last":            {state: "recruiting_transaction_servers", lost: "nothing", steps: "--set processCounts.stateless=2; then end the exclusions that were a mistake: kubectl fdb include sample --all"},
		"logs that do not answer":       {state: "locking_coordinated_state", lost: "else all commits since the last backup", steps: "bring the pods of all log process groups back", never: "include"},
		"the state that is named so":    {state: "locking_old_transaction_servers", lost: "else all commits since the last backup", steps: "bring the pods of all log process groups back", never: "include"},
		"coordinators without a state":  {state: "configuration_never_created", lost: "the database, if it is configured again", steps: "do not configure the database", never: "reconcile"},
		"another state":                 {state: "fully_recovered", lost: "unknown", steps: "kubectl fdb why sample", never: "include"},
		"an unknown state":              {lost: "unknown", steps: "kubectl fdb why sample", never: "include"},
		"a disk that is full":           {state: "fully_recovered", edit: withFullDisk, lost: "unknown", steps: "delete no PVC, pod or process group", obstacle: "the disk of storage-4 has 1.0GiB of 100GiB free, 5% required"},
		"a full disk and few processes": {state: "recruiting_transaction_servers", edit: withFullDisk, lost: "nothing", steps: "expand the PVCs of the full disks", obstacle: "the disk of storage-4"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := down(tc.state)
			if tc.edit != nil {
				tc.edit(&f)
			}
			p, err := NewPlan("sample", "fdb", f, command)
			if err != nil || p.Kind != DatabaseDown || p.Handled || len(p.Steps) > 0 {
				t.Fatalf("%+v: %v", p, err)
			}
			steps := strings.Join(p.Manual, "; ")
			if !strings.Contains(p.Lost, tc.lost) || !strings.Contains(steps, tc.steps) || tc.never != "" && strings.Contains(steps, tc.never) {
				t.Errorf("lost: %s; steps: %s", p.Lost, steps)
			}
			if obstacles := strings.Join(p.Obstacles, "; "); !strings.Contains(obstacles, tc.obstacle) || (obstacles != "") != (tc.obstacle != "") {
				t.Errorf("obstacles %q, want %q", obstacles, tc.obstacle)
			}
		})
	}
}

func withFullDisk(f *Facts) {
	f.Outage.FullDisks = []FullDisk{{Group: "storage-4", Free: 1 << 30, Total: 100 << 30}}
}

// A database that accepts no commits, as its disks are full, can be available.
func TestFullDisksAreRecoveryEvidenceOfAnAvailableDatabase(t *testing.T) {
	f := down("fully_recovered")
	f.Available = new(true)
	if p, err := NewPlan("sample", "fdb", f, command); err != nil || p.Kind != NothingLost || len(p.Manual) > 0 {
		t.Errorf("%+v: %v", p, err)
	}
	withFullDisk(&f)
	p, err := NewPlan("sample", "fdb", f, command)
	if err != nil || p.Kind != NothingLost || p.Handled || !strings.Contains(strings.Join(p.Evidence, "; "), "the disk of storage-4 has 1.0GiB of 100GiB free") || !strings.Contains(strings.Join(p.Manual, "; "), "expand the PVCs") {
		t.Errorf("%+v: %v", p, err)
	}
}

func TestExclusionsInTheStatusAreRecoveryEvidence(t *testing.T) {
	f := down("recruiting_transaction_servers")
	f.Outage.Excluded = []string{"storage-1", "storage-2"}
	if a := Assess(f); !strings.Contains(strings.Join(a.Evidence, "; "), "2 of 5 process groups excluded in the status: storage-1, storage-2") {
		t.Error(a.Evidence)
	}
}
