package v1beta2

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	yamlutil "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const (
	examplesFolder = "../../manifests/examples"
	// samplesFolder may hold the operator's own manifests; FDB_SAMPLES names
	// another place.
	samplesFolder = "../../../shared/samples"
)

// document is one resource of ours in a file.
type document struct {
	file   string
	kind   string
	source []byte // JSON
}

func TestExamplesAreValid(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(examplesFolder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples in %s: %v", examplesFolder, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range documents(t, filepath.Base(file), text) {
			t.Run(doc.file+"/"+doc.name(t), func(t *testing.T) { checkDocument(t, doc) })
		}
	}
}

// TestExamplesShowEveryField reads the fields from the wire format, so a field
// without an example cannot go unnoticed.
func TestExamplesShowEveryField(t *testing.T) {
	shown := map[string]bool{}
	files, _ := filepath.Glob(filepath.Join(examplesFolder, "*.yaml"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range documents(t, filepath.Base(file), text) {
			notePaths(shown, doc.kind+" spec", doc.object(t)["spec"])
		}
	}
	for _, path := range specLeaves(t) {
		if !shown[path] {
			t.Errorf("no example shows %s", path)
		}
	}
}

// specLeaves are the paths of the wire format that hold values.
func specLeaves(t *testing.T) []string {
	t.Helper()
	var leaves []string
	for _, line := range append(wireFormat(t, "testdata/wire-format.txt"), wireFormat(t, "testdata/wire-format-extensions.txt")...) {
		parts := strings.SplitN(line, " ", 3)
		container := strings.Contains(parts[2], `"type":"object"`) || strings.Contains(parts[2], `"type":"array"`)
		if strings.HasPrefix(parts[1], "spec.") && !container {
			leaves = append(leaves, parts[0]+" "+parts[1])
		}
	}
	if len(leaves) < 180 {
		t.Fatalf("found %d leaves, want about 190", len(leaves))
	}
	return leaves
}

// notePaths notes every path at and below a value; maps of the API count as .{}
// as well.
func notePaths(shown map[string]bool, path string, value any) {
	shown[path] = true
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			notePaths(shown, path+"."+key, below)
			if strings.HasSuffix(path, "Labels") || strings.HasSuffix(path, ".processes") {
				notePaths(shown, path+".{}", below)
			}
		}
	case []any:
		for _, below := range v {
			notePaths(shown, path+"[]", below)
		}
	}
}

func documents(t *testing.T, file string, text []byte) []document {
	t.Helper()
	var docs []document
	reader := yamlutil.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		part, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return docs
		}
		if err != nil {
			t.Fatal(err)
		}
		source, err := yaml.YAMLToJSONStrict(part)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var head struct{ APIVersion, Kind string }
		if err := json.Unmarshal(source, &head); err != nil {
			t.Fatal(err)
		}
		if head.APIVersion == GroupVersion.String() {
			docs = append(docs, document{file, head.Kind, source})
		}
	}
}

func (d document) object(t *testing.T) map[string]any {
	t.Helper()
	var object map[string]any
	if err := utiljson.Unmarshal(d.source, &object); err != nil { // keeps integers
		t.Fatal(err)
	}
	return object
}

func (d document) name(t *testing.T) string {
	t.Helper()
	return d.object(t)["metadata"].(map[string]any)["name"].(string)
}

// checkDocument expects a resource that is accepted by API servers as it is, by
// our types without loss, and by our own checks.
func checkDocument(t *testing.T, d document) {
	t.Helper()
	switch d.kind {
	case "FoundationDBCluster":
		checkTypes(t, d, &FoundationDBCluster{})
	case "FoundationDBBackup":
		checkTypes(t, d, &FoundationDBBackup{})
	case "FoundationDBRestore":
		checkTypes(t, d, &FoundationDBRestore{})
	default:
		t.Fatalf("unknown kind %s", d.kind)
	}
	server, object := apiServerFor(t, d.kind), d.object(t)
	if unknown := server.prune(object); len(unknown) > 0 {
		t.Errorf("unknown fields %v", unknown)
	}
	if errs := server.validate(t, object, nil); len(errs) > 0 {
		t.Errorf("the API server would say: %v", errs.ToAggregate())
	}
}

func checkTypes(t *testing.T, d document, r interface{ Validate() error }) {
	t.Helper()
	if err := yaml.UnmarshalStrict(d.source, r); err != nil {
		t.Fatalf("decoding: %v", err)
	}
	again, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(withoutEmpty(d.object(t)), withoutEmpty(document{source: again}.object(t))); diff != "" {
		t.Errorf("decoding and encoding changes it (-before +after):\n%s", diff)
	}
	if err := r.Validate(); err != nil {
		t.Errorf("our checks: %v", err)
	}
}

// withoutEmpty drops what Go clients add or leave out: empty objects of structs
// held by value, plain fields that are zero, and lists without omitempty.
func withoutEmpty(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		if list, ok := value.([]any); ok {
			kept := make([]any, len(list))
			for i := range list {
				kept[i] = withoutEmpty(list[i])
			}
			return kept
		}
		return value
	}
	kept := map[string]any{}
	for key, below := range object {
		below = withoutEmpty(below)
		if m, isMap := below.(map[string]any); below == "" || below == int64(0) || isMap && len(m) == 0 || below == nil {
			continue
		}
		kept[key] = below
	}
	return kept
}

// TestSamplesOfTheOperatorAreValid takes the operator's own manifests where
// they are at hand.
func TestSamplesOfTheOperatorAreValid(t *testing.T) {
	for _, name := range []string{
		"samples__cluster", "samples__backup", "samples__restore",
		"tests__backup__base__backup", "tests__backup__restore__restore", "tests__three_data_hall__cluster",
	} {
		t.Run(name, func(t *testing.T) {
			for _, doc := range documents(t, name, sample(t, name)) {
				checkDocument(t, doc)
			}
		})
	}
}

func TestTemplatesOfTheOperatorAreValidOnceFilledIn(t *testing.T) {
	connection := "test_cluster:abc@10.1.0.1:4501"
	tests := map[string]struct {
		sample    string
		variables map[string]string
	}{
		"the first stage of many data centers": {"tests__multi_dc__stage_1", map[string]string{"dc": "dc1", "logCount": "-1", "connectionString": `""`}},
		"the main data center":                 {"tests__multi_dc__final", map[string]string{"dc": "dc1", "logCount": "-1", "connectionString": connection}},
		"the satellite":                        {"tests__multi_dc__final", map[string]string{"dc": "dc3", "logCount": "0", "connectionString": connection}},
		"the last of three Kubernetes clusters, which counts from one": {"tests__multi_kc__final", map[string]string{"zone": "dc3", "zoneIndex": "3", "connectionString": connection}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			filled := os.Expand(string(sample(t, tt.sample)), func(key string) string { return tt.variables[key] })
			docs := documents(t, tt.sample, []byte(filled))
			if len(docs) != 1 {
				t.Fatalf("got %d documents, want 1", len(docs))
			}
			checkDocument(t, docs[0])
		})
	}
}

func TestSamplePatchesOfTheOperatorProduceValidResources(t *testing.T) {
	for _, name := range []string{"tests__tls__tls", "tests__dns__dns"} {
		t.Run(name, func(t *testing.T) {
			operations, err := yaml.YAMLToJSON(sample(t, name))
			if err != nil {
				t.Fatal(err)
			}
			patch, err := jsonpatch.DecodePatch(operations)
			if err != nil {
				t.Fatal(err)
			}
			doc := documents(t, name, sample(t, "samples__cluster"))[0]
			if doc.source, err = patch.Apply(doc.source); err != nil {
				t.Fatal(err)
			}
			checkDocument(t, doc)
		})
	}
}

func TestTheBackupSamplePatchIsValidOnlyIfMerged(t *testing.T) {
	patch := documents(t, "stopped", sample(t, "tests__backup__stopped__backup"))[0]
	errs := apiServerFor(t, patch.kind).validate(t, patch.object(t), nil)
	var fields []string
	for _, err := range errs {
		fields = append(fields, err.Field)
	}
	slices.Sort(fields)
	if diff := cmp.Diff([]string{"spec.clusterName", "spec.version"}, fields); diff != "" {
		t.Errorf("fields with errors (-want +got):\n%s", diff)
	}
	base := documents(t, "base", sample(t, "tests__backup__base__backup"))[0]
	merged := base.object(t)
	maps.Copy(merged["spec"].(map[string]any), patch.object(t)["spec"].(map[string]any))
	if errs := apiServerFor(t, base.kind).validate(t, merged, nil); len(errs) > 0 {
		t.Errorf("merged into a backup: %v", errs)
	}
}

func sample(t *testing.T, name string) []byte {
	t.Helper()
	folder := os.Getenv("FDB_SAMPLES")
	if folder == "" {
		folder = samplesFolder
	}
	text, err := os.ReadFile(filepath.Join(folder, name+".yaml"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("SKIPPED: the operator's sample %s.yaml is not in %s; set FDB_SAMPLES to the folder that has it", name, folder)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}
