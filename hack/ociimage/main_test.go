package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var created = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

func written(t *testing.T, programs map[string]string) []byte {
	t.Helper()
	var all []string
	for _, target := range []string{"linux/amd64", "linux/arm64"} {
		path := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(path, []byte(programs[target]), 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, target+"="+path)
	}
	var b bytes.Buffer
	if err := write(&b, "v0.1.0", created, all); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func filesIn(t *testing.T, r io.Reader) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for archive := tar.NewReader(r); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[header.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}

// blob decodes a document of the archive, after its digest and size were compared.
func blob(t *testing.T, files map[string][]byte, d descriptor, into any) {
	t.Helper()
	content := files["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
	if digest(content) != d.Digest || len(content) != d.Size {
		t.Fatalf("%s has %d bytes and digest %s, want %d", d.Digest, len(content), digest(content), d.Size)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(content, into); err != nil {
		t.Fatal(err)
	}
}

func TestAnImageHasTheProgramOfEachPlatform(t *testing.T) {
	programs := map[string]string{"linux/amd64": "one", "linux/arm64": "another"}
	files := filesIn(t, bytes.NewReader(written(t, programs)))
	var top, list index
	if err := json.Unmarshal(files["index.json"], &top); err != nil || len(top.Manifests) != 1 {
		t.Fatalf("index %s: %v", files["index.json"], err)
	}
	blob(t, files, top.Manifests[0], &list)
	got := map[string]string{}
	for _, d := range list.Manifests {
		var m manifest
		var c config
		blob(t, files, d, &m)
		blob(t, files, m.Config, &c)
		blob(t, files, m.Layers[0], nil)
		packed, err := gzip.NewReader(bytes.NewReader(files["blobs/sha256/"+strings.TrimPrefix(m.Layers[0].Digest, "sha256:")]))
		if err != nil {
			t.Fatal(err)
		}
		layer, err := io.ReadAll(packed)
		if err != nil || digest(layer) != c.RootFS.DiffIDs[0] {
			t.Errorf("the layer of %v has digest %s, its configuration %v (%v)", d.Platform, digest(layer), c.RootFS.DiffIDs, err)
		}
		if c.platform != *d.Platform || c.Config.User != user || c.Config.Entrypoint[0] != "/kubectl-fdb" {
			t.Errorf("configuration %+v for %v", c, d.Platform)
		}
		got[c.OS+"/"+c.Architecture] = string(filesIn(t, bytes.NewReader(layer))["kubectl-fdb"])
	}
	if diff := cmp.Diff(programs, got); diff != "" {
		t.Error(diff)
	}
}

func TestImageBuildsAreReproducible(t *testing.T) {
	programs := map[string]string{"linux/amd64": "one", "linux/arm64": "another"}
	if !bytes.Equal(written(t, programs), written(t, programs)) {
		t.Error("the bytes differ")
	}
}

func TestTheOCIImageBuildRejectsInvalidArguments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "image.tar")
	for name, tc := range map[string]struct {
		version, created, output string
		programs                 []string
	}{
		"no time":                 {"v1", "", file, []string{"linux/amd64=main.go"}},
		"no version":              {"", "2026-01-02T15:04:05Z", file, []string{"linux/amd64=main.go"}},
		"no program":              {"v1", "2026-01-02T15:04:05Z", file, nil},
		"a platform without path": {"v1", "2026-01-02T15:04:05Z", file, []string{"linux/amd64"}},
		"a missing program":       {"v1", "2026-01-02T15:04:05Z", file, []string{"linux/amd64=missing"}},
	} {
		if err := run(tc.version, tc.created, tc.output, tc.programs); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
