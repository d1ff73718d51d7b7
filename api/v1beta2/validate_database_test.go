package v1beta2

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// enumOf are the values that the operator's CRD allows for a field, in order, without the
// empty one.
func enumOf(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/wire-format.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		schema, found := strings.CutPrefix(line, "FoundationDBCluster "+path+" ")
		if !found {
			continue
		}
		var field struct{ Enum []string }
		if err := json.Unmarshal([]byte(schema), &field); err != nil {
			t.Fatal(err)
		}
		return slices.Sorted(slices.Values(slices.DeleteFunc(field.Enum, func(v string) bool { return v == "" })))
	}
	t.Fatalf("the CRD has no field %s", path)
	return nil
}

func TestCRDEnumsMatchTheValuesOfFoundationDB(t *testing.T) {
	var engines []string
	for _, engine := range storageEngines() {
		engines = append(engines, string(engine))
	}
	for field, known := range map[string][]string{
		"storage_engine":                  engines,
		"perpetual_storage_wiggle_engine": append(slices.Clone(engines), string(StorageEngineNone)),
		"redundancy_mode":                 fdb.RedundancyModes(),
		"storage_migration_type":          fdb.MigrationTypes(),
	} {
		if diff := cmp.Diff(enumOf(t, "spec.databaseConfiguration."+field), slices.Sorted(slices.Values(known))); diff != "" {
			t.Errorf("%s: CRD (-), known (+):\n%s", field, diff)
		}
	}
}
