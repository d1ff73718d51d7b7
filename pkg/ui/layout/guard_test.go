package layout

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

func TestAGuardObeysOnlyStylesOfTheProgram(t *testing.T) {
	var out bytes.Buffer
	fmt.Fprint(Guarded(&out), Styled("32", "ok \x1b[0m\x1b[8m"), " \x1b[31m\x1b]52;c;eA==\a\r::error::x\n")
	if want := "\x1b[32mok ^[[0m^[[8m\x1b[0m ^[[31m^[]52;c;eA==^G^M::error::x\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// Runners of pipelines read the output of this program, and obey what begins with this.
func TestAGuardLetsNoCommandForARunnerPass(t *testing.T) {
	for name, w := range map[string]func(io.Writer) io.Writer{"of this program": Guarded, "that a user requested": Asked, "of a command within a command": func(w io.Writer) io.Writer { return Guarded(Relayed(Guarded(w))) }} {
		var out bytes.Buffer
		g := w(&out)
		fmt.Fprint(g, "note: std::x ##")
		fmt.Fprint(g, "vso[task.complete]\r\n  ", ":")
		fmt.Fprintln(g, ":error::x")
		if want := "note: std::x ##vso\\[task.complete]\n  :\\:error::x\n"; out.String() != want {
			t.Errorf("text %s: got %q, want %q", name, out.String(), want)
		}
	}
}

// Streams are written in pieces of any size.
func TestAGuardShowsTextThatArrivesInPieces(t *testing.T) {
	text := Styled("31", "例え") + " \x1b[2J\u009b\u202e 日本 \r\nlast\r"
	var whole bytes.Buffer
	_, _ = io.WriteString(Guarded(&whole), text+"\n")
	for size := 1; size < 30; size++ {
		var pieces bytes.Buffer
		w := Guarded(&pieces)
		for rest := text + "\n"; rest != ""; {
			n := min(size, len(rest))
			if written, err := io.WriteString(w, rest[:n]); err != nil || written != n {
				t.Fatalf("wrote %d of %d bytes: %v", written, n, err)
			}
			rest = rest[n:]
		}
		if pieces.String() != whole.String() {
			t.Errorf("in pieces of %d: %q, want %q", size, pieces.String(), whole.String())
		}
	}
}

func TestAGuardWithinAnotherKeepsStyles(t *testing.T) {
	var out bytes.Buffer
	inner := Guarded(Relayed(Guarded(&out)))
	fmt.Fprint(inner, Styled("31", "red"), "\x1b[2J")
	if want := "\x1b[31mred\x1b[0m^[[2J"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// The text of a cell cannot add rows or columns.
func TestTheCellsOfATableAreText(t *testing.T) {
	for _, width := range []int{0, 60} {
		var out bytes.Buffer
		page := NewPage(&out, func() int { return width })
		table := Table{Columns: []Column{{Name: "ID"}, {Name: "WHY", Below: true}}, Rows: [][]string{{"a\nb\r", "c\x1b[2J\td " + strings.Repeat("long ", 20)}, {"e", "f"}}}
		if err := table.Write(page); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "a b^M") || !strings.Contains(out.String(), "c^[[2J d") {
			t.Errorf("got %q", out.String())
		}
	}
}

func FuzzNoControlCharacterPassesARenderer(f *testing.F) {
	for _, seed := range []string{"a", "\x1b[31m", "\x9b", "例 え", "\u202e", "\x1b]8;;x\x1b\\", "kubectl a\r", "# \x1b"} {
		f.Add(seed, 60)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		var out bytes.Buffer
		page := NewPage(&out, func() int { return width % 200 })
		footer := NewFooter(&out, func() int { return 0 })
		page.Above(footer)
		fmt.Fprint(page, text)
		fmt.Fprintln(Raw(page), text)
		Entry(page, text, text)
		if err := (Table{Columns: []Column{{Name: "A", Min: 3}}, Rows: [][]string{{text}}}).Write(page); err != nil {
			t.Fatal(err)
		}
		for _, r := range strings.NewReplacer("\n", "", "\t", "").Replace(out.String()) {
			if phrase.IsControl(r) {
				t.Errorf("%q leaves %U", text, r)
			}
		}
	})
}
