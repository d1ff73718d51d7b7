package check

import (
	"slices"
	"strings"
	"testing"
)

// A patch copies the general pod template, and reports are posted as comments.
func TestAFixDoesNotPrintValuesOfAPodTemplate(t *testing.T) {
	f := healthy(t)
	for name, tc := range map[string]struct{ patch, verb string }{
		"a variable":         {`{"spec":{"containers":[{"env":[{"name":"DB_PASS","value":"hunter2"}]}]}}`, "edit"},
		"an annotation":      {`{"metadata":{"annotations":{"example.com/token":"hunter2"}}}`, "edit"},
		"an argument":        {`{"spec":{"containers":[{"args":["--apikey","hunter2"]}]}}`, "edit"},
		"tolerations":        {`{"spec":{"tolerations":[{"key":"a","operator":"Exists"}]}}`, "patch"},
		"a known annotation": {`{"metadata":{"annotations":{"cluster-autoscaler.kubernetes.io/safe-to-evict":"false"}}}`, "patch"},
	} {
		if got := f.patch(tc.patch); got[0] != tc.verb || slices.ContainsFunc(got, func(word string) bool { return strings.Contains(word, "hunter2") }) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
