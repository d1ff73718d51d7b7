package tui

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/picture"
)

// Pictures of the documentation are drawn from stories of made-up clusters, so that none is older than the product.
func TestThePicturesOfTheDocumentationShowTheDashboard(t *testing.T) {
	loss := entriesOfALoss()
	for i, e := range loss {
		if e.Frame != nil {
			loss[i].Frame = withFigures(*e.Frame)
		}
	}
	one := Options{Color: true, Clusters: []string{"sample"}}
	acts := one
	acts.Actions = &acting{}
	pictures := map[string]model{
		"screen.svg":           shown(t, 120, 40, acts, loss...),
		"pictures/wide.svg":    shown(t, 200, 60, one, loss...),
		"pictures/healthy.svg": shown(t, 120, 30, one, entry(described())),
		"pictures/nodes.svg":   pressed(shown(t, 120, 24, one, loss...), "2"),
		"pictures/plan.svg":    pressed(shown(t, 120, 28, one, loss...), "5"),
		"pictures/load.svg":    pressed(shown(t, 120, 40, one, underLoad(300)...), "0"),
		"pictures/narrow.svg":  shown(t, 80, 24, one, loss...),
		"pictures/light.svg":   shown(t, 120, 40, acts, loss...),
	}
	for name, m := range pictures {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			ground := picture.Dark
			if name == "pictures/light.svg" {
				ground = picture.Light
			}
			if err := ground.DrawSVG(&got, m.View()); err != nil {
				t.Fatal(err)
			}
			requirePicture(t, name, got.String())
		})
	}
}

// requirePicture compares a file of the documentation with what is drawn now.
func requirePicture(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "docs", filepath.FromSlash(name))
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/%s is another picture (go test ./pkg/ui/tui -update draws it again):\n%s", name, diff)
	}
}

// The cast is a recording of 30 seconds, in which a user presses keys: a zone is lost, why that is and what a pass would do about
// it, a replacement, and its end.
func TestTheCastOfTheDocumentationIsPlayedFromARecording(t *testing.T) {
	replacing := func(left int64, seconds float64) *frame.Frame {
		f, r := described(), moving("storage-1")
		f.Status.Summary = "Replacing 1 of 1: all data has its 2 copies, safe to lose 1 more zone"
		f.Status.Replacing = &inspect.ReplacingView{Marked: 1, Total: 1}
		r.LeftBytes, r.MovedBytes, r.SoonestSeconds, r.LatestSeconds = new(left<<20), new((500-left)<<20), new(seconds), new(seconds+9)
		f.Groups.Items[0].RemovalSince, f.Groups.Items[0].Exclusion = ago(0), inspect.ExclusionMoving
		f.Operation = &inspect.OperationView{
			ID: "r7", Command: "replace sample storage-1 --wait", Holder: "alice@laptop process 7", User: "alice@laptop", Since: ago(0), Seen: ago(0), Active: true,
			Progress: reconcile.OperationProgress{Passes: 2, Actions: 6, Targets: 1, Replacements: []reconcile.Replacement{r}, ReplacementsTotal: 1, FullyReplicated: new(true), Zones: new(1)},
		}
		return f
	}
	story := []struct {
		second int
		frame  *frame.Frame
		keys   []string
	}{
		{0, described(), nil},
		{3, withFigures(*lost()), nil},
		{7, withFigures(*lost()), []string{"w"}},
		{12, withFigures(*lost()), []string{"esc", "5"}},
		{17, replacing(450, 90), []string{"8"}},
		{20, replacing(310, 60), nil},
		{23, replacing(120, 20), []string{"1"}},
		{26, replacing(10, 2), nil},
		{30, described(), nil},
	}
	var entries []Entry
	for _, s := range story {
		at := noon.Add(time.Duration(s.second) * time.Second)
		s.frame.AsOf = &at
		for i := range s.frame.Sources {
			s.frame.Sources[i].AsOf = &at
		}
		entries = append(entries, Entry{At: at, Cluster: "sample", Frame: s.frame})
	}
	m := shown(t, 100, 30, Options{Color: true, Clusters: []string{"sample"}, Replay: entries})
	m.playing = true
	var shots []picture.Shot
	for i, s := range story {
		m.back = i
		m = pressed(m.updated(nil), s.keys...)
		m.notice = notice{}
		shots = append(shots, picture.Shot{At: entries[i].At, Screen: m.View()})
	}
	var got strings.Builder
	if err := picture.DrawCast(&got, shots, 100, 30); err != nil {
		t.Fatal(err)
	}
	if got.Len() > 64<<10 {
		t.Errorf("the cast has %d bytes", got.Len())
	}
	requirePicture(t, "pictures/outage.cast", got.String())
}

// withFigures returns a frame with the figures of the header.
func withFigures(f frame.Frame) *frame.Frame {
	of := described()
	f.Workload, f.Groups.Items = of.Workload, slices.Clone(f.Groups.Items)
	for i := range f.Groups.Items {
		if f.Groups.Items[i].Class == "storage" {
			f.Groups.Items[i].SpaceUsed = new(0.12 + 0.04*float64(i))
		}
	}
	return &f
}
