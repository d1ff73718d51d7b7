package layout

import (
	"slices"
	"strings"
)

// Kept returns the parts of a line that are shown: while they do not fit, the one with the highest number of drop is
// left out, the last of several. Those with 0 stay, whether they fit or not.
func Kept[T any](parts []T, drop func(T) int, fit func([]T) bool) []T {
	parts = slices.Clone(parts)
	for !fit(parts) {
		least, most := -1, 1
		for i, p := range parts {
			if drop(p) >= most {
				least, most = i, drop(p)
			}
		}
		if least < 0 {
			break
		}
		parts = slices.Delete(parts, least, least+1)
	}
	return parts
}

// CutAtWord shortens a line without colors to a number of cells, between two words: half a number would be another one. Only
// what has no blank is cut within a word.
func CutAtWord(line string, cells int) string {
	if Cells(line) <= cells {
		return line
	}
	const mark = " …"
	end := -1
	for i, r := range line {
		if r != ' ' {
			continue
		}
		if Cells(line[:i]+mark) > cells {
			break
		}
		if strings.TrimSpace(line[:i]) != "" {
			end = i
		}
	}
	if end < 0 {
		return Cut(line, cells)
	}
	return strings.TrimRight(line[:end], " ·,:;") + mark
}
