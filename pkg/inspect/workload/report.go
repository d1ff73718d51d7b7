package workload

import (
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Report is the document of `why --performance`: what makes a database slow.
type Report struct {
	inspect.Document
	// State is the worst of the items'; unknown where no cause is known and a figure that decides
	// is missing.
	State State `json:"state"`
	// Summary is the worst cause in one line.
	Summary string `json:"summary"`
	// Next are complete commands for it.
	Next []string `json:"next"`
	// Items are the causes, those that slow the database first.
	Items []Cause `json:"items"`
	// Unknown are the figures that the database does not report.
	Unknown []Unknown `json:"unknown"`
	Load    Load      `json:"load"`
}

// NewReport makes the document out of that of `top`.
func NewReport(v View, c inspect.Commands) Report {
	r := Report{Document: v.Document, State: v.State, Summary: v.Headline(), Next: []string{}, Items: v.Causes, Unknown: v.Unknown, Load: v.Load}
	r.Kind = "PerformanceReport"
	switch {
	case len(v.Causes) > 0:
		r.Next = append(r.Next, v.Causes[0].Next)
	case v.State == StateUnknown:
		r.Next = append(r.Next, c.FDB("why", v.Metadata.Cluster))
	}
	return r
}

// Headline returns the state in one line: the worst cause, or why it is unknown.
func (v View) Headline() string {
	var worst string
	if len(v.Causes) > 0 {
		worst = v.Causes[0].Text()
	}
	switch v.State {
	case Slow:
		return "slow: " + worst
	case NearLimit:
		return "nothing slows the database, but " + worst
	case Fine:
		return "nothing slows the database"
	case StateUnknown:
		return "cannot determine what slows the database: " + v.doubt()
	}
	return ""
}

// doubt returns why the state is unknown.
func (v View) doubt() string {
	if v.Reason != "" {
		return v.Reason
	}
	var missing []string
	for _, u := range v.Unknown {
		if u.Decides {
			missing = append(missing, u.Text())
		}
	}
	return strings.Join(missing, "; ")
}

// Text returns the cause with its subjects.
func (c Cause) Text() string {
	if len(c.Subjects) == 1 && c.Subjects[0] == Database {
		return c.Summary
	}
	return fmt.Sprintf("%s: %s", phrase.Some(c.Subjects, inspect.MostNamed), c.Summary)
}

// Text returns which figure is missing, and of what.
func (u Unknown) Text() string {
	title := string(u.Code)
	for _, r := range Rules() {
		if r.Code == u.Code {
			title = r.Title
		}
	}
	return fmt.Sprintf("%s: unknown for %s", title, phrase.Some(u.Subjects, inspect.MostNamed))
}
