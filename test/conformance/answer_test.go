package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// answer is what is compared of a command: its exit code and its texts, normalized.
// A status document is kept as its paths with their types, and its facts.
type answer struct {
	Exit   int               `json:"exit"`
	Stdout string            `json:"stdout,omitempty"`
	Stderr string            `json:"stderr,omitempty"`
	Paths  []string          `json:"-"` // "PATH TYPE", sorted
	Facts  map[string]string `json:"facts,omitempty"`
}

func answerOf(r result) answer {
	a := answer{Exit: r.exit, Stderr: normalized(r.stderr)}
	if at(document(r.stdout), "client") == nil {
		a.Stdout = normalized(r.stdout)
		return a
	}
	paths := map[string]string{}
	walk("", document(r.stdout), paths)
	for path, kind := range paths {
		a.Paths = append(a.Paths, path+" "+kind)
	}
	slices.Sort(a.Paths)
	a.Facts = documentFacts(r.stdout)
	return a
}

// types are the types of the paths of a document.
func (a answer) types() map[string]string {
	found := map[string]string{}
	for _, p := range a.Paths {
		cut := strings.LastIndex(p, " ")
		found[p[:cut]] = p[cut+1:]
	}
	return found
}

// recorded is a command with the answer of the real programs.
type recorded struct {
	Key    string   `json:"key"`
	Argv   []string `json:"argv"`
	Stdin  string   `json:"stdin,omitempty"`
	Answer answer   `json:"answer"`
	// Added and Removed are how the paths of a document differ from those of the one before.
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// recordingFile is where a run with RECORD keeps the answers of a version.
func recordingFile(version string) string {
	return filepath.Join("testdata", version+".json")
}

// differencesFile has the explained differences of the model from a version.
func differencesFile(version string) string {
	return filepath.Join("testdata", version+".differences.txt")
}

// recordedVersions are the versions whose answers were recorded.
func recordedVersions(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(recordingFile("*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no recording: %v", err)
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(filepath.Base(file), ".json")
	}
	return files
}

// readRecording returns the recorded answers by the keys of their commands.
func readRecording(t *testing.T, name string) map[string]recorded {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]recorded{}
	var paths []string
	for line := range strings.Lines(string(content)) {
		var r recorded
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Answer.Facts != nil {
			paths = slices.Sorted(slices.Values(append(without(paths, r.Removed), r.Added...)))
			r.Answer.Paths = paths
		}
		found[r.Key] = r
	}
	return found
}

// writeRecording writes one command a line.
func writeRecording(t *testing.T, name string, all []recorded) {
	t.Helper()
	var b strings.Builder
	var paths []string
	for _, r := range all {
		if r.Answer.Facts != nil {
			r.Added, r.Removed = without(r.Answer.Paths, paths), without(paths, r.Answer.Paths)
			paths = r.Answer.Paths
		}
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// without returns the elements of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(e string) bool { return slices.Contains(b, e) })
}
