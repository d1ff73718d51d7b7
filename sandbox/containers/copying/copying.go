// Package copying puts binaries and files where other containers of a pod find
// them, each replaced atomically so that no container runs half a program.
package copying

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Binaries copies programs of this image to OUTPUT/bin/VERSION, unless the
// main container has them itself because it is of the same version.
func Binaries(programs []string, from, output, version, mainVersion string) error {
	if version == mainVersion {
		return nil
	}
	dir := filepath.Join(output, "bin", version)
	for _, name := range programs {
		if err := File(filepath.Join(from, name), filepath.Join(dir, name), 0o755); err != nil {
			return fmt.Errorf("copy binary %s: %w", name, err)
		}
	}
	return nil
}

// Files copies files by name from one directory to another.
func Files(names []string, input, output string) error {
	for _, name := range names {
		if err := File(filepath.Join(input, name), filepath.Join(output, name), 0o644); err != nil {
			return fmt.Errorf("copy file %s: %w", name, err)
		}
	}
	return nil
}

// File replaces one file by a copy of another.
func File(from, to string, mode os.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(to), ".copy-")
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Chmod(mode), out.Close()); err != nil {
		return errors.Join(err, os.Remove(out.Name()))
	}
	return os.Rename(out.Name(), to)
}
