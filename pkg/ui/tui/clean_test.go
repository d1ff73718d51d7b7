package tui

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/cells"
)

// Data of a cluster is only text: a user who may write an event must not be able to move the
// cursor of another user.
func TestTerminalControlSequencesInClusterDataAreShown(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"plain":                      {"0/4 nodes", "0/4 nodes"},
		"a color":                    {"\x1b[31mred\x1b[0m", "^[[31mred^[[0m"},
		"an 8-bit sequence":          {"a\u009b2Jb", `a\u009b2Jb`},
		"lines and tabs":             {"a\nb\tc\rd", "a b c^Md"},
		"text that is turned around": {"a\u202eb\u2066c", `a\u202eb\u2066c`},
		"bytes that are no text":     {"a\xffb", `a\xffb`},
		"wide characters":            {"例え=テスト", "例え=テスト"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := cells.Clean(tc.text); got != tc.want {
				t.Errorf("%q", got)
			}
		})
	}
}

func FuzzCleanTextIsText(f *testing.F) {
	for _, seed := range []string{"a", "\x1b[31m", "\x9b", "例", "\u202e", "\x1b]8;;x\x1b\\"} {
		f.Add(seed, 7)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		got := cells.Clean(text)
		if control := controlIn(strings.ReplaceAll(got, "\n", "\x00"), false); control != "" {
			t.Errorf("%q leaves %s", text, control)
		}
		width = width & 0xff
		if w := widthOf(fit(got, width)); w != width {
			t.Errorf("%q takes %d columns of %d", got, w, width)
		}
		for _, l := range wrapped(styledLine(plain, text), max(1, width)) {
			if w := widthOf(l.Text()); w > max(2, width) { // a wide character needs two
				t.Errorf("%q takes %d columns of %d", l.Text(), w, width)
			}
		}
	})
}
