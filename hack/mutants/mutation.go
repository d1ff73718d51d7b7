package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mutation is one small change of a source file, as bytes, so that the rest of the file
// keeps its form and its line numbers.
type mutation struct {
	pkg, file  string // relative to the root of the module
	line       int
	start, end int
	from, to   string
}

func (m mutation) String() string {
	to := "`" + m.to + "`"
	if m.to == "" {
		to = "nothing"
	}
	return fmt.Sprintf("%s:%d: `%s` to %s", m.file, m.line, m.from, to)
}

// apply returns the mutated source.
func (m mutation) apply(source []byte) []byte {
	return slices.Concat(source[:m.start], []byte(m.to), source[m.end:])
}

// mutationsOf returns all mutations of a package's own code, in the order of the source.
// Tests and generated files are left out.
func mutationsOf(root, pkg string) ([]mutation, error) {
	files, err := filepath.Glob(filepath.Join(root, pkg, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []mutation
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := mutationsIn(filepath.ToSlash(filepath.Join(pkg, filepath.Base(file))), source)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("package %s has no code to mutate", pkg)
	}
	return all, nil
}

// mutationsIn returns all mutations of one file.
func mutationsIn(name string, source []byte) ([]mutation, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(parsed) {
		return nil, err
	}
	f := finder{set: set, source: source, name: name}
	ast.Inspect(parsed, f.visit)
	return f.found, nil
}

// finder collects the mutations of a file.
type finder struct {
	set    *token.FileSet
	source []byte
	name   string
	found  []mutation
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok != token.IMPORT
	case *ast.IfStmt:
		f.negate(n.Cond)
	case *ast.SwitchStmt:
		f.negateCases(n)
	case *ast.BinaryExpr:
		f.swapOperator(n)
	case *ast.ReturnStmt:
		f.flipResults(n)
	case *ast.BasicLit:
		f.addOne(n)
	case *ast.BlockStmt:
		f.removeFrom(n.List)
	case *ast.CaseClause:
		f.removeFrom(n.Body)
	}
	return true
}

func (f *finder) add(from, to token.Pos, replacement string) {
	start, end := f.set.Position(from), f.set.Position(to)
	f.found = append(f.found, mutation{
		pkg: filepath.ToSlash(filepath.Dir(f.name)), file: f.name, line: start.Line, start: start.Offset, end: end.Offset,
		from: string(f.source[start.Offset:end.Offset]), to: replacement,
	})
}

func (f *finder) negate(e ast.Expr) {
	text := f.source[f.set.Position(e.Pos()).Offset:f.set.Position(e.End()).Offset]
	f.add(e.Pos(), e.End(), "!("+string(text)+")")
}

// negateCases negates the conditions of a switch without a tag.
func (f *finder) negateCases(s *ast.SwitchStmt) {
	if s.Tag != nil {
		return
	}
	for _, clause := range s.Body.List {
		for _, e := range clause.(*ast.CaseClause).List {
			f.negate(e)
		}
	}
}

// swapped pairs operators that a typing error confuses.
var swapped = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
}

func (f *finder) swapOperator(e *ast.BinaryExpr) {
	if other, ok := swapped[e.Op]; ok {
		f.add(e.OpPos, e.OpPos+token.Pos(len(e.Op.String())), other.String())
	}
}

func (f *finder) flipResults(r *ast.ReturnStmt) {
	flipped := map[string]string{"true": "false", "false": "true"}
	for _, result := range r.Results {
		if id, ok := result.(*ast.Ident); ok && flipped[id.Name] != "" {
			f.add(id.Pos(), id.End(), flipped[id.Name])
		}
	}
}

func (f *finder) addOne(l *ast.BasicLit) {
	if l.Kind != token.INT {
		return
	}
	if n, err := strconv.ParseInt(l.Value, 0, 63); err == nil {
		f.add(l.Pos(), l.End(), strconv.FormatInt(n+1, 10))
	}
}

// removeFrom removes each statement that has an effect and declares nothing.
func (f *finder) removeFrom(statements []ast.Stmt) {
	for _, s := range statements {
		switch s := s.(type) {
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.BranchStmt:
			f.add(s.Pos(), s.End(), "")
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				f.add(s.Pos(), s.End(), "")
			}
		}
	}
}
