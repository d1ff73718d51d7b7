package tui

import (
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// What a cell shows: nothing when there is nothing to show, unknown for a value that
// exists and that nobody told. Tables of the other commands show the same.
const (
	nothing = "-"
	unknown = "?"
)

func orNothing(text string) string {
	if text == "" {
		return nothing
	}
	return text
}

func orUnknown(text string) string {
	if text == "" {
		return unknown
	}
	return text
}

func yesNo(b *bool) string {
	switch {
	case b == nil:
		return unknown
	case *b:
		return "yes"
	default:
		return "no"
	}
}

// is reports whether something is known to be so, isNot whether it is known not to be.
func is(b *bool) bool    { return b != nil && *b }
func isNot(b *bool) bool { return b != nil && !*b }

func numberOr(n *int) string {
	if n == nil {
		return unknown
	}
	return strconv.Itoa(*n)
}

func bytesOr(n *int64, absent string) string {
	if n == nil {
		return absent
	}
	return ui.Bytes(*n)
}

func secondsOr(s *float64, absent string) string {
	if s == nil {
		return absent
	}
	return lasting(time.Duration(*s * float64(time.Second)))
}

// lasting is a duration in as few letters as kubectl uses. Clocks of two machines differ,
// so what is a little in the future is now.
func lasting(d time.Duration) string { return duration.HumanDuration(max(0, d)) }

// counted is a number and what is counted: "1 node", "3 nodes".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// mentions reports whether a text has a name in it as a whole word: storage-1 is not in
// storage-10.
func mentions(text, name string) bool {
	for rest := text; name != ""; {
		at := strings.Index(rest, name)
		if at < 0 {
			return false
		}
		before, after := rest[:at], rest[at+len(name):]
		if !endsInWord(before) && !beginsWithWord(after) {
			return true
		}
		rest = after
	}
	return false
}

func endsInWord(text string) bool { return text != "" && isWord(text[len(text)-1]) }

func beginsWithWord(text string) bool { return text != "" && isWord(text[0]) }

func isWord(b byte) bool {
	return b == '-' || b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
