package trial

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// No two faults of an operation break an invariant, the second at a step that comes after the first. PAIRS=N plays each
// N-th second fault of each first one, which EVERY and FROM choose as for single ones, and STATE names a file of the first ones
// that are finished: played again, they are left out. Without PAIRS a few are played.
func TestNoTwoFaultsOfAnOperationBreakAnInvariant(t *testing.T) {
	p := pairs{every: int(setting(t, "EVERY", 300)), from: int(setting(t, "FROM", 0)), pairs: int(setting(t, "PAIRS", 400))}
	if testing.Short() {
		p.every = 2000
	}
	p.state = openFinished(t, os.Getenv("STATE"), p.pairs)
	begin := time.Now()
	for _, x := range chosen(t) {
		t.Run(x.name, func(t *testing.T) { p.run(t, x) })
	}
	t.Logf("all: %d histories, %d with a violation, %s; %d before", p.played.Load(), p.broken.Load(), time.Since(begin).Round(time.Second), p.state.before)
}

// pairs are the histories with two faults.
type pairs struct {
	every, from, pairs int
	state              *finished
	played, broken     atomic.Int64
}

// run plays those of one operation.
func (p *pairs) run(t *testing.T, x exhaustion) {
	t.Helper()
	if first, second, two := strings.Cut(os.Getenv("ONLY"), ","); two {
		x.only(t, first, second)
		return
	}
	begin := time.Now()
	firsts := everyOf(x.singles(t), p.every, p.from%p.every)
	todo := slices.DeleteFunc(slices.Clone(firsts), func(s Single) bool { return p.state.has(x.name, s) })
	t.Logf("%s: %d of %d first faults to do", x.name, len(todo), len(firsts))
	var done atomic.Int64
	onAllProcessors(len(todo), func(i int) bool {
		played, broken := x.after(t, todo[i], p.pairs)
		p.state.add(t, x.name, todo[i], played, broken)
		p.broken.Add(int64(broken))
		if n := p.played.Add(int64(played)); done.Add(1)%progressEvery == 0 || n/progressEvery != (n-int64(played))/progressEvery {
			t.Logf("%s: %d of %d first faults, %d histories, %s", x.name, done.Load(), len(todo), n, time.Since(begin).Round(time.Second))
		}
		return true
	})
}

// after plays each n-th fault that comes after a first one, and returns how many histories that were, and in how many an
// invariant broke.
func (x exhaustion) after(t *testing.T, first Single, n int) (played, broken int) {
	t.Helper()
	all, _ := x.faults(t, []Single{first}) // what one fault breaks alone is the other test's
	for _, second := range everyOf(all, n, int(first.dice()%uint64(n))) {
		if played++; !x.holds(t, []Single{first, second}) {
			broken++
		}
	}
	return played, broken
}

// dice chooses with which of the second faults the first one begins.
func (s Single) dice() uint64 {
	sum := uint64(14695981039346656037) // FNV-1a
	for _, b := range []byte(s.String()) {
		sum = (sum ^ uint64(b)) * 1099511628211
	}
	return sum
}

// only plays the history of two faults by their names, and prints its story if an invariant breaks.
func (x exhaustion) only(t *testing.T, first, second string) {
	t.Helper()
	for _, a := range x.singles(t) {
		if a.String() != first {
			continue
		}
		all, _ := x.faults(t, []Single{a})
		for _, b := range all {
			if b.String() == second {
				x.holds(t, []Single{a, b})
				return
			}
		}
	}
	t.Fatalf("%s has no %s and %s", x.name, first, second)
}

// finished is a file of the first faults whose second ones were played.
type finished struct {
	mu     sync.Mutex
	path   string // empty for none
	pairs  int
	known  map[string]bool
	before int // how many histories were played before
}

// openFinished reads what was finished with the same share of second faults.
func openFinished(t *testing.T, path string, pairs int) *finished {
	t.Helper()
	f := &finished{path: path, pairs: pairs, known: map[string]bool{}}
	if path == "" {
		return f
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		return f
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var key string
		var share, played, broken int
		if n, _ := fmt.Sscan(lines.Text(), &key, &share, &played, &broken); n < 4 || share != pairs || broken > 0 {
			continue // a line that was cut, another share, or one to be played again
		}
		f.known[key] = true
		f.before += played
	}
	return f
}

func (f *finished) has(operation string, first Single) bool {
	return f.known[operation+":"+first.String()]
}

// add appends a first fault.
func (f *finished) add(t *testing.T, operation string, first Single, played, broken int) {
	t.Helper()
	if f.path == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Error(err)
		return
	}
	_, err = fmt.Fprintf(file, "%s:%s %d %d %d\n", operation, first, f.pairs, played, broken)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Error(err)
	}
}

// Found by playing all pairs of an operation.
func TestPairsOfFaultsThatBrokeAnInvariantBreakNoneAnyMore(t *testing.T) {
	for why, pair := range map[string]struct{ operation, first, second string }{
		"all processes restarted every ten minutes while the status could not be written": {"knob", "1:user-excludes@log-20566", "4/AddProcessGroups/AddGroups:write-forbidden"},
	} {
		t.Run(why, func(t *testing.T) { exhaustionOf(t, pair.operation).only(t, pair.first, pair.second) })
	}
}

// A first fault that is finished is not played again, unless an invariant broke or another share of second ones is requested.
func TestFinishedPairsAreNotPlayedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "state")
	good, bad, next := Single{Step: Step{Pass: 1}, Fault: Fault{problem: deletedPVC, group: "log-1"}}, Single{Step: Step{Pass: 2}, Fault: Fault{problem: fullDisks}}, Single{Step: Step{Pass: 3}}
	f := openFinished(t, path, 40)
	f.add(t, "grow", good, 7, 0)
	f.add(t, "grow", bad, 9, 1)
	again := openFinished(t, path, 40)
	for name, tc := range map[string]struct{ got, want bool }{
		"one without a violation":                 {again.has("grow", good), true},
		"one with a violation":                    {again.has("grow", bad), false},
		"one that was not played":                 {again.has("grow", next), false},
		"that of another operation":               {again.has("shrink", good), false},
		"one with another share of second faults": {openFinished(t, path, 20).has("grow", good), false},
	} {
		if tc.got != tc.want {
			t.Errorf("%s is finished: %t, want %t", name, tc.got, tc.want)
		}
	}
	if again.before != 7 {
		t.Errorf("histories before: %d, want 7", again.before)
	}
}
