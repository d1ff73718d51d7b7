package clusters

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// pluginOnPath returns a warning if kubectl runs another plugin than this program.
func pluginOnPath(env *session.Env) []string {
	self, err := os.Executable()
	if err != nil {
		return nil // unknown is no reason to warn of another one
	}
	return lists.FirstOnPath(resolved(self), plugins(env.Getenv("PATH")))
}

// plugins returns the files that kubectl would run as this plugin, in the order of the PATH.
func plugins(path string) []string {
	name := "kubectl-fdb"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	var found []string
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && executable(info) {
			found = append(found, resolved(file))
		}
	}
	return found
}

func executable(info os.FileInfo) bool {
	return info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0)
}

// resolved returns a path without symbolic links, such as those of Krew and of Homebrew.
func resolved(file string) string {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		return target
	}
	return file
}
