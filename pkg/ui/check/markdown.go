package check

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteMarkdowns prints the reports of several clusters, one after the other.
func WriteMarkdowns(w io.Writer, l check.ReportList, o ui.ListOptions) error {
	for n, r := range l.Items {
		if n > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		if err := WriteMarkdown(w, r, o); err != nil {
			return err
		}
	}
	return nil
}

// WriteMarkdown prints a report for a comment or the summary page of a CI system.
func WriteMarkdown(w io.Writer, r check.Report, o ui.ListOptions) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s/%s: %s\n\n%s\n", inline(r.Metadata.Namespace), inline(r.Metadata.Cluster), inline(string(r.Verdict)), inline(sentence(r.Text())))
	o.Wide = false
	for n, row := range rowsOf(r, o) {
		if n == 0 {
			b.WriteString("\n| rule | severity | subject | count | since | message | fix |\n|---|---|---|---|---|---|---|\n")
		}
		for i := range row {
			text := inline(row[i])
			if fix := i == len(row)-1; fix && row[i] != "" && row[i] != layout.Nothing {
				text = code(row[i])
			}
			row[i] = cell(text)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func sentence(words string) string { return strings.ToUpper(words[:1]) + words[1:] + "." }

// markup matches what begins a link, an image, a mention, code, HTML or emphasis.
var markup = regexp.MustCompile("[`@\\[\\]<>&*~#\\\\]|://|www\\.")

// inline returns a text that a page shows as it is: one with markup as code, in which nothing of it has a
// meaning. Text of a cluster must not load an image into a comment, or call its readers.
func inline(text string) string {
	if text = phrase.VisibleLine(text); markup.MatchString(text) {
		return code(text)
	}
	return text
}

// code returns a text as code, between more backticks than it has.
func code(text string) string {
	text = phrase.VisibleLine(text)
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// cell returns what inline or code returned for a table cell.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
