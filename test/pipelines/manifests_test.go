package pipelines

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "copy pipeline.sh into the manifests")

// The scripts of the Task, the WorkflowTemplate and the job are the last field of their files.
func TestPipelineManifestsEmbedPipelineSh(t *testing.T) {
	script, err := os.ReadFile(manifests + "pipeline.sh")
	if err != nil {
		t.Fatal(err)
	}
	for file, field := range map[string]string{"tekton/task.yaml": "    script: |\n", "argo-workflows/workflow-template.yaml": "      source: |\n", "gitlab/kubectl-fdb.yml": "  - |\n"} {
		content, err := os.ReadFile(manifests + file)
		if err != nil {
			t.Fatal(err)
		}
		head, _, found := strings.Cut(string(content), field)
		if !found {
			t.Fatalf("%s has no field %s", file, strings.TrimSpace(field))
		}
		indent := strings.Repeat(" ", strings.Index(field, strings.TrimSpace(field))+2)
		var want strings.Builder
		want.WriteString(head + field)
		for line := range strings.Lines(string(script)) {
			if line != "\n" {
				want.WriteString(indent)
			}
			want.WriteString(line)
		}
		if *update {
			if err := os.WriteFile(manifests+file, []byte(want.String()), 0o644); err != nil { //nolint:gosec // a file of the repository
				t.Fatal(err)
			}
		} else if string(content) != want.String() {
			t.Errorf("%s has another script; go test -update copies it", file)
		}
	}
}

// closed refuses fields that a schema does not name.
func closed(node any) {
	switch n := node.(type) {
	case map[string]any:
		if _, object := n["properties"].(map[string]any); object {
			if _, more := n["additionalProperties"]; !more {
				n["additionalProperties"] = false
			}
		}
		for _, child := range n {
			closed(child)
		}
	case []any:
		for _, child := range n {
			closed(child)
		}
	}
}

func schema(t *testing.T, path string) *jsonschema.Schema {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	closed(document)
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("schema.json")
}

func TestManifestsOfPipelinesMatchTheirSchemas(t *testing.T) {
	for file, path := range map[string]string{
		"tekton/task.yaml": "testdata/tekton-task.schema.json", "argo-workflows/workflow-template.yaml": "testdata/argo-workflow-template.schema.json",
	} {
		s := schema(t, path)
		content, err := os.ReadFile(manifests + file)
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{
			"": string(content), "an unknown field": strings.Replace(string(content), "    env:", "    environment:", 1),
			"a number for a string": strings.Replace(string(content), "        key: token", "        key: 4", 1),
		} {
			converted, err := yaml.YAMLToJSON([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			document, err := jsonschema.UnmarshalJSON(bytes.NewReader(converted))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(document); (err == nil) != (what == "") {
				t.Errorf("%s with %q: %v", file, what, err)
			}
		}
	}
}

// The workflow of the page, with the action of this repository instead of that of a release.
func TestThePipelinesPageWorkflowIsValid(t *testing.T) {
	page, err := os.ReadFile(root + "/docs/pipelines.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- workflow -->\n```yaml\n")
	workflow, _, found := strings.Cut(rest, "\n```")
	const action = "kubectl-fdb/kubectl-fdb/manifests/pipelines/github@v0.1.0"
	if !found || strings.Count(workflow, action) != 4 {
		t.Fatal("the page has no workflow with four uses of the action")
	}
	workflow = strings.ReplaceAll(workflow, action, "./manifests/pipelines/github") + "\n"
	for what, text := range map[string]string{"": workflow, "an input that does not exist": strings.Replace(workflow, "cluster: orders", "clutser: orders", 1)} {
		if errs := lint(t, text); (len(errs) == 0) != (what == "") {
			t.Errorf("workflow with %q: %v", what, errs)
		}
	}
}

func TestTheWorkflowsOfTheRepositoryAreValid(t *testing.T) {
	files, err := filepath.Glob(root + "/.github/workflows/*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("%d workflows: %v", len(files), err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if errs := lint(t, string(content)); len(errs) > 0 {
			t.Errorf("%s: %v", file, errs)
		}
	}
}

// lint returns the errors of actionlint about a workflow of this repository.
func lint(t *testing.T, workflow string) []*actionlint.Error {
	t.Helper()
	dir, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	project, err := actionlint.NewProject(dir)
	if err != nil {
		t.Fatal(err)
	}
	linter, err := actionlint.NewLinter(&bytes.Buffer{}, &actionlint.LinterOptions{WorkingDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	errs, err := linter.Lint(filepath.Join(dir, ".github", "workflows", "page.yaml"), []byte(workflow), project)
	if err != nil {
		t.Fatal(err)
	}
	return errs
}

// archive is that of a release, with a program that prints its report.
func archive(t *testing.T) []byte {
	t.Helper()
	program := []byte("#!/bin/sh\necho the installed program\n")
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	files := tar.NewWriter(packed)
	if err := files.WriteHeader(&tar.Header{Name: "kubectl-fdb", Mode: 0o755, Size: int64(len(program))}); err != nil {
		t.Fatal(err)
	}
	_, _ = files.Write(program)
	_, _ = files.Close(), packed.Close()
	return b.Bytes()
}

func TestTheGitHubActionVerifiesTheReleaseChecksum(t *testing.T) {
	content := archive(t)
	name := fmt.Sprintf("kubectl-fdb_0.1.0_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	for what, given := range map[string]struct {
		checksums, pinned string
		code              int
	}{
		"the checksum of the release":              {sum + "  " + name + "\n", "", 0},
		"another checksum":                         {strings.Repeat("0", 64) + "  " + name + "\n", "", 1},
		"a release that does not list the archive": {"", "", 1},
		"a pinned archive":                         {"", sum, 0},
		"an archive that is not the pinned one":    {sum + "  " + name + "\n", strings.Repeat("0", 64), 1},
	} {
		t.Run(what, func(t *testing.T) {
			const release = "/kubectl-fdb/kubectl-fdb/releases/download/v0.1.0/"
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case release + name:
					_, _ = w.Write(content)
				case release + "checksums.txt":
					_, _ = w.Write([]byte(given.checksums))
				default:
					http.NotFound(w, r)
				}
			}))
			defer server.Close()
			j := job{inputs: map[string]string{"mode": "check", "cluster": "sample", "version": "v0.1.0", "sha256": given.pinned}, api: server.URL, dir: t.TempDir(), program: t.TempDir()}
			got := onGitHub(t, j)
			if got.code != given.code || strings.Contains(got.log, "the installed program") != (given.code == 0) {
				t.Errorf("exit code %d: %s", got.code, got.log)
			}
		})
	}
}
