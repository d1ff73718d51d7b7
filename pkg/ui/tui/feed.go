package tui

import (
	"context"
	"encoding/json"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/upgrade"
)

// Entry is one thing that a screen is told. A recording is a file of entries, one JSON
// object per line, so that what is replayed is what was seen.
type Entry struct {
	// At is when it was told.
	At time.Time `json:"at"`
	// Cluster is the FoundationDBCluster that it is about.
	Cluster string `json:"cluster"`
	// Frame is a new look at the cluster; null for other entries.
	Frame *ui.Frame `json:"frame,omitempty"`
	// Pass is something that happened in a pass, as a ReconcileEvent or ReconcileResult;
	// null for other entries.
	Pass json.RawMessage `json:"pass,omitempty"`
	// Question is asked on the screen, above everything else; null for other entries. It
	// is no part of a recording.
	Question *Question `json:"-"`
}

// UnmarshalJSON reads entries of this version and of earlier ones: a recording may be older
// than the program that shows it.
func (e *Entry) UnmarshalJSON(text []byte) error {
	upgraded, err := upgrade.JSON(text)
	if err != nil {
		return err
	}
	type entry Entry // without this method
	return json.Unmarshal(upgraded, (*entry)(e))
}

// Feed is where entries come from.
type Feed interface {
	// Follow sends what is known of a cluster whenever that changes, until ctx ends.
	Follow(ctx context.Context, cluster string, send func(Entry))
	// Refresh has the next look at the cluster taken now.
	Refresh()
}
