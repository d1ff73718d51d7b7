package check

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// WriteMarkdowns prints the reports of several clusters, one after the other.
func WriteMarkdowns(w io.Writer, l ReportList, o ui.ListOptions) error {
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
func WriteMarkdown(w io.Writer, r Report, o ui.ListOptions) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s/%s: %s\n\n%s\n", r.Metadata.Namespace, r.Metadata.Cluster, r.Verdict, cell(sentence(r.Text())))
	o.Wide = false
	for n, row := range r.rows(o) {
		if n == 0 {
			b.WriteString("\n| rule | severity | subject | count | since | message | fix |\n|---|---|---|---|---|---|---|\n")
		}
		if fix := &row[len(row)-1]; *fix != "" && *fix != "-" {
			*fix = "`" + *fix + "`"
		}
		for i := range row {
			row[i] = cell(row[i])
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func sentence(words string) string { return strings.ToUpper(words[:1]) + words[1:] + "." }

// cell returns a text escaped for a table cell.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(text)
}
