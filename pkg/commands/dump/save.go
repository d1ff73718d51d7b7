package dump

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/dumps"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// save hides secrets and writes the file under another name first: no part of a dump is ever at its
// path, and no secret is ever on the disk.
func (o options) save(d *dumps.Dump, path string) (size int64, err error) {
	dumps.Trim(d)
	if err := dumps.Redact(d, rand.Text()); err != nil {
		return 0, err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // readable by the user only
	if err != nil {
		return 0, exit.Usage(fmt.Errorf("--file: %w", err))
	}
	defer func() { _ = os.Remove(file.Name()) }() // which fails once it was moved
	err = dumps.Write(file, d)
	info, failed := file.Stat()
	if err = cmp.Or(err, failed, file.Sync(), file.Close()); err != nil {
		return 0, notWritten(path, err)
	}
	if err := o.move(file.Name(), path); err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// notWritten names the file of the user: the other name does not exist any more.
func notWritten(path string, err error) error {
	if of, is := errors.AsType[*fs.PathError](err); is {
		err = of.Err
	}
	return fmt.Errorf("write %s: %w", path, err)
}

// move gives the complete file its name. Without --force it never replaces another file, even one
// that was created meanwhile.
func (o options) move(from, to string) error {
	if o.force {
		return os.Rename(from, to)
	}
	err := os.Link(from, to)
	if errors.Is(err, fs.ErrExist) {
		return exit.Usage(fmt.Errorf("--file %s: file already exists", to), "use --force to replace it")
	}
	if err != nil { // a file system without links
		return os.Rename(from, to)
	}
	return nil
}
