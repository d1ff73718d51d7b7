package unified

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/containers/copying"
)

// Copy does what the init and sidecar modes do before anything else.
func Copy(o Options) error {
	for _, name := range o.RequireNotEmpty {
		info, err := os.Stat(filepath.Join(o.InputDir, name))
		if err != nil {
			return fmt.Errorf("check file %s: %w", name, err)
		}
		if info.Size() == 0 {
			return fmt.Errorf("file %s is empty", name)
		}
	}
	if err := copying.Files(o.CopyFiles, o.InputDir, o.OutputDir); err != nil {
		return err
	}
	return copying.Binaries(o.CopyBinaries, o.BinaryDir, o.OutputDir, o.Version, o.MainContainerVersion)
}
