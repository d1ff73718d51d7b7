package tui

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/entries"
)

// Frames are kept as differences: whatever they have, each is shown again as it was.
func TestEveryStateOfTheHistoryIsShownAgainAsItWas(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 38))
		m := shown(t, 120, 40, Options{})
		var given []*frame.Frame
		for i := range 40 {
			f := frameOf(r, received)
			given = append(given, f)
			m = after(m, entryMsg{Entry: Entry{At: noon.Add(time.Duration(i) * time.Second), Cluster: "sample", Frame: f}})
			m = after(m, entryMsg{Entry: Entry{At: noon, Cluster: "other", Frame: anyFrame(r)}}) // between them
		}
		for i, f := range given {
			m.back, m.view = i, r.IntN(len(views()))
			kept := m.clusterView().state
			if got, want := text(t, kept.frame), text(t, f); !bytes.Equal(got, want) {
				t.Fatalf("seed %d, state %d is\n%s\nand was\n%s", seed, i, got, want)
			}
			again := m.View()
			m.opened, m.drawnMap, m.courses = &openedFrame{kept: kept.kept, frame: f}, &drawnMap{}, &drawnCourses{}
			if was := m.View(); again != was {
				t.Fatalf("seed %d, view %d of state %d is\n%s\nand was\n%s", seed, m.view, i, again, was)
			}
		}
	}
}

// received returns a text as an API server or a database delivers it: in UTF-8.
func received(r *rand.Rand) string { return strings.ToValidUTF8(somewhere(r), "\uFFFD") }

func text(t *testing.T, f *frame.Frame) []byte {
	t.Helper()
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// maxHistory is what the history of a cluster of 300 process groups may take, in bytes. Whole frames take a hundred times as much.
const maxHistory = 40 << 20

// busyFrame returns a frame in which what changes from poll to poll has changed.
func busyFrame(r *rand.Rand, groups int) *frame.Frame {
	f := lost()
	for i := len(f.Groups.Items); i < groups; i++ {
		g := group(i % 12)
		g.ID = fmt.Sprintf("%s-%d", g.Class, i)
		f.Groups.Items = append(f.Groups.Items, g)
	}
	load := *underLoad(1)[0].Frame.Workload
	of := load.Processes[0]
	for i := range f.Groups.Items {
		g := &f.Groups.Items[i]
		g.UptimeSeconds, g.StoredBytes, g.LagSeconds = new(r.Float64()*1e6), new(r.Int64N(1<<40)), new(r.Float64())
		of.Group, of.CPUCores, of.DiskBusy, of.QueueBytes = g.ID, new(r.Float64()), new(r.Float64()), new(r.Int64N(1<<30))
		load.Processes = append(load.Processes, of)
	}
	f.Workload = &load
	return f
}

// A dashboard that is open for an hour has polled 1,800 times.
func TestTheHistoryOfAnHourTakesLittleMemory(t *testing.T) {
	polls, groups := 1800, 300
	if testing.Short() {
		polls = 64
	}
	r := rand.New(rand.NewPCG(38, 1))
	var h history
	recording, before := &entries.Recording{}, held()
	for i := range polls {
		h, _ = h.add(Entry{At: noon.Add(time.Duration(i) * 2 * time.Second), Cluster: "sample", Frame: busyFrame(r, groups)}, recording).trimmed()
	}
	took := held() - before
	t.Logf("%d polls of %d process groups take %d KiB in %d states", polls, groups, took>>10, len(h.states))
	if most := int64(maxHistory); took > most {
		t.Errorf("the history takes %d bytes, at most %d", took, most)
	}
	runtime.KeepAlive(h)
	runtime.KeepAlive(recording)
}

// Frames that have nothing in common end the history sooner.
func TestTheHistoryOfLargeFramesIsLimitedInBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("compresses 80 MB")
	}
	r, noise := rand.NewChaCha8([32]byte{}), make([]byte, 1<<19)
	var h history
	recording, before := &entries.Recording{}, held()
	for i := range 80 {
		r.Read(noise)
		f := well()
		f.Status.Summary = hex.EncodeToString(noise)
		h, _ = h.add(Entry{At: noon.Add(time.Duration(i) * time.Second), Cluster: "sample", Frame: f}, recording).trimmed()
	}
	if took := held() - before; took > maxHistory || len(h.states) < maxHistoryBytes>>20 {
		t.Errorf("%d states take %d bytes, at most %d", len(h.states), took, maxHistory)
	}
	runtime.KeepAlive(h)
	runtime.KeepAlive(recording)
}

// held returns the memory that is in use, in bytes.
func held() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
