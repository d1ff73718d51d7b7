package redact

import (
	"strconv"
	"strings"
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

func TestKeptTextHasNoIDOfAConnectionString(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a connection string":       {"set to a_b:Xy12@10.0.0.1:4501,10.0.0.2:4501", "set to a_b:***@10.0.0.1:4501,10.0.0.2:4501"},
		"one within JSON":           {`{"a":"x:y@[::1]:4501:tls"}`, `{"a":"x:***@[::1]:4501:tls"}`},
		"an address":                {"10.0.0.1:4501", "10.0.0.1:4501"},
		"a time and a mail address": {"12:00 me@here", "12:00 me@here"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Kept(tc.text); got != tc.want {
				t.Errorf("%s", got)
			}
		})
	}
}

// Sentences about secrets stay readable.
func TestTextKeepsWordsThatAreNoSecrets(t *testing.T) {
	for _, text := range []string{
		`secret "certificates" not found`, "failed to fetch anonymous token: unexpected status 401", "--token string   Bearer token for authentication",
		"blobstore://key@store:443/b?bucket=c", "https://proxy:3128/a?bucket=b", "docker.io/foundationdb/foundationdb:7.3.79", "password authentication failed",
		"TOKEN=$TOKEN", "--password <PASSWORD>", `"lastPass": "2 actions"`, "Bearer authentication is required", "sample:abcdefgh@10.1.0.1:4501",
	} {
		if got := Text(text); got != text {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// A text without any of these parts is not searched, so each match must have one.
func TestEveryMatchHasAPartThatIsLookedFor(t *testing.T) {
	samples := map[string]string{
		"private-key": "-----BEGIN EC PRIVATE KEY-----\nMII", "blobstore-url": "blobstore://k:s@h/b", "blobstore-header": "?header=X-Auth:s", "url-credentials": "https://t@h",
		"url-parameter": "?X-Amz-Signature=s", "authorization": "Authorization: hunter2", "url-password": "socks5://u:p@h", "webhook": "https://hooks.slack.com/services/x",
		"token-prefix": "ghp_0123456789abcdefABCDEF", "bearer-token": "Bearer abc123def", "web-token": "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "access-key": "AKIAABCDEFGHIJKLMNOP",
		"variable": "DB_PASS=hunter2", "option-with-digit": "--apikey hunter2",
	}
	for _, r := range Redactors() {
		sample, has := samples[r.ID]
		switch {
		case r.In != InText:
			continue
		case !has || len(r.Has) == 0:
			t.Errorf("%s: no sample, or nothing to look for", r.ID)
		case r.Apply(sample) == sample:
			t.Errorf("%s keeps %s", r.ID, sample)
		case strings.ToLower(strings.Join(r.Has, "")) != strings.Join(r.Has, ""):
			t.Errorf("%s looks for upper case in %q", r.ID, r.Has)
		}
	}
}

// A part of a secret is recognized as none.
func TestSecretsAreHiddenBeforeATextIsCut(t *testing.T) {
	text := strings.Repeat("a", 20) + " ghp_0123456789abcdefABCDEF " + strings.Repeat("é", 20)
	for most := range 60 {
		got := Excerpt(text, most)
		if strings.Contains(got, "0123") || len([]rune(got)) > most+1 {
			t.Errorf("%d characters: %s", most, got)
		}
	}
	if got := Excerpt("short", 5); got != "short" {
		t.Errorf("got %q", got)
	}
}

// Each document within a text of another one is quoted once more.
func TestSecretsInQuotedDocumentsAreHidden(t *testing.T) {
	text := `{"password":"hunter2x"} authorization: "hunter2x"`
	for range 4 {
		if got := Text(text); strings.Contains(got, "hunter2x") {
			t.Errorf("%s keeps it: %s", text, got)
		}
		text = strconv.Quote(text)
	}
}
