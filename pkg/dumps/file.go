package dumps

import (
	"archive/tar"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
)

// Paths of the facts in a dump.
const (
	manifestFile = "manifest.json"
	listsFile    = "facts/lists.json"
	singlesFile  = "facts/objects.json"
	reviewsFile  = "facts/permissions.json"
	runsFile     = "facts/runs.json"
	sidecarsFile = "facts/sidecars.json"
)

const (
	// maxBytes is the size of all files of a dump.
	maxBytes = 4 << 30
	fileMode = 0o600
)

// expansion is what a dump expands to: logs are compressed to a tenth, and blanks to a 30,000th.
var expansion = limit.Expansion{Most: maxBytes, Free: 64 << 20, Ratio: 200}

// Errors of files that are no dumps, or that this program cannot read.
var (
	// ErrForeign means that a file is no dump.
	ErrForeign = errors.New("not a dump of kubectl fdb")
	// ErrNewer means that a later version of this program wrote it.
	ErrNewer = errors.New("dump is newer than this program")
	// ErrTruncated means that a part of the file is missing.
	ErrTruncated = errors.New("dump is truncated or damaged")
)

// parts returns the facts by path.
func (d *Dump) parts() map[string]any {
	return map[string]any{listsFile: &d.Lists, singlesFile: &d.Singles, reviewsFile: &d.Reviews, runsFile: &d.Runs, sidecarsFile: &d.Sidecars}
}

// Write writes a dump as it is; Redact has hidden its secrets before. The manifest comes first, so
// that a reader can refuse a file without reading all of it.
func Write(w io.Writer, d *Dump) error {
	files := maps.Clone(d.Files)
	for name, part := range d.parts() {
		text, err := json.MarshalIndent(part, "", " ")
		if err != nil {
			return fmt.Errorf("encode %s: %w", name, err)
		}
		files[name] = text
	}
	m := d.Manifest
	m.Format, m.Version, m.Files = Format, Version, nil
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256(files[name])
		m.Files = append(m.Files, File{Path: name, Bytes: len(files[name]), SHA256: hex.EncodeToString(sum[:]), OmittedBytes: d.Omitted[name]})
	}
	d.Manifest = m
	manifest, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the manifest: %w", err)
	}
	return archive(w, m, append(manifest, '\n'), files)
}

func archive(w io.Writer, m Manifest, manifest []byte, files map[string][]byte) error {
	packed, err := zstd.NewWriter(w)
	if err != nil {
		return fmt.Errorf("compress the dump: %w", err)
	}
	err = pack(tar.NewWriter(packed), m, manifest, files)
	if err = cmp.Or(err, packed.Close()); err != nil {
		return fmt.Errorf("write the dump: %w", err)
	}
	return nil
}

// pack ends with the first error: a disk that is full for one file is full for all that follow.
func pack(t *tar.Writer, m Manifest, manifest []byte, files map[string][]byte) error {
	add := func(name string, content []byte) error {
		header := &tar.Header{Name: name, Mode: fileMode, Size: int64(len(content)), ModTime: m.At, Format: tar.FormatPAX}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		_, err := t.Write(content)
		return err
	}
	if err := add(manifestFile, manifest); err != nil {
		return err
	}
	for _, f := range m.Files {
		if err := add(f.Path, files[f.Path]); err != nil {
			return err
		}
	}
	return t.Close()
}

// Open reads the dump at a path, with the errors of Read.
func Open(path string) (*Dump, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return Read(file)
}

// Read reads a dump. A file that is no dump, a newer one, and one of which a part is missing or
// changed are errors: ErrForeign, ErrNewer, ErrTruncated.
func Read(r io.Reader) (*Dump, error) {
	unpacked, release, err := expansion.Unpacked(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForeign, err)
	}
	defer release()
	t := tar.NewReader(unpacked)
	d := New()
	if d.Manifest, err = readManifest(t); err != nil {
		return nil, err
	}
	if err := d.readFiles(t); err != nil {
		return nil, err
	}
	for name, part := range d.parts() {
		if err := json.Unmarshal(d.Files[name], part); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrTruncated, name, err)
		}
		delete(d.Files, name)
	}
	return d, nil
}

func readManifest(t *tar.Reader) (Manifest, error) {
	var m Manifest
	header, err := t.Next()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return m, ErrTruncated
	case err != nil, header.Name != manifestFile:
		return m, ErrForeign
	}
	text, err := limit.All(t, limit.Document)
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrTruncated, err)
	}
	switch err := json.Unmarshal(text, &m); {
	case m.Format != Format:
		return m, ErrForeign
	case m.Version > Version:
		return m, fmt.Errorf("%w: version %d of the format, written by %s; at most %d can be read", ErrNewer, m.Version, m.Tool, Version)
	case err != nil, m.Version < 1, m.At.IsZero():
		return m, fmt.Errorf("%w: its manifest is invalid", ErrTruncated)
	}
	return m, nil
}

// readFiles reads the files, which must be those of the manifest.
func (d *Dump) readFiles(t *tar.Reader) error {
	if err := d.Manifest.fits(maxBytes); err != nil {
		return err
	}
	for _, want := range d.Manifest.Files {
		header, err := t.Next()
		if err != nil || header.Name != want.Path || header.Size != int64(want.Bytes) || !validPath(want.Path) {
			return fmt.Errorf("%w: %s is missing", ErrTruncated, want.Path)
		}
		content, err := limit.All(t, int64(want.Bytes))
		if err != nil {
			return fmt.Errorf("%w: %s is incomplete: %w", ErrTruncated, want.Path, err)
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != want.SHA256 {
			return fmt.Errorf("%w: %s differs from its checksum", ErrTruncated, want.Path)
		}
		d.Files[want.Path], d.Omitted[want.Path] = content, want.OmittedBytes
	}
	if _, err := t.Next(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it has a file that its manifest lacks, or no end", ErrTruncated)
	}
	return nil
}

// fits returns an error for files whose declared sizes are invalid, or together more than most bytes: they are
// checked before any of them is read.
func (m Manifest) fits(most int64) error {
	sum := int64(0)
	for _, f := range m.Files {
		if f.Bytes < 0 || int64(f.Bytes) > most-sum {
			return fmt.Errorf("%w: its files have %w", ErrForeign, &limit.ExceededError{Most: most})
		}
		sum += int64(f.Bytes)
	}
	return nil
}

// validPath reports whether a file stays within the directory that a dump is unpacked in.
func validPath(name string) bool {
	return path.Clean(name) == name && !path.IsAbs(name) && name != ".." && !strings.HasPrefix(name, "../")
}
