package picture

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var shots = []Shot{
	{time.Unix(0, 0), "one\n\x1b[31mbad\x1b[0m"},
	{time.Unix(2, 0), "<two>"},
	{time.Unix(600, 0), "\x1b[7;2mthree\x1b[0m"},
}

func TestACastHasEachScreenAtItsTimeAndNoLongPause(t *testing.T) {
	var out strings.Builder
	if err := DrawCast(&out, shots, 80, 24); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var header struct{ Version, Width, Height int }
	if err := json.Unmarshal([]byte(lines[0]), &header); err != nil || header.Version != 2 || header.Width != 80 || header.Height != 24 {
		t.Errorf("header %s: %v", lines[0], err)
	}
	var got [][]any
	for _, l := range lines[1:] {
		var event []any
		if err := json.Unmarshal([]byte(l), &event); err != nil {
			t.Fatal(err)
		}
		got = append(got, event)
	}
	want := [][]any{
		{0.0, "o", "\x1b[2J\x1b[Hone\r\n\x1b[31mbad\x1b[0m"},
		{2.0, "o", "\x1b[2J\x1b[H<two>"},
		{7.0, "o", "\x1b[2J\x1b[H\x1b[7;2mthree\x1b[0m"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAPageShowsTheLastScreenAndHidesTheOthers(t *testing.T) {
	var out strings.Builder
	if err := Dark.DrawHTML(&out, "orders <prod>", shots); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<title>orders &lt;prod&gt;</title>", `max="2" value="2"`, "<pre hidden>one\n<span style=\"color:#e06c75\">bad</span>\n</pre>", "<pre hidden>&lt;two&gt;\n</pre>",
		`<pre><span style="color:#1c1f26;background:#d8dee9;opacity:0.6">three</span>`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// What a cluster's objects have in their texts must not end a picture's format.
func TestPicturesOfAnyScreenAreWellFormed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	alphabet := []rune("ab <>&\"'\\\x00\x07\x1b[31m;]\u202e\ufffe\n\r é世")
	for range 500 {
		var screen strings.Builder
		for range r.IntN(60) {
			screen.WriteRune(alphabet[r.IntN(len(alphabet))])
		}
		var svg, page, cast strings.Builder
		s := []Shot{{Screen: screen.String()}}
		if err := errors.Join(Dark.DrawSVG(&svg, screen.String()), Dark.DrawHTML(&page, screen.String(), s), DrawCast(&cast, s, 80, 24)); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(strings.NewReader(svg.String()))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v: %q of %q", err, svg.String(), screen.String())
			}
		}
		if strings.Count(page.String(), "<pre") != 1 || strings.Count(page.String(), "<script") != 1 {
			t.Fatalf("the page of %q is %s", screen.String(), &page)
		}
		for line := range strings.Lines(cast.String()) {
			if !json.Valid([]byte(line)) {
				t.Fatalf("no JSON: %q", line)
			}
		}
	}
}

func TestAScreenIsDrawnAsSVG(t *testing.T) {
	tests := map[string]struct{ capture, want string }{
		"plain text":          {"hello <b>", `fill="#d8dee9">hello &lt;b&gt;</text>`},
		"a color":             {"\x1b[31mbad\x1b[0m", `fill="#e06c75">bad</text>`},
		"one of 256":          {"\x1b[38;5;196mbad", `fill="rgb(255,0,0)">bad</text>`},
		"any":                 {"\x1b[1;38;2;1;2;3mbad", `fill="rgb(1,2,3)" font-weight="bold">bad</text>`},
		"a chosen row":        {"\x1b[7mrow\x1b[27m", `height="18" fill="#d8dee9"/>`},
		"after another":       {"ab\x1b[32mcd", `x="28.8" y="26" textLength="16.8" fill="#98c379">cd</text>`},
		"faint, and then not": {"\x1b[2ma\x1b[22mb", `opacity="0.6">a</text>`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := Dark.DrawSVG(&out, tc.capture+"\n"); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), tc.want) {
				t.Errorf("no %s in %s", tc.want, out.String())
			}
			d := xml.NewDecoder(strings.NewReader(out.String()))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
