package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// kubectl, built with the same flags, is the measure of what a kubectl plugin may weigh. A twentieth more is
// no reason to write code differently; what is beyond has another cause than a few more lines.
func TestThePluginBinaryIsHardlyLargerThanKubectl(t *testing.T) {
	size := func(program string) int64 {
		t.Helper()
		info, err := os.Stat(filepath.Join(binDir, program))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if plugin, kubectl := size("kubectl-fdb"), size("kubectl"); plugin > kubectl+kubectl/20 {
		t.Errorf("kubectl-fdb has %d bytes, kubectl %d", plugin, kubectl)
	}
}
