package check

import "testing"

// A comment of a CI system shows text of a cluster, and obeys none of it.
func TestMarkdownShowsMarkupOfAClusterAsCode(t *testing.T) {
	for text, want := range map[string]string{
		"3 of 5 coordinators":               "3 of 5 coordinators",
		"![x](http://evil/?a|b)":            "`![x](http://evil/?a\\|b)`",
		"cc @admins":                        "`cc @admins`",
		"see http://evil":                   "`see http://evil`",
		"a ```\ncode``` <img src=x>":        "````a ``` code``` <img src=x>````",
		"`a`":                               "`` `a` ``",
		"x\r::error::pwn\u202e":             "`x^M::error::pwn\\u202e`",
		"kubectl get pods -o name | xargs":  `kubectl get pods -o name \| xargs`,
		"\x1b]0;title\a and www.evil.test/": "`^[]0;title^G and www.evil.test/`",
	} {
		if got := cell(inline(text)); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
