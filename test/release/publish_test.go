package release

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"
)

// tag is that of the release that the tests publish.
const tag = "v999.1.2"

// The tokens of the workflow, and of the repositories that a release is announced in.
const (
	workflowToken = "token-of-the-workflow"
	tapToken      = "token-of-the-taps"
)

// github is an API of GitHub with one repository for releases and any number of others, which
// requires the right token for each.
type github struct {
	mutex    sync.Mutex
	assets   map[string][]byte // of the release, by name
	public   bool              // the release is no draft any more
	notes    string            // of the release
	pushed   map[string][]byte // files of other repositories, by repository and path
	requests []string          // that it refused
}

func newGitHub(t *testing.T) (*github, string) {
	t.Helper()
	g := &github{assets: map[string][]byte{}, pushed: map[string][]byte{}}
	mux := http.NewServeMux()
	const own = "/repos/kubectl-fdb/kubectl-fdb/releases"
	mux.HandleFunc("GET /api/v3/rate_limit", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"resources": {"core": {"limit": 5000, "remaining": 5000}}}`)
	})
	mux.HandleFunc("GET /api/v3"+own, g.only(workflowToken, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `[]`) // no draft of a run before
	}))
	mux.HandleFunc("POST /api/v3"+own, g.only(workflowToken, g.create))
	mux.HandleFunc("PATCH /api/v3"+own+"/1", g.only(workflowToken, g.publish))
	mux.HandleFunc("POST /api/uploads"+own+"/1/assets", g.only(workflowToken, g.upload))
	mux.HandleFunc("PUT /api/v3/repos/{owner}/{name}/contents/{path...}", g.only(tapToken, g.push))
	// A release or a file that does not exist yet.
	mux.HandleFunc("GET /api/v3/", http.NotFound)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { g.refuse(w, r, http.StatusNotImplemented) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return g, server.URL
}

func (g *github) refuse(w http.ResponseWriter, r *http.Request, status int) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.requests = append(g.requests, fmt.Sprintf("%s %s: %d", r.Method, r.URL.Path, status))
	http.Error(w, "{}", status)
}

// only refuses requests without the token.
func (g *github) only(token string, handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			g.refuse(w, r, http.StatusForbidden)
			return
		}
		handle(w, r)
	}
}

func (g *github) create(w http.ResponseWriter, r *http.Request) {
	var release struct {
		Body string `json:"body"`
	}
	err := json.NewDecoder(r.Body).Decode(&release)
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if err == nil {
		g.notes = release.Body
	}
	w.WriteHeader(http.StatusCreated)
	fmt.Fprint(w, `{"id": 1, "draft": true}`)
}

func (g *github) publish(w http.ResponseWriter, r *http.Request) {
	var release struct {
		Draft *bool `json:"draft"`
	}
	err := json.NewDecoder(r.Body).Decode(&release)
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.public = err == nil && release.Draft != nil && !*release.Draft
	fmt.Fprint(w, `{"id": 1}`)
}

func (g *github) upload(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	g.mutex.Lock()
	defer g.mutex.Unlock()
	name := r.URL.Query().Get("name")
	if _, twice := g.assets[name]; twice || err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	g.assets[name] = content
	w.WriteHeader(http.StatusCreated)
	fmt.Fprint(w, `{"id": 1}`)
}

func (g *github) push(w http.ResponseWriter, r *http.Request) {
	var file struct {
		Content []byte `json:"content"`
	}
	err := json.NewDecoder(r.Body).Decode(&file)
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if err == nil {
		g.pushed[r.PathValue("owner")+"/"+r.PathValue("name")+"/"+r.PathValue("path")] = file.Content
	}
	fmt.Fprint(w, `{}`)
}

// tagged clones the commit into a new directory, with a tag.
func tagged(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "kubectl-fdb")
	if log, err := clone(t.Context(), dir); err != nil {
		t.Fatalf("%v: %s", err, log)
	}
	run(t, dir, nil, "git", "-c", "tag.gpgsign=false", "tag", tag)
	return dir
}

// configuration is that of releases, for one platform and with the API at an address. It is not in
// the clone, where it would be a change.
func configuration(t *testing.T, dir, api string) string {
	t.Helper()
	var config map[string]any
	readYAML(t, filepath.Join(dir, ".goreleaser.yaml"), &config)
	build := config["builds"].([]any)[0].(map[string]any)
	build["goos"], build["goarch"] = []string{"linux"}, []string{runtime.GOARCH}
	config["github_urls"] = map[string]string{"api": api + "/", "upload": api + "/"}
	text, err := yaml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "goreleaser.yaml")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// cosign stands for the program that signs: that needs the identity of a workflow. It requires the
// arguments by which that one signs a file, and "signs" with the checksum of the file.
const cosign = `#!/bin/sh
set -eu
if [ $# != 5 ] || [ "$1 $2 $3" != "sign-blob --yes --bundle" ]; then
  echo "cosign: invalid arguments: $*" >&2
  exit 1
fi
sha256sum <"$5" >"$4"
`

// notes are those of the published release. The section of a version is read by hack/release-notes.sh.
const notes = "### Added\n\n- one\n"

// release runs GoReleaser as the workflow does.
func release(t *testing.T, dir, config string) {
	t.Helper()
	programs := t.TempDir()
	if err := os.WriteFile(filepath.Join(programs, "cosign"), []byte(cosign), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(programs, "release-notes.md")
	if err := os.WriteFile(file, []byte(notes), 0o600); err != nil {
		t.Fatal(err)
	}
	environment := []string{"GITHUB_TOKEN=" + workflowToken, "PATH=" + programs + string(filepath.ListSeparator) + os.Getenv("PATH")}
	run(t, dir, environment, "goreleaser", "release", "--clean", "--release-notes="+file, "--config", config)
}

// announce runs the last step of the workflow.
func announce(t *testing.T, dir, api, tap string) {
	t.Helper()
	run(t, dir, []string{"API_URL=" + api + "/api/v3", "TAP_TOKEN=" + tap}, "hack/announce.sh", tag)
}

// A release for one platform is built, signed and uploaded as a draft by an API of GitHub on loopback, and
// announced; without the token for other repositories it is not announced; and the commands of the page
// build the same bytes again.
func TestAReleaseIsSignedUploadedAndAnnounced(t *testing.T) {
	dir := tagged(t)
	g, api := newGitHub(t)
	config := configuration(t, dir, api)
	release(t, dir, config)
	checkAssets(t, g)
	if len(g.pushed) > 0 {
		t.Errorf("a draft was announced: %v", slices.Sorted(maps.Keys(g.pushed)))
	}
	announce(t, dir, api, tapToken)
	checkAnnouncements(t, g)
	t.Run("without the token of the other repositories", func(t *testing.T) {
		g, api := newGitHub(t)
		announce(t, dir, api, "")
		if len(g.pushed) > 0 {
			t.Errorf("files were pushed: %v", slices.Sorted(maps.Keys(g.pushed)))
		}
	})
	t.Run("the same bytes", func(t *testing.T) { checkRebuild(t, dir, config, g.assets) })
}

// checkAssets checks the files of a release, which is a draft.
func checkAssets(t *testing.T, g *github) {
	t.Helper()
	if len(g.requests) > 0 || g.public {
		t.Errorf("the release is public: %t; refused requests: %v", g.public, g.requests)
	}
	if got := strings.TrimRight(g.notes, "\n") + "\n"; got != notes { // GoReleaser ends them with an empty line
		t.Errorf("the release has the notes %q, want %q", g.notes, notes)
	}
	base := "kubectl-fdb_" + strings.TrimPrefix(tag, "v") + "_linux_" + runtime.GOARCH
	listed := []string{base + ".deb", base + ".rpm", base + ".tar.gz", base + ".tar.gz.cdx.json"}
	want := append([]string{"checksums.txt", "checksums.txt.sigstore.json", "fdb.yaml"}, listed...)
	if got := slices.Sorted(maps.Keys(g.assets)); !slices.Equal(got, want) {
		t.Fatalf("the release has %v, want %v", got, want)
	}
	sums := checksums(t, g.assets["checksums.txt"])
	if got := slices.Sorted(maps.Keys(sums)); !slices.Equal(got, listed) {
		t.Errorf("checksums.txt lists %v, want %v", got, listed)
	}
	for name, sum := range sums {
		if is := pack(t, 0, bytes.NewReader(g.assets[name])).sum; is != sum {
			t.Errorf("%s has %s, checksums.txt %s", name, is, sum)
		}
	}
	signed, _, _ := strings.Cut(string(g.assets["checksums.txt.sigstore.json"]), " ")
	if want := pack(t, 0, bytes.NewReader(g.assets["checksums.txt"])).sum; signed != want {
		t.Errorf("a file with %s was signed, checksums.txt has %s", signed, want)
	}
}

// checkAnnouncements checks what Krew and Homebrew read of a published release.
func checkAnnouncements(t *testing.T, g *github) {
	t.Helper()
	if len(g.requests) > 0 {
		t.Errorf("refused requests: %v", g.requests)
	}
	want := []string{"kubectl-fdb/homebrew-tap/Casks/kubectl-fdb.rb", "kubectl-fdb/krew-index/plugins/fdb.yaml"}
	if got := slices.Sorted(maps.Keys(g.pushed)); !slices.Equal(got, want) {
		t.Fatalf("pushed %v, want %v", got, want)
	}
	if !bytes.Equal(g.pushed[want[1]], g.assets["fdb.yaml"]) {
		t.Error("the manifest in the index of Krew differs from that of the release")
	}
	archive := "kubectl-fdb_" + strings.TrimPrefix(tag, "v") + "_linux_" + runtime.GOARCH + ".tar.gz"
	url := "https://github.com/kubectl-fdb/kubectl-fdb/releases/download/" + tag + "/" + archive
	sum := checksums(t, g.assets["checksums.txt"])[archive]
	plugin := readKrew(t, g.assets["fdb.yaml"])
	if p := plugin.Spec.Platforms; plugin.Spec.Version != tag || len(p) != 1 || p[0].URI != url || p[0].SHA256 != sum {
		t.Errorf("Krew reads %+v, want %s with %s", plugin, url, sum)
	}
	if got, want := readCask(t, g.pushed[want[0]]).archives["linux_"+runtime.GOARCH], (download{url: url, sum: sum}); got != want {
		t.Errorf("Homebrew reads %+v, want %+v", got, want)
	}
}

// checkRebuild runs the commands of the page about releases on a clone in another directory, and
// compares what they build with a release. The tools were built before, another test builds the image
// of all platforms, and both builds have the Go of the test.
func checkRebuild(t *testing.T, published, config string, assets map[string][]byte) {
	t.Helper()
	lines := fence(t, "releases.md", "rebuild")
	script := strings.NewReplacer(
		"https://github.com/kubectl-fdb/kubectl-fdb", published,
		"vVERSION", tag,
		"goreleaser release ", "goreleaser release --config "+config+" ",
	).Replace(strings.Join(lines, "\n"))
	for _, left := range []string{`export GOTOOLCHAIN="$(awk '$1 == "toolchain" {print $2}' go.mod)"` + "\n", "make release-tools\n", "make release-image\n"} {
		if strings.Count(script, left) != 1 {
			t.Errorf("the page does not run %s", left)
		}
		script = strings.ReplaceAll(script, left, "")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "checksums.txt"), assets["checksums.txt"], 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TZ=Pacific/Auckland")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, output)
	}
	for name, want := range assets {
		if name == "checksums.txt.sigstore.json" {
			continue
		}
		at := filepath.Join(dir, "kubectl-fdb", "dist", name)
		if name == "fdb.yaml" {
			at = filepath.Join(dir, "kubectl-fdb", "dist", "krew", name)
		}
		if !bytes.Equal(read(t, at), want) {
			t.Errorf("%s differs", name)
		}
	}
}
