package clientlib

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

const (
	// maxMessage is more than a transaction may have.
	maxMessage = 16 << 20
	// maxDigits is how many digits a length has at most.
	maxDigits = 8
)

var errMessage = errors.New("malformed message")

// netstring returns the bytes as a netstring.
func netstring(content []byte) []byte {
	return bytes.Join([][]byte{[]byte(strconv.Itoa(len(content)) + ":"), content, []byte(",")}, nil)
}

// message returns the netstring of the netstrings of all fields.
func message(fields ...[]byte) []byte {
	var inner []byte
	for _, f := range fields {
		inner = append(inner, netstring(f)...)
	}
	return netstring(inner)
}

// readMessage reads the fields of one message. At the end of the input the error is io.EOF.
func readMessage(from *bufio.Reader) ([][]byte, error) {
	content, err := readNetstring(from)
	if err != nil {
		return nil, err
	}
	var fields [][]byte
	for inner := bufio.NewReader(bytes.NewReader(content)); ; {
		f, err := readNetstring(inner)
		if errors.Is(err, io.EOF) {
			return fields, nil
		}
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
}

func readNetstring(from *bufio.Reader) ([]byte, error) {
	digits, err := from.ReadString(':')
	if err != nil {
		if digits != "" {
			return nil, io.ErrUnexpectedEOF
		}
		return nil, err
	}
	digits = strings.TrimSuffix(digits, ":")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n > maxMessage || len(digits) > maxDigits {
		return nil, errMessage
	}
	content := make([]byte, n+1)
	if _, err := io.ReadFull(from, content); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	if content[n] != ',' {
		return nil, errMessage
	}
	return content[:n], nil
}
