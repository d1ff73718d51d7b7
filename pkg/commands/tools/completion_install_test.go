package tools

import (
	"strings"
	"testing"
)

func TestCompletionIsNotInstalledWhereKubectlDoesNotRunIt(t *testing.T) {
	for system, want := range map[string]string{"linux": "", "darwin": "", "windows": "kubectl completes no arguments of plugins on Windows"} {
		got := ""
		if err := supported(system); err != nil {
			got = err.Error()
		}
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", system, got, want)
		}
	}
}
