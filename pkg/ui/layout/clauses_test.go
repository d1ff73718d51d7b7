package layout

import "testing"

// What is cut shows whole words: half a number would be another one.
func TestALineIsCutBetweenTwoWords(t *testing.T) {
	tests := map[string]struct {
		line  string
		cells int
		want  string
	}{
		"it fits":                            {"375MiB left", 11, "375MiB left"},
		"a number that does not fit":         {"left 375MiB at", 8, "left …"},
		"no room for the mark behind a word": {"left 375MiB", 5, "left…"},
		"a separator before what is cut":     {"1 of 3 · waiting", 12, "1 of 3 …"},
		"one word":                           {"storage-33641", 9, "storage-…"},
		"wide characters":                    {"例え 例え例え", 9, "例え …"},
	}
	for name, tc := range tests {
		if got := CutAtWord(tc.line, tc.cells); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestTheLeastImportantPartsOfALineAreLeftOut(t *testing.T) {
	drop := map[string]int{"danger": 0, "left": 3, "done": 4, "count": 9, "passes": 9}
	all := []string{"left", "done", "count", "passes", "danger"}
	for room, want := range map[int]int{5: 5, 4: 4, 2: 2, 0: 1} {
		kept := Kept(all, func(part string) int { return drop[part] }, func(parts []string) bool { return len(parts) <= room })
		if len(kept) != want || kept[len(kept)-1] != "danger" || (want == 2 && kept[0] != "left") || (want == 4 && kept[2] != "count") {
			t.Errorf("room for %d: %v", room, kept)
		}
	}
}
