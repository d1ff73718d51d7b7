package tui

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
)

// everyKey returns all keys with a binding, and some without.
func everyKey() []string {
	keys := []string{"backspace", "down", "up", "home", "st", "log-2", "例え", "\x1b", "Z", "ctrl+u"}
	for _, b := range bindings() {
		keys = append(keys, b.keys...)
	}
	return keys
}

// somewhere returns a text as a cluster, or an attacker, could provide it.
func somewhere(r *rand.Rand) string {
	texts := []string{"", "storage-3", "例え=テスト", "[2001:db8::1]:4501:tls", "a\nb\tc", "\x1b[2J\x1b[31m", "\x9b2J", "e\u0301👩‍👩‍👧", strings.Repeat("long", 60), "\xff\xfe", "\u202etxet"}
	return texts[r.IntN(len(texts))]
}

// anyFrame returns a frame with missing or odd values.
func anyFrame(r *rand.Rand) *frame.Frame { return frameOf(r, somewhere) }

// frameOf returns the same with other texts.
func frameOf(r *rand.Rand, text func(*rand.Rand) string) *frame.Frame {
	f := []func() *frame.Frame{well, lost, func() *frame.Frame { return &frame.Frame{} }}[r.IntN(3)]()
	for range r.IntN(6) {
		f.Groups.Items = append(f.Groups.Items, inspect.GroupView{ID: text(r), Class: text(r), Zone: text(r), Node: text(r), Addresses: []string{text(r)}})
		f.Nodes.Items = append(f.Nodes.Items, inspect.NodeView{Name: text(r), Taints: []string{text(r)}, Note: text(r)})
		f.Exclusions.Items = append(f.Exclusions.Items, inspect.DrainView{ID: text(r), Process: text(r), State: inspect.Exclusion(text(r)), Reason: text(r)})
		f.Coordinators.Items = append(f.Coordinators.Items, inspect.CoordinatorDetailView{Group: text(r), CoordinatorView: inspect.CoordinatorView{Address: text(r)}})
		f.Events.Items = append(f.Events.Items, inspect.EventView{Reason: text(r), Object: text(r), Message: text(r), ProcessGroup: text(r)})
		f.Sources = append(f.Sources, frame.Source{Name: text(r), Problem: text(r)})
	}
	f.Status.Summary += text(r)
	if r.IntN(4) == 0 {
		f.Plan, f.Why = nil, nil
	}
	return f
}

// anything returns a message or nil, for a key.
func anything(r *rand.Rand, lines []Entry) tea.Msg {
	at := noon.Add(time.Duration(r.IntN(600)) * time.Second)
	cluster := []string{"sample", "other", "stranger"}[r.IntN(3)]
	switch r.IntN(8) {
	case 0:
		return tea.WindowSizeMsg{Width: r.IntN(220), Height: 1 + r.IntN(70)}
	case 1:
		return entryMsg{Entry: Entry{At: at, Cluster: cluster, Frame: anyFrame(r)}}
	case 2:
		return entryMsg{Entry: Entry{At: at, Cluster: cluster, Pass: lines[r.IntN(len(lines))].Pass}}
	case 3:
		return tickMsg{at}
	case 4:
		return entryMsg{Entry: Entry{At: at, Cluster: cluster, Question: &Question{Text: somewhere(r), Words: []string{somewhere(r)}}}}
	case 5:
		return proposalMsg{id: r.IntN(5), proposal: Proposal{Plan: plannedFrom(inspect.Document{}), Words: []string{somewhere(r)}, Confirm: "y", Refused: []string{"", somewhere(r)}[r.IntN(2)]}}
	case 6:
		return actionMsg{r.IntN(5), []error{nil, fmt.Errorf("odd: %s", somewhere(r))}[r.IntN(2)]}
	}
	return nil
}

func TestRandomInputNeverBreaksTheDashboardLayout(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		o := Options{Color: seed%2 == 0}
		if seed%3 == 0 {
			o.Actions = &acting{}
		}
		if seed%5 == 4 {
			o.Replay = append([]Entry{entry(well()), entry(lost())}, running()...)
		}
		m, keys, lines := shown(t, 80, 24, o), everyKey(), append(running(), Entry{Pass: json.RawMessage(`{"event":"stage"}`)}, Entry{Pass: json.RawMessage(`[]`)})
		var did []string
		for range 250 {
			if msg := anything(r, lines); msg != nil {
				m = after(m, msg)
				did = append(did, fmt.Sprintf("%T", msg))
			} else {
				k := keys[r.IntN(len(keys))]
				m = pressed(m, k)
				did = append(did, k)
			}
			if why := misfit(m); why != "" {
				t.Fatalf("seed %d: %s\nafter %v", seed, why, did)
			}
			if control := controlIn(m.View(), o.Color); control != "" {
				t.Fatalf("seed %d: %s reaches the terminal\nafter %v", seed, control, did)
			}
		}
	}
}

// controlIn returns what in a view is neither text nor color; empty for nothing.
func controlIn(screen string, color bool) string {
	for i, r := range screen {
		switch {
		case r == '\n':
		case r == '\x1b' && color && sgr.MatchString(screen[i:]):
		case r < ' ', r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return fmt.Sprintf("%q", screen[i:min(len(screen), i+20)])
		}
	}
	return ""
}
