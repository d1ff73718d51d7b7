package check

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// JUnit's document as CI systems read it: a suite per family, a case per rule.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name      string       `xml:"name,attr"`
		Classname string       `xml:"classname,attr"`
		Failure   *junitReason `xml:"failure"`
		Error     *junitReason `xml:"error"`
		Skipped   *junitReason `xml:"skipped"`
		Out       string       `xml:"system-out,omitempty"`
	}
	junitReason struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit prints a report as JUnit XML. A finding less severe than the report fails on is
// in the case's output; a rule that was not evaluated is an error if it affects the verdict,
// else it counts as skipped.
func WriteJUnit(w io.Writer, r check.Report) error {
	return writeSuites(w, "kubectl fdb check "+r.Name(), suitesOf(r, ""))
}

// WriteJUnits prints the reports of several clusters: the suites of each have its name.
func WriteJUnits(w io.Writer, l check.ReportList) error {
	var suites []junitSuite
	for _, r := range l.Items {
		suites = append(suites, suitesOf(r, r.Name()+" ")...)
	}
	return writeSuites(w, "kubectl fdb check --all-namespaces", suites)
}

// junit returns the suites of one cluster.
func suitesOf(r check.Report, prefix string) []junitSuite {
	var suites []junitSuite
	for _, item := range r.Items {
		i := slices.IndexFunc(suites, func(s junitSuite) bool { return s.Name == prefix+item.Family })
		if i < 0 {
			i, suites = len(suites), append(suites, junitSuite{Name: prefix + item.Family})
		}
		suites[i].add(caseOf(r, item, prefix))
	}
	if r.Problem != "" {
		s := junitSuite{Name: prefix + "cluster"}
		s.add(junitCase{Name: "the cluster can be checked", Classname: s.Name, Error: &junitReason{Message: r.Problem, Type: string(check.NotChecked)}})
		suites = append(suites, s)
	}
	return suites
}

func writeSuites(w io.Writer, name string, suites []junitSuite) error {
	all := junitSuites{Name: name, Suites: suites}
	for _, s := range all.Suites {
		all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
	}
	if err := ui.WriteXML(w, &all); err != nil {
		return fmt.Errorf("print JUnit XML: %w", err)
	}
	return nil
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func caseOf(r check.Report, i check.Item, prefix string) junitCase {
	c := junitCase{Name: i.Rule + " " + i.Title, Classname: prefix + i.Family}
	matters := i.Severity.AtLeast(r.FailOn)
	switch {
	case i.Outcome == check.Skipped:
		c.Skipped = &junitReason{Message: i.Reason}
	case i.Outcome == check.NotChecked && matters:
		c.Error = &junitReason{Message: "not checked: " + i.Reason, Type: string(check.NotChecked)}
	case i.Outcome == check.NotChecked:
		c.Skipped = &junitReason{Message: "not checked: " + i.Reason}
	case len(i.Findings) > 0 && matters:
		c.Failure = &junitReason{Message: i.Findings[0].Message, Type: string(i.Severity), Text: linesOf(i)}
	case len(i.Findings) > 0:
		c.Out = linesOf(i)
	}
	return c
}

// lines returns all findings as text.
func linesOf(i check.Item) string {
	var b strings.Builder
	for _, f := range i.Findings {
		subjects := f.Subjects
		if f.File != "" {
			subjects = slices.Concat([]string{placeOf(f)}, subjects)
		}
		fmt.Fprintf(&b, "%s: %s\n  %s\n", i.Severity, f.Message, strings.Join(subjects, ", "))
		if f.Fix != "" {
			fmt.Fprintf(&b, "  fix: %s\n", f.Fix)
		}
	}
	if i.Reason != "" {
		fmt.Fprintf(&b, "not checked: %s\n", i.Reason)
	}
	return b.String()
}
