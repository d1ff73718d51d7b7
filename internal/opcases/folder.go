package opcases

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// Variable names the folder of all recorded cases.
const Variable = "FDB_OPERATOR_CASES"

//go:embed testdata/excerpt
var embedded embed.FS

// Excerpt is the folder of the cases that are part of the repository.
func Excerpt() fs.FS {
	folder, err := fs.Sub(embedded, "testdata/excerpt")
	if err != nil {
		panic(err) // the name is a constant
	}
	return folder
}

// Recorded is the folder of all recorded cases: the one that FDB_OPERATOR_CASES names, or
// ../shared/operator-cases beside the repository.
func Recorded() (fs.FS, error) {
	name := os.Getenv(Variable)
	if name == "" {
		name = filepath.Join(repository(), "..", "shared", "operator-cases")
	}
	if _, err := os.Stat(name); err != nil {
		return nil, fmt.Errorf("read the operator's cases: %w; set %s to their folder", err, Variable)
	}
	return os.DirFS(name), nil
}

// repository is where this program's source is.
func repository() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Files are all files of a folder, by path.
func Files(folder fs.FS) ([]string, error) {
	var files []string
	err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	})
	slices.Sort(files)
	return files, err
}

func ignoreEnd(file string, err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("read %s: %w", file, err)
}
