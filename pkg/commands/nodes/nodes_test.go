package nodes

import (
	"slices"
	"testing"
)

func TestDuplicateNodeArgumentsAreRemoved(t *testing.T) {
	names, err := namesOf([]string{"node/n2", "n1", "n2"})
	if err != nil || !slices.Equal(names, []string{"n1", "n2"}) {
		t.Errorf("%v, %v", names, err)
	}
	for _, empty := range []string{"", "node/"} {
		if names, err := namesOf([]string{"n1", empty}); err == nil {
			t.Errorf("%q is accepted: %v", empty, names)
		}
	}
}
