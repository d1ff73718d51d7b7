package tui

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
)

// recording reads what `watch --record` wrote in the sandbox while it lost a node.
func recording(t *testing.T) []Entry {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "node-lost.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var entries []Entry
	for decoder := json.NewDecoder(file); decoder.More(); {
		var e Entry
		if err := decoder.Decode(&e); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	return entries
}

func TestAReplayedRecordingShowsANodeLoss(t *testing.T) {
	m := shown(t, 100, 36, Options{Replay: recording(t), Clusters: []string{"sample-cluster"}})
	m = pressed(m, "p")
	var story strings.Builder
	scene := func(keys ...string) {
		m = pressed(m, keys...)
		fmt.Fprintf(&story, "# %s\n%s", strings.Join(keys, " "), kept(m.View()))
	}
	scene("1")
	scene("]")
	scene("]", "2")
	scene("]", "1", "enter")
	scene("esc", "5")
	scene("7")
	golden.RequireEqual(t, []byte(story.String()))
}
