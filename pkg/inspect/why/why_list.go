package why

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// ReportList is the document of `why -A`: the report of each cluster.
type ReportList struct {
	inspect.Document
	// State is the worst of the clusters'.
	State State    `json:"state"`
	Items []Report `json:"items"`
}

// NewUnread returns the report about a cluster that could not be read.
func NewUnread(m inspect.Metadata, problem string) Report {
	return Report{
		Document: inspect.NewDocument("WhyReport", m, time.Time{}, inspect.SourceLive),
		State:    Unknown, Summary: "cannot read the cluster: " + problem, Next: []string{}, Items: []Chain{},
	}
}

// NewReportList returns the document.
func NewReportList(m inspect.Metadata, asOf time.Time, reports []Report) ReportList {
	l := ReportList{Document: inspect.NewDocument("WhyReportList", m, asOf, inspect.SourceLive), State: Ready, Items: append([]Report{}, reports...)}
	for _, r := range reports {
		if r.State.grade() > l.State.grade() {
			l.State = r.State
		}
	}
	return l
}
