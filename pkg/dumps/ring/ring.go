// Package ring keeps the newest dumps of a cluster in a directory, within limits of age and size.
package ring

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// Ring is the dumps of one cluster in a directory. Files of other names are never touched.
type Ring struct {
	// Dir is the directory, and Name is that of the cluster.
	Dir, Name string
	// Keep is the maximum age of a dump.
	Keep time.Duration
	// MaxBytes bounds the size of all dumps together.
	MaxBytes int64
}

// ErrTooLarge means that one dump alone exceeds the limit of all.
var ErrTooLarge = errors.New("the dump alone exceeds the maximum size of all dumps")

const (
	// timeLayout is the time in the name of a dump.
	timeLayout = "20060102T150405Z"
	extension  = ".tar.zst"
	folderMode = 0o700
)

// partial matches what the writer of a dump leaves if it is killed, after the name of the cluster.
var partial = regexp.MustCompile(`^-\d{8}T\d{6}Z\.tar\.zst\.\d+$`)

// Path returns the path of a dump of a time.
func (r Ring) Path(at time.Time) string {
	return filepath.Join(r.Dir, r.Name+"-"+at.UTC().Format(timeLayout)+extension)
}

// Prepare creates the directory, and removes incomplete files that a killed process left.
func (r Ring) Prepare() error {
	if err := os.MkdirAll(r.Dir, folderMode); err != nil {
		return err
	}
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return err
	}
	probe, err := os.CreateTemp(r.Dir, "."+r.Name+".*") // whether files can be written
	if err != nil {
		return err
	}
	errs := []error{probe.Close(), os.Remove(probe.Name())}
	for _, e := range entries {
		if rest, is := strings.CutPrefix(e.Name(), "."+r.Name); is && partial.MatchString(rest) {
			errs = append(errs, os.Remove(filepath.Join(r.Dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// dump is a dump in the directory.
type dump struct {
	name  string
	at    time.Time
	bytes int64
}

// dumps returns the dumps in the directory, the newest first.
func (r Ring) dumps() ([]dump, error) {
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return nil, err
	}
	var all []dump
	for _, e := range entries {
		text, is := strings.CutPrefix(strings.TrimSuffix(e.Name(), extension), r.Name+"-")
		at, err := time.Parse(timeLayout, text)
		if !is || err != nil || !strings.HasSuffix(e.Name(), extension) || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, os.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		all = append(all, dump{e.Name(), at, info.Size()})
	}
	stable.Sort(all, func(a, b dump) int { return b.at.Compare(a.at) })
	return all, nil
}

// Prune removes the dumps that exceed the limits, the oldest first, and returns the size of the others. One
// that exceeds the limit alone is removed and an error, and takes no other with it.
func (r Ring) Prune(now time.Time) (bytes int64, err error) {
	all, err := r.dumps()
	if err != nil {
		return 0, err
	}
	var errs []error
	var surplus []dump
	for i, d := range all {
		if d.bytes > r.MaxBytes {
			errs = append(errs, fmt.Errorf("%s: %w", d.name, ErrTooLarge))
			surplus = append(surplus, d)
			continue
		}
		if bytes+d.bytes > r.MaxBytes || now.Sub(d.at) > r.Keep {
			surplus = append(surplus, all[i:]...)
			break
		}
		bytes += d.bytes
	}
	for _, d := range slices.Backward(surplus) {
		if err := os.Remove(filepath.Join(r.Dir, d.name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return bytes, errors.Join(errs...)
}
