package gc

import (
	"slices"
	"testing"
)

// The command in the audit removes the same when it is repeated.
func TestTheAuditedGCCommandNamesThePVCs(t *testing.T) {
	if words := (options{}).words("sample"); !slices.Equal(words, []string{"gc", "sample"}) {
		t.Error(words)
	}
	if words := (options{pvcs: []string{"a", "b"}}).words("sample"); !slices.Equal(words, []string{"gc", "sample", "--pvc", "a,b"}) {
		t.Error(words)
	}
}
