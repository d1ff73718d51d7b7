package check

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// WritePatch prints the corrections of manifests as a unified diff without context: of a line with several of them the first,
// because each is about the line as it is.
func WritePatch(w io.Writer, reports []check.Report) error {
	last := check.FindingView{}
	for _, f := range corrected(reports) {
		if f.File == last.File && f.Line == last.Line {
			continue
		}
		if f.File != last.File {
			path := phrase.VisibleLine(filepath.ToSlash(f.File))
			if _, err := fmt.Fprintf(w, "--- %s\n+++ %s\n", path, path); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintf(w, "@@ -%d +%d @@\n-%s\n+%s\n", f.Line, f.Line, phrase.VisibleLine(f.Correction.Before), phrase.VisibleLine(f.Correction.After)); err != nil {
			return err
		}
		last = f
	}
	return nil
}

// corrected returns the findings with corrections, by file and line.
func corrected(reports []check.Report) (all []check.FindingView) {
	for _, r := range reports {
		for _, item := range r.Items {
			for _, f := range item.Findings {
				if f.Correction != nil {
					all = append(all, f)
				}
			}
		}
	}
	stable.Sort(all, func(a, b check.FindingView) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return all
}
