package running

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Only the user may read states and saved outputs.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// store keeps the state of a run.
type store struct {
	// path is the state file; empty for a dry run.
	path string
	// files is the directory of saved outputs.
	files string
	// last is the content as this run read or wrote it; nil if there was no state.
	last []byte
}

// errAnotherRun means that the state changed between two steps of this run.
var errAnotherRun = errors.New("another run uses the same state: it was modified in between")

// storeOf returns the store of --state, or a new one beside the audit file.
func storeOf(env *session.Env, o options) (*store, error) {
	path := o.state
	if o.dryRun {
		return &store{}, nil
	}
	if path == "" {
		beside, err := audit.Path(env.Getenv)
		if err != nil {
			return nil, exit.Usage(fmt.Errorf("cannot determine the path of the state file: use --state (%w)", err))
		}
		path = filepath.Join(filepath.Dir(beside), "runbooks", env.RunID+".json")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("invalid --state: %w", err))
	}
	return &store{path: path, files: path + ".d"}, nil
}

func (s *store) name() string { return s.path }

// read returns the state; nil if there is none yet.
func (s *store) read() (*runbook.Progress, error) {
	if s.path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("read state: %w", err))
	}
	p, err := runbook.Decode(text)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("read state %s: %w", s.path, err))
	}
	s.last = text
	return p, nil
}

// unchanged fails if another run wrote the state since this one read or wrote it.
func (s *store) unchanged() error {
	now, err := os.ReadFile(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.last == nil:
		return nil
	case err != nil:
		return fmt.Errorf("read state: %w", err)
	case !bytes.Equal(now, s.last):
		return &exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("write state %s: %w", s.path, errAnotherRun)}
	default:
		return nil
	}
}

// write replaces the state as a whole: a crash leaves the old one or the new one.
func (s *store) write(p *runbook.Progress) error {
	text, err := p.Encode()
	if err != nil {
		return err
	}
	if err := s.unchanged(); err != nil {
		return err
	}
	if err := replaceFile(s.path, text); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	s.last = text
	return nil
}

// pathOf returns the path of a saved output.
func (s *store) pathOf(name string) string { return filepath.Join(s.files, name) }

// save writes the output of a step to a file of its own.
func (s *store) save(name string, text []byte) (*runbook.File, error) {
	path := s.pathOf(name)
	if err := replaceFile(path, text); err != nil {
		return nil, fmt.Errorf("save output: %w", err)
	}
	return &runbook.File{Path: path, Digest: runbook.Digest(text)}, nil
}

// replaceFile writes a file under another name, and renames it once it is on the disk.
func replaceFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Chmod(fileMode), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
