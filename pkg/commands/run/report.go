package run

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/runbooks"
)

// writeReports writes the files of --report.
func (r *runner) writeReports() error {
	var errs []error
	for _, one := range r.reports {
		kind, file, _ := strings.Cut(one, "=")
		report := runbooks.NewReport(r.Metadata(r.Env.Run.About), r.Clock.Now(), *r.progress, r.store.name())
		var b bytes.Buffer
		err := ui.WriteIndentedJSON(&b, report)
		if kind == "junit" {
			b.Reset()
			err = runbooks.WriteJUnit(&b, report)
		}
		if err == nil {
			err = replaceFile(filepath.Clean(file), b.Bytes())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("write report %s: %w", file, err))
		}
	}
	return errors.Join(errs...)
}
