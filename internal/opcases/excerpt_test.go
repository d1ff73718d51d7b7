package opcases

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the excerpt again from the folder of all cases")

// maxOfAFile is how many bytes of a file's cases the excerpt has, unpacked and beside the
// cases of listed differences, of which it has all.
const maxOfAFile = 300_000

// TestTheCaseExcerptMatchesTheRecordedOperatorCases compares the excerpt with the folder of all cases,
// and writes it with -update.
func TestTheCaseExcerptMatchesTheRecordedOperatorCases(t *testing.T) {
	folder, err := Recorded()
	if err != nil {
		t.Skipf("NOT RUN: the excerpt was not compared with the operator's cases: %v", err)
	}
	files, err := Files(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		want := excerptOf(t, folder, file)
		if *update {
			writeExcerpt(t, file, want)
			continue
		}
		if got := plainText(t, Excerpt(), file); !bytes.Equal(got, want) {
			t.Errorf("%s: the excerpt is not made of the recorded cases and the list of differences; run go test ./internal/opcases -update", file)
		}
	}
}

// excerptOf are the cases of a file that the excerpt has, one per line: all with a listed
// difference, and others as long as there is room, of each kind of outcome in turn.
func excerptOf(t *testing.T, folder fs.FS, file string) []byte {
	t.Helper()
	cases, err := ReadCases(folder, file)
	if err != nil {
		t.Fatal(err)
	}
	listed, err := listedFor(file)
	if err != nil {
		t.Fatal(err)
	}
	turns := map[string]int{}
	order := make([]int, len(cases))
	turn := make([]int, len(cases))
	lines := make([][]byte, len(cases))
	for i, c := range cases {
		lines[i] = excerptLine(t, c)
		kind := kindOf(t, c)
		turns[kind]++
		order[i], turn[i] = i, turns[kind]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(turn[a], turn[b]), strings.Compare(cases[a].Key, cases[b].Key))
	})
	chosen, room := map[int]bool{}, maxOfAFile
	for _, i := range order {
		isListed := listed[cases[i].Key] != nil
		if !isListed && len(lines[i]) > room {
			continue
		}
		if chosen[i] = true; !isListed {
			room -= len(lines[i])
		}
	}
	var text bytes.Buffer
	for i, line := range lines {
		if chosen[i] {
			text.Write(line)
			text.WriteByte('\n')
		}
	}
	return text.Bytes()
}

// failure is the text of an error in an outcome. That there is one is the fact.
var failure = regexp.MustCompile(`"ERR: (?:[^"\\]|\\.)*"`)

// excerptLine is a case without what no comparison reads.
func excerptLine(t *testing.T, c Case) []byte {
	t.Helper()
	if bytes.Equal(c.In, c.Out) {
		return failure.ReplaceAll(c.Line, []byte(`"ERR: "`))
	}
	return encoded(t, struct {
		In  json.RawMessage            `json:"in"`
		Out map[string]json.RawMessage `json:"out"`
	}{c.In, outcomeOf(t, c)})
}

func outcomeOf(t *testing.T, c Case) map[string]json.RawMessage {
	t.Helper()
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal(failure.ReplaceAll(c.Out, []byte(`"ERR: "`)), &out); err != nil {
		t.Fatal(err)
	}
	for key := range out {
		if strings.HasPrefix(key, "after_") && key != "after_self" && key != "after_cluster" {
			delete(out, key)
		}
	}
	return out
}

// kindOf is the same for cases that were decided alike.
func kindOf(t *testing.T, c Case) string {
	t.Helper()
	if bytes.Equal(c.In, c.Out) {
		return ""
	}
	out := outcomeOf(t, c)
	delete(out, "after_self")
	delete(out, "after_cluster")
	return string(encoded(t, out))
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

func writeExcerpt(t *testing.T, file string, text []byte) {
	t.Helper()
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "excerpt", filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// plainText is a file of the excerpt, unpacked; nil when there is none.
func plainText(t *testing.T, folder fs.FS, file string) []byte {
	t.Helper()
	packed, err := fs.ReadFile(folder, file)
	if err != nil {
		return nil
	}
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(plain); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}
