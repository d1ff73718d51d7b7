package tui

import (
	"context"
	"encoding/json"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/upgrade"
)

// Entry is one input of a dashboard. A recording is a file of entries, one JSON object per
// line, so that a replay shows what was displayed.
type Entry struct {
	// At is when it was sent.
	At time.Time `json:"at"`
	// Cluster is the name of its FoundationDBCluster.
	Cluster string `json:"cluster"`
	// Frame is a new snapshot of the cluster; null for other entries.
	Frame *frame.Frame `json:"frame,omitempty"`
	// Pass is something that happened in a pass, as a ReconcileEvent or ReconcileResult;
	// null for other entries.
	Pass json.RawMessage `json:"pass,omitempty"`
	// Question is displayed above everything else; null for other entries. It is not part of a
	// recording.
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

// Feed is the source of entries.
type Feed interface {
	// Follow sends the state of a cluster whenever it changes, until ctx ends.
	Follow(ctx context.Context, cluster string, send func(Entry))
	// Refresh reads the cluster now.
	Refresh()
}
