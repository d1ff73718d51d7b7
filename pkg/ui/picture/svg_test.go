package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

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
			if err := DrawSVG(&out, tc.capture+"\n"); err != nil {
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
