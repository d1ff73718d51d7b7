package runbooks

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// JUnit's document as CI systems read it: a suite per run, a case per step and compensation.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Errors    int         `xml:"errors,attr"`
		Skipped   int         `xml:"skipped,attr"`
		Time      string      `xml:"time,attr"`
		Timestamp string      `xml:"timestamp,attr"`
		Cases     []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name      string       `xml:"name,attr"`
		Classname string       `xml:"classname,attr"`
		Time      string       `xml:"time,attr,omitempty"`
		Failure   *junitReason `xml:"failure"`
		Error     *junitReason `xml:"error"`
		Skipped   *junitReason `xml:"skipped"`
		Out       string       `xml:"system-out,omitempty"`
	}
	junitReason struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit prints a report as JUnit XML. A step that failed is a failure, one with an unknown outcome
// or an interruption is an error, and one that did not run is skipped.
func WriteJUnit(w io.Writer, r Report) error {
	suite := junitSuite{Name: "kubectl fdb run " + r.Runbook, Timestamp: r.StartedAt.Format("2006-01-02T15:04:05"), Time: "0"}
	if r.EndedAt != nil {
		suite.Time = fmt.Sprintf("%.3f", r.EndedAt.Sub(r.StartedAt).Seconds())
	}
	for _, one := range r.Steps {
		suite.add(caseOf(r, one.Name, one))
	}
	for _, one := range r.Compensations {
		suite.add(caseOf(r, one.Name+" (revert)", one))
	}
	if err := ui.WriteXML(w, &junitSuites{Suites: []junitSuite{suite}}); err != nil {
		return fmt.Errorf("print JUnit XML: %w", err)
	}
	return nil
}

func caseOf(r Report, name string, one runbook.Result) junitCase {
	c := junitCase{Name: name, Classname: r.Runbook, Out: strings.Join(one.Arguments, " ")}
	if took := Took(one); took != nil {
		c.Time = fmt.Sprintf("%.3f", took.Seconds())
	}
	switch one.Status {
	case runbook.Failed:
		c.Failure = &junitReason{Message: Ended(one), Text: one.Message}
	case runbook.Interrupted, runbook.Started:
		c.Error = &junitReason{Message: Ended(one), Text: one.Message}
	case runbook.Pending, runbook.Skipped:
		c.Skipped = &junitReason{Message: string(one.Status)}
	case runbook.Done:
	}
	return c
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}
