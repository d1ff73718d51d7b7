package cells

import "strings"

// Squeezed returns texts in which tables that are too wide have narrower gaps between their
// columns, so that their rows do not wrap.
func Squeezed(texts []string, width int) []string {
	var all, table []string
	flush := func() {
		for gap := 2; gap > 0 && widestOf(table) > width; gap-- {
			table = narrowed(table, gap)
		}
		all, table = append(all, table...), nil
	}
	for _, text := range texts {
		if !strings.Contains(strings.TrimSpace(text), "  ") {
			flush()
			all = append(all, text)
			continue
		}
		table = append(table, text)
	}
	flush()
	return all
}

// narrowed returns the rows of a table with gaps of at most gap spaces where all rows have
// spaces.
func narrowed(rows []string, gap int) []string {
	cells := make([][]rune, len(rows))
	for i, row := range rows {
		cells[i] = cellsOf(row)
	}
	blank := func(at int) bool {
		for _, row := range cells {
			if at < len(row) && row[at] != ' ' {
				return false
			}
		}
		return true
	}
	kept := make([][]rune, len(rows))
	for at, run := 0, 0; at < longest(cells); at++ {
		if !blank(at) {
			run = 0
		} else if run++; run > gap {
			continue
		}
		for i, row := range cells {
			if at < len(row) && row[at] != 0 {
				kept[i] = append(kept[i], row[at])
			}
		}
	}
	narrow := make([]string, len(rows))
	for i := range kept {
		narrow[i] = string(kept[i])
	}
	return narrow
}

// cellsOf returns the character in each terminal cell: 0 after one that takes two cells.
func cellsOf(row string) []rune {
	var cells []rune
	for _, r := range row {
		cells = append(cells, r)
		for range Width(string(r)) - 1 {
			cells = append(cells, 0)
		}
	}
	return cells
}

func longest(rows [][]rune) int {
	most := 0
	for _, row := range rows {
		most = max(most, len(row))
	}
	return most
}

func widestOf(texts []string) int {
	most := 0
	for _, text := range texts {
		most = max(most, Width(text))
	}
	return most
}
