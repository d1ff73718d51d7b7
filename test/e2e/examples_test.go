package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// placeholder is what a template has where a value is to be filled in: $dc.
var placeholder = regexp.MustCompile(`\$[a-z]`)

// Every example is accepted by a real API server, with nothing pruned from it.
func TestTheAPIServerAcceptsEveryExample(t *testing.T) {
	ns := namespace(t)
	examples, err := filepath.Glob("../../manifests/examples/*.yaml")
	if err != nil || len(examples) == 0 {
		t.Fatalf("found %d examples: %v", len(examples), err)
	}
	for _, path := range examples {
		t.Run(filepath.Base(path), func(t *testing.T) {
			kubectl(t, "apply", "-n", ns, "--dry-run=server", "--validate=strict", "-f", path)
		})
	}
}

// What others published for the same resources is accepted too. Some of it is
// templates and patches, which are no manifests.
func TestPublishedSamplesAreAccepted(t *testing.T) {
	dir := os.Getenv("FDB_SAMPLES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "samples")
	}
	samples, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(samples) == 0 {
		t.Skipf("NOT RUN: no published samples in %s (FDB_SAMPLES names another folder)", dir)
	}
	ns := namespace(t)
	for _, path := range samples {
		t.Run(filepath.Base(path), func(t *testing.T) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if placeholder.Match(content) || !bytes.Contains(content, []byte("kind: FoundationDB")) || !bytes.Contains(content, []byte("version:")) {
				t.Skip("NOT RUN: a template or a patch, no manifest")
			}
			kubectl(t, "apply", "-n", ns, "--dry-run=server", "--validate=strict", "-f", path)
		})
	}
}
