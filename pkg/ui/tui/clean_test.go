package tui

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/cells"
)

// Data of a cluster is only text: a user who may write an event must not be able to move the
// cursor of another user.
func TestTerminalControlSequencesInClusterDataAreRemoved(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"plain":                      {"0/4 nodes", "0/4 nodes"},
		"a color":                    {"\x1b[31mred\x1b[0m", "red"},
		"a screen that is erased":    {"a\x1b[2J\x1b[Hb", "ab"},
		"a title":                    {"a\x1b]0;owned\ab", "ab"},
		"a clipboard":                {"a\x1b]52;c;cm0gLXJm\x1b\\b", "ab"},
		"an 8-bit sequence":          {"a\u009b2Jb", "a2Jb"},
		"lines and tabs":             {"a\nb\tc\rd", "a b c d"},
		"a bell and a backspace":     {"a\a\bb", "ab"},
		"text that is turned around": {"a\u202eb\u2066c", "abc"},
		"zero width":                 {"a\u200bb\ufeffc", "abc"},
		"bytes that are no text":     {"a\xffb", "a?b"},
		"wide characters":            {"例え=テスト", "例え=テスト"},
		"half a sequence":            {"a\x1b[", "a"},
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
