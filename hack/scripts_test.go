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

// The status of a new definition has null instead of a list of conditions for a moment: waiting for one fails at once.
func TestTheDemoWaitsForADefinitionWithoutConditions(t *testing.T) {
	script, err := os.ReadFile("demo.sh")
	if err != nil {
		t.Fatal(err)
	}
	_, function, found := strings.Cut(string(script), "\nestablished() {\n")
	function, _, ended := strings.Cut(function, "\n}\n")
	if !found || !ended {
		t.Fatal("the script has no function established")
	}
	dir := t.TempDir()
	kubectl := "#!/bin/sh\necho \"$*\" >>" + dir + "/calls\n[ \"$(wc -l <" + dir + "/calls)\" -ge 2 ] || { echo 'error: .status.conditions accessor error: <nil>' >&2; exit 1; }\n"
	for name, content := range map[string]string{"kubectl": kubectl, "sleep": "#!/bin/sh\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", "crd=crd/x\nestablished() {\n"+function+"\n}\nestablished")
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if want := "wait --for=condition=Established --timeout=5s crd/x\n"; err != nil || string(calls) != want+want {
		t.Errorf("%v: kubectl was called with %q", err, calls)
	}
}

// A test target that has go's own limit of ten minutes fails on a machine that is busy with something else.
func TestEveryTestTargetHasTheLimitForWhatHangs(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if limit := "\nGO_TEST    := go test -vet=off -timeout 6h "; !strings.Contains(string(makefile), limit) {
		t.Errorf("the Makefile has no line that begins with %q", limit)
	}
	for i, line := range strings.Split(string(makefile), "\n") {
		if strings.HasPrefix(line, "\t") && strings.Contains(line, "go test ") {
			t.Errorf("line %d of the Makefile calls go test without the limit of GO_TEST: %s", i+1, line)
		}
	}
}
