// Package runbooks renders runs of runbooks, and lists runbooks.
package runbooks

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// Report is the document about a run.
type Report struct {
	inspect.Document
	runbook.Progress
	// State is the state file, with which the run can be continued.
	State string `json:"state"`
}

// NewReport returns the document about a run.
func NewReport(m inspect.Metadata, now time.Time, p runbook.Progress, state string) Report {
	return Report{Document: inspect.NewDocument("RunbookReport", m, now, inspect.SourceLive), Progress: p, State: state}
}

// What describes what a step does.
func What(r runbook.Result, s *runbook.Step) string {
	switch {
	case len(r.Arguments) > 0:
		return strings.Join(r.Arguments, " ")
	case s.Approve != nil:
		return "approval of " + s.Approve.Who
	case s.Wait != nil:
		return "wait for " + s.Wait.For.String()
	default:
		return strings.Join(s.Command(), " ")
	}
}

// Ended describes how a step ended: "done (exit code 0, 3s)".
func Ended(r runbook.Result) string {
	words := string(r.Status)
	var facts []string
	if r.ExitCode != nil && r.Kind != runbook.KindApprove {
		facts = append(facts, fmt.Sprintf("exit code %d", *r.ExitCode))
	}
	if took := Took(r); took != nil {
		facts = append(facts, phrase.Duration(*took))
	}
	if r.Attempts > 1 {
		facts = append(facts, phrase.Count(r.Attempts, "attempt"))
	}
	if len(facts) > 0 {
		words += " (" + strings.Join(facts, ", ") + ")"
	}
	return words
}

// Took returns the time of the last attempt; nil if it has not ended.
func Took(r runbook.Result) *time.Duration {
	if r.StartedAt == nil || r.EndedAt == nil {
		return nil
	}
	took := r.EndedAt.Sub(*r.StartedAt)
	return &took
}

// WriteReport prints a row per step and compensation.
func WriteReport(w io.Writer, r Report, t ui.Table) error {
	t.Columns = []layout.Column{{Name: "STEP"}, {Name: "STATUS"}, {Name: "CODE"}, {Name: "TIME"}, {Name: "COMMAND", Min: 20}}
	for _, one := range r.Steps {
		t.Rows = append(t.Rows, row(one.Name, one))
	}
	for _, one := range r.Compensations {
		t.Rows = append(t.Rows, row(one.Name+" (revert)", one))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	took := ""
	if r.EndedAt != nil {
		took = " after " + phrase.Duration(r.EndedAt.Sub(r.StartedAt))
	}
	_, err := layout.Fprintf(w, "%s: %s%s\n", r.Runbook, r.Outcome, took)
	return err
}

func row(name string, r runbook.Result) []string {
	took := phrase.Nothing
	if d := Took(r); d != nil {
		took = phrase.Duration(*d)
	}
	status := string(r.Status)
	if r.Status == runbook.Started {
		status = phrase.Unknown
	}
	command := strings.Join(r.Arguments, " ")
	if r.Approval != nil {
		command = "approved by " + r.Approval.By + " (" + r.Approval.How + ")"
	}
	return []string{name, status, phrase.NumberOr(r.ExitCode, phrase.Nothing), took, phrase.Or(command, string(r.Kind))}
}

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
