package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAnAuditFileThatCannotBeContinuedIsBroken(t *testing.T) {
	fails := func(err error) func(string) error {
		return func(string) error { return &fs.PathError{Op: "write", Path: "room", Err: err} }
	}
	tests := map[string]struct {
		// at prepares the path of the file.
		at      func(t *testing.T, path string)
		reserve func(string) error
		broken  bool
		none    bool // no file is possible here
	}{
		"there is room": {},
		"there is room behind the lines of earlier runs": {at: write},
		"the disk is full": {reserve: fails(syscall.ENOSPC), broken: true},
		"the disk is full, with lines of earlier runs":       {at: write, reserve: fails(syscall.ENOSPC), broken: true},
		"the user is over quota":                             {reserve: fails(syscall.EDQUOT), broken: true},
		"the disk fails":                                     {reserve: fails(syscall.EIO), broken: true},
		"the file is none":                                   {at: isDirectory, broken: true},
		"lines exist on a file system that became read-only": {at: write, reserve: fails(syscall.EROFS), broken: true},
		"a file system that is read-only":                    {reserve: fails(syscall.EROFS), none: true},
		"the directory is a file":                            {at: inFile, none: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kubectl-fdb", "audit.jsonl")
			if tc.at != nil {
				tc.at(t, path)
			}
			if tc.reserve == nil {
				tc.reserve = reserve
			}
			err := roomWith(path, tc.reserve)
			_, broken := errors.AsType[*BrokenError](err)
			if broken != tc.broken || (err != nil) != (tc.broken || tc.none) {
				t.Errorf("%v", err)
			}
		})
	}
}

func isDirectory(t *testing.T, path string) {
	t.Helper()
	try(t, os.MkdirAll(path, 0o700))
}

func inFile(t *testing.T, path string) {
	t.Helper()
	try(t, os.WriteFile(filepath.Dir(path), nil, 0o600))
}

func write(t *testing.T, path string) {
	t.Helper()
	try(t, Append(path, Entry{}))
}

func try(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Only lines are in the file, and nothing is left beside it.
func TestProvingThatThereIsRoomLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubectl-fdb", "audit.jsonl")
	try(t, Room(path))
	left, err := os.ReadDir(filepath.Dir(path))
	try(t, err)
	content, err := os.ReadFile(path)
	try(t, err)
	if len(left) != 1 || len(content) != 0 {
		t.Errorf("%v is left, with %q in the file", left, content)
	}
}
