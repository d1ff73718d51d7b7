package session

import (
	"io"
	"testing"
)

// A command may change several clusters, each time with its reason.
func TestTheHolderOfALeaseNamesTheReasonOnce(t *testing.T) {
	env := &Env{Holder: "ann@laptop process 17 (3 4)"}
	if got := LeaseHolder(env); got != "ann@laptop process 17 (3 4)" {
		t.Errorf("without a reason: %q", got)
	}
	for range 2 {
		env.Run.Reason = "CHG-42"
		if got := LeaseHolder(env); got != "ann@laptop process 17 (3 4) (CHG-42)" {
			t.Errorf("with a reason: %q", got)
		}
	}
	if got := LeaseHolder(env.Beside(io.Discard)); got != env.Holder {
		t.Errorf("what runs beside the command has its reason: %q", got)
	}
}
