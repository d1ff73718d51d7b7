package ring

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

func write(t *testing.T, path string, bytes int) {
	t.Helper()
	if err := os.WriteFile(path, make([]byte, bytes), 0o600); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestTheDumpRingIsBoundedByAgeAndSizeAndDropsTheOldest(t *testing.T) {
	for name, row := range map[string]struct {
		keep time.Duration
		most int64
		want []string
		size int64
	}{
		"all fit":               {24 * time.Hour, 1000, []string{"a-20261120T100000Z.tar.zst", "a-20261120T110000Z.tar.zst", "a-20261120T120000Z.tar.zst"}, 600},
		"the oldest is too old": {90 * time.Minute, 1000, []string{"a-20261120T110000Z.tar.zst", "a-20261120T120000Z.tar.zst"}, 400},
		"only two fit":          {24 * time.Hour, 599, []string{"a-20261120T110000Z.tar.zst", "a-20261120T120000Z.tar.zst"}, 400},
		"one fits exactly":      {24 * time.Hour, 200, []string{"a-20261120T120000Z.tar.zst"}, 200},
	} {
		r := Ring{Dir: t.TempDir(), Name: "a", Keep: row.keep, MaxBytes: row.most}
		for _, ago := range []time.Duration{0, time.Hour, 2 * time.Hour} {
			write(t, r.Path(noon.Add(-ago)), 200)
		}
		size, err := r.Prune(noon)
		if diff := cmp.Diff(row.want, names(t, r.Dir)); diff != "" || err != nil || size != row.size {
			t.Errorf("%s: %d bytes, %v\n%s", name, size, err, diff)
		}
	}
}

func TestDumpRotationNeverRemovesOtherFiles(t *testing.T) {
	r := Ring{Dir: t.TempDir(), Name: "a", Keep: time.Minute, MaxBytes: 1}
	others := []string{".b-20261119T120000Z.tar.zst.12", "a-2026.tar.zst", "a-20261119T120000Z.tar.gz", "a-b-20261119T120000Z.tar.zst", "a.tar.zst", "b-20261119T120000Z.tar.zst", "notes"}
	for _, name := range others {
		write(t, filepath.Join(r.Dir, name), 100)
	}
	if err := r.Prepare(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Prune(noon); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(others, names(t, r.Dir)); diff != "" {
		t.Error(diff)
	}
}

func TestADumpLargerThanTheLimitIsRemovedWithAnError(t *testing.T) {
	r := Ring{Dir: t.TempDir(), Name: "a", Keep: time.Hour, MaxBytes: 100}
	write(t, r.Path(noon.Add(-time.Minute)), 50)
	write(t, r.Path(noon), 101)
	if _, err := r.Prune(noon); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]string{filepath.Base(r.Path(noon.Add(-time.Minute)))}, names(t, r.Dir)); diff != "" {
		t.Error(diff)
	}
}

func TestPrepareRemovesTemporaryFilesOfAKilledProcess(t *testing.T) {
	r := Ring{Dir: filepath.Join(t.TempDir(), "new", "dir"), Name: "a"}
	if err := r.Prepare(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(r.Dir, ".a-20261119T120000Z.tar.zst.123"), 100)
	if err := r.Prepare(); err != nil {
		t.Fatal(err)
	}
	if left := names(t, r.Dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, 1)
	if err := (Ring{Dir: file, Name: "a"}).Prepare(); err == nil {
		t.Error("a file is accepted as a directory")
	}
}
