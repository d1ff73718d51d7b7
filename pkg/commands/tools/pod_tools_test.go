package tools

import (
	"slices"
	"testing"
)

func TestFdbcliCommandsThatMayChangeTheDatabaseAreListed(t *testing.T) {
	for script, want := range map[string][]string{
		"status json":                          nil,
		"status; getrange a b ;; coordinators": nil,
		"coordinators auto":                    {"coordinators auto"},
		"exclude":                              nil,
		"exclude 10.0.0.1":                     {"exclude 10.0.0.1"},
		"kill; kill all":                       {"kill all"},
		"maintenance off":                      {"maintenance off"},
		"something new":                        {"something new"},
		`"clear" x`:                            {`"clear" x`},
		"get 'a; clear b'":                     {"clear b'"},
		"status\nclear x":                      {"clear x"},
		"lock; unlock 0011":                    {"lock", "unlock 0011"},
	} {
		if got := changesOf(script); !slices.Equal(got, want) {
			t.Errorf("%q may change: %q, want %q", script, got, want)
		}
	}
}
