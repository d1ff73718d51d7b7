package check

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// The parts of SARIF 2.1.0 that a report uses.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool sarifTool `json:"tool"`
		// Details identify the runs of several clusters; null for one.
		Details     *sarifDetails     `json:"automationDetails,omitempty"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifDetails struct {
		ID string `json:"id"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string             `json:"id"`
		ShortDescription sarifText          `json:"shortDescription"`
		FullDescription  sarifText          `json:"fullDescription"`
		Configuration    sarifConfiguration `json:"defaultConfiguration"`
		Properties       sarifProperties    `json:"properties"`
	}
	sarifProperties struct {
		Tags []string `json:"tags"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Fixes     []sarifFix      `json:"fixes,omitempty"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifSpan `json:"deletedRegion"`
		Inserted sarifText `json:"insertedContent"`
	}
	sarifSpan struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndColumn   int `json:"endColumn"`
	}
	sarifLocation struct {
		// Physical is where a manifest has the field; null for findings about a cluster.
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		// Rule is null for a cluster that could not be checked.
		Rule    *sarifReference `json:"associatedRule,omitempty"`
		Level   string          `json:"level"`
		Message sarifText       `json:"message"`
	}
	sarifReference struct {
		ID    string `json:"id"`
		Index int    `json:"index"`
	}
)

// WriteSARIF prints a report in the format of static analysis. The subjects are logical
// locations, and findings about manifests have a line in a file. Rules that were not checked or were
// skipped are notifications.
func WriteSARIF(w io.Writer, r check.Report) error { return writeRuns(w, runOf(r)) }

// WriteSARIFs prints the reports of several clusters: a run for each, with its name.
func WriteSARIFs(w io.Writer, l check.ReportList) error {
	runs := []sarifRun{}
	for _, r := range l.Items {
		run := runOf(r)
		run.Details = &sarifDetails{ID: "kubectl-fdb-check/" + r.Name() + "/"}
		runs = append(runs, run)
	}
	return writeRuns(w, runs...)
}

func writeRuns(w io.Writer, runs ...sarifRun) error {
	return ui.WriteIndentedJSON(w, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: runs})
}

// sarif returns the run of one cluster.
func runOf(r check.Report) sarifRun {
	name, version, _ := strings.Cut(r.Metadata.Tool, " ")
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: name, Version: version, Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{{Successful: r.Verdict != check.VerdictCannotTell, Notifications: []sarifNotification{}}},
		Results:     []sarifResult{},
	}
	for i, item := range r.Items {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, ruleOf(item))
		for _, f := range item.Findings {
			run.Results = append(run.Results, resultOf(r, i, item, f))
		}
		if item.Reason != "" {
			outcome := check.NotChecked
			if item.Outcome == check.Skipped {
				outcome = check.Skipped
			}
			run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotification{
				Rule: &sarifReference{item.Rule, i}, Level: "warning", Message: sarifText{string(outcome) + ": " + item.Reason},
			})
		}
	}
	if r.Problem != "" {
		run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotification{Level: "error", Message: sarifText{string(check.NotChecked) + ": " + r.Problem}})
	}
	return run
}

func ruleOf(i check.Item) sarifRule {
	return sarifRule{
		ID: i.Rule, ShortDescription: sarifText{i.Title}, FullDescription: sarifText{i.Explanation},
		Configuration: sarifConfiguration{levelOf(i.Severity)}, Properties: sarifProperties{[]string{i.Family, string(i.Severity)}},
	}
}

func resultOf(r check.Report, index int, i check.Item, f check.FindingView) sarifResult {
	result := sarifResult{RuleID: i.Rule, RuleIndex: index, Level: levelOf(i.Severity), Message: sarifText{f.Message}, Locations: []sarifLocation{}}
	if f.Fix != "" {
		result.Message.Text += "\nfix: " + f.Fix
	}
	for _, subject := range f.Subjects {
		result.Locations = append(result.Locations, sarifLocation{Physical: physicalOf(f), Logical: []sarifLogical{{
			Name: r.Name() + "/" + subject, Kind: "resource",
		}}})
	}
	if c, place := f.Correction, physicalOf(f); c != nil && place != nil {
		line := sarifSpan{StartLine: f.Line, StartColumn: 1, EndColumn: utf8.RuneCountInString(c.Before) + 1}
		change := sarifChange{Artifact: place.Artifact, Replacements: []sarifReplacement{{line, sarifText{c.After}}}}
		result.Fixes = []sarifFix{{Description: sarifText{"the line must be: " + strings.TrimSpace(c.After)}, Changes: []sarifChange{change}}}
	}
	return result
}

// physicalOf returns the place of a finding in a file; nil for none. A path is relative to the directory of the command, as a
// pipeline runs it at the top of a repository.
func physicalOf(f check.FindingView) *sarifPhysical {
	if f.File == "" {
		return nil
	}
	p := &sarifPhysical{Artifact: sarifArtifact{URI: (&url.URL{Path: filepath.ToSlash(filepath.Clean(f.File))}).EscapedPath()}}
	if f.Line > 0 {
		p.Region = &sarifRegion{StartLine: f.Line}
	}
	return p
}

// sarif returns the SARIF level of a severity; the highest is error.
func levelOf(s check.Severity) string {
	switch s {
	case check.Critical, check.Error:
		return "error"
	case check.Warning:
		return "warning"
	default:
		return "note"
	}
}
