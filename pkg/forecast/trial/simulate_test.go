package trial

import (
	"bytes"
	"os"
	"strconv"
	"testing"
)

// Whatever happens to a cluster, some things must never be done to it, and once the
// troubles are over it has to come back. SEEDS and START choose the histories; with -short
// there are few.
func TestRandomHistoriesAreSafeAndConverge(t *testing.T) {
	many := uint64(40)
	if testing.Short() {
		many = 4
	}
	start, seeds := setting(t, "START", 1), setting(t, "SEEDS", many)
	for seed := start; seed < start+seeds; seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			judge(t, seed)
		})
	}
}

// Histories that failed before the cause was corrected. They tell the same story until the choices of
// histories change; the causes have tests of their own where a small case shows them.
func TestFormerlyFailingSimulationHistories(t *testing.T) {
	for name, seed := range map[string]uint64{
		"an exclusion that only the list of exclusions has counts as draining": 2503436,
		"a new controller lists no process of another protocol":                2509020,
		"a death that a stale status document hides is no known one":           2502957,
		"no process joins a database that goes on in another protocol":         2506497,
		"a pod whose PVC is being deleted is not recreated":                    880179,
		"a template is tried once, although its pod is marked for removal":     3504630,
		"it is tried once, although the group of its pod is a coordinator's":   3503412,
		"another template is tried beside a pod that leaves with an older one": 3501436,
		"it is tried again once the pod that tried it has left":                3501890,
		"a pod that never started holds up no upgrade":                         3543298,
		"an exclusion waits for what the pass before took down":                258,
		"an exclusion waits for the new pod of a group that was long missing":  6502316,
		"an exclusion waits for what ended while the database was not seen":    6523922,
		"what ended while the database was not seen is no failed group yet":    6521075,
		"what is recorded again after its loss is no loop":                     6521622,
		"what a pass leaves to a user stays away until then":                   6533545,
		"a new process that ended before any pass has seen it report":          6600349,
		"a new process, while the only document in between has no processes":   6603638,
		"what the list of the spec keeps stays away with its wrong image":      6542412,
		"a template that never started takes no second pod down by its tag":    6703447,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judge(t, seed)
		})
	}
}

// judge plays a history, and reports the shortest one that fails for the same reason.
func judge(t *testing.T, seed uint64) {
	t.Helper()
	l := lifeOf(seed)
	found := l.play(t, mutation{}, nil)
	if len(found) == 0 {
		return
	}
	short := shortest(t, l, mutation{}, found[0].Sentence)
	var story bytes.Buffer
	short.play(t, mutation{}, &story)
	t.Errorf("%s: %s\nof %d steps %d are enough:\n%s\nmake simulate SEEDS=1 START=%d",
		found[0].Sentence, found[0].Why, len(l.steps), len(short.steps), story.String(), seed)
}

func setting(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q is no number", name, text)
	}
	return n
}

// Playing a seed again prints the same story to the byte, or no failure could be found again.
func TestASimulatedHistoryIsReproducibleFromItsSeed(t *testing.T) {
	for seed := range uint64(3) {
		var first, second bytes.Buffer
		lifeOf(seed).play(t, mutation{}, &first)
		lifeOf(seed).play(t, mutation{}, &second)
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("seed %d prints two stories:\n%s\nand\n%s", seed, first.String(), second.String())
		}
	}
}
