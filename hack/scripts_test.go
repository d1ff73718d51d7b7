// Package hack tests the scripts of this directory that a release runs.
package hack

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// notes runs the script on a changelog with two versions.
func notes(t *testing.T, tag string) (stdout, stderr string, err error) {
	t.Helper()
	changelog := filepath.Join(t.TempDir(), "CHANGELOG.md")
	content := "# Changelog\n\n## Unreleased\n\n- new\n\n## v1.2.3 (2026-01-31)\n\n### Added\n\n- `why`: one & two: [why](docs/why.md#alerts), [site](https://example.com/a)\n\n## v1.2.0\n\n- old\n\n## v1.1.0\n\n"
	if err := os.WriteFile(changelog, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "./release-notes.sh", tag, changelog)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

func TestReleaseNotesAreTheSectionOfTheVersion(t *testing.T) {
	for tag, want := range map[string]string{"v1.2.3": "### Added\n\n- `why`: one & two: [why](https://github.com/kubectl-fdb/kubectl-fdb/blob/v1.2.3/docs/why.md#alerts), [site](https://example.com/a)\n", "v1.2.0": "- old\n"} {
		if got, errs, err := notes(t, tag); err != nil || got != want {
			t.Errorf("%s: %q, want %q: %v %s", tag, got, want, err, errs)
		}
	}
}

// A tag that is pushed before its section exists has no release.
func TestReleaseNotesRequireASectionOfTheVersion(t *testing.T) {
	for tag, want := range map[string]string{
		"v1.2.4":      "rename the section Unreleased",
		"v1.2.30":     "rename the section Unreleased",
		"v1.2.3-rc.1": "rename the section Unreleased",
		"v1.1.0":      "rename the section Unreleased", // it is empty
		"Unreleased":  "must be a version",
		"v1.2":        "must be a version",
	} {
		if got, errs, err := notes(t, tag); err == nil || got != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: %q, want an error with %q: %v %s", tag, got, want, err, errs)
		}
	}
}
