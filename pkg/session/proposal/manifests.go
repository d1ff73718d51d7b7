package proposal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// stdinSource is the source of manifests of stdin.
const stdinSource = "stdin"

// Files are the manifests that a command line names.
type Files struct {
	// Names are files, directories, and "-" for stdin.
	Names []string
	// Kustomization is the directory of a kustomization; empty for none.
	Kustomization string
	// Recursive includes the directories below those of Names.
	Recursive bool
	// MayBeNone accepts manifests without a resource of FoundationDB.
	MayBeNone bool
}

// Given reports whether any are named.
func (f Files) Given() bool { return len(f.Names) > 0 || f.Kustomization != "" }

// Directory reports whether all of the names are directories, which have all manifests of their resources.
func (f Files) Directory() bool {
	isNone := func(name string) bool {
		info, err := os.Stat(name)
		return err != nil || !info.IsDir()
	}
	return len(f.Names) > 0 && !slices.ContainsFunc(f.Names, isNone)
}

// Manifest is a resource as its author wrote it.
type Manifest struct {
	Object *unstructured.Unstructured
	// Source is its file, "stdin", or the directory of a kustomization.
	Source string
	// root is the document in its file; nil where lines are unknown.
	root *yaml.Node
	// lines are those of its file.
	lines []string
}

// clusterField is the field of a spec that names the cluster, by kind.
var clusterField = map[string]string{"FoundationDBBackup": "clusterName", "FoundationDBRestore": "destinationClusterName"}

// ClusterOf returns the name of the cluster that a resource is about: its own, or that of its backup or restore.
func ClusterOf(o *unstructured.Unstructured) string {
	field := clusterField[o.GetKind()]
	if field == "" {
		return o.GetName()
	}
	spec, _ := o.Object["spec"].(map[string]any)
	name, _ := spec[field].(string)
	return name
}

// Title returns kind and name for messages.
func (m Manifest) Title() string { return m.Object.GetKind() + " " + m.Object.GetName() }

// Titles returns the kinds and the names of objects, for users.
func Titles(all []Manifest) []string {
	titles := make([]string, len(all))
	for i, m := range all {
		titles[i] = m.Title()
	}
	return titles
}

// At returns where a field is, for messages: the file and the line, as far as they are known. The path is that of
// messages of the API server, such as spec.processCounts.storage.
func (m Manifest) At(path string) string {
	if line := m.Line(path); line > 0 {
		return m.Source + ":" + strconv.Itoa(line)
	}
	return m.Source
}

// InFile reports whether the source is a file, which an editor can open.
func (m Manifest) InFile() bool { return m.root != nil && m.Source != stdinSource }

// Line returns the line of a field in its file, or of the last of its parents that the manifest has; 0 if lines are unknown.
func (m Manifest) Line(path string) int {
	if m.root == nil {
		return 0
	}
	return lineOf(m.root, path)
}

// lineOf returns the line of a field, or of the last of its parents that the document has.
func lineOf(n *yaml.Node, path string) int {
	line := n.Line
	steps, err := parsePath(path)
	if err != nil {
		return line
	}
	for _, s := range steps {
		key, value := s.in(n)
		if value == nil {
			return line
		}
		line, n = key.Line, value
	}
	return line
}

// in returns the part of a node that a step leads to, and the node with its line; nil for none.
func (s step) in(n *yaml.Node) (key, value *yaml.Node) {
	switch {
	case n.Kind == yaml.MappingNode && s.field != "":
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == s.field {
				return n.Content[i], n.Content[i+1]
			}
		}
	case n.Kind == yaml.SequenceNode && s.field == "" && s.index >= 0 && s.index < len(n.Content):
		return n.Content[s.index], n.Content[s.index]
	}
	return nil, nil
}

// Read returns the FoundationDB resources of the manifests, in the order of the files, and the other objects. Two manifests
// of the same resource are an error, as are none, and one of a kind or version that is not served.
func (f Files) Read(stdin io.Reader) (found, others []Manifest, err error) {
	found, others, err = f.ReadAll(stdin)
	for _, m := range found {
		if err == nil {
			err = m.check()
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return found, others, nil
}

// ReadAll is Read, with resources of kinds and versions that are not served, and with the other objects themselves.
func (f Files) ReadAll(stdin io.Reader) (found, others []Manifest, err error) {
	all, err := f.documents(stdin)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range all {
		group, _, _ := strings.Cut(m.Object.GetAPIVersion(), "/")
		if group != v1beta2.GroupVersion.Group {
			others = append(others, m)
			continue
		}
		same := func(o Manifest) bool {
			return o.Object.GetKind() == m.Object.GetKind() && o.Object.GetName() == m.Object.GetName() && o.Object.GetNamespace() == m.Object.GetNamespace()
		}
		if i := slices.IndexFunc(found, same); i >= 0 {
			return nil, nil, exit.Usagef("%s is there twice: %s and %s", m.Title(), found[i].At("metadata.name"), m.At("metadata.name"))
		}
		found = append(found, m)
	}
	if len(found) == 0 && !f.MayBeNone {
		return nil, nil, exit.Usagef("no FoundationDBCluster, FoundationDBBackup or FoundationDBRestore in %s%s", f.text(), otherObjects(others))
	}
	return found, others, nil
}

func (f Files) text() string {
	return phrase.List(append(slices.Clone(f.Names), slices.DeleteFunc([]string{f.Kustomization}, func(s string) bool { return s == "" })...))
}

func otherObjects(others []Manifest) string {
	if len(others) == 0 {
		return ""
	}
	return ", which has " + phrase.Count(len(others), "other object")
}

// check refuses a resource that cannot be planned whatever the cluster is.
func (m Manifest) check() error {
	kind := m.Object.GetKind()
	var problem Problem
	switch {
	case v1beta2.SpecOf(kind) == nil:
		problem = Problem{Field: "kind", Message: fmt.Sprintf("unknown kind %s of %s: must be FoundationDBCluster, FoundationDBBackup or FoundationDBRestore", kind, m.Object.GetAPIVersion())}
	case m.Object.GetAPIVersion() != v1beta2.GroupVersion.String():
		problem = Problem{Field: "apiVersion", Message: fmt.Sprintf("%s has apiVersion %s: must be %s", m.Title(), m.Object.GetAPIVersion(), v1beta2.GroupVersion), value: v1beta2.GroupVersion.String()}
	case m.Object.GetName() == "":
		problem = Problem{Field: "metadata", Message: kind + " has no metadata.name"}
	default:
		if _, isObject, err := unstructured.NestedMap(m.Object.Object, "spec"); err == nil && isObject {
			return nil
		}
		problem = Problem{Field: "spec", Message: m.Title() + " has no spec"}
	}
	return exit.Usage(&RefusedError{Manifest: m, Kind: Mistyped, Problems: []Problem{problem}})
}

// documents returns all objects of the manifests.
func (f Files) documents(stdin io.Reader) (all []Manifest, err error) {
	for _, name := range f.Names {
		found, err := f.of(name, stdin)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if f.Kustomization == "" {
		return all, nil
	}
	built, err := built(f.Kustomization)
	return append(all, built...), err
}

// built returns the objects of a kustomization.
func built(directory string) (all []Manifest, err error) {
	infos, err := resource.NewLocalBuilder().Unstructured().Flatten().
		FilenameParam(false, &resource.FilenameOptions{Kustomize: directory}).Do().Infos()
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("build the kustomization %s: %w", directory, err))
	}
	for _, info := range infos {
		if object, is := info.Object.(*unstructured.Unstructured); is {
			all = append(all, Manifest{Object: object, Source: directory})
		}
	}
	return all, nil
}

// of returns the objects of a file, a directory or stdin.
func (f Files) of(name string, stdin io.Reader) ([]Manifest, error) {
	if name == "-" {
		text, err := limit.All(stdin, limit.Document)
		if err != nil {
			return nil, exit.Usage(fmt.Errorf("read stdin: %w", err))
		}
		return parse(stdinSource, text)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("read %s: %w", name, notThere(err)))
	}
	if !info.IsDir() {
		return file(name)
	}
	var all []Manifest
	err = filepath.WalkDir(name, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return exit.Usage(fmt.Errorf("read %s: %w", path, notThere(err)))
		case e.IsDir() && path != name && !f.Recursive:
			return fs.SkipDir
		case e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			return nil
		}
		found, err := file(path)
		all = append(all, found...)
		return err
	})
	return all, err
}

// notThere returns a failure of the file system without the path.
func notThere(err error) error {
	if at, is := errors.AsType[*fs.PathError](err); is {
		return at.Err
	}
	return err
}

func file(path string) ([]Manifest, error) {
	text, err := limit.File(path, limit.Document)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("read %s: %w", path, notThere(err)))
	}
	return parse(path, text)
}

// parse returns the objects of a stream of documents, those of lists each by itself.
func parse(source string, text []byte) (all []Manifest, err error) {
	lines := strings.Split(string(text), "\n")
	documents := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		switch err := documents.Decode(&document); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, exit.Usage(fmt.Errorf("%s is not a stream of manifests: %w", source, err))
		}
		if len(document.Content) != 1 || document.Content[0].Tag == "!!null" {
			continue // only comments
		}
		found, err := objects(Manifest{Source: source, lines: lines, root: document.Content[0]})
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
}

// objects returns the object of a document, or those of a list.
func objects(m Manifest) (all []Manifest, err error) {
	m.Object = &unstructured.Unstructured{}
	text, err := yaml.Marshal(m.root)
	if err == nil {
		text, err = sigsyaml.YAMLToJSONStrict(text)
	}
	if err == nil {
		err = decodeJSON(text, &m.Object.Object)
	}
	switch {
	case err != nil:
		return nil, exit.Usage(fmt.Errorf("%s is not a manifest: %w", m.At(""), err))
	case m.Object.GetKind() == "" || m.Object.GetAPIVersion() == "":
		return nil, exit.Usagef("%s is not a manifest: apiVersion and kind are required", m.At(""))
	}
	_, items := step{field: "items"}.in(m.root)
	if !strings.HasSuffix(m.Object.GetKind(), "List") || items == nil || items.Kind != yaml.SequenceNode {
		return []Manifest{m}, nil
	}
	for _, item := range items.Content {
		found, err := objects(Manifest{Source: m.Source, lines: m.lines, root: item})
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
