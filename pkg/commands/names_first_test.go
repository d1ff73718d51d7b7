package commands_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// A typing error is the better answer than a missing --yes.
func TestNamesAreCheckedBeforeApprovalIsRequired(t *testing.T) {
	for line, want := range map[string]string{
		"replace sample storage-1":                "not found",
		"restart sample storage-1":                "not found",
		"exclude sample storage-1":                "not found",
		"drain sample node-77":                    "node node-77 not found",
		"drain sample":                            "nodes are required: as arguments after the name of the cluster, or selected with -l",
		"drain node-77 -c sample":                 "node node-77 not found",
		"cordon node-77 -c sample --evacuate=now": "node node-77 not found",
		"reconcile smaple":                        "did you mean sample?",
		"backup stop nightyl":                     "did you mean nightly?",
		"restore start agein":                     "FoundationDBRestore agein not found in namespace fdb, which has again",
		"reconcile fdbbackup/nightyl":             "did you mean nightly?",
		"plan fdbbackup/nightyl":                  "did you mean nightly?",
		"why fdbrestore/unknown":                  "FoundationDBRestore unknown not found in namespace fdb, which has again",
		"backup status unknown":                   "FoundationDBBackup unknown not found",
	} {
		t.Run(line, func(t *testing.T) {
			v := commandstest.NewVault(t)
			code := v.Run(strings.Fields(line)...)
			text := v.Err.String()
			if code != exit.ExitUsage || strings.Count(text, want) != 1 || v.Out.Len() > 0 {
				t.Errorf("exit code %d, want %q once: %s%s", code, want, text, &v.Out)
			}
		})
	}
}

// Without a terminal and without --yes nothing is changed, whatever was checked before.
func TestApprovalIsRequiredBeforeAnythingIsChanged(t *testing.T) {
	for _, line := range []string{
		"replace sample STORAGE", "restart sample STORAGE", "exclude sample STORAGE", "drain node-1 -c sample",
		"cordon node-1 -c sample --evacuate=now", "reconcile sample", "reconcile sample --with-backups", "reconcile sample --watch", "backup stop nightly", "restore start again",
		"coordinators change sample",
	} {
		t.Run(line, func(t *testing.T) {
			v := commandstest.NewVault(t)
			v.Cluster.Acted = nil
			code := v.Run(strings.Fields(strings.ReplaceAll(line, "STORAGE", v.Group("storage")))...)
			if code != exit.ExitUnconfirmed || !strings.Contains(v.Err.String(), "nothing was changed") || len(v.Cluster.Acted) > 0 {
				t.Errorf("exit code %d: %s%s, did %v", code, &v.Out, &v.Err, v.Cluster.Acted)
			}
		})
	}
}
