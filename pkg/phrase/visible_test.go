package phrase

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Data of a cluster is only text: a user who may write an event must not be able to move the
// cursor of another user.
func TestVisibleShowsControlCharacters(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"plain":                           {"0/4 nodes", "0/4 nodes"},
		"a color":                         {"\x1b[31mred\x1b[0m", "^[[31mred^[[0m"},
		"a screen that is erased":         {"a\x1b[2Jb", "a^[[2Jb"},
		"a clipboard":                     {"\x1b]52;c;cm0=\a", "^[]52;c;cm0=^G"},
		"an 8-bit sequence":               {"a\u009b2Jb", `a\u009b2Jb`},
		"the same as a byte":              {"a\x9b2Jb", `a\x9b2Jb`},
		"lines and tabs":                  {"a\nb\tc", "a\nb\tc"},
		"a carriage return before a line": {"a\r\nb", "a\nb"},
		"another carriage return":         {"a\r::error::b", "a^M::error::b"},
		"a deleted character":             {"a\x7fb\x00", "a^?b^@"},
		"text that is turned around":      {"a\u202eb\u2066c\u2029", `a\u202eb\u2066c\u2029`},
		"zero width":                      {"a\u200bb\ufeffc", `a\u200bb\ufeffc`},
		"invisible tags":                  {"a\U000e0041", `a\U000e0041`},
		"wide characters":                 {"例え=テスト", "例え=テスト"},
		"joined emoji":                    {"👩\u200d👩", "👩\u200d👩"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Visible(tc.text); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func FuzzVisibleTextHasNoControlCharacter(f *testing.F) {
	for _, seed := range []string{"a", "\x1b[31m", "\x9b", "例", "\u202e", "\x1b]8;;x\x1b\\", "\r\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Visible(text)
		if !utf8.ValidString(got) {
			t.Errorf("%q is invalid UTF-8", got)
		}
		for _, r := range strings.NewReplacer("\n", "", "\t", "").Replace(got) {
			if IsControl(r) {
				t.Errorf("%q leaves %U", text, r)
			}
		}
		if again := Visible(got); again != got {
			t.Errorf("%q is shown as %q the second time", got, again)
		}
	})
}

func TestTruncatedKeepsWholeCharacters(t *testing.T) {
	for _, tc := range []struct {
		text string
		most int
		want string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"aéb", 2, "a…"},
		{"aéb", 3, "aé…"},
		{"日本", 2, "…"},
		{"日本", 5, "日…"},
		{"\xff\xff\xff", 2, "\xff\xff…"},
		{"", 0, ""},
	} {
		if got := Truncated(tc.text, tc.most); got != tc.want {
			t.Errorf("%q, at most %d bytes: got %q, want %q", tc.text, tc.most, got, tc.want)
		}
	}
}
