package run

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A character of several bytes at the cut is left out, and not cut in half.
func TestTheLastErrorIsTruncatedAtACharacterBoundary(t *testing.T) {
	c := &capture{}
	c.text.WriteString(strings.Repeat("…", 1000)) // three bytes each, so that 2000 bytes begin inside one
	if last := c.lastError(); !utf8.ValidString(last) || strings.Count(last, "…") != 667 {
		t.Errorf("%d characters, valid %t", strings.Count(last, "…"), utf8.ValidString(last))
	}
}
