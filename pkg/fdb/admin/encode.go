package admin

import (
	"fmt"
	"strconv"
	"strings"
)

const lowerHex = "0123456789abcdef"

// encodeToken encodes any bytes as one word of an fdbcli command. It uses only what
// the lexers of all versions have in common: harmless characters unchanged, all
// others as \xHH.
func encodeToken(token string) string {
	if token == "" {
		return `""`
	}
	var out strings.Builder
	for i := range len(token) {
		b := token[i]
		if harmless(b) {
			out.WriteByte(b)
			continue
		}
		out.WriteString(`\x`)
		out.WriteByte(lowerHex[b>>4])
		out.WriteByte(lowerHex[b&0xf])
	}
	return out.String()
}

func harmless(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' ||
		strings.IndexByte("_./:,=@+-", b) >= 0
}

// command returns an fdbcli command of these words.
func command(words ...string) string {
	encoded := make([]string, len(words))
	for i, w := range words {
		encoded[i] = encodeToken(w)
	}
	return strings.Join(encoded, " ")
}

// printable encodes bytes as fdbcli prints them.
func printable(content []byte) string {
	var out strings.Builder
	for _, b := range content {
		switch {
		case b == '\\':
			out.WriteString(`\\`)
		case b >= ' ' && b <= '~':
			out.WriteByte(b)
		default:
			fmt.Fprintf(&out, `\x%02x`, b)
		}
	}
	return out.String()
}

// unprintable decodes the output of printable, and so of fdbcli.
func unprintable(text string) ([]byte, error) {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out = append(out, text[i])
			continue
		}
		switch {
		case strings.HasPrefix(text[i+1:], `\`):
			out = append(out, '\\')
			i++
		case strings.HasPrefix(text[i+1:], "x") && i+3 < len(text):
			b, err := strconv.ParseUint(text[i+2:i+4], 16, 8)
			if err != nil {
				return nil, fmt.Errorf("decode %q: %w", text, err)
			}
			out = append(out, byte(b))
			i += 3
		default:
			return nil, fmt.Errorf("decode %q: unknown escape at %d", text, i)
		}
	}
	return out, nil
}
