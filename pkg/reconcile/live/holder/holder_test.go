package holder

import (
	"os/exec"
	"runtime"
	"testing"
)

func TestALeaseHolderHasEndedOnlyIfItsLocalProcessHasExited(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows whether a process of another run still lives")
	}
	here := thisMachine()
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	started := startOf(child.Process.Pid)
	living := holder{user: "a", host: "b", pid: child.Process.Pid, started: started, machine: here}
	reused, elsewhere := living, living
	reused.started = "1"
	elsewhere.machine, elsewhere.started = "another/pid:[1]", "1"
	if Ended(living.String()) {
		t.Error("a living process counts as dead")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	tests := map[string]struct {
		holder string
		dead   bool
	}{
		"this very process lives":                         {New(), false},
		"a killed process is dead":                        {living.String(), true},
		"a killed process that gave a reason is dead":     {living.String() + " (rack 12)", true},
		"a number that another process got since is dead": {reused.String(), true},
		"unknown for another machine":                     {elsewhere.String(), false},
		"unknown for a holder of another form":            {"operator-7d9f", false},
		"unknown without a start time":                    {holder{user: "a", host: "b", pid: 1}.String(), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Ended(tc.holder); got != tc.dead {
				t.Errorf("%q counts as dead: %t, want %t", tc.holder, got, tc.dead)
			}
		})
	}
}
