package recovery

import (
	"strings"
	"testing"
)

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
		"too few processes to recruit":  {state: "recruiting_transaction_servers", lost: "nothing, as long as no volume is deleted", steps: "raise spec.processCounts.log from 4 to 6, and stateless from 1 to 2"},
		"include comes last":            {state: "recruiting_transaction_servers", lost: "nothing", steps: "kubectl fdb reconcile sample; then end the exclusions that were a mistake: kubectl fdb include sample --all"},
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
