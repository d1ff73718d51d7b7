package fdbtools

import (
	"log/slog"
	"maps"
	"math"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/node"
)

func TestOnlyTimeWithoutEventsPassesFaster(t *testing.T) {
	nothing := func(*realm) {}
	tests := map[string]struct {
		happens func(*realm)
		settled bool
		want    float64
		later   bool // and nothing has happened since
	}{
		"servers run, and nothing happens":         {nothing, true, 100, false},
		"a pod starts or ends":                     {nothing, false, 10, false},
		"a tool runs":                              {func(w *realm) { w.use("/usr/bin/fdbcli") }, true, 10, false},
		"a tool has just ended":                    {func(w *realm) { at := w.use("fdbcli"); at() }, true, 10, false},
		"a tool waits for input":                   {func(w *realm) { w.use("fdbcli"); w.waits() }, true, 100, true},
		"a tool that waited has input":             {func(w *realm) { w.use("fdbcli"); goesOn := w.waits(); goesOn() }, true, 10, true},
		"an agent runs as long as its container":   {func(w *realm) { w.use("/usr/bin/backup_agent") }, true, 100, false},
		"a server has just started":                {func(w *realm) { w.count(&w.servers) }, true, 10, false},
		"no server is left, and data may be alone": {func(w *realm) { w.servers = 0 }, true, 10, false},
		"a fault was just injected":                {(*realm).touch, true, 10, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
			b := New(Options{Speed: 10, IdleSpeed: 100, Clock: c, Settled: func(namespace string) bool { return namespace == "ns" && tc.settled }})
			w := b.realm("ns")
			w.count(&w.servers)
			c.SetTime(c.Now().Add(quietAfter))
			tc.happens(w)
			if tc.later {
				c.SetTime(c.Now().Add(quietAfter))
			}
			if got := b.paceOf(w, c.Now()); got != tc.want {
				t.Errorf("the pace is %g, want %g", got, tc.want)
			}
		})
	}
}

func TestTimeStaysAtItsPaceForAWhileAfterPodsSettled(t *testing.T) {
	c := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	settled := false
	b := New(Options{Speed: 10, IdleSpeed: 100, Clock: c, Settled: func(string) bool { return settled }})
	w := b.realm("ns")
	w.count(&w.servers)
	var got []float64
	for range 4 {
		c.SetTime(c.Now().Add(quietAfter))
		got = append(got, b.paceOf(w, c.Now()))
		settled = true
	}
	if want := []float64{10, 100, 100, 100}; !slices.Equal(got, want) {
		t.Errorf("paces %v, want %v", got, want)
	}
	settled = false
	c.SetTime(c.Now().Add(lookInterval))
	_ = b.paceOf(w, c.Now())
	settled = true
	c.SetTime(c.Now().Add(lookInterval))
	if got := b.paceOf(w, c.Now()); got != 10 {
		t.Errorf("the pace is %g right after pods settled, want 10", got)
	}
}

func TestNamespacesHaveClocksOfTheirOwnOnlyWithAnIdleSpeed(t *testing.T) {
	for idle, want := range map[float64][]string{0: {""}, 100: {"a", "b"}} {
		b := New(Options{Speed: 10, IdleSpeed: idle, Clock: clock.RealClock{}})
		b.realm("a")
		b.realm("b")
		if got := slices.Sorted(maps.Keys(b.Times())); !slices.Equal(got, want) {
			t.Errorf("idle speed %g: clocks of %q, want %q", idle, got, want)
		}
	}
}

// A program outside of pods has no namespace. Two databases may have coordinators with the same name.
func TestAClientLibraryFindsTheDatabaseOfItsClusterFile(t *testing.T) {
	b := New(Options{Speed: 50, IdleSpeed: 100, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler), Settled: func(string) bool { return true }})
	go b.Run(t.Context())
	files := map[string]string{}
	for namespace, address := range map[string]string{"a": "127.0.1.1:4501", "b": "127.0.1.2:4501"} {
		dir := t.TempDir()
		l, err := net.Listen("unix", filepath.Join(dir, "s"))
		if err != nil {
			t.Fatal(err)
		}
		go b.Serve(t.Context(), l, node.Container{Namespace: namespace, Pod: "p"})
		files[namespace] = filepath.Join(dir, "fdb.cluster")
		if answer := wireWrite(files[namespace], "test:one@"+address); answer != "" {
			t.Fatal(answer)
		}
		container{b, l.Addr().String()}.server(t, "fdbserver", "--cluster_file="+files[namespace], "--public_address="+address, "--class=storage", "--datadir="+dir+"/1")
	}
	for len(b.Servers()) < len(files) {
		time.Sleep(10 * time.Millisecond)
	}
	for namespace, file := range files {
		if got := b.ofClusterFile(file); got.namespace != namespace {
			t.Errorf("the cluster file of namespace %q leads to %q", namespace, got.namespace)
		}
	}
	if got := b.ofClusterFile(filepath.Join(t.TempDir(), "none")); got.namespace != "" {
		t.Errorf("a missing cluster file leads to %q, want none", got.namespace)
	}
}

// A pass trusts no process that is older than its pod, and simulated time is ahead of the time of pods.
func TestAProcessIsNoOlderThanThePodThatSucceedsAnother(t *testing.T) {
	c := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	b := New(Options{Speed: 10, Clock: c})
	pod := func(uid types.UID) node.Container { return node.Container{Namespace: "ns", Pod: "p", UID: uid} }
	start := func(uid types.UID, data string) bool {
		defer func() { b.data[data] = uid }()
		return b.succeeds(pod(uid), data)
	}
	for _, tc := range []struct {
		uid  types.UID
		data string
		want bool
	}{{"1", "/a", false}, {"1", "/a", false}, {"2", "/a", true}, {"2", "/a", false}, {"2", "/b", false}} {
		if got := start(tc.uid, tc.data); got != tc.want {
			t.Errorf("pod %s with %s succeeds another: %t, want %t", tc.uid, tc.data, got, tc.want)
		}
	}
	limit := b.young()
	for age, want := range map[time.Duration]time.Duration{0: 0, 20 * time.Second: 20 * time.Second, youngFor: math.MaxInt64} {
		c.SetTime(time.Unix(0, 0).Add(age))
		if got := limit(); got != want {
			t.Errorf("after %s a process can have been up for %s, want %s", age, got, want)
		}
	}
}

func TestProcessesOfAnEstablishedDatabaseAreNoOlderThanTheirPods(t *testing.T) {
	c := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	w := New(Options{Speed: 10, IdleSpeed: 100, Clock: c}).realm("ns")
	for _, step := range []struct {
		age  time.Duration
		want bool
	}{{0, false}, {youngFor - time.Second, false}, {youngFor, true}} {
		c.SetTime(time.Unix(0, 0).Add(step.age))
		if got := w.isEstablished(); got != step.want {
			t.Errorf("established after %s: %t, want %t", step.age, got, step.want)
		}
	}
}
