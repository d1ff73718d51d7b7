package tui

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
)

// xterm is the palette of xterm, which others take over or make paler.
var xterm = []int{0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff}

// luminance is that of WCAG 2.
func luminance(color int) float64 {
	part := func(shift int) float64 {
		c := float64(color>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

// palest returns the words of a drawn line with the least contrast, and that contrast.
func palest(drawn string, foreground, background int) (words string, least float64) {
	least = 21
	front, back := foreground, background
	for _, piece := range strings.Split("\x1b[m"+drawn, "\x1b[")[1:] {
		codes, text, _ := strings.Cut(piece, "m")
		for code := range strings.SplitSeq(codes, ";") {
			switch n, _ := strconv.Atoi(code); {
			case n == 0:
				front, back = foreground, background
			case n == 2:
				front = 0x7f7f7f
			case n >= 30 && n <= 37:
				front = xterm[n-30]
			case n >= 40 && n <= 47:
				back = xterm[n-40]
			}
		}
		brighter, darker := luminance(front)+0.05, luminance(back)+0.05
		if contrast := max(brighter, darker) / min(brighter, darker); contrast < least && strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsSpace(r) }) {
			words, least = text, contrast
		}
	}
	return words, least
}

// Text that is large or bold is legible from a contrast of 3 on, by WCAG 2.
func TestTheHeaderAndCountsAreLegibleOnAnyBackground(t *testing.T) {
	for name, f := range map[string]*frame.Frame{"well": well(), "lost": lost()} {
		for i := range views() {
			m := pressed(shown(t, 100, 40, Options{Color: true}, entry(f)), strconv.Itoa((i+1)%10))
			s := m.clusterView()
			lines := append(m.header(s), m.drawPage(m.page(s), m.width)[0])
			for ground, colors := range map[string][2]int{"white": {0x000000, 0xffffff}, "black": {0xffffff, 0x000000}} {
				for _, l := range lines {
					if words, contrast := palest(l, colors[0], colors[1]); contrast < 3 {
						t.Errorf("view %d of the cluster that is %s on %s: %q has a contrast of %.1f", i+1, name, ground, words, contrast)
					}
				}
			}
		}
	}
}
