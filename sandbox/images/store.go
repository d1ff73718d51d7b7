package images

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/box"
)

// Programs are the FoundationDB programs of an image, simulated or real.
var Programs = []string{"fdbserver", "fdbcli", "fdbbackup", "fdbrestore", "backup_agent", "fdbdr", "dr_agent"}

// helpers are the programs that are the sandbox's own in every image.
var helpers = []string{"fdbmonitor", "fdb-kubernetes-monitor", "foundationdb-kubernetes-sidecar", Idle}

// Store makes the directories of programs that containers see as /usr/bin.
type Store struct {
	dir  string            // where the directories are made
	tool string            // the program that stands for every FoundationDB program
	own  map[string]string // version to directory of its real programs

	mu   sync.Mutex
	made map[string]string // version to directory
}

// NewStore returns a store that keeps its directories in dir, which it empties.
// The versions in own have real programs there; all others are simulated by tool.
func NewStore(dir, tool string, own map[string]string) (*Store, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("clear the images' programs: %w", err)
	}
	for v, programs := range own {
		if _, err := os.Stat(filepath.Join(programs, "fdbcli")); err != nil {
			return nil, fmt.Errorf("find the programs of version %s: %w", v, err)
		}
	}
	return &Store{dir: dir, tool: tool, own: own, made: map[string]string{}}, nil
}

// Programs returns the directory that a container of the image sees as
// /usr/bin, and the mounts that put real programs in their places.
func (s *Store) Programs(i Image) (dir string, mounts []box.Mount, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir, ok := s.made[i.Version]
	if !ok {
		if dir, err = s.prepare(i.Version); err != nil {
			return "", nil, fmt.Errorf("create the programs of version %q: %w", i.Version, err)
		}
		s.made[i.Version] = dir
	}
	return dir, s.realMounts(i.Version), nil
}

// prepare links the machine's own programs and puts those of the version beside them.
func (s *Store) prepare(version string) (string, error) {
	dir := filepath.Join(s.dir, "version-"+version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	tool := filepath.Join(s.dir, "tool-"+version)
	if err := stamp(s.tool, tool, version); err != nil {
		return "", err
	}
	names := helpers
	if version != "" {
		names = append(append([]string{}, helpers...), s.programs(version)...)
	}
	for _, name := range names {
		if err := os.Link(tool, filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	return dir, linkMachine(dir)
}

// programs are those a version has: all when it is simulated, those in its
// directory when it is real.
func (s *Store) programs(version string) []string {
	dir, ok := s.own[version]
	if !ok {
		return Programs
	}
	return slices.DeleteFunc(slices.Clone(Programs), func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err != nil
	})
}

func linkMachine(dir string) error {
	entries, err := os.ReadDir("/usr/bin")
	if err != nil {
		return err
	}
	for _, e := range entries {
		err := os.Symlink(box.HostRoot+"/usr/bin/"+e.Name(), filepath.Join(dir, e.Name()))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func (s *Store) realMounts(version string) []box.Mount {
	dir, ok := s.own[version]
	if !ok {
		return nil
	}
	var mounts []box.Mount
	for _, name := range s.programs(version) {
		mounts = append(mounts, box.Mount{Source: filepath.Join(dir, name), Target: "/usr/bin/" + name, ReadOnly: true})
	}
	return mounts
}

// stampPrefix begins the last line of a stamped tool.
const stampPrefix = "\nfdb-sandbox-version:"

// stampLimit is more than a stamp is long.
const stampLimit = 128

// stamp copies the tool and writes the version at its end, so that every copy
// of it, wherever a container puts it, is a program of that version.
func stamp(tool, target, version string) error {
	in, err := os.Open(tool)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, copyErr := io.Copy(out, in)
	_, stampErr := io.WriteString(out, stampPrefix+version)
	return errors.Join(copyErr, stampErr, out.Close())
}

// StampedVersion is the version stamped on a program file, such as /proc/self/exe.
func StampedVersion(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("read the program's version: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read the program's version: %w", err)
	}
	tail := make([]byte, min(stampLimit, info.Size()))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return "", fmt.Errorf("read the program's version: %w", err)
	}
	_, found, ok := strings.Cut(string(tail), stampPrefix)
	if !ok {
		return "", errors.New("the program has no version stamped on it")
	}
	return found, nil
}
