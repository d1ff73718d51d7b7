package targets

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ConnectionStringsSynced returns the places that hold the connection string, and whether each
// has the one in force. Reached is true once the status and the ConfigMap have it. The files in
// pods belong to their fdbserver processes; pods whose file differs are returned by name.
func ConnectionStringsSynced(f inspect.Facts, files plan.ClusterFiles) (targets []inspect.Target, reached bool, differ []string) {
	if files.Live.IsZero() {
		return []inspect.Target{{ID: "live", Phase: "unknown", Note: files.LiveUnknown}}, false, nil
	}
	v := lists.NewConnectionStringDriftView(inspect.Metadata{}, f, files)
	reached = true
	for _, s := range v.Items {
		if s.Source == string(inspect.SourceLive) {
			continue
		}
		t := target(s)
		targets = append(targets, t)
		pod, ofPod := strings.CutPrefix(s.Source, "pod/")
		switch {
		case !ofPod:
			reached = reached && t.Reached
		case t.Phase == "differs":
			differ = append(differ, pod)
		}
	}
	return targets, reached, differ
}

func target(s lists.ConnectionSpot) inspect.Target {
	t := inspect.Target{ID: s.Source}
	switch {
	case s.Waiting:
		t.Phase, t.Note = "not-running", s.Unreadable
	case s.Matches == nil:
		t.Phase, t.Note = "unknown", s.Unreadable
	case *s.Matches:
		t.Phase, t.Reached = "matches", true
	default:
		t.Phase, t.Note = "differs", inspect.OneLine(s.Text)
	}
	return t
}

// SeedDiffers reports whether the spec's seed names other coordinators than those in force. The
// seed is used only when the status was lost, and then a stale one reaches no database.
func SeedDiffers(seed string, inForce fdb.ConnectionString) bool {
	if seed == "" {
		return false
	}
	found, err := fdb.ParseConnectionString(seed)
	return err != nil || found.ID != inForce.ID || !found.SameCoordinators(inForce.Coordinators)
}
