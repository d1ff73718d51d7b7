package docs_test

import (
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/kubectl-fdb/kubectl-fdb/"

// everything in the third column stands for any package but those that only tests import.
const everything = "everything but `pkg/reconcile/sim` and `internal/fdbsim`"

// cells are the rows of the first table in a section of architecture.md, without the two of
// its head.
func cells(t *testing.T, section string) [][]string {
	t.Helper()
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n## "+section+"\n")
	if !found {
		t.Fatalf("architecture.md has no section %q", section)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	var rows [][]string
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(line)
		if len(rows) > 0 && line == "" {
			break
		}
		if strings.HasPrefix(line, "|") {
			row := strings.Split(strings.Trim(line, "|"), "|")
			for i := range row {
				row[i] = strings.TrimSpace(row[i])
			}
			rows = append(rows, row)
		}
	}
	if len(rows) < 3 {
		t.Fatalf("architecture.md has no table below %q", section)
	}
	return rows[2:]
}

var code = regexp.MustCompile("`([^`]+)`")

func codes(cell string) []string {
	names := []string{}
	for _, match := range code.FindAllStringSubmatch(cell, -1) {
		names = append(names, match[1])
	}
	slices.Sort(names)
	return names
}

// sourcePackages are the packages of the plugin's module by directory.
func sourcePackages(t *testing.T) map[string]*build.Package {
	t.Helper()
	packages := map[string]*build.Package{}
	for _, root := range []string{"api", "cmd", "pkg", "internal/fdbsim", "internal/opcases"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			if entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			p, err := build.ImportDir(path, 0)
			if _, none := err.(*build.NoGoError); none { //nolint:errorlint // build returns it as it is
				return nil
			}
			packages[strings.TrimPrefix(filepath.ToSlash(path), "../")] = p
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return packages
}

// importsOf are the packages of this module that the source of p imports, without its tests.
func importsOf(p *build.Package) []string {
	imports := []string{}
	for _, path := range p.Imports {
		if ours, is := strings.CutPrefix(path, module); is {
			imports = append(imports, ours)
		}
	}
	slices.Sort(imports)
	return imports
}

func TestPackageImportsMatchTheArchitecturePage(t *testing.T) {
	packages := sourcePackages(t)
	allowed := map[string]string{}
	for _, row := range cells(t, "Packages") {
		name := codes(row[0])[0]
		if _, twice := allowed[name]; twice {
			t.Errorf("%s has two rows", name)
		}
		allowed[name] = row[2]
	}
	for name := range allowed {
		if packages[name] == nil {
			t.Errorf("%s is listed and not there", name)
		}
	}
	for name, p := range packages {
		cell, listed := allowed[name]
		imports := importsOf(p)
		switch {
		case !listed:
			t.Errorf("%s has no row", name)
		case cell == everything:
			if slices.ContainsFunc(imports, forTests) {
				t.Errorf("%s imports what only tests may import: %v", name, imports)
			}
		default:
			if diff := cmp.Diff(codes(cell), imports); diff != "" {
				t.Errorf("%s: listed (-), imported (+):\n%s", name, diff)
			}
		}
	}
}

// stagesOfTests has what tests of several packages of stages share, so it is one of tests itself.
const stagesOfTests = "pkg/reconcile/stages/stagestest"

// forTests reports whether no source outside of the simulation, and of forecasts that play in it,
// may import a package.
func forTests(name string) bool {
	return name == simulation || name == shellOfTests || name == "internal/opcases" || name == stagesOfTests || isFdbsim(name)
}

const (
	simulation = "pkg/reconcile/sim"
	// shellOfTests types command lines in the simulation, which has none.
	shellOfTests = "pkg/reconcile/sim/simtest"
)

// modelOfForecasts is the part of the model of FoundationDB that forecasts play in.
var modelOfForecasts = []string{"internal/fdbsim/client", "internal/fdbsim/locked"}

func isFdbsim(name string) bool {
	return name == "internal/fdbsim" || strings.HasPrefix(name, "internal/fdbsim/")
}

func TestOnlyForecastsAndTestsImportTheSimulation(t *testing.T) {
	for name, p := range sourcePackages(t) {
		for _, imported := range importsOf(p) {
			inside := name == "pkg/forecast" && imported == simulation || isFdbsim(name) && isFdbsim(imported) ||
				name == simulation && slices.Contains(modelOfForecasts, imported) || name == stagesOfTests && imported == "internal/opcases" ||
				name == shellOfTests && (imported == simulation || imported == "internal/fdbsim")
			if forTests(imported) && !inside {
				t.Errorf("%s imports %s", name, imported)
			}
		}
	}
}

// A forecast plays in the model of FoundationDB and types nothing: what reads and prints text there stays out of the
// program.
func TestTheToolsOfTheSimulationAreNotInThePlugin(t *testing.T) {
	packages := sourcePackages(t)
	within := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		if packages[name] == nil || within[name] {
			return
		}
		within[name] = true
		for _, imported := range importsOf(packages[name]) {
			add(imported)
		}
	}
	add("cmd/kubectl-fdb")
	if !within[simulation] || !within["internal/fdbsim/model"] {
		t.Fatalf("the plugin does not have its simulation; the test follows the wrong imports")
	}
	for _, tool := range []string{"tools", "console", "syntax", "texts", "clientlib"} {
		if name := "internal/fdbsim/" + tool; packages[name] == nil || within[name] {
			t.Errorf("%s is in the plugin, or does not exist", name)
		}
	}
}

// Commands are the top floor: what two of them share stands below.
func TestOnlyTheProgramAndCommandsImportCommands(t *testing.T) {
	isCommand := func(name string) bool { return name == "pkg/commands" || strings.HasPrefix(name, "pkg/commands/") }
	for name, p := range sourcePackages(t) {
		for _, imported := range importsOf(p) {
			if isCommand(imported) && !isCommand(name) && name != "cmd/kubectl-fdb" {
				t.Errorf("%s imports %s", name, imported)
			}
		}
	}
}

func TestOnlyFdbsimImportsItsSubpackages(t *testing.T) {
	root := filepath.Join("..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || entry.IsDir() {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		if isFdbsim(name) {
			return nil
		}
		allowed := []string{}
		if strings.HasPrefix(name, simulation+"/") {
			allowed = modelOfForecasts
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imported := range file.Imports {
			part, is := strings.CutPrefix(strings.Trim(imported.Path.Value, `"`), module)
			if is && strings.HasPrefix(part, "internal/fdbsim/") && !slices.Contains(allowed, part) {
				t.Errorf("%s imports %s; outside, internal/fdbsim is enough", name, imported.Path.Value)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

var namedFunction = regexp.MustCompile("`((?:cmd|pkg)/[\\w/-]+\\.go)` `([A-Za-z.]+)`")

// The walks through the code name files and functions that exist.
func TestTheArchitecturePageNamesExistingFunctions(t *testing.T) {
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	named := namedFunction.FindAllStringSubmatch(string(text), -1)
	if len(named) < 20 {
		t.Errorf("%d functions named", len(named))
	}
	for _, m := range named {
		source, err := os.ReadFile(filepath.Join("..", m[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		receiver, name, isMethod := strings.Cut(m[2], ".")
		definition := `(?m)^(func|var|type) ` + receiver + `\b`
		if isMethod {
			definition = `(?m)^func \((\w+ )?\*?` + receiver + `\) ` + name + `\(`
		}
		if !regexp.MustCompile(definition).Match(source) {
			t.Errorf("%s does not define %s", m[1], m[2])
		}
	}
}
