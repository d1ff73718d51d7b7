package dumps

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
)

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// sampleDump has a fact of each kind.
func sampleDump() *Dump {
	d := New()
	d.Manifest = Manifest{Tool: "kubectl-fdb test", At: noon(), Context: "test", Namespace: "fdb", Clusters: []Cluster{{"fdb", "sample"}}, Redacted: map[string]int{"a": 1}, Unread: []Unread{{"nodes", "forbidden"}}}
	d.Lists = []List{{Version: "v1", Resource: "pods", Kind: "Pod", Namespace: "fdb", Items: rawOf(`{"metadata":{"name":"a"}}`)}}
	d.Singles = []Single{{Resource: "configmaps", Namespace: "fdb", Name: "c", Object: rawOf(`{"data":{}}`)[0]}}
	d.Reviews = []Review{{Resource: "selfsubjectrulesreviews", Spec: rawOf(`{"namespace":"fdb"}`)[0], Object: rawOf(`{}`)[0]}}
	d.Runs = []Run{{Namespace: "fdb", Pod: "a", Container: "foundationdb", Argv: []string{"fdbcli"}, Stdout: "out"}}
	d.Files["logs/fdb/a/foundationdb.log"], d.Omitted["logs/fdb/a/foundationdb.log"] = []byte("line\n"), 7
	return d
}

func packed(t *testing.T, d *Dump) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := Write(&file, d); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestADumpIsReadAsItWasWritten(t *testing.T) {
	want := sampleDump()
	got, err := Read(bytes.NewReader(packed(t, want)))
	if err != nil {
		t.Fatal(err)
	}
	for name := range got.Omitted {
		if got.Omitted[name] == 0 {
			delete(got.Omitted, name)
		}
	}
	for _, d := range []*Dump{want, got} { // JSON is indented in the file
		for i := range d.Lists {
			for j := range d.Lists[i].Items {
				d.Lists[i].Items[j] = compact(t, d.Lists[i].Items[j])
			}
		}
		d.Singles[0].Object, d.Reviews[0].Spec, d.Reviews[0].Object = compact(t, d.Singles[0].Object), compact(t, d.Reviews[0].Spec), compact(t, d.Reviews[0].Object)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadingAnInvalidDumpReturnsAClearError(t *testing.T) {
	whole := packed(t, sampleDump())
	newer := archived(t, Manifest{Format: Format, Version: Version + 1, Tool: "kubectl-fdb v9", At: noon()})
	for name, tc := range map[string]struct {
		file []byte
		want error
		text string
	}{
		"an empty file":                   {nil, ErrForeign, ""},
		"a text":                          {[]byte("apiVersion: v1\n"), ErrForeign, ""},
		"another archive":                 {foreignArchive(t), ErrForeign, ""},
		"another format of manifest":      {archived(t, Manifest{Format: "other", Version: 1, At: noon()}), ErrForeign, ""},
		"a newer version":                 {newer, ErrNewer, "version 2 of the format, written by kubectl-fdb v9; at most 1 can be read"},
		"a manifest without a time":       {archived(t, Manifest{Format: Format, Version: Version}), ErrTruncated, "manifest is invalid"},
		"a file of the manifest missing":  {archived(t, Manifest{Format: Format, Version: Version, At: noon(), Files: []File{{Path: "a"}}}), ErrTruncated, "a is missing"},
		"a file outside of the directory": {archived(t, Manifest{Format: Format, Version: Version, At: noon(), Files: []File{{Path: "../a"}}}), ErrTruncated, "../a is missing"},
		"no facts":                        {archived(t, Manifest{Format: Format, Version: Version, At: noon()}), ErrTruncated, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(bytes.NewReader(tc.file))
			if !errors.Is(err, tc.want) || !strings.Contains(fmt.Sprint(err), tc.text) {
				t.Errorf("got %v, want %v with %q", err, tc.want, tc.text)
			}
		})
	}
	for size := 1; size < len(whole); size++ {
		if _, err := Read(bytes.NewReader(whole[:size])); !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrForeign) {
			t.Errorf("the first %d of %d bytes: got %v", size, len(whole), err)
		}
	}
}

func TestADamagedDumpIsNotRead(t *testing.T) {
	d := sampleDump()
	var file bytes.Buffer
	if err := Write(&file, d); err != nil {
		t.Fatal(err)
	}
	unpacked := unpackedOf(t, file.Bytes())
	changed := bytes.Replace(unpacked, []byte("line\n"), []byte("lime\n"), 1)
	_, err := Read(bytes.NewReader(packedOf(t, changed)))
	if !errors.Is(err, ErrTruncated) || !strings.Contains(err.Error(), "logs/fdb/a/foundationdb.log differs from its checksum") {
		t.Errorf("got %v", err)
	}
}

func foreignArchive(t *testing.T) []byte {
	t.Helper()
	return packedOf(t, bytes.Replace(unpackedOf(t, packed(t, sampleDump())), []byte(manifestFile), []byte("README.markd\x00"), 1))
}

func archived(t *testing.T, m Manifest) []byte {
	t.Helper()
	var file bytes.Buffer
	text := fmt.Appendf(nil, `{"format":%q,"version":%d,"tool":%q,"at":%q,"files":%s}`, m.Format, m.Version, m.Tool, m.At.Format(time.RFC3339), filesJSON(m))
	if err := archive(&file, Manifest{}, text, nil); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func filesJSON(m Manifest) string {
	var all []string
	for _, f := range m.Files {
		all = append(all, fmt.Sprintf(`{"path":%q}`, f.Path))
	}
	return "[" + strings.Join(all, ",") + "]"
}

func unpackedOf(t *testing.T, file []byte) []byte {
	t.Helper()
	r, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all, err := r.DecodeAll(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func packedOf(t *testing.T, content []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(content, nil)
}

// What expands to thousands of times its size is no dump.
func TestADumpThatExpandsBeyondItsSizeIsRefused(t *testing.T) {
	blanks := bytes.Repeat([]byte(" "), 8<<20)
	for name, tc := range map[string]struct {
		declared int64
		written  int
	}{
		"a manifest of 160 MiB": {160 << 20, 20},
		"a manifest of 17 MiB":  {17 << 20, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var file bytes.Buffer
			packed, err := zstd.NewWriter(&file)
			if err != nil {
				t.Fatal(err)
			}
			content := tar.NewWriter(packed)
			if err := content.WriteHeader(&tar.Header{Name: manifestFile, Mode: fileMode, Size: tc.declared}); err != nil {
				t.Fatal(err)
			}
			for range tc.written {
				_, _ = content.Write(blanks)
			}
			_ = packed.Close()
			_, err = Read(&file)
			if _, exceeded := errors.AsType[*limit.ExceededError](err); !exceeded {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestDeclaredSizesOfADumpAreCheckedBeforeTheyAreRead(t *testing.T) {
	for name, sizes := range map[string][]int{"negative": {-1}, "one too large": {maxBytes + 1}, "too large together": {maxBytes, 1}} {
		m := Manifest{}
		for _, n := range sizes {
			m.Files = append(m.Files, File{Path: "a", Bytes: n})
		}
		if err := m.fits(maxBytes); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// fullDisk has room for some bytes, and fails from then on.
type fullDisk struct{ room int }

func (f *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), f.room)
	if f.room -= n; n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func TestAFullDiskIsOneErrorHoweverManyFilesADumpHas(t *testing.T) {
	d := sampleDump()
	noise := rand.NewChaCha8([32]byte{})
	for i := range 30 {
		content := make([]byte, 128<<10)
		_, _ = noise.Read(content) // never fails
		d.Files[fmt.Sprintf("logs/fdb/pod-%d/foundationdb.log", i)] = content
	}
	for _, room := range []int{0, 10, 100 << 10, 1 << 20, 3 << 20} {
		err := Write(&fullDisk{room}, d)
		if !errors.Is(err, syscall.ENOSPC) || strings.Count(err.Error(), syscall.ENOSPC.Error()) != 1 {
			t.Errorf("room for %d bytes: %v", room, err)
		}
	}
}
