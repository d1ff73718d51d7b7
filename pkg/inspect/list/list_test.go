package list

import "testing"

// A page full of green shows nothing.
func TestThatThereIsNothingIsNotShownAsGood(t *testing.T) {
	tests := map[string]struct {
		cell Cell
		in   Tone
		want Tone
	}{
		"nothing that is good": {Text(""), Good, Plain},
		"nothing that is bad":  {Text(""), Bad, Bad},
		"a value that is good": {Text("yes"), Good, Good},
		"one that is unknown":  {Known(""), Unsure, Unsure},
	}
	for name, tc := range tests {
		if got := tc.cell.In(tc.in).Tone; got != tc.want {
			t.Errorf("%s: tone %d, want %d", name, got, tc.want)
		}
	}
}
