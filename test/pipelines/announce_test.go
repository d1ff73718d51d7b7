package pipelines

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// taps is an API of GitHub with files of repositories, by repository and path.
type taps struct {
	files   map[string]string
	refused int
}

const tapToken = "token-of-the-taps"

func newTaps(t *testing.T, files map[string]string) (*taps, string) {
	t.Helper()
	all := &taps{files: maps.Clone(files)}
	server := httptest.NewServer(all)
	t.Cleanup(server.Close)
	return all, server.URL
}

// ServeHTTP reads or writes one file. As GitHub does, it refuses to write over a file whose hash is not in the request;
// here the hash is the content itself.
func (all *taps) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.Replace(strings.TrimPrefix(r.URL.Path, "/repos/"), "/contents/", " ", 1)
	before, exists := all.files[name]
	var file struct {
		Message string `json:"message"`
		Content []byte `json:"content"`
		Hash    string `json:"sha"`
	}
	switch {
	case r.Header.Get("Authorization") != "Bearer "+tapToken:
		all.refused++
		w.WriteHeader(http.StatusForbidden)
	case r.Method == http.MethodGet && !exists:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		_ = json.NewEncoder(w).Encode(map[string]string{"sha": before})
	case json.NewDecoder(r.Body).Decode(&file) != nil || file.Message == "" || file.Hash != before:
		all.refused++
		w.WriteHeader(http.StatusConflict)
	default:
		all.files[name] = string(file.Content)
	}
}

// announce runs the script on a build with a cask and a manifest for Krew.
func announce(t *testing.T, tag, api, token string) (log string, err error) {
	t.Helper()
	dist := t.TempDir()
	for name, content := range map[string]string{"homebrew/Casks/kubectl-fdb.rb": "cask of " + tag + "\n", "krew/fdb.yaml": "manifest of " + tag + "\n"} {
		file := filepath.Join(dist, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "../../hack/announce.sh", tag, dist)
	cmd.Env = append(os.Environ(), "API_URL="+api, "TAP_TOKEN="+token, "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	output, err := cmd.CombinedOutput()
	return string(output), err
}

const (
	cask = "kubectl-fdb/homebrew-tap Casks/kubectl-fdb.rb"
	krew = "kubectl-fdb/krew-index plugins/fdb.yaml"
)

// The files of a version are new, or replace those of the version before.
func TestAReleaseIsAnnouncedInBothRepositories(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]map[string]string{"the first one": {}, "the next one": {cask: "cask of v1.1.0\n", krew: "manifest of v1.1.0\n"}} {
		t.Run(name, func(t *testing.T) {
			all, api := newTaps(t, before)
			log, err := announce(t, "v1.2.0", api, tapToken)
			if diff := cmp.Diff(map[string]string{cask: "cask of v1.2.0\n", krew: "manifest of v1.2.0\n"}, all.files); diff != "" || err != nil || all.refused > 0 {
				t.Errorf("%s%v, %d refused\n%s", diff, err, all.refused, log)
			}
			if strings.Contains(log, tapToken) {
				t.Errorf("the log has the token: %s", log)
			}
		})
	}
}

func TestAReleaseIsNotAnnouncedWithoutATokenOrBeforeItIsFinal(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		tag, token, log string
		fails           bool
	}{
		"without a token":     {tag: "v1.2.0", log: "v1.2.0 is not announced: TAP_TOKEN is not set\n"},
		"a release candidate": {tag: "v1.2.0-rc.1", token: tapToken, log: "v1.2.0-rc.1 is not announced: it is a pre-release\n"},
		"with another token":  {tag: "v1.2.0", token: "another", log: "error: Casks/kubectl-fdb.rb of kubectl-fdb/homebrew-tap cannot be read: HTTP status 403\n", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			all, api := newTaps(t, map[string]string{})
			log, err := announce(t, tc.tag, api, tc.token)
			if log != tc.log || (err != nil) != tc.fails || len(all.files) > 0 {
				t.Errorf("%q (%v), want %q; files %v", log, err, tc.log, all.files)
			}
		})
	}
}
