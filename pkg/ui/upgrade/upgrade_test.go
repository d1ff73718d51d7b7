package upgrade

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
)

// A recording of version 1 is decoded into the types of the present version. A key that was
// renamed and not converted would be unknown to them, or lost.
func TestAVersion1RecordingIsConverted(t *testing.T) {
	text, err := os.ReadFile("testdata/recording-v1.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	frames, events := 0, []string{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		upgraded, err := JSON(lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		var entry struct {
			At, Cluster string
			Frame       *frame.Frame
			Pass        *struct {
				Event string
				Hold  *inspect.HoldRecord
			}
		}
		decoder := json.NewDecoder(bytes.NewReader(upgraded))
		decoder.DisallowUnknownFields()
		if entry.Pass == nil && bytes.Contains(lines.Bytes(), []byte(`"pass":`)) {
			decoder = json.NewDecoder(bytes.NewReader(upgraded)) // lines of passes have more keys than this type
		}
		if err := decoder.Decode(&entry); err != nil {
			t.Fatal(err)
		}
		if entry.Frame != nil {
			frames++
			checkConverted(t, *entry.Frame)
		}
		if entry.Pass != nil {
			events = append(events, entry.Pass.Event)
			if entry.Pass.Hold != nil && !entry.Pass.Hold.ManualIntervention {
				t.Errorf("a hold lost that manual intervention is required: %s", upgraded)
			}
		}
	}
	if want := []string{"decided", "wait-started", "wait-ended"}; frames != 2 || !slices.Equal(events, want) {
		t.Errorf("%d frames and events %q, want 2 and %q", frames, events, want)
	}
}

func checkConverted(t *testing.T, f frame.Frame) {
	t.Helper()
	if f.APIVersion != inspect.APIVersion || f.Status.APIVersion != inspect.APIVersion || f.Why.APIVersion != inspect.APIVersion {
		t.Errorf("versions %s, %s, %s", f.APIVersion, f.Status.APIVersion, f.Why.APIVersion)
	}
	for _, c := range f.Why.Items {
		if c.Summary == "" || len(c.Reasons) == 0 || c.Reasons[0].Message == "" {
			t.Errorf("a chain without its words: %+v", c)
		}
	}
	for _, item := range f.Plan.Items {
		if item.Stage == "" {
			t.Errorf("an item without its stage: %+v", item)
		}
	}
	for _, c := range f.Status.ProcessGroups.Classes {
		if c.Current == 0 {
			t.Errorf("a class without its process groups: %+v", c)
		}
	}
}

func TestOnlyV1DocumentsAreConverted(t *testing.T) {
	for from, want := range map[string]string{
		`{"apiVersion":"cli.kubectl-fdb/v1","kind":"WhyReport","items":[{"wish":"a","because":[{"what":"b","because":[]}]}]}`: `{"apiVersion":"cli.kubectl-fdb/v2","items":[{"reasons":[{"message":"b","reasons":[]}],"summary":"a"}],"kind":"WhyReport"}`,
		`{"apiVersion":"cli.kubectl-fdb/v2","kind":"WhyReport","items":[{"wish":"a"}]}`:                                       `{"apiVersion":"cli.kubectl-fdb/v2","items":[{"wish":"a"}],"kind":"WhyReport"}`,
		`{"apiVersion":"v1","kind":"Pod","step":"a"}`:                                                                         `{"apiVersion":"v1","kind":"Pod","step":"a"}`,
		`{"event":"woken","pass":1,"at":1e3}`:                                                                                 `{"at":1e3,"event":"wait-ended","pass":1}`,
		`{"event":"woken"}`:                                                                                                   `{"event":"woken"}`,
	} {
		if got, err := JSON([]byte(from)); err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	if _, err := JSON([]byte(`{"a":`)); err == nil {
		t.Error("half a document was converted")
	}
}

// The page of versions has a row for each renamed key and value.
func TestRenamedKeysAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/json-versions.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(string(page), "\n")
	documented := func(kind, from, to string) bool {
		return slices.ContainsFunc(rows, func(row string) bool {
			cells := strings.Split(row, "|")
			return len(cells) == 5 && strings.Contains(cells[1], "`"+kind+"`") && strings.TrimSpace(cells[2]) == "`"+from+"`" && strings.TrimSpace(cells[3]) == "`"+to+"`"
		})
	}
	for _, r := range renamedSinceFirst {
		if r.Key != r.To && !documented(r.Kind, r.Key, r.To) {
			t.Errorf("docs/json-versions.md has no row %s, %s, %s", r.Kind, r.Key, r.To)
		}
		for _, old := range slices.Sorted(maps.Keys(r.Values)) {
			if from, to := r.Key+": "+old, r.To+": "+r.Values[old]; !documented(r.Kind, from, strings.TrimSpace(to)) {
				t.Errorf("docs/json-versions.md has no row %s, %s, %s", r.Kind, from, to)
			}
		}
	}
}
