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
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

var update = flag.Bool("update", false, "write the golden files")

// failing is a cluster with findings of all severities, one of many groups, a rule that was
// skipped, and rules that could not be evaluated.
func failing(t *testing.T) Report {
	t.Helper()
	f := healthy(t)
	for _, g := range f.Groups() {
		g.SetCondition(v1beta2.ConditionIncorrectCommandLine, noon.Add(-time.Hour))
	}
	f.Secrets = map[string]Secret{"tls": {Expires: map[string]time.Time{"tls.crt": noon.Add(-time.Hour)}}, "ca": {Unread: "forbidden: get secrets"}}
	f.NodesHidden = "nodes is forbidden"
	exclusion("10.99.0.1")(&f)
	f.Database.Status.Client.Coordinators.Coordinators[0].Reachable = false
	return reportOn(f, Options{Skip: map[string]string{"POD-005": "nodes never restart | <here>"}})
}

func TestCheckReportsInAllOutputFormats(t *testing.T) {
	r := failing(t)
	o := ui.ListOptions{Now: noon}
	for name, write := range map[string]func(w io.Writer) error{
		"table":    func(w io.Writer) error { return WriteTable(w, r, o) },
		"wide":     func(w io.Writer) error { return WriteTable(w, r, ui.ListOptions{Now: noon, Wide: true}) },
		"json":     func(w io.Writer) error { return ui.WriteIndentedJSON(w, r) },
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

func TestSimilarFindingsAreMergedIntoOneRow(t *testing.T) {
	item := itemOf(t, failing(t), "PG-003")
	if len(item.Findings) != 1 || item.Findings[0].Count != 12 || !item.Findings[0].Since.Equal(noon.Add(-time.Hour)) {
		t.Errorf("got %+v, want one finding about 12 groups for an hour", item.Findings)
	}
}

func TestTheCheckVerdictFollowsSeverityAndSkippedRules(t *testing.T) {
	warns := func(f *Facts) { f.first("storage").SetCondition(v1beta2.ConditionIncorrectPodSpec, noon) }
	hidden := func(f *Facts) { f.NodesHidden = "nodes is forbidden" }
	unread := func(f *Facts) { f.Secrets = map[string]Secret{"tls": {Unread: "forbidden"}} }
	tests := map[string]struct {
		given   func(*Facts)
		options Options
		want    Verdict
	}{
		"nothing found":                                 {func(*Facts) {}, Options{}, VerdictPassed},
		"a warning, where errors count":                 {warns, Options{}, VerdictPassed},
		"a warning, where warnings count":               {warns, Options{FailOn: Warning}, VerdictFailed},
		"a warning of a rule that is left out":          {warns, Options{FailOn: Warning, Skip: map[string]string{"PG-002": "known"}}, VerdictPassed},
		"a warning of a family that is left out":        {warns, Options{FailOn: Warning, Skip: map[string]string{"PG": "known"}}, VerdictPassed},
		"a warning of a rule that is not selected":      {warns, Options{FailOn: Warning, Only: []string{"VOL"}}, VerdictPassed},
		"an unread certificate is no pass":              {unread, Options{}, VerdictCannotTell},
		"an unread certificate that is left out":        {unread, Options{Skip: map[string]string{"CERT": "checked elsewhere"}}, VerdictPassed},
		"hidden nodes, where errors count":              {hidden, Options{}, VerdictPassed},
		"hidden nodes, where warnings count":            {hidden, Options{FailOn: Warning}, VerdictCannotTell},
		"an error beside a rule that was not evaluated": {func(f *Facts) { unread(f); f.ConfigMap = nil }, Options{}, VerdictFailed},
		"an error before a rule that was not evaluated": {func(f *Facts) { f.ConfigMap = nil; unread(f) }, Options{}, VerdictFailed},
		"no answer, where errors count":                 {func(f *Facts) { f.Database.Status, f.Database.Unreachable = nil, "timed out" }, Options{}, VerdictCannotTell},
		"only what needs no database, without one":      {func(f *Facts) { f.Database.Status, f.Database.Unreachable = nil, "timed out" }, Options{Only: []string{"POD"}}, VerdictPassed},
		"a rule that found something and missed more":   {func(f *Facts) { expiring(-time.Hour)(f); f.Secrets["ca"] = Secret{Unread: "forbidden"} }, Options{}, VerdictFailed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(&f)
			if r := reportOn(f, tc.options); r.Verdict != tc.want {
				t.Errorf("got %s (%s), want %s", r.Verdict, r.Text(), tc.want)
			}
		})
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
	if tests != len(Rules()) || got.Tests != tests || got.Failures != failures || got.Errors != errs || got.Skipped != skipped || failures == 0 || errs == 0 || skipped == 0 {
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
	if len(run.Tool.Driver.Rules) != len(Rules()) || len(run.Results) == 0 || len(run.Invocations) != 1 || len(run.Invocations[0].Notifications) == 0 {
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
	v := FindingView{Subjects: []string{"a", "b", "c", "d"}}
	if got := v.subjects(); got != "a,b,+2" {
		t.Errorf("got %s", got)
	}
	if got := v.allSubjects(); got != "a,b,c,d" {
		t.Errorf("got %s", got)
	}
}

func TestLongReasonListsAreShortened(t *testing.T) {
	if got := someReasons([]string{"a", "b", "c"}); got != "a, and 2 more reasons" {
		t.Errorf("got %s", got)
	}
}

func TestCheckRulesAreSelectedByCodeOrFamily(t *testing.T) {
	if rules, unknown := Named([]string{"VOL", "PG-001"}); unknown != "" || len(rules) != 5 || rules[0].Code != "PG-001" {
		t.Errorf("got %d rules, unknown %q", len(rules), unknown)
	}
	if _, unknown := Named([]string{"VOL", "VOL-999"}); unknown != "VOL-999" {
		t.Errorf("got %q", unknown)
	}
	if rules, _ := Named(nil); len(rules) != len(Rules()) {
		t.Errorf("got %d rules", len(rules))
	}
}

func TestTheCheckReportSummaryCountsFindingsBySeverity(t *testing.T) {
	if got := failing(t).Text(); !strings.HasPrefix(got, "found: 1 critical, 1 error, 2 warning, ") {
		t.Errorf("got %s", got)
	}
}
