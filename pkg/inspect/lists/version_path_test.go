package lists

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnEarlierPluginOnThePATHIsReported(t *testing.T) {
	const self, other = "/usr/local/bin/kubectl-fdb", "/home/ada/.krew/store/fdb/v0.1.0/kubectl-fdb"
	warning := []string{"kubectl runs another plugin: " + other + " comes first on the PATH, this program is " + self}
	tests := map[string]struct {
		found []string
		want  []string
	}{
		"no plugin is on the PATH":         {},
		"only this program is on the PATH": {found: []string{self}},
		"this program comes first":         {found: []string{self, other}},
		"this program comes first, twice":  {found: []string{self, self}},
		"another one comes first":          {found: []string{other, self}, want: warning},
		"only another one is on the PATH":  {found: []string{other}, want: warning},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, FirstOnPath(self, tc.found)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
