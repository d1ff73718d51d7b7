package inspect

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// LeftBehind returns what an aborted restore leaves in the database, as far as it reported.
func LeftBehind(r fdb.RestoreStatus) string {
	if r.BytesWritten == 0 {
		return "the restore had not reported any written data"
	}
	return fmt.Sprintf("part of the data is in the database: %s, %s", phrase.Bytes(r.BytesWritten), phrase.CountOf(r.BlocksDone, r.BlocksTotal, "block"))
}
