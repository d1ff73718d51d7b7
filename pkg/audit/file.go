package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Only the user reads what the user did.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// Path is where the audit file is: $XDG_STATE_HOME/kubectl-fdb/audit.jsonl, and
// ~/.local/state in place of a variable that is not set or, as the XDG Base Directory
// Specification has it, not absolute.
func Path(getenv func(string) string) (string, error) {
	state := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home := getenv("HOME")
		if home == "" {
			return "", errors.New("neither XDG_STATE_HOME nor HOME says where the state of programs is kept")
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "kubectl-fdb", "audit.jsonl"), nil
}

// Append adds a line to the file at path, and makes it when there is none. Each line is
// one write at the end, so that runs at the same time do not mix theirs, and the file is
// opened anew, so that it can be moved away in between.
func Append(path string, e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("writing an audit line: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return fmt.Errorf("making the folder of the audit file: %w", err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, fileMode) //nolint:gosec // the user's own variables say where
	if err != nil {
		return fmt.Errorf("opening the audit file: %w", err)
	}
	_, err = file.Write(append(line, '\n'))
	if err = errors.Join(err, keepPrivate(file), file.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// keepPrivate takes from a file what others may do to it: it may come from a backup.
func keepPrivate(file *os.File) error {
	info, err := file.Stat()
	if err != nil || info.Mode().Perm() == fileMode {
		return err
	}
	return file.Chmod(fileMode)
}
