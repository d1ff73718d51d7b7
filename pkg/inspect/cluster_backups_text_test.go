package inspect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestTheChangeWriterPrintsEachBackupChangeOnce(t *testing.T) {
	framed := func(found inspect.ClusterBackups) frame.Frame {
		return frame.Frame{Document: inspect.Document{Kind: "Frame", AsOf: &noon}, Backups: new(inspect.NewClusterBackupsView(found, noon, &inspect.BackupHistory{}))}
	}
	runs := func(summary string) inspect.ClusterBackups {
		return inspect.BackedUpBy(1, func(v *inspect.BackupStatusView) { v.Summary = summary })
	}
	restoring := func(percent float64, problem string) inspect.ClusterBackups {
		r := &v1beta2.FoundationDBRestore{}
		r.Name = "again"
		return inspect.ClusterBackups{Restores: []inspect.SeenRestore{{Resource: r, View: &inspect.RestoreStatusView{State: new("running"), Percent: &percent, LastError: problem, Summary: "it is running"}}}}
	}
	tests := map[string]struct {
		before, then inspect.ClusterBackups
		want         []string
	}{
		"a backup that came":           {then: runs("it runs"), want: []string{"backup nightly: it runs"}},
		"nothing where only ages are":  {before: runs("restored up to 20s ago"), then: runs("restored up to 40s ago")},
		"a backup that is paused":      {before: runs("it runs"), then: runs("it is paused"), want: []string{"backup nightly: it is paused"}},
		"a backup that does not exist": {before: runs("it runs"), want: []string{"backup nightly: deleted"}},
		"none is missing unread": {
			before: runs("it runs"), then: inspect.ClusterBackups{Unread: "forbidden"}, want: []string{"backups could not be read: forbidden"},
		},
		"a restore that came":         {then: restoring(1, ""), want: []string{"restore again: it is running"}},
		"a restore that goes a bit":   {before: restoring(11, ""), then: restoring(19, "")},
		"a tenth of a restore":        {before: restoring(19, ""), then: restoring(20, ""), want: []string{"restore again: it is running"}},
		"an error of a restore":       {before: restoring(11, ""), then: restoring(11, "x"), want: []string{"restore again: it is running"}},
		"a restore of which all went": {before: restoring(11, ""), want: []string{"restore again: deleted"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ui.BackupNews(framed(tc.before), framed(tc.then))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
