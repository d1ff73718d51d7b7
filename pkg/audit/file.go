package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Only the user may read the audit file.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// Path is the path of the audit file: $XDG_STATE_HOME/kubectl-fdb/audit.jsonl, and
// ~/.local/state if the variable is not set or, by the XDG Base Directory Specification, not
// absolute.
func Path(getenv func(string) string) (string, error) {
	state := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home := getenv("HOME")
		if home == "" {
			return "", errors.New("cannot determine the path of the audit file: set XDG_STATE_HOME or HOME")
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "kubectl-fdb", "audit.jsonl"), nil
}

// Append adds a line to the file at path, and creates it if it does not exist. Each line is one
// write at the end, so that concurrent runs do not mix theirs, and the file is opened again each
// time, so that it can be rotated in between.
func Append(path string, e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode an audit line: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return fmt.Errorf("create the directory of the audit file: %w", err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, fileMode)
	if err != nil {
		return fmt.Errorf("open the audit file: %w", err)
	}
	_, err = file.Write(append(line, '\n'))
	if err = errors.Join(err, keepPrivate(file), file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// keepPrivate removes permissions of other users from a file: it may come from a backup.
func keepPrivate(file *os.File) error {
	info, err := file.Stat()
	if err != nil || info.Mode().Perm() == fileMode {
		return err
	}
	return file.Chmod(fileMode)
}

// ReadFile returns what the audit file at path has about the cluster of a run, or about one that may be
// it, in order, and how many of its lines are no entries; see Run.Match. Without a file there is nothing.
// What was read before an error is returned with it.
func ReadFile(path string, of Run) (entries []Entry, broken int, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the audit file: %w", err)
	}
	defer file.Close()
	if entries, broken, err = Read(file, of); err != nil {
		err = fmt.Errorf("read %s: %w", path, err)
	}
	return entries, broken, err
}

// Read is ReadFile for a file that is open.
func Read(file io.Reader, of Run) (entries []Entry, broken int, err error) {
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		var e Entry
		switch invalid := json.Unmarshal(line, &e); {
		case invalid != nil && len(line) > 0:
			broken++
		case invalid == nil && e.Match(of) != MatchNone:
			entries = append(entries, e)
		}
		switch {
		case errors.Is(err, io.EOF):
			return entries, broken, nil
		case err != nil:
			return entries, broken, err
		}
	}
}

// room is what a run has to be able to write before its first change: more lines than most runs have.
const room = 64 << 10

// BrokenError means that an audit file cannot be continued, or that the disk for a new one is full or fails: what a
// run changes would be in no record of this machine.
type BrokenError struct{ Err error }

func (e *BrokenError) Error() string { return e.Err.Error() }

func (e *BrokenError) Unwrap() error { return e.Err }

// Room returns a *BrokenError if the audit file at path cannot be continued. Any other error means that there is
// none, and that none can be here, as in a container whose file systems are read-only.
func Room(path string) error { return roomWith(path, reserve) }

func roomWith(path string, reserve func(folder string) error) error {
	_, missing := os.Lstat(path)
	err := open(path)
	if err == nil {
		err = reserve(filepath.Dir(path))
	}
	if err != nil && (missing == nil || diskFails(err)) {
		return &BrokenError{err}
	}
	return err
}

func open(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return fmt.Errorf("create the directory of the audit file: %w", err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, fileMode)
	if err != nil {
		return fmt.Errorf("open the audit file: %w", err)
	}
	return file.Close()
}

// reserve proves that the disk of a folder has room, with a file of its own: the audit file has lines alone.
func reserve(folder string) error {
	file, err := os.CreateTemp(folder, "room-*")
	if errors.Is(err, fs.ErrPermission) {
		return nil // lines can still be added to the file
	}
	if err != nil {
		return fmt.Errorf("write beside the audit file: %w", err)
	}
	_, err = file.Write(make([]byte, room))
	if err == nil {
		err = file.Sync() // where blocks are only allocated later
	}
	if err = errors.Join(err, file.Close(), os.Remove(file.Name())); err != nil {
		return fmt.Errorf("write beside the audit file: %w", err)
	}
	return nil
}

// diskFails reports whether an error is about the disk, and not about where nothing may be written.
func diskFails(err error) bool {
	return slices.ContainsFunc([]error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO}, func(e error) bool { return errors.Is(err, e) })
}
