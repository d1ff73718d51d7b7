package inspect

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

func (v DrainView) Name() string { return phrase.Or(v.ID, v.Process) + ofProcess(v) }

// ofProcess distinguishes the processes of one group.
func ofProcess(v DrainView) string {
	if v.ID == "" || v.Process == "" {
		return ""
	}
	return " at " + v.Process
}
