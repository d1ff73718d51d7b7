package machine

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestDirectoryHasOneSandbox(t *testing.T) {
	p := Paths{Dir: t.TempDir()}
	if _, running, err := Running(p); running || err != nil {
		t.Fatalf("an empty directory: running %v, error %v", running, err)
	}
	held, err := lock(p.Lock())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock(p.Lock()); !errors.Is(err, ErrRunning) {
		t.Errorf("taking the lock twice: %v", err)
	}
	id, running, err := Running(p)
	if err != nil || !running || id.PID != os.Getpid() {
		t.Errorf("running %v as %v, error %v", running, id, err)
	}
	held.Close()
}

func TestAReusedPIDIsNotTheIdentifiedProcess(t *testing.T) {
	id, err := identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !id.Alive() {
		t.Error("this process does not live")
	}
	id.Start += "0"
	if id.Alive() {
		t.Error("an earlier process is taken for this one")
	}
}

func TestSandboxStateIsReadBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	empty, err := readState(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(state{}, empty); diff != "" {
		t.Error(diff)
	}
	want := state{Port: 6443, Network: "127.3.0.0/16"}
	if err := want.write(file); err != nil {
		t.Fatal(err)
	}
	got, err := readState(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTwoSandboxesHaveTwoNetworks(t *testing.T) {
	first, l1, err := claimNetwork("", "/tmp/a")
	if err != nil {
		t.Fatal(err)
	}
	defer l1.Close()
	second, l2, err := claimNetwork("", "/tmp/a")
	if err != nil {
		t.Fatal(err)
	}
	defer l2.Close()
	if first == second {
		t.Errorf("both have %s", first)
	}
	if _, _, err := claimNetwork(first, "/tmp/a"); err == nil {
		t.Errorf("%s was taken twice", first)
	}
}

// A sandbox that starts again needs its network, which another one must not have taken meanwhile.
func TestTheNetworkOfAStoppedSandboxIsNotTheNextOnesFirst(t *testing.T) {
	own, held, err := claimNetwork("", "/tmp/a")
	if err != nil {
		t.Fatal(err)
	}
	held.Close()
	next, held, err := claimNetwork("", "/tmp/b")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if next == own {
		t.Errorf("both have %s", own)
	}
	again, held, err := claimNetwork(own, "/tmp/a")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if again != own {
		t.Errorf("got %s, want %s", again, own)
	}
}

func TestPodFaultsAreAddedAndRemoved(t *testing.T) {
	tests := map[string]struct {
		now     string
		request PodRequest
		want    string
	}{
		"the first":                  {request: PodRequest{Add: "Pending"}, want: "Pending"},
		"another one":                {now: "NotReady", request: PodRequest{Add: "ExecSlow=1s"}, want: "NotReady,ExecSlow=1s"},
		"a new value of the same":    {now: "ExecSlow=1s,NotReady", request: PodRequest{Add: "ExecSlow=2s"}, want: "NotReady,ExecSlow=2s"},
		"one is removed by its name": {now: "ExecSlow=1s,NotReady", request: PodRequest{Remove: "ExecSlow"}, want: "NotReady"},
		"all are removed":            {now: "ExecSlow=1s,NotReady", want: ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := changeFaults(test.now, test.request)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := changeFaults("", PodRequest{Add: "Nonsense"}); err == nil {
		t.Error("an unknown fault was accepted")
	}
}

func TestTaintsAreReplacedAndRemoved(t *testing.T) {
	old := corev1.Taint{Key: "a", Value: "1", Effect: corev1.TaintEffectNoSchedule}
	next := corev1.Taint{Key: "a", Value: "2", Effect: corev1.TaintEffectNoSchedule}
	got, err := changeTaints([]corev1.Taint{old}, NodeRequest{Taint: &next})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]corev1.Taint{next}, got); diff != "" {
		t.Error(diff)
	}
	got, err = changeTaints(got, NodeRequest{Untaint: "a"})
	if err != nil || len(got) != 0 {
		t.Errorf("left %v, error %v", got, err)
	}
	if _, err := changeTaints(nil, NodeRequest{Name: "n", Untaint: "a"}); err == nil {
		t.Error("a taint that is not there was removed")
	}
}
