package check

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// RuleList is the document of `check --list`.
type RuleList struct {
	inspect.Document
	Items []RuleView `json:"items"`
}

// RuleView is one rule.
type RuleView struct {
	Rule        string   `json:"rule"`
	Family      string   `json:"family"`
	Severity    Severity `json:"severity"`
	Title       string   `json:"title"`
	Explanation string   `json:"explanation"`
}

// NewRuleList returns the document.
func NewRuleList(m inspect.Metadata, rules []Rule) RuleList {
	l := RuleList{Document: inspect.NewDocument("CheckRuleList", m, time.Time{}, inspect.SourceLive), Items: []RuleView{}}
	for _, r := range rules {
		l.Items = append(l.Items, RuleView{r.Code, r.Family(), r.Severity, r.Title, r.Why})
	}
	return l
}

// Named returns the rules of these codes or families, or all without names; unknown is the
// first name that no rule has.
func Named(names []string) (rules []Rule, unknown string) {
	for _, name := range names {
		known := false
		for _, r := range Rules() {
			known = known || named(r, []string{name})
		}
		if !known {
			return nil, name
		}
	}
	for _, r := range Rules() {
		if len(names) == 0 || named(r, names) {
			rules = append(rules, r)
		}
	}
	return rules, ""
}
