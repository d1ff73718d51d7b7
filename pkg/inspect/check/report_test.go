package check

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
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

// The document is also what the tests of the other formats print.
func TestTheCheckReportAsJSON(t *testing.T) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(failing(t)); err != nil {
		t.Fatal(err)
	}
	golden(t, "json", b.String())
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
