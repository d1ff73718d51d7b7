package ui

import (
	"bytes"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
)

func TestConfigurationTable(t *testing.T) {
	same, different := healthy(t), healthy(t)
	different.Desired.RedundancyMode, different.Desired.Logs = "triple", 4
	wiggles := healthy(t)
	wiggles.Desired.PerpetualStorageWiggle = new(1)
	for name, f := range map[string]Facts{"the same": same, "different": different, "one that was not asked for before": wiggles, "no answer": unanswered(t)} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := WriteConfiguration(&b, NewConfigurationListView(meta, f, ""), ListOptions{Now: noon}); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
}

func TestWhetherAConfigurationMatchesIsNotGuessed(t *testing.T) {
	if v := NewConfigurationListView(meta, healthy(t), ""); v.Matches == nil || !*v.Matches {
		t.Errorf("%+v", v)
	}
	if v := NewConfigurationListView(meta, unanswered(t), ""); v.Matches != nil || v.Items[0].Live != nil || len(v.Warnings) != 1 {
		t.Errorf("%+v", v)
	}
}
