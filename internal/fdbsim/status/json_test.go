package status

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A document without blanks has the values of the one that fdbcli prints.
func TestDenseDocumentsHaveTheSameValues(t *testing.T) {
	document := Object{
		"empty": Object{}, "list": []any{1, int64(2), 2.5, "a \"quoted\" word\n", []any{}}, "nested": Object{"yes": true, "no": false},
	}
	var pretty, dense any
	if err := json.Unmarshal([]byte(Pretty(document)), &pretty); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(Dense(document)), &dense); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pretty, dense); diff != "" {
		t.Error(diff)
	}
}
