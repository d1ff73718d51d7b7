package ui

import (
	"fmt"
	"strconv"
)

func orUnknown(text string) string { return orText(text, unknown) }

func yesNo(b *bool) string {
	switch {
	case b == nil:
		return unknown
	case *b:
		return "yes"
	default:
		return "no"
	}
}

func numberOr(n *int) string {
	if n == nil {
		return unknown
	}
	return strconv.Itoa(*n)
}

func bytesOr(n *int64) string {
	if n == nil {
		return unknown
	}
	return bytesWords(*n)
}

// Bytes is a number of bytes for people, with three digits or so: 1.4GiB.
func Bytes(n int64) string { return bytesWords(n) }

// bytesWords is a number of bytes with three digits or so: 1.4GiB.
func bytesWords(n int64) string {
	const unit = 1024
	if n < 0 {
		return "-" + bytesWords(-n)
	}
	if n < unit {
		return strconv.FormatInt(n, 10) + "B"
	}
	value, prefix := float64(n)/unit, 0
	for value >= unit && prefix < len("KMGTPE")-1 {
		value, prefix = value/unit, prefix+1
	}
	if value >= 10 {
		return fmt.Sprintf("%.0f%ciB", value, "KMGTPE"[prefix])
	}
	return fmt.Sprintf("%.1f%ciB", value, "KMGTPE"[prefix])
}
