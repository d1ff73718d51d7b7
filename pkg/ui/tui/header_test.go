package tui

import (
	"strings"
	"testing"
)

// A screen that changes something must not say that it only shows.
func TestTheHeadSaysWhetherAnythingIsDone(t *testing.T) {
	tests := map[string]struct {
		options     Options
		says, never string
	}{
		"it only shows":            {Options{}, "READ-ONLY", "RECONCILES"},
		"passes run":               {Options{Passes: true}, "RECONCILES", "READ-ONLY"},
		"keys act":                 {Options{Actions: &acting{}}, "ACTIONS", "READ-ONLY"},
		"passes run, and keys act": {Options{Passes: true, Actions: &acting{}}, "RECONCILES  ACTIONS", "READ-ONLY"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			head, _, _ := strings.Cut(shown(t, 100, 24, tc.options, looks(1)...).View(), "\n")
			if !strings.Contains(head, tc.says) || strings.Contains(head, tc.never) {
				t.Errorf("want %q, and not %q: %s", tc.says, tc.never, head)
			}
		})
	}
}
