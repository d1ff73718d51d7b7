package picture

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// run is text of one style.
type run struct {
	style
	text string
}

// style is how text looks.
type style struct {
	foreground, background string // empty for the terminal's own
	bold, faint, reversed  bool
}

// runsOf takes a line apart where its look changes.
func runsOf(line string) []run {
	var runs []run
	now := style{}
	for line != "" {
		text, rest, found := strings.Cut(line, "\x1b[")
		if text != "" {
			runs = append(runs, run{now, strings.Map(visible, text)})
		}
		if !found {
			break
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			break
		}
		if rest[end] == 'm' {
			now = now.after(rest[:end])
		}
		line = rest[end+1:]
	}
	return runs
}

// visible replaces a character that controls a terminal: no format of a picture has them.
func visible(r rune) rune {
	if !unicode.IsPrint(r) {
		return unicode.ReplacementChar
	}
	return r
}

// after is the look once a sequence of codes was read.
func (l style) after(codes string) style {
	numbers := strings.Split(codes, ";")
	for i := 0; i < len(numbers); i++ {
		n, _ := strconv.Atoi(numbers[i]) // nothing stands for 0
		switch {
		case n == 0:
			l = style{}
		case n == 1:
			l.bold = true
		case n == 2:
			l.faint = true
		case n == 7:
			l.reversed = true
		case n == 22:
			l.bold, l.faint = false, false
		case n == 27:
			l.reversed = false
		case n == 39:
			l.foreground = ""
		case n == 49:
			l.background = ""
		case n >= 30 && n <= 37:
			l.foreground = palette(n - 30)
		case n >= 90 && n <= 97:
			l.foreground = palette(n - 90 + 8)
		case n >= 40 && n <= 47:
			l.background = palette(n - 40)
		case n >= 100 && n <= 107:
			l.background = palette(n - 100 + 8)
		case (n == 38 || n == 48) && i+2 < len(numbers) && numbers[i+1] == "5":
			index, _ := strconv.Atoi(numbers[i+2])
			l = l.colored(n, palette(index))
			i += 2
		case (n == 38 || n == 48) && i+4 < len(numbers) && numbers[i+1] == "2":
			l = l.colored(n, "rgb("+strings.Join(numbers[i+2:i+5], ",")+")")
			i += 4
		}
	}
	return l
}

func (l style) colored(n int, color string) style {
	if n == 38 {
		l.foreground = color
	} else {
		l.background = color
	}
	return l
}

// palette is one of the 256 colors of a terminal.
func palette(n int) string {
	first := []string{
		"#2e3440", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9",
		"#6b7280", "#f07178", "#a9dc76", "#ffd866", "#78b9f2", "#d7a0f0", "#7fdbca", "#ffffff",
	}
	switch {
	case n < len(first):
		return first[n]
	case n >= 232:
		grey := 8 + 10*(n-232)
		return fmt.Sprintf("rgb(%d,%d,%d)", grey, grey, grey)
	}
	level := func(i int) int { return []int{0, 95, 135, 175, 215, 255}[i] }
	n -= 16
	return fmt.Sprintf("rgb(%d,%d,%d)", level(n/36), level(n/6%6), level(n%6))
}
