package tui

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
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
		"screen.svg":           shown(t, 120, 36, acts, loss...),
		"pictures/healthy.svg": shown(t, 120, 30, one, entry(described())),
		"pictures/nodes.svg":   pressed(shown(t, 120, 24, one, loss...), "2"),
		"pictures/plan.svg":    pressed(shown(t, 120, 28, one, loss...), "5"),
		"pictures/load.svg":    pressed(shown(t, 120, 40, one, underLoad(300)...), "0"),
		"pictures/narrow.svg":  shown(t, 80, 24, one, loss...),
	}
	for name, m := range pictures {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			if err := picture.DrawSVG(&got, m.View()); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("..", "..", "..", "docs", filepath.FromSlash(name))
			if flag.Lookup("update").Value.String() == "true" {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("docs/%s is another picture (go test ./pkg/ui/tui -update draws it again):\n%s", name, diff)
			}
		})
	}
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
