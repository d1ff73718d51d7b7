package node

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHostsFilesOfAllContainersAreReplacedAtOnce(t *testing.T) {
	run := t.TempDir()
	dirs := []string{filepath.Join(run, "1"), filepath.Join(run, "2")}
	for _, dir := range dirs {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeHosts(run, []byte("first"), dirs); err != nil {
		t.Fatal(err)
	}
	reading, err := os.Open(filepath.Join(dirs[0], "hosts"))
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	if err := writeHosts(run, []byte("second"), dirs); err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if got, err := os.ReadFile(filepath.Join(dir, "hosts")); err != nil || string(got) != "second" {
			t.Errorf("%s has %q: %v", dir, got, err)
		}
	}
	got := make([]byte, 16)
	if n, _ := reading.Read(got); string(got[:n]) != "first" {
		t.Errorf("a program that reads got %q, want all of the old file", got[:n])
	}
	if left, err := filepath.Glob(filepath.Join(run, "*hosts*")); err != nil || len(left) > 0 {
		t.Errorf("left are %v: %v", left, err)
	}
}
