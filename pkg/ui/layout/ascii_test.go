package layout

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// A sign that is added to the program needs one of ASCII, as wide, for terminals without UTF-8.
func TestEverySignOfTheProgramHasOneOfASCII(t *testing.T) {
	read := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read++
		for r := range strings.SplitSeq(string(source), "") {
			if got := ASCII(r); len(r) > 1 && (!isASCII(got) || Cells(got) != Cells(r)) {
				t.Errorf("%s: %s is %q for a terminal without UTF-8", path, r, got)
			}
		}
		return nil
	})
	if err != nil || read < 500 {
		t.Fatalf("%d files, %v", read, err)
	}
}

func TestAPageWithoutUTF8HasOnlyASCII(t *testing.T) {
	tests := map[string]struct {
		width  int
		write  func(p *Page) error
		prints string
	}{
		"text":                    {60, func(p *Page) error { _, err := p.Write([]byte("✓ 3 → 4 …\n")); return err }, "v 3 > 4 ~\n"},
		"of unknown width":        {0, func(p *Page) error { _, err := p.Write([]byte("✗ down\n")); return err }, "x down\n"},
		"not a document":          {60, func(p *Page) error { _, err := p.Raw().Write([]byte(`{"text":"3 → 4"}`)); return err }, `{"text":"3 → 4"}`},
		"not a name of a cluster": {60, func(p *Page) error { _, err := p.Write([]byte("zone-ü\n")); return err }, "zone-ü\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := tc.write(NewPage(&out, func() int { return tc.width }).InASCII()); err != nil {
				t.Fatal(err)
			}
			if out.String() != tc.prints {
				t.Errorf("%q, want %q", out.String(), tc.prints)
			}
		})
	}
}

// The footer is drawn on the same terminal, and its lines are as long.
func TestAFooterWithoutUTF8HasOnlyASCII(t *testing.T) {
	var out bytes.Buffer
	NewFooter(&out, func() int { return 20 }).InASCII().Show("█░░ 1 of 3 · waiting for pods")
	if strings.ContainsFunc(out.String(), func(r rune) bool { return r > unicode.MaxASCII }) || !strings.Contains(out.String(), "#.. 1 of 3 ~") {
		t.Errorf("%q", out.String())
	}
}
