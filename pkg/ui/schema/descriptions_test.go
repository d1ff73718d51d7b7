package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "github.com/charmbracelet/x/exp/golden" // the flag -update
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/orphans"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/rebuild"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/runbooks"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/workload"
)

const module = "github.com/kubectl-fdb/kubectl-fdb/"

// texts are what is embedded, in its own form.
type texts struct {
	Types  map[string]string            `json:"types"`
	Fields map[string]map[string]string `json:"fields"`
	Values map[string][]string          `json:"values"`
}

func TestSchemaDescriptionsMatchTheCodeComments(t *testing.T) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(ofTheCode(t)); err != nil {
		t.Fatal(err)
	}
	// It is a part of the program, without blanks, and has a line for each text.
	want := strings.ReplaceAll(b.String(), `","`, "\",\n\"")
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile("descriptions.json", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("descriptions.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("descriptions.json is not what comments say; go test ./pkg/ui/schema -update writes it:\n%s", diff)
	}
}

// ofTheCode collects the comments of all types that documents are made of.
func ofTheCode(t *testing.T) texts {
	t.Helper()
	found := texts{Types: map[string]string{}, Fields: map[string]map[string]string{}, Values: map[string][]string{}}
	desired := map[reflect.Type]bool{}
	for _, kind := range slices.Concat(ui.Kinds(), check.Kinds(), runbooks.Kinds(), workload.Kinds(), orphans.Kinds(), rebuild.Kinds()) {
		if kind.Document != nil {
			reach(desired, reflect.TypeOf(kind.Document))
		}
		for _, event := range kind.Events {
			reach(desired, reflect.TypeOf(event.Line))
		}
	}
	parsed := map[string][]*ast.File{}
	for want := range desired {
		dir := strings.TrimPrefix(want.PkgPath(), module)
		if parsed[dir] == nil {
			parsed[dir] = filesOf(t, filepath.Join("../../..", dir))
		}
		for _, file := range parsed[dir] {
			found.addFrom(file, path.Base(dir), want.Name())
		}
	}
	maps.DeleteFunc(found.Values, func(_ string, values []string) bool { return len(values) == 1 })
	return found
}

// reach adds the types of ours that a type is made of, itself included.
func reach(desired map[reflect.Type]bool, t reflect.Type) {
	if slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, t.Kind()) {
		reach(desired, t.Elem())
		return
	}
	if desired[t] || !strings.HasPrefix(t.PkgPath(), module) {
		return
	}
	desired[t] = true
	if t.Kind() != reflect.Struct {
		return
	}
	for f := range t.Fields() {
		if f.IsExported() || f.Anonymous {
			reach(desired, f.Type)
		}
	}
}

func filesOf(t *testing.T, dir string) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(names), err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

func (f texts) addFrom(file *ast.File, pkg, name string) {
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range decl.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.Name == name {
					f.addType(decl, s, pkg+"."+name)
				}
			case *ast.ValueSpec:
				f.addValue(s, pkg, name)
			}
		}
	}
}

func (f texts) addType(decl *ast.GenDecl, s *ast.TypeSpec, name string) {
	doc := s.Doc
	if doc == nil && !decl.Lparen.IsValid() {
		doc = decl.Doc
	}
	add(f.Types, name, doc)
	structure, ok := s.Type.(*ast.StructType)
	if !ok {
		return
	}
	fields := map[string]string{}
	for _, field := range structure.Fields.List {
		for _, n := range field.Names {
			if n.IsExported() {
				add(fields, n.Name, field.Doc)
			}
		}
	}
	if len(fields) > 0 {
		f.Fields[name] = fields
	}
}

// addValue takes constants of string types: they are all that a document can contain. A single
// one is no enumeration: it names a special value among free ones.
func (f texts) addValue(s *ast.ValueSpec, pkg, name string) {
	typed, ok := s.Type.(*ast.Ident)
	if !ok || typed.Name != name {
		return
	}
	for _, v := range s.Values {
		if literal, ok := v.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if value, err := strconv.Unquote(literal.Value); err == nil {
				f.Values[pkg+"."+name] = append(f.Values[pkg+"."+name], value)
			}
		}
	}
}

func add(to map[string]string, name string, doc *ast.CommentGroup) {
	if text := strings.Join(strings.Fields(doc.Text()), " "); text != "" {
		to[name] = text
	}
}
