package why_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestWhyNamesTheBackupOnceInTheFirstLine(t *testing.T) {
	in := why.HealthyInput(t)
	in.BackedUp(func(v *inspect.BackupStatusView) {
		v.Running = new(false)
		why.Problem(v, "no backup runs on tag default")
	})
	in.Cluster = nil
	var out bytes.Buffer
	if err := ui.WriteWhy(&out, why.NewResourceWhyReport(inspect.Metadata{Cluster: "fdbbackup/nightly", Namespace: "fdb"}, in), ui.WhyOptions{}); err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(out.String(), "\n"); first != "fdb/fdbbackup/nightly: does not run: no backup runs on tag default  next: kubectl fdb plan fdbbackup/nightly" {
		t.Error(first)
	}
}
