package syntax

import (
	"strconv"
	"strings"
)

// Line is a line of input, split into commands of tokens.
type Line struct {
	Commands [][]string
	// Flaw is what is wrong with the last command: "" when nothing is.
	Flaw string
}

const (
	flawEscape = "malformed escape sequence"
	flawQuote  = "unterminated quote"
)

// lexer splits a line. Quotes may begin and end anywhere in a token; a
// backslash escapes inside and outside of them.
type lexer struct {
	token   strings.Builder
	inToken bool
	quoted  bool
	current []string
	out     Line
}

// ParseLine splits a line into commands and tokens.
func ParseLine(line string) Line {
	l := &lexer{}
	for i := 0; i < len(line); {
		n := l.step(line[i:])
		if n == 0 {
			l.out.Flaw = flawEscape
			l.inToken = false
			break
		}
		i += n
	}
	if l.out.Flaw == "" && l.quoted {
		l.out.Flaw = flawQuote
	}
	l.endToken()
	l.endCommand()
	return l.out
}

// step consumes the next character or escape and returns its length, 0 when it
// is a malformed escape.
func (l *lexer) step(rest string) int {
	c := rest[0]
	switch {
	case c == '"':
		l.quoted = !l.quoted
		l.inToken = true
		return 1
	case c == '\\':
		b, n := unescape(rest)
		if n > 0 {
			l.add(b)
		}
		return n
	case !l.quoted && c == ';':
		l.endToken()
		l.endCommand()
		return 1
	case !l.quoted && strings.IndexByte(" \t\r\n", c) >= 0:
		l.endToken()
		return 1
	default:
		l.add(c)
		return 1
	}
}

func (l *lexer) add(b byte) {
	l.token.WriteByte(b)
	l.inToken = true
}

func (l *lexer) endToken() {
	if l.inToken {
		l.current = append(l.current, l.token.String())
	}
	l.token.Reset()
	l.inToken = false
}

func (l *lexer) endCommand() {
	l.out.Commands = append(l.out.Commands, l.current)
	l.current = nil
}

// unescape reads the escape at the start of s: the byte it stands for and its
// length, 0 when it is none.
func unescape(s string) (byte, int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '"', '\\', ' ', ';':
		return s[1], 2
	case 'x':
		return hexByte(s, 2, 4)
	case 'u':
		return hexByte(s, 2, 6)
	}
	return 0, 0
}

func hexByte(s string, from, to int) (byte, int) {
	if len(s) < to {
		return 0, 0
	}
	n, err := strconv.ParseUint(s[from:to], 16, 16)
	if err != nil || n > 0xff {
		return 0, 0
	}
	return byte(n), to
}

// Printable is a byte string as fdbcli prints it: backslashes doubled, and
// everything that is not printable ASCII as \xhh.
func Printable(s string) string { return escape(s, "") }

// Echoed is a token as fdbcli repeats it before it runs a command of several.
func Echoed(s string) string { return escape(s, " \"") }

func escape(s, also string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '\\' || (c == '"' && strings.IndexByte(also, c) >= 0):
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c >= 0x7f || strings.IndexByte(also, c) >= 0:
			b.WriteString(`\x`)
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
