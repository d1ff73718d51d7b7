package layout

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// widestIn returns the width of the widest line, measured by another library than the layout uses.
func widestIn(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		n = max(n, ansi.StringWidth(strings.TrimSuffix(line, "\n")))
	}
	return n
}

func words(r *rand.Rand, most int) string {
	alphabet := []string{"storage-12345", "down", "é", "日本", "a,b,c", Styled("31", "red"), "fdb-kubernetes-operator.example.com/a-very-long-path/of-an-image:7.3.79", strings.Repeat("x", 90)}
	all := make([]string, r.IntN(most))
	for i := range all {
		all[i] = alphabet[r.IntN(len(alphabet))]
	}
	return strings.Join(all, strings.Repeat(" ", 1+r.IntN(2)))
}

// squeezed is a text without blanks and ends of lines: what must survive any wrapping.
func squeezed(text string) string {
	return strings.NewReplacer(" ", "", "\n", "").Replace(text)
}

func TestWrappedTextFitsAndLosesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text, width, hang := strings.Repeat(" ", r.IntN(9))+words(r, 20), 20+r.IntN(100), r.IntN(30)
		got := strings.Join(Wrap(text, width, hang), "\n")
		if n := widestIn(got); n > width {
			t.Fatalf("%d cells in a width of %d:\n%s", n, width, got)
		}
		if squeezed(got) != squeezed(text) {
			t.Fatalf("from %q\ngot  %q", text, got)
		}
	}
}

func TestWrapBreaksBetweenWords(t *testing.T) {
	got := Wrap("refused: no spare zone (have 0, need 1) storage-12345", 24, 9)
	want := []string{"refused: no spare zone", "         (have 0, need", "         1)", "         storage-12345"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAPageWrapsAnyText(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var b bytes.Buffer
		width := 60 + r.IntN(60)
		p, all := NewPage(&b, func() int { return width }), ""
		for range r.IntN(10) {
			text := words(r, 8) + []string{"", " ", "\n"}[r.IntN(3)]
			all += text
			fmt.Fprint(p, text)
		}
		if n := widestIn(b.String()); n > width {
			t.Fatalf("%d cells in a width of %d:\n%s", n, width, &b)
		}
		if want := squeezed(styles.ReplaceAllString(all, "\x1b[${1}m")); squeezed(b.String()) != want {
			t.Fatalf("from %q\ngot  %q", all, &b)
		}
	}
}

// A width that is unknown, and a writer that is no terminal, change nothing.
func TestTextIsNotWrappedWithoutAKnownWidth(t *testing.T) {
	var page, pipe bytes.Buffer
	text := strings.Repeat("word ", 100)
	Entry(NewPage(&page, func() int { return 0 }), "hint: ", text)
	Entry(&pipe, "hint: ", text)
	if want := "hint: " + text + "\n"; page.String() != want || pipe.String() != want {
		t.Errorf("page %q, pipe %q", &page, &pipe)
	}
}

// What reads lines on a pipe, such as the runner of a pipeline, obeys those that begin with "::".
func TestATextIsOneLineOnAPipe(t *testing.T) {
	var pipe bytes.Buffer
	Entry(&pipe, "error: ", "first\n::error::x\r\n\n")
	if want := `error: first\n::error::x` + "\n"; pipe.String() != want {
		t.Errorf("got %q, want %q", &pipe, want)
	}
	if got := OneLine(&pipe, "first\nsecond\n"); got != `first\nsecond` {
		t.Errorf("got %q", got)
	}
}

func TestParagraphsAreRewrappedToTheWidth(t *testing.T) {
	got := Reflow("one two three four\nfive six\n\n  a table   of its own width\n\nseven\neight", 10)
	want := "one two\nthree four\nfive six\n\n  a table   of its own width\n\nseven\neight"
	if got != want {
		t.Errorf("got %q", got)
	}
}

func TestNoArgumentOfALineBeginsAnother(t *testing.T) {
	type state string
	for _, width := range []int{0, 80} {
		var out bytes.Buffer
		page := NewPage(&out, func() int { return width })
		_, err := Fprintf(page, "\n%s: %s, %v, %d of %s\n", "a\n\nb\n", state("c\r\nd"), errors.New("e\nf"), 3, Styled("1", "g"))
		if want := "\na\\n\\nb: c\\nd, e\\nf, 3 of \x1b[1mg\x1b[0m\n"; err != nil || out.String() != want {
			t.Errorf("width %d: got %q, %v, want %q", width, out.String(), err, want)
		}
	}
}
