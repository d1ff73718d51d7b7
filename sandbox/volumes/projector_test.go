package volumes

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// files reads what a container sees in a projected volume.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, e := range entries {
		if e.Name()[0] == '.' {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		found[e.Name()] = string(content)
	}
	return found
}

func TestProjectedVolumesContainExactlyTheirFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "volume")
	for _, content := range []map[string][]byte{
		{"config.json": []byte("1"), "fdb.cluster": []byte("a")},
		{"config.json": []byte("2")},
		{},
		{"config.json": []byte("2"), "ca.pem": []byte("x")},
	} {
		if err := writeProjection(dir, content); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for name, data := range content {
			want[name] = string(data)
		}
		if diff := cmp.Diff(want, files(t, dir)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestUnchangedProjectionIsLeftAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "volume")
	content := map[string][]byte{"a/b": []byte("x")}
	var versions []string
	for range 2 {
		if err := writeProjection(dir, content); err != nil {
			t.Fatal(err)
		}
		version, err := os.Readlink(filepath.Join(dir, dataLink))
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, version)
	}
	if versions[0] != versions[1] {
		t.Errorf("the volume was replaced: %v", versions)
	}
}

func TestAMissingKeyOfAProjectedVolumeIsAnError(t *testing.T) {
	yes := true
	items := []corev1.KeyToPath{{Key: "gone", Path: "x"}}
	if _, err := choose(map[string][]byte{"there": nil}, items, nil); err == nil {
		t.Error("a missing key went unnoticed")
	}
	got, err := choose(map[string][]byte{"there": nil}, items, &yes)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]byte{}, got); diff != "" {
		t.Error(diff)
	}
}
