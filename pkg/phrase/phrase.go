// Package phrase formats numbers, lists and absent values as text. It is the only place that
// does, so that every view and document uses the same words for the same thing.
package phrase

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Unknown is an existing value that could not be determined, UnknownCell the same where a
// table has no room for a word; Nothing is the absence of a value.
const (
	Unknown     = "unknown"
	UnknownCell = "?"
	Nothing     = "-"
)

// Count is a number of things: "1 process group", "3 process groups", "0 copies". The noun
// is singular, and its last word takes the plural.
func Count[N ~int | ~int32 | ~int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(int64(n), 10) + " " + Plural(noun)
}

// CountOf is a part of a number of things: "2 of 3 coordinators", "0 of 1 coordinator".
func CountOf[N ~int | ~int32 | ~int64](part, all N, noun string) string {
	return strconv.FormatInt(int64(part), 10) + " of " + Count(all, noun)
}

// Plural is the plural of a regular English noun.
func Plural(noun string) string {
	for _, ending := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(noun, ending) {
			return noun + "es"
		}
	}
	if stem, y := strings.CutSuffix(noun, "y"); y && !strings.ContainsAny(stem[max(0, len(stem)-1):], "aeiou") {
		return stem + "ies"
	}
	return noun + "s"
}

// EitherOf is Either for a part of a number of things: one of several and any part of one
// are singular.
func EitherOf[N ~int | ~int32 | ~int64](part, all N, one, others string) string {
	if all == 1 {
		return one
	}
	return Either(part, one, others)
}

// Is is the verb for a number of things: "is" of one, "are" of others.
func Is[N ~int | ~int32 | ~int64](n N) string { return Either(n, "is", "are") }

// Has is the verb for a number of things: "has" of one, "have" of others.
func Has[N ~int | ~int32 | ~int64](n N) string { return Either(n, "has", "have") }

// Either is one word for one thing, and another for any other number of them.
func Either[N ~int | ~int32 | ~int64](n N, one, others string) string {
	if n == 1 {
		return one
	}
	return others
}

// List is all of the items, with commas.
func List[T ~string](items []T) string { return strings.Join(Strings(items), ", ") }

// Some is the first of the items, at most that many, and how many more there are:
// "a, b and 3 more".
func Some[T ~string](items []T, most int) string { return SomeBy(items, most, ", ") }

// SomeBy is Some with another separator, for items that have commas: "a; b; and 3 more".
func SomeBy[T ~string](items []T, most int, separator string) string {
	if len(items) <= most {
		return strings.Join(Strings(items), separator)
	}
	last := " and "
	if separator != ", " {
		last = separator + "and "
	}
	return fmt.Sprintf("%s%s%d more", strings.Join(Strings(items[:most]), separator), last, len(items)-most)
}

// Named is some things by their names: "process group a", "3 process groups (a, b and 1 more)".
func Named(names []string, noun string, most int) string {
	if len(names) == 1 {
		return noun + " " + names[0]
	}
	return fmt.Sprintf("%s (%s)", Count(len(names), noun), Some(names, most))
}

// Strings are the items as plain strings.
func Strings[T ~string](items []T) []string {
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = string(item)
	}
	return all
}

// Or is a text, or what stands for an empty one.
func Or(text, absent string) string {
	if text == "" {
		return absent
	}
	return text
}

// YesNo is "yes" or "no", and absent where that is unknown.
func YesNo(b *bool, absent string) string {
	switch {
	case b == nil:
		return absent
	case *b:
		return "yes"
	default:
		return "no"
	}
}

// NumberOr is a number, and absent where it is unknown.
func NumberOr(n *int, absent string) string {
	if n == nil {
		return absent
	}
	return strconv.Itoa(*n)
}

// BytesOr is Bytes, and absent where the number is unknown.
func BytesOr(n *int64, absent string) string {
	if n == nil {
		return absent
	}
	return Bytes(*n)
}

// Bytes is a number of bytes in binary units with two or three digits: "512B", "1.4GiB".
func Bytes(n int64) string {
	if n < 0 {
		return "-" + size(uint64(-(n+1))+1) //nolint:gosec // positive: the smallest number has no negative
	}
	return size(uint64(n))
}

func size(n uint64) string {
	const unit, prefixes = 1024, "KMGTPE"
	if n < unit {
		return strconv.FormatUint(n, 10) + "B"
	}
	value, prefix := float64(n)/unit, 0
	for value >= unit && prefix < len(prefixes)-1 {
		value, prefix = value/unit, prefix+1
	}
	if value >= 10 {
		return fmt.Sprintf("%.0f%ciB", value, prefixes[prefix])
	}
	return fmt.Sprintf("%.1f%ciB", value, prefixes[prefix])
}

// Duration is a time in as few letters as kubectl uses: "47s", "3h20m". Clocks of two
// machines differ, so a negative one is "0s".
func Duration(d time.Duration) string { return duration.HumanDuration(max(0, d)) }

// longest is the largest number of seconds that a time.Duration holds: 292 years.
const longest = float64(math.MaxInt64 / int64(time.Second))

// Seconds is Duration of a number of seconds. Specs use the largest integer as "never", so
// it is the longest duration instead of an overflow.
func Seconds[N ~int | ~int32 | ~int64 | ~float64](s N) string {
	return Duration(time.Duration(min(float64(s), longest) * float64(time.Second)))
}

// Until is the time from now to t. In contrast to a time.Duration it can be longer than 292
// years, as the ends of the largest durations are.
func Until(t, now time.Time) string {
	const year = 365 * 24 * 60 * 60
	if seconds := t.Unix() - now.Unix(); seconds > 200*year {
		return strconv.FormatInt(seconds/year, 10) + "y"
	}
	return Duration(t.Sub(now))
}

// SecondsOr is Seconds, and absent where the number is unknown.
func SecondsOr[N ~int | ~int32 | ~int64 | ~float64](s *N, absent string) string {
	if s == nil {
		return absent
	}
	return Seconds(*s)
}

// Visible returns text with its control characters shown instead of sent: ESC as "^[", as kubectl
// shows it, other ASCII ones in the same notation, and the rest as "\u009b" or "\x9b". Ends of lines and tabs stay; a carriage
// return before the end of a line is left out. Text of a cluster can contain anything: an event must not be
// able to move the cursor, begin another line or reverse the rest of one.
func Visible(text string) string {
	if isPlain(text) {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[at])
		case r == '\n', r == '\t', !IsControl(r):
			b.WriteString(text[at : at+size])
		case r < ' ', r == 0x7f:
			b.WriteString("^" + string(r^0x40))
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		at += size
	}
	return b.String()
}

// Truncated returns text with at most so many bytes of it, in whole characters; "…" follows where some are left out.
func Truncated(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

var onOneLine = strings.NewReplacer("\n", " ", "\t", " ")

// VisibleLine returns text as Visible does, on one line.
func VisibleLine(text string) string { return onOneLine.Replace(Visible(text)) }

// IsControl reports whether a character controls a terminal or the order of text instead of being shown:
// control characters, ends of lines and paragraphs, and invisible formatting, other than the joiners that
// words and emoji of some languages need.
func IsControl(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0:
		return true
	case r < 0xa0, r == 0x200c, r == 0x200d:
		return false
	}
	return unicode.In(r, unicode.Zl, unicode.Zp, unicode.Cf) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// isPlain reports whether text is nothing but printable ASCII on lines, as nearly all is.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

const (
	// maxMeant is how many names are suggested for a mistyped one.
	maxMeant = 3
	// farthestMeant is how many letters may be wrong.
	farthestMeant = 2
)

// OrMeant returns a suggestion for a word that matches nothing: the most similar names; empty
// if there are none.
func OrMeant(typed string, names []string) string {
	meant := Meant(typed, names)
	if len(meant) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(meant, " or ") + "?"
}

// Meant returns the names that are most similar to a word, none if there are many. A name that begins with the word is similar.
func Meant(typed string, names []string) (meant []string) {
	nearest := farthestMeant
	for _, name := range names {
		far := wrongLetters(strings.ToLower(typed), strings.ToLower(name))
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(typed)) {
			far = min(far, 1)
		}
		if far < nearest {
			nearest, meant = far, nil
		}
		if far == nearest && !slices.Contains(meant, name) {
			meant = append(meant, name)
		}
	}
	if len(meant) > maxMeant {
		return nil
	}
	return meant
}

// wrongLetters returns how many letters must be inserted, deleted or replaced to turn a into b.
func wrongLetters(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
