package tui

import (
	"fmt"
	"math"
	"strings"
)

const (
	// barWidth is the width of a bar.
	barWidth = 10
	// shortBar is that of one in a table: there are many columns.
	shortBar = 6
)

// bar returns a share as a bar and a number. Only the whole fills it.
func bar(share float64) string { return barOf(share, barWidth) }

// barOf returns a bar of a width.
func barOf(share float64, width int) string {
	return blocks(share, width) + fmt.Sprintf(" %d%%", int(math.Floor(min(1, max(0, share))*100)))
}

// blocks returns a bar of a width without the number.
func blocks(share float64, width int) string {
	full := int(math.Floor(min(1, max(0, share)) * float64(width)))
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}
