package ui

import (
	"bytes"
	"io"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// hostileParts are what a text of a cluster can have: what terminals, pipelines and markup obey.
var hostileParts = []string{
	"\x1b[2J", "\x1b]52;c;cm0=\a", "\x1b]8;;http://evil\x1b\\", "\u009b2J", "\u202e", "\u2066", "\r", "\r\n", "\n::error::x\n", "\x00", "\x7f", "\xff", "\u2028",
	"**bold**", "|", "<b>", "%s", "日本", "plain ",
}

func hostileText(r *rand.Rand) string {
	text := ""
	for range 1 + r.IntN(5) {
		text += hostileParts[r.IntN(len(hostileParts))]
	}
	return text
}

// hostile sets every text within a value.
func hostile(v reflect.Value, r *rand.Rand, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostileText(r))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			hostile(v.Elem(), r, depth-1)
		}
	case reflect.Slice:
		if depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			hostile(v.Index(0), r, depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				hostile(v.Field(i), r, depth)
			}
		}
	default: // numbers have no text
	}
}

// rendered calls a renderer with a document of hostile texts and the zero options.
func rendered(renderer any, w io.Writer, r *rand.Rand) {
	f := reflect.ValueOf(renderer)
	args := []reflect.Value{reflect.ValueOf(w)}
	for i := 1; i < f.Type().NumIn(); i++ {
		args = append(args, reflect.New(f.Type().In(i)).Elem())
	}
	hostile(args[1], r, 6)
	f.Call(args)
}

func TestNoTextOfADocumentControlsATerminalOrAPipe(t *testing.T) {
	for name, renderer := range map[string]any{
		"access": WriteAccess, "backup list": WriteBackupList, "clients": WriteClients, "configuration": WriteConfiguration, "coordinators": WriteCoordinators,
		"events": WriteEvents, "exclusions": WriteExclusions, "groups": WriteGroups, "kinds": WriteKinds, "locks": WriteLocks, "log": WriteLog,
		"nodes": WriteNodes, "processes": WriteProcesses, "recovery plan": WriteRecoveryPlan, "version": WriteVersion,
	} {
		for seed := range uint64(30) {
			for _, width := range []int{0, 80} {
				var out bytes.Buffer
				rendered(renderer, layout.NewPage(&out, func() int { return width }), rand.New(rand.NewPCG(seed, 1)))
				for _, c := range out.String() {
					if c != '\n' && c != '\t' && phrase.IsControl(c) {
						t.Fatalf("%s, seed %d, width %d: %U in %q", name, seed, width, c, &out)
					}
				}
				if out.Len() == 0 {
					t.Errorf("%s prints nothing, so that this tests nothing", name)
				}
			}
		}
	}
}
