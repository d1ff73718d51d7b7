package list

import "github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"

// Tone is the meaning of a piece of text. The dashboard shows it by a color, but never only by a
// color: a symbol or a word has the same meaning.
type Tone int

// The tones of cells, the worst last.
const (
	Plain Tone = iota
	Faint
	Strong
	Good
	Busy   // changes as planned
	Unsure // unknown
	Warn
	Bad
	// Tones is how many there are.
	Tones
)

// The symbols that go with tones.
const (
	MarkGood    = "✓"
	MarkBusy    = "▸"
	MarkWarn    = "!"
	MarkBad     = "✗"
	MarkUnknown = phrase.UnknownCell
)

// Mark returns the symbol of a tone.
func (t Tone) Mark() string {
	switch t {
	case Good:
		return MarkGood
	case Busy:
		return MarkBusy
	case Unsure:
		return MarkUnknown
	case Warn:
		return MarkWarn
	case Bad:
		return MarkBad
	default:
		return " "
	}
}

// OfID returns the tone of the ID of an object: that of healthy ones is ordinary, since a page full
// of green shows nothing.
func (t Tone) OfID() Tone {
	if t < Warn {
		return Plain
	}
	return t
}
