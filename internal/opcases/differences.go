package opcases

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Difference is an entry of the list of known differences.
type Difference struct {
	File string `json:"file"`
	Case string `json:"case"`
	// Reason is a key of Reasons.
	Reason string `json:"reason"`
	// Ours is what this program decides, by part, as Short shows it.
	Ours map[string]string `json:"ours"`
}

//go:embed testdata/differences.jsonl
var differences []byte

// Differences are all entries of the list.
func Differences() ([]Difference, error) {
	var all []Difference
	lines := bufio.NewScanner(bytes.NewReader(differences))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var d Difference
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return nil, fmt.Errorf("parse the list of differences: %w", err)
		}
		all = append(all, d)
	}
	return all, lines.Err()
}

// listedFor are the entries of one file by case.
func listedFor(file string) (map[string][]Difference, error) {
	all, err := Differences()
	if err != nil {
		return nil, err
	}
	listed := map[string][]Difference{}
	for _, d := range all {
		if d.File == file {
			listed[d.Case] = append(listed[d.Case], d)
		}
	}
	return listed, nil
}

// expectedOf merges the entries of one case, and returns what is wrong with them.
func expectedOf(listed []Difference) (expected map[string]string, problems []string) {
	expected = map[string]string{}
	for _, d := range listed {
		if Reasons[d.Reason] == "" {
			problems = append(problems, fmt.Sprintf("%s, case %s: the listed reason %q is not in opcases.Reasons", d.File, d.Case, d.Reason))
		}
		for part, value := range d.Ours {
			if _, twice := expected[part]; twice {
				problems = append(problems, fmt.Sprintf("%s, case %s, %s: listed twice", d.File, d.Case, part))
			}
			expected[part] = value
		}
	}
	return expected, problems
}

// longest is the length in bytes up to which the list shows a value itself.
const longest = 160

// Short is how the list shows a value: the value itself, or a digest of a long one.
func Short(value string, found bool) string {
	switch {
	case !found:
		return "(absent)"
	case len(value) <= longest:
		return value
	}
	sum := sha256.Sum256([]byte(value))
	return "sha256:" + hex.EncodeToString(sum[:8])
}

func (d Difference) line() string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(d); err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
