package ui_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/changes"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/orphans"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/rebuild"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/runbooks"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/workload"
)

// renderers are all that print a document as text, by package and name.
var renderers = map[string]any{
	"changes.Write": changes.Write, "check.WriteJUnit": check.WriteJUnit, "check.WriteJUnits": check.WriteJUnits, "check.WriteMarkdown": check.WriteMarkdown, "check.WriteMarkdowns": check.WriteMarkdowns,
	"check.WritePatch": check.WritePatch, "check.WriteRules": check.WriteRules, "check.WriteSARIF": check.WriteSARIF, "check.WriteSARIFs": check.WriteSARIFs, "check.WriteTable": check.WriteTable, "check.WriteTables": check.WriteTables,
	"orphans.Write": orphans.Write, "rebuild.Write": rebuild.Write, "runbooks.WriteForecast": runbooks.WriteForecast, "runbooks.WriteJUnit": runbooks.WriteJUnit, "runbooks.WriteList": runbooks.WriteList, "runbooks.WriteReport": runbooks.WriteReport,
	"workload.WriteProcesses": workload.WriteProcesses, "workload.WriteReport": workload.WriteReport, "workload.WriteReportTable": workload.WriteReportTable, "workload.WriteTop": workload.WriteTop,
	"ui.WriteAccess": ui.WriteAccess, "ui.WriteBackupDescription": ui.WriteBackupDescription, "ui.WriteBackupStatus": ui.WriteBackupStatus, "ui.WriteCan": ui.WriteCan,
	"ui.WriteClusterDescription": ui.WriteClusterDescription, "ui.WriteConfiguration": ui.WriteConfiguration, "ui.WriteConnectionStringDrift": ui.WriteConnectionStringDrift, "ui.WriteCoordinatorDiagnosis": ui.WriteCoordinatorDiagnosis,
	"ui.WriteEvacuation": ui.WriteEvacuation, "ui.WriteGroupDescription": ui.WriteGroupDescription, "process groups": writeList[inspect.GroupListView],
	"history": writeList[inspect.HistoryView], "operations": writeList[inspect.OperationListView], "ui.WriteKinds": ui.WriteKinds, "ui.WriteLeftovers": ui.WriteLeftovers, "ui.WriteLocks": ui.WriteLocks, "ui.WriteLog": ui.WriteLog, "ui.WriteMaintenance": ui.WriteMaintenance, "ui.WriteMap": writeMap, "nodes": writeList[inspect.NodeListView], "coordinators": writeList[inspect.CoordinatorListView], "events": writeList[inspect.EventListView], "exclusion status": writeList[inspect.ExclusionStatusView], "exclusions": writeList[lists.ExclusionListView],
	"ui.WriteOperationStatus": ui.WriteOperationStatus, "ui.WritePlan": ui.WritePlan, "ui.WriteStores": ui.WriteStores, "ui.WriteSites": ui.WriteSites, "ui.WriteSitePlans": ui.WriteSitePlans, "ui.WritePruned": ui.WritePruned, "processes": writeList[lists.ProcessListView], "clients": writeList[lists.ClientListView], "ui.WriteProgress": ui.WriteProgress, "ui.WriteRecoveryPlan": ui.WriteRecoveryPlan,
	"ui.WriteRecoveryReport": ui.WriteRecoveryReport, "ui.WriteRecoveryVerification": ui.WriteRecoveryVerification, "ui.WriteRestoreStatus": ui.WriteRestoreStatus, "ui.WriteRun": ui.WriteRun, "ui.WriteStatus": ui.WriteStatus, "clusters": writeList[inspect.StatusListView], "backups": writeList[lists.BackupListView], "backups in stores": writeList[lists.BackupsInStore],
	"ui.WriteTree": ui.WriteTree, "ui.WriteVersion": ui.WriteVersion, "ui.WriteWait": ui.WriteWait, "ui.WriteWhy": ui.WriteWhy, "ui.WriteWhyList": ui.WriteWhyList, "ui.WriteWhyListTable": ui.WriteWhyListTable, "ui.WriteWhyTable": ui.WriteWhyTable,
}

// writeList prints a document whose items have declared columns.
func writeList[V list.Document](w io.Writer, v V, o ui.ListOptions) error {
	return ui.WriteList(w, v, o)
}

// writeMap prints the map of process groups.
func writeMap(w io.Writer, groups []inspect.GroupView, nodes []inspect.NodeView) error {
	return ui.WriteMap(w, inspect.NewMap(groups, nodes), ui.Paint{})
}

// encoders print any document as data: TestDocumentsNameCharactersThatControlATerminal.
var encoders = []string{"ui.WriteJSON", "ui.WriteIndentedJSON", "ui.WriteXML", "ui.WriteList"}

// hostileParts are what a text of a cluster can have: what terminals, pipelines and markup obey.
var hostileParts = []string{
	"\x1b[2J", "\x1b]52;c;cm0=\a", "\x1b]8;;http://evil\x1b\\", "\u009b2J", "\u202e", "\u2066", "\r", "\r\n", "\n::error::x\n", "::error::", "##", "[set-env name=A]", "##vso[x]", "\x00", "\x7f", "\xff", "\u2028",
	"**bold**", "|", "<b>", "%s", "日本", "plain ", "x\nFORGED: y", "x\n\n  FORGED",
}

// hostileText returns a text of some parts, or none.
func hostileText(r *rand.Rand) string {
	text := ""
	for range r.IntN(5) {
		text += hostileParts[r.IntN(len(hostileParts))]
	}
	return text
}

// hostile sets every text within a value. What is optional may be absent, each for itself.
func hostile(v reflect.Value, r *rand.Rand, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostileText(r))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.IntN(3)))
	case reflect.Pointer:
		if depth > 0 && r.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			hostile(v.Elem(), r, depth-1)
		}
	case reflect.Slice:
		if depth > 0 {
			n := r.IntN(3)
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				hostile(v.Index(i), r, depth-1)
			}
		}
	case reflect.Map:
		if depth > 0 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			hostile(key, r, depth-1)
			hostile(value, r, depth-1)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				hostile(v.Field(i), r, depth)
			}
		}
	default: // other numbers have no text
	}
}

// switches sets the switches of options.
func switches(v reflect.Value, r *rand.Rand) {
	for _, f := range v.Fields() {
		if f.Kind() == reflect.Bool && f.CanSet() {
			f.SetBool(r.IntN(2) == 0)
		}
	}
}

// rendered calls a renderer with a document of hostile texts and any options.
func rendered(renderer any, w io.Writer, r *rand.Rand) (failed any) {
	f := reflect.ValueOf(renderer)
	args := []reflect.Value{reflect.ValueOf(w)}
	for i := 1; i < f.Type().NumIn(); i++ {
		arg := reflect.New(f.Type().In(i)).Elem()
		switch {
		case arg.Type() == reflect.TypeFor[time.Time](), arg.Type() == reflect.TypeFor[ui.Table]():
		case strings.HasSuffix(arg.Type().Name(), "Options"):
			switches(arg, r)
		default:
			hostile(arg, r, 6)
		}
		args = append(args, arg)
	}
	defer func() {
		if failed = recover(); failed != nil {
			failed = fmt.Sprint(failed, string(debug.Stack()))
		}
	}()
	f.Call(args)
	return nil
}

// forgedLine is a line that a text of a document has begun.
var forgedLine = regexp.MustCompile(`(?m)^\s*FORGED`)

// controlled returns what an output has that a terminal, a runner or a reader of lines takes for something else than text.
func controlled(output string, width int) string {
	for _, c := range output {
		if c != '\n' && c != '\t' && phrase.IsControl(c) {
			return fmt.Sprintf("%U", c)
		}
	}
	if new(phrase.RunnerLine).Text(output, func(rune) string { return "" }) != output {
		return "a command for a runner"
	}
	if forgedLine.MatchString(output) && width == 0 && !strings.HasPrefix(output, "# ") { // a manifest has blocks
		return "a line that a text has begun"
	}
	return ""
}

func TestNoTextOfADocumentControlsATerminalOrAPipe(t *testing.T) {
	for name, renderer := range renderers {
		t.Run(name, func(t *testing.T) {
			printed := 0
			for seed := range uint64(25) {
				for _, width := range []int{0, 80} {
					var out bytes.Buffer
					if failed := rendered(renderer, layout.NewPage(&out, func() int { return width }), rand.New(rand.NewPCG(seed, 1))); failed != nil {
						t.Fatalf("seed %d: %v", seed, failed)
					}
					if found := controlled(out.String(), width); found != "" {
						t.Fatalf("seed %d, width %d: %s in %q", seed, width, found, &out)
					}
					printed += out.Len()
				}
			}
			if printed == 0 {
				t.Error("nothing is printed, so that this tests nothing")
			}
		})
	}
}

func TestEveryRendererIsTestedWithHostileText(t *testing.T) {
	known := map[string]bool{}
	for _, name := range encoders {
		known[name] = true
	}
	for name := range renderers {
		known[name] = true
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declared := range file.Decls {
			f, is := declared.(*ast.FuncDecl)
			if is && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Write") && !known[file.Name.Name+"."+f.Name.Name] {
				t.Errorf("%s: %s.%s has no row", path, file.Name.Name, f.Name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
