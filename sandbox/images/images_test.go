package images

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSandboxImagesAreRecognizedByBaseName(t *testing.T) {
	tests := map[string]struct {
		name string
		want Image
	}{
		"the unified image":                   {"foundationdb/fdb-kubernetes-monitor:7.3.79", Image{UnifiedMonitor, "7.3.79"}},
		"a registry with a port":              {"registry:5000/x/fdb-kubernetes-monitor:7.3.79", Image{UnifiedMonitor, "7.3.79"}},
		"a suffix is not part of the version": {"foundationdb/foundationdb-kubernetes-sidecar:7.1.67-1", Image{SplitSidecar, "7.1.67"}},
		"the server image":                    {"foundationdb:7.4.5", Image{Server, "7.4.5"}},
		"a digest after the tag":              {"foundationdb:7.4.5@sha256:abc", Image{Server, "7.4.5"}},
		"a tag that is no version":            {"foundationdb:latest", Image{Server, ""}},
		"another image":                       {"busybox:1.36.1", Image{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Parse(test.name)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheContainerCommandFollowsTheImageCommandAndArgs(t *testing.T) {
	tests := map[string]struct {
		image         Image
		command, args []string
		want          []string
	}{
		"arguments follow the image's own program": {image: Image{Kind: UnifiedMonitor}, args: []string{"--mode", "sidecar"}, want: []string{"fdb-kubernetes-monitor", "--mode", "sidecar"}},
		"a command replaces it":                    {image: Image{Kind: Server}, command: []string{"sh", "-c"}, args: []string{"true"}, want: []string{"sh", "-c", "true"}},
		"an unknown image does nothing":            {command: []string{"nginx"}, args: []string{"-g"}, want: []string{Idle}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.image.Command(test.command, test.args)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProgramCopiesCarryTheVersionOfTheirImage(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "tool")
	if err := os.WriteFile(tool, []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	store, err := NewStore(filepath.Join(dir, "images"), tool, nil)
	if err != nil {
		t.Fatal(err)
	}
	programs, mounts, err := store.Programs(Parse("foundationdb:7.3.79"))
	if err != nil {
		t.Fatal(err)
	}
	if len(mounts) != 0 {
		t.Errorf("a simulated version has mounts: %v", mounts)
	}
	got, err := StampedVersion(filepath.Join(programs, "fdbcli"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("7.3.79", got); diff != "" {
		t.Error(diff)
	}
	if _, err := StampedVersion(tool); err == nil {
		t.Error("a program without a stamp has a version")
	}
}

func TestADirectoryWithoutProgramsIsRejected(t *testing.T) {
	if _, err := NewStore(t.TempDir(), "tool", map[string]string{"7.3.79": t.TempDir()}); err == nil {
		t.Error("an empty directory was taken for one of programs")
	}
}
