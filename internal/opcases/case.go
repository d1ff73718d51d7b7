// Package opcases reads what the operator's release decided, recorded as cases, and compares
// this program's answers with it. Tests of several packages share it; nothing else imports it.
package opcases

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"time"
)

// Case is one recorded input and what the operator made of it.
type Case struct {
	// File is the path of the case's file within the folder.
	File string
	// Key identifies the case by its input: the first 12 hexadecimal digits of the SHA-256
	// of its compact JSON.
	Key string
	// In is the input, Out is the outcome. Both are the whole line in a file that does not
	// separate them.
	In, Out json.RawMessage
	// Line is the case as it was recorded.
	Line []byte
}

// ReadCases reads a file of cases: gzipped JSON, one case per line. Cases with the same input
// share a key: where the operator takes any of several, one input has several outcomes.
func ReadCases(folder fs.FS, file string) ([]Case, error) {
	packed, err := fs.ReadFile(folder, file)
	if err != nil {
		return nil, err
	}
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", file, err)
	}
	var cases []Case
	for lines := bufio.NewReader(plain); ; {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			c, err := parseCase(file, line)
			if err != nil {
				return nil, err
			}
			cases = append(cases, c)
		}
		if err != nil {
			return cases, ignoreEnd(file, err)
		}
	}
}

func parseCase(file string, line []byte) (Case, error) {
	var parts struct {
		In      json.RawMessage `json:"in"`
		Out     json.RawMessage `json:"out"`
		Cluster json.RawMessage `json:"cluster"`
	}
	if err := json.Unmarshal(line, &parts); err != nil {
		return Case{}, fmt.Errorf("parse %s: %w", file, err)
	}
	c := Case{File: file, Line: line, In: parts.In, Out: parts.Out}
	key := parts.In
	if c.In == nil {
		c.In, c.Out, key = line, line, parts.Cluster
	}
	if key == nil {
		return Case{}, fmt.Errorf("parse %s: a case without input", file)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, key); err != nil {
		return Case{}, fmt.Errorf("parse %s: %w", file, err)
	}
	sum := sha256.Sum256(compact.Bytes())
	c.Key = hex.EncodeToString(sum[:6])
	return c, nil
}

// Decode reads the input and the outcome into values of the caller's types.
func (c Case) Decode(in, out any) error {
	if err := json.Unmarshal(c.In, in); err != nil {
		return fmt.Errorf("decode the input: %w", err)
	}
	if err := json.Unmarshal(c.Out, out); err != nil {
		return fmt.Errorf("decode the outcome: %w", err)
	}
	return nil
}

// Seconds is a time that was recorded in Unix seconds.
type Seconds int64

// Time is the same as a time.
func (s Seconds) Time() time.Time { return time.Unix(int64(s), 0) }

// Failure is an error that the operator returned; empty for none.
type Failure string

// Verdict is whether the operator goes on: no error.
func (f Failure) Verdict() Outcome { return Verdict(f == "") }

// Verdict is the outcome of a question that is answered with yes or no.
func Verdict(yes bool) Outcome { return Outcome{"verdict": strconv.FormatBool(yes)} }

// JSON is a value as JSON, for comparisons of whole values.
func JSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "cannot be encoded: " + err.Error()
	}
	return string(text)
}
