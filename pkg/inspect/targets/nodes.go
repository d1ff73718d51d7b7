package targets

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// EmptiedNodes returns the progress of nodes that are being drained of the cluster's pods.
func EmptiedNodes(f inspect.Facts, nodes []string) []inspect.Target {
	targets := make([]inspect.Target, len(nodes))
	for i, node := range nodes {
		var left []string
		for name, pod := range f.Pods {
			if pod.Spec.NodeName == node {
				left = append(left, name)
			}
		}
		slices.Sort(left)
		targets[i] = inspect.Target{ID: node, Phase: "empty", Reached: true}
		if len(left) > 0 {
			targets[i] = inspect.Target{ID: node, Phase: phaseDraining, Note: phrase.Count(len(left), "pod") + " left: " + phrase.List(left)}
		}
	}
	return targets
}

// The phases of nodes that are being made schedulable again.
const (
	NodeOpen     = "open"
	NodeCordoned = "cordoned"
	NodeTainted  = "tainted"
	NodeUnknown  = "unknown"
)

// OpenNodes returns the progress of nodes that are being made schedulable again. A node is not
// open while it has a taint that causes replacements.
func OpenNodes(f inspect.Facts, nodes []string) []inspect.Target {
	on := f.GroupsByNode()
	targets := make([]inspect.Target, len(nodes))
	for i, name := range nodes {
		targets[i] = openNode(f, name, on[name])
	}
	return targets
}

func openNode(f inspect.Facts, name string, groups []*v1beta2.ProcessGroupStatus) inspect.Target {
	node := f.Nodes[name]
	switch {
	case node == nil:
		return inspect.Target{ID: name, Phase: NodeUnknown, Note: "the node does not exist or cannot be read"}
	case node.Spec.Unschedulable:
		return inspect.Target{ID: name, Phase: NodeCordoned, Note: "the node is cordoned"}
	}
	v := f.Node(name, groups, nil)
	replaces := slices.ContainsFunc(v.MatchedRules, func(r inspect.TaintRuleView) bool { return !r.Never }) && f.Cluster.ReplacementsEnabled()
	taints := repelling(node)
	switch {
	case replaces:
		return inspect.Target{ID: name, Phase: NodeTainted, Note: stillTainted(v)}
	case len(taints) > 0:
		return inspect.Target{ID: name, Phase: NodeOpen, Reached: true, Note: "only pods that tolerate its taints are scheduled: " + strings.Join(taints, ", ")}
	default:
		return inspect.Target{ID: name, Phase: NodeOpen, Reached: true}
	}
}

// repelling returns the taints of a node that only pods with a toleration may ignore.
func repelling(node *corev1.Node) (taints []string) {
	for _, taint := range node.Spec.Taints {
		if taint.Effect != corev1.TaintEffectPreferNoSchedule {
			taints = append(taints, taint.ToString())
		}
	}
	return taints
}

// stillTainted returns what happens to the process groups on a node whose taints cause replacements.
func stillTainted(v inspect.NodeView) string {
	taints := "it still has the taint " + strings.Join(v.Taints, ", ")
	switch {
	case len(v.ProcessGroups) == 0:
		return taints + ", which causes replacements; no process group is on it"
	case v.ReplaceAt != nil:
		return fmt.Sprintf("%s: replaced from %s: %s", taints, lists.Moment(v.ReplaceAt), strings.Join(v.ProcessGroups, ", "))
	default:
		return fmt.Sprintf("%s: replaced once its rule expires, counted from the next pass: %s", taints, strings.Join(v.ProcessGroups, ", "))
	}
}

// DenyListEntry returns the progress of adding a control-plane instance to the deny list in the
// database, or of removing it.
func DenyListEntry(f inspect.Facts, entry v1beta2.LockDenyListEntry) inspect.Target {
	t := inspect.Target{ID: entry.ID, Phase: "unknown", Note: "the deny list in the database could not be read"}
	if !f.Coordination.Read {
		return t
	}
	denied := slices.Contains(f.Coordination.DenyList, entry.ID)
	t.Phase, t.Note, t.Reached = "allowed", "", denied != entry.Allow
	if denied {
		t.Phase = "denied"
	}
	return t
}

// LockKept returns the progress of holding the lock manually.
func LockKept(f inspect.Facts, user string) inspect.Target {
	t := lockTarget(f)
	t.Reached = safety.HeldManually(f.Snapshot, user)
	return t
}

// LockFreed returns the progress of releasing the lock. A lock that another owner took
// meanwhile is not free.
func LockFreed(f inspect.Facts) inspect.Target {
	t := lockTarget(f)
	t.Reached = f.Coordination.Read && f.Coordination.Lock == nil
	return t
}

func lockTarget(f inspect.Facts) inspect.Target {
	t := inspect.Target{ID: "lock", Phase: "unknown", Note: "the lock in the database could not be read"}
	if !f.Coordination.Read {
		return t
	}
	v := f.Lock()
	t.Phase, t.Note = string(v.State), ""
	if l := f.Coordination.Lock; l != nil {
		t.Note = fmt.Sprintf("%s, until %s", l.Holder(), l.End.UTC().Format(time.RFC3339))
	}
	return t
}

// MaintenanceView is the zone under maintenance.
type MaintenanceView struct {
	inspect.Document
	// Zone is empty when none is.
	Zone string `json:"zone"`
	// SecondsLeft is null when no zone is under maintenance.
	SecondsLeft *float64 `json:"secondsLeft"`
	// Notes are the process groups that were due to restart when maintenance began: a pass
	// ends it once all have restarted. Null when they were not read: the spec does not use
	// them, or they cannot be read.
	Notes []MaintenanceNote `json:"notes" schema:"nullable"`
}

// MaintenanceNote is a process group that is due to restart during maintenance.
type MaintenanceNote struct {
	ProcessGroup string     `json:"processGroup"`
	Since        *time.Time `json:"since"`
}

// NewMaintenanceView makes the document of facts by which the zone under maintenance is known.
func NewMaintenanceView(m inspect.Metadata, f inspect.Facts) MaintenanceView {
	v := MaintenanceView{Document: inspect.NewDocument("Maintenance", m, f.Database.AsOf, inspect.SourceLive)}
	if now, _ := f.Maintenance(); now.Active() {
		v.Zone, v.SecondsLeft = now.Zone, new(now.Remaining.Seconds())
	}
	if f.Coordination.Read && f.Cluster.ResetMaintenanceMode() {
		v.Notes = maintenanceNotes(f)
	}
	return v
}

func maintenanceNotes(f inspect.Facts) []MaintenanceNote {
	notes := []MaintenanceNote{}
	for _, id := range slices.Sorted(maps.Keys(f.Coordination.Maintenance)) {
		notes = append(notes, MaintenanceNote{ProcessGroup: string(id), Since: inspect.Known(f.Coordination.Maintenance[id])})
	}
	return notes
}

// Maintained returns the progress of putting a zone under maintenance.
func Maintained(f inspect.Facts, zone string) inspect.Target {
	t := inspect.Target{ID: "zone " + zone, Phase: phasePending}
	now, known := f.Maintenance()
	switch {
	case !known:
		t.Phase, t.Note = "unknown", unknownMaintenance(f)
	case now.Zone == zone:
		t.Phase, t.Note, t.Reached = "maintained", phrase.Duration(now.Remaining)+" left", true
	case now.Active():
		t.Note = "zone " + now.Zone + " is under maintenance"
	}
	return t
}

// NotMaintained returns the progress of ending maintenance.
func NotMaintained(f inspect.Facts) inspect.Target {
	t := inspect.Target{ID: "maintenance", Phase: "ended", Reached: true}
	now, known := f.Maintenance()
	switch {
	case !known:
		t.Phase, t.Note, t.Reached = "unknown", unknownMaintenance(f), false
	case now.Active():
		t.Phase, t.Note, t.Reached = "active", "zone "+now.Zone, false
	}
	return t
}

func unknownMaintenance(f inspect.Facts) string {
	if f.Database.Available() {
		return "the database does not report it"
	}
	return phrase.Or(f.Database.Why(), "the database is unavailable")
}

// ZonesOfStorage returns the zones of processes that hold data, by the database and by the
// status of the resource.
func ZonesOfStorage(f inspect.Facts) []string {
	zones := map[string]bool{}
	for _, g := range f.Cluster.Status.ProcessGroups {
		if g.ProcessClass.IsAffectedByMaintenance() && g.FaultDomain != "" {
			zones[string(g.FaultDomain)] = true
		}
	}
	if f.Database.Status != nil {
		for _, p := range f.Database.Status.Cluster.Processes {
			if v1beta2.ProcessClass(p.ClassType).IsAffectedByMaintenance() && p.Zone() != "" {
				zones[p.Zone()] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(zones))
}
