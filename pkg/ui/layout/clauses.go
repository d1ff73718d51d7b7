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

// CutAtWord shortens a line without colors to a number of cells, between two words, or between two items of a list that has no
// blanks: half a number would be another one. Only what has neither is cut within a word.
func CutAtWord(line string, cells int) string {
	if Cells(line) <= cells {
		return line
	}
	kept := ""
	for i, r := range line {
		begin := ""
		switch {
		case r == ' ' && strings.TrimSpace(line[:i]) != "":
			begin = strings.TrimRight(line[:i], " ·,:;") + " …"
		case r == ',' && !strings.HasPrefix(line[i+1:], " "):
			begin = line[:i+1] + "…"
		default:
			continue
		}
		if Cells(begin) > cells {
			break
		}
		kept = begin
	}
	if kept == "" {
		return Cut(line, cells)
	}
	return kept
}
