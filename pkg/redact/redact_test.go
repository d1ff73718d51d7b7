package redact

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValuesAreHiddenUnlessTheirNamesAreKnown(t *testing.T) {
	for path, shown := range map[string]bool{
		"containers[foundationdb].image":                              true,
		"containers[foundationdb].env[FDB_TLS_CA_FILE].value":         true,
		"containers[foundationdb].env[FDB_TLS_PASSWORD].value":        false,
		"containers[a].env[FDB_NETWORK_OPTION_TLS_PASSWORD].value":    false,
		"containers[a].env[DB_PASS].value":                            false,
		"containers[a].env[AUTH].value":                               false,
		"containers[a].env[PATH].value":                               true,
		"containers[a].env[PATH_TO_WHAT].value":                       false,
		"initContainers[a].args[3]":                                   false,
		"containers[a].command[0]":                                    false,
		"containers[a].livenessProbe.httpGet.httpHeaders[Auth].value": false,
		"tolerations[node].value":                                     true,
	} {
		if Field(path) != shown {
			t.Errorf("%s: shown %t, want %t", path, !shown, shown)
		}
	}
	for key, shown := range map[string]bool{
		"foundationdb.org/last-applied-spec":             true,
		"cluster-autoscaler.kubernetes.io/safe-to-evict": true,
		"example.com/api-token":                          false,
		"vault.hashicorp.com/token":                      false,
		"x.kubernetes.io/auth-token":                     false,
		"evilfoundationdb.org/x":                         false,
	} {
		if Annotation(key) != shown {
			t.Errorf("annotation %s: shown %t, want %t", key, !shown, shown)
		}
	}
}

func TestAnObjectWithAHiddenValueIsFound(t *testing.T) {
	env := func(name, value string) any { return map[string]any{"name": name, "value": value} }
	for name, tc := range map[string]struct {
		object any
		want   bool
	}{
		"a variable":           {map[string]any{"env": []any{env("DB_PASS", "x")}}, true},
		"a known variable":     {map[string]any{"env": []any{env("PATH", "x")}}, false},
		"a reference":          {map[string]any{"env": []any{map[string]any{"name": "A", "valueFrom": map[string]any{}}}}, false},
		"an annotation":        {map[string]any{"metadata": map[string]any{"annotations": map[string]any{"a/b": "x"}}}, true},
		"an argument":          {map[string]any{"containers": []any{map[string]any{"args": []any{"--apikey", "x"}}}}, true},
		"nothing of that kind": {map[string]any{"containers": []any{map[string]any{"image": "x"}}}, false},
	} {
		if got := Secrets(tc.object); got != tc.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

func TestAnObjectIsShownWithoutHiddenValues(t *testing.T) {
	object := map[string]any{
		"metadata": map[string]any{"name": "a", "annotations": map[string]any{"a/b": "x", "foundationdb.org/x": `{"env":[{"name":"DB_PASS","value":"x"}]}`}},
		"spec": map[string]any{"containers": []any{map[string]any{
			"image": "i", "args": []any{"--apikey", "x"}, "env": []any{map[string]any{"name": "DB_PASS", "value": "x"}, map[string]any{"name": "PATH", "value": "/bin"}},
		}}},
	}
	Object(object)
	want := map[string]any{
		"metadata": map[string]any{"name": "a", "annotations": map[string]any{"a/b": Hidden, "foundationdb.org/x": `{"env":[{"name":"DB_PASS","value":"(hidden)"}]}`}},
		"spec": map[string]any{"containers": []any{map[string]any{
			"image": "i", "args": []any{Hidden, Hidden}, "env": []any{map[string]any{"name": "DB_PASS", "value": Hidden}, map[string]any{"name": "PATH", "value": "/bin"}},
		}}},
	}
	if diff := cmp.Diff(want, object); diff != "" {
		t.Error(diff)
	}
}
