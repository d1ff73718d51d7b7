package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

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
