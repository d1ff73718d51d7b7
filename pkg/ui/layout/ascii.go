package layout

import "strings"

// ascii has a character of ASCII, as wide, for each other one that this program draws or writes itself. Those of the
// map of process groups are the same there. Text of a cluster may have others: they stay.
var ascii = strings.NewReplacer(
	"✓", "v", "✗", "x", "×", "x", "❯", "*", "▸", ">", "●", "o", "○", "+", "◆", "@", "◇", "%", "◐", "~",
	"…", "~", "·", "-", "−", "-", "→", ">", "←", "<", "↑", "^", "↓", "v",
	"─", "-", "━", "=", "╌", "-", "│", "|", "└", "`", "┬", "+", "┤", "+",
	"▏", "|", "▎", "|", "▍", "-", "▌", "-", "▋", "=", "▊", "=", "▉", "#", "█", "#", "░", ".",
	"▁", "_", "▂", "_", "▃", "-", "▄", "-", "▅", "=", "▆", "=", "▇", "#",
)

// ASCII returns text as a terminal without UTF-8, or without these characters in its font, can show it: each sign of this
// program as one of ASCII, such that columns stay where they are.
func ASCII(text string) string { return ascii.Replace(text) }
