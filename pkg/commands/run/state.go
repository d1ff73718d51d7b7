package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/runbooks"
)

// Only the user may read states and saved outputs.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// keeper keeps a state: in a file, or in a ConfigMap.
type keeper interface {
	// name is the value of --state.
	name() string
	// read returns the state, and the saved outputs that are kept with it; nil if there is none yet.
	read(ctx context.Context) (text []byte, saved map[string][]byte, err error)
	// write replaces the state as a whole. It fails with errAnotherRun if it changed since this run read
	// or wrote it. The last write of an invocation lets others use it.
	write(ctx context.Context, text []byte, saved map[string][]byte, ended *time.Time) error
}

// store keeps the state of a run.
type store struct {
	// keeper is nil for a dry run.
	keeper
	// files is the directory of saved outputs.
	files string
	// saved are the saved outputs by name.
	saved map[string][]byte
	// temporary is true if the directory is removed at the end of the invocation.
	temporary bool
}

// errAnotherRun means that the state changed between two steps of this run.
var errAnotherRun = errors.New("another run uses the same state: it was modified in between")

// storeOf returns the store of --state, or a new one beside the audit file.
func storeOf(env *session.Env, o options) (*store, error) {
	if o.dryRun {
		return &store{saved: map[string][]byte{}}, nil
	}
	if name, is := strings.CutPrefix(o.state, configMapPrefix); is {
		return configMapStore(env, name)
	}
	path := o.state
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
	return &store{keeper: &stateFile{path: path}, files: path + ".d", saved: map[string][]byte{}}, nil
}

// read returns the state; nil if there is none yet.
func (s *store) read(ctx context.Context) (*runbook.Progress, error) {
	if s.keeper == nil {
		return nil, nil
	}
	text, saved, err := s.keeper.read(ctx)
	if err != nil || text == nil {
		return nil, err
	}
	p, err := runbook.Decode(text)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("read state %s: %w", s.name(), err))
	}
	for name, output := range saved {
		if err := replaceFile(s.pathOf(name), output); err != nil {
			return nil, fmt.Errorf("read state %s: %w", s.name(), err)
		}
		s.saved[name] = output
	}
	return p, nil
}

// write replaces the state as a whole: a crash leaves the old one or the new one.
func (s *store) write(ctx context.Context, p *runbook.Progress) error {
	text, err := p.Encode()
	if err != nil {
		return err
	}
	return s.keeper.write(ctx, text, s.saved, p.EndedAt)
}

// close removes what only this invocation needs.
func (s *store) close() {
	if s.temporary {
		_ = os.RemoveAll(s.files) // what is left is in the directory for temporary files
	}
}

// pathOf returns the path of a saved output.
func (s *store) pathOf(name string) string { return filepath.Join(s.files, name) }

// save writes the output of a step to a file of its own.
func (s *store) save(name string, text []byte) (*runbook.File, error) {
	path := s.pathOf(name)
	if err := replaceFile(path, text); err != nil {
		return nil, fmt.Errorf("save output: %w", err)
	}
	s.saved[name] = text
	return &runbook.File{Path: path, Digest: runbook.Digest(text)}, nil
}

// stateFile keeps a state in a file, and saved outputs in the directory beside it.
type stateFile struct {
	path string
	// last is the content as this run read or wrote it; nil if there was no state.
	last []byte
}

func (f *stateFile) name() string { return f.path }

func (f *stateFile) read(context.Context) (text []byte, saved map[string][]byte, err error) {
	text, err = limit.File(f.path, limit.Document)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, exit.Usage(fmt.Errorf("read state: %w", err))
	}
	f.last = text
	return text, nil, nil
}

// unchanged fails if another run wrote the state since this one read or wrote it.
func (f *stateFile) unchanged() error {
	now, err := limit.File(f.path, limit.Document)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.last == nil:
		return nil
	case err != nil:
		return fmt.Errorf("read state: %w", err)
	case !bytes.Equal(now, f.last):
		return &exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("write state %s: %w", f.path, errAnotherRun)}
	default:
		return nil
	}
}

func (f *stateFile) write(_ context.Context, text []byte, _ map[string][]byte, _ *time.Time) error {
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := replaceFile(f.path, text); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	f.last = text
	return nil
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

// writeReports writes the files of --report.
func (r *runner) writeReports() error {
	var errs []error
	for _, one := range r.reports {
		kind, file, _ := strings.Cut(one, "=")
		report := runbooks.NewReport(r.Metadata(r.Run.About), r.Clock.Now(), *r.progress, r.store.name())
		var b bytes.Buffer
		err := ui.WriteIndentedJSON(&b, report)
		if kind == "junit" {
			b.Reset()
			err = runbooks.WriteJUnit(&b, report)
		}
		if err == nil {
			err = replaceFile(filepath.Clean(file), b.Bytes())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("write report %s: %w", file, err))
		}
	}
	return errors.Join(errs...)
}
