package session

import (
	"os"
	"path/filepath"
	"runtime"
)

// Version is set by the linker: -X .../pkg/session.Version=v1.2.3.
var Version = "dev"

// PluginsOnPath returns the files that kubectl would run as this plugin, in the order of the PATH.
func PluginsOnPath(path string) []string {
	name := "kubectl-fdb"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	var found []string
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && executable(info) {
			found = append(found, file)
		}
	}
	return found
}

func executable(info os.FileInfo) bool {
	return info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0)
}

// ResolvedPath returns a path without symbolic links, such as those of Krew and of Homebrew.
func ResolvedPath(file string) string {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		return target
	}
	return file
}
