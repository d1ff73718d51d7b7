package ui

// Paint colors words. Color never carries meaning alone: every colored word
// has the meaning of its color. The zero Paint leaves words as they are.
type Paint struct {
	// Color turns colors on.
	Color bool
}

// The colors, as SGR parameters: the terminal's own palette decides their shade.
const (
	bold   = "1"
	faint  = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (p Paint) in(sgr, text string) string {
	if !p.Color || text == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}
