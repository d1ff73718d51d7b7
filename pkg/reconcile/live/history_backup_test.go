package live_test

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"testing"
)

// Whatever happens to backups, some things must never be done to them, and once the troubles
// are over they have to be as their records ask. SEEDS and START choose the histories;
// with -short there are few.
func TestRandomHistoriesOfBackupsAreSafeAndConverge(t *testing.T) {
	many := uint64(15)
	if testing.Short() {
		many = 2
	}
	start, seeds := backupSetting(t, "START", 1), backupSetting(t, "SEEDS", many)
	for seed := start; seed < start+seeds; seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			l := backupLifeOf(seed)
			if found := l.play(t, wrongBackup{}, nil); len(found) > 0 {
				short := shortestBackupLife(t, l, wrongBackup{}, found[0].sentence)
				var story bytes.Buffer
				short.play(t, wrongBackup{}, &story)
				t.Errorf("%s: %s\nof %d steps %d are enough:\n%s\nmake simulate SEEDS=1 START=%d",
					found[0].sentence, found[0].why, len(l.steps), len(short.steps), story.String(), seed)
			}
		})
	}
}

func backupSetting(t *testing.T, name string, otherwise uint64) uint64 {
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

// shortestBackupLife leaves out steps as long as the same invariant breaks.
func shortestBackupLife(t *testing.T, l backupLife, wrong wrongBackup, sentence string) backupLife {
	t.Helper()
	for i := 0; i < len(l.steps); {
		shorter := backupLife{seed: l.seed, steps: slices.Delete(slices.Clone(l.steps), i, i+1)}
		if found := shorter.play(t, wrong, nil); len(found) > 0 && found[0].sentence == sentence {
			l = shorter
		} else {
			i++
		}
	}
	return l
}

// Playing a seed again prints the same story to the byte, or no failure could be found again.
func TestASimulatedBackupHistoryIsReproducibleFromItsSeed(t *testing.T) {
	for seed := range uint64(2) {
		var first, second bytes.Buffer
		backupLifeOf(seed).play(t, wrongBackup{}, &first)
		backupLifeOf(seed).play(t, wrongBackup{}, &second)
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("seed %d prints two stories:\n%s\nand\n%s", seed, first.String(), second.String())
		}
	}
}
