package check

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

var update = flag.Bool("update", false, "write the golden files")

// noon is when the cluster of the report was read.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// failing is a report with findings of all severities, one of many groups, a rule that was skipped, and rules that
// could not be evaluated.
func failing(t *testing.T) check.Report {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "inspect", "check", "testdata", "json.golden"))
	if err != nil {
		t.Fatal(err)
	}
	var r check.Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCheckReportsInAllOutputFormats(t *testing.T) {
	r := failing(t)
	o := ui.ListOptions{Now: noon}
	for name, write := range map[string]func(w io.Writer) error{
		"table":    func(w io.Writer) error { return WriteTable(w, r, o) },
		"wide":     func(w io.Writer) error { return WriteTable(w, r, ui.ListOptions{Now: noon, Wide: true}) },
		"junit":    func(w io.Writer) error { return WriteJUnit(w, r) },
		"sarif":    func(w io.Writer) error { return WriteSARIF(w, r) },
		"markdown": func(w io.Writer) error { return WriteMarkdown(w, r, o) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// JUnit has no official schema; this is what Jenkins' and GitLab's readers rely on.
func TestJUnitReportStructure(t *testing.T) {
	var b bytes.Buffer
	r := failing(t)
	if err := WriteJUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	type testcase struct {
		Name      string      `xml:"name,attr"`
		Classname string      `xml:"classname,attr"`
		Failures  []xml.Attr  `xml:"failure"`
		Errors    []xml.Attr  `xml:"error"`
		Skips     []xml.Attr  `xml:"skipped"`
		Others    []xml.Attr  `xml:",any,attr"`
		Out       []string    `xml:"system-out"`
		Unknown   []innerNode `xml:",any"`
	}
	var got struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Suites   []struct {
			Name  string     `xml:"name,attr"`
			Tests int        `xml:"tests,attr"`
			Cases []testcase `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	tests, failures, errs, skipped := 0, 0, 0, 0
	for _, suite := range got.Suites {
		if suite.Tests != len(suite.Cases) {
			t.Errorf("suite %s reports %d tests and has %d", suite.Name, suite.Tests, len(suite.Cases))
		}
		for _, c := range suite.Cases {
			tests, failures, errs, skipped = tests+1, failures+len(c.Failures), errs+len(c.Errors), skipped+len(c.Skips)
			if c.Name == "" || c.Classname != suite.Name || len(c.Failures)+len(c.Errors)+len(c.Skips) > 1 || len(c.Others)+len(c.Unknown) > 0 {
				t.Errorf("a case that is not one: %+v", c)
			}
		}
	}
	if tests != len(r.Items) || got.Tests != tests || got.Failures != failures || got.Errors != errs || got.Skipped != skipped || failures == 0 || errs == 0 || skipped == 0 {
		t.Errorf("got %d tests, %d failures, %d errors, %d skipped, the root reports %+v", tests, failures, errs, skipped, got)
	}
}

type innerNode struct{ XMLName xml.Name }

// What SARIF 2.1.0 requires of what is used here: see sections 3.13, 3.14, 3.19, 3.27.
func TestSARIFReportHasTheRequiredStructure(t *testing.T) {
	var b bytes.Buffer
	r := failing(t)
	if err := WriteSARIF(&b, r); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b.Bytes()))
	d.DisallowUnknownFields()
	var got sarifLog
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Version != "2.1.0" || len(got.Runs) != 1 || got.Runs[0].Tool.Driver.Name == "" {
		t.Fatalf("got %+v", got)
	}
	run := got.Runs[0]
	if len(run.Tool.Driver.Rules) != len(r.Items) || len(run.Results) == 0 || len(run.Invocations) != 1 || len(run.Invocations[0].Notifications) == 0 {
		t.Errorf("got %d rules, %d results, %+v", len(run.Tool.Driver.Rules), len(run.Results), run.Invocations)
	}
	for _, result := range run.Results {
		if run.Tool.Driver.Rules[result.RuleIndex].ID != result.RuleID {
			t.Errorf("result of %s points at rule %s", result.RuleID, run.Tool.Driver.Rules[result.RuleIndex].ID)
		}
		if !slices.Contains([]string{"none", "note", "warning", "error"}, result.Level) || result.Message.Text == "" || len(result.Locations) == 0 {
			t.Errorf("a result without a level, a message or a location: %+v", result)
		}
		for _, location := range result.Locations {
			if len(location.Logical) != 1 || location.Logical[0].Name == "" {
				t.Errorf("a location without a name: %+v", location)
			}
		}
	}
}

func TestLongSubjectListsAreShortenedUnlessAllAreRequested(t *testing.T) {
	subjects := []string{"a", "b", "c", "d"}
	if got := someOf(subjects); got != "a,b,+2" {
		t.Errorf("got %s", got)
	}
	if got := allOf(subjects); got != "a,b,c,d" {
		t.Errorf("got %s", got)
	}
}
