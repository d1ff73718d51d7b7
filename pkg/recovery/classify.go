package recovery

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Kind is a kind of loss. It is part of plans and documents: once released, it keeps its meaning.
type Kind string

// The kinds.
const (
	// NothingLost means that a quorum answers and the database is available.
	NothingLost Kind = "nothing-lost"
	// CoordinatorsMoved means that coordinators have other addresses, and their volumes.
	CoordinatorsMoved Kind = "coordinators-moved"
	// PodsLost means that pods are missing whose PVCs exist.
	PodsLost Kind = "pods-lost"
	// VolumesReleased means that PVCs are missing whose volumes exist.
	VolumesReleased Kind = "volumes-released"
	// CoordinatorsLost means that a majority of coordinators has neither pod nor PVC.
	CoordinatorsLost Kind = "coordinators-lost"
	// RegionLost means that the coordinators of this resource answer, and too few of those of other resources.
	RegionLost Kind = "region-lost"
	// DatabaseDown means that a quorum answers and the database does not, as after an exclusion
	// of too many processes or with full disks.
	DatabaseDown Kind = "database-down"
	// Undetermined means that the facts do not show why no quorum answers.
	Undetermined Kind = "undetermined"
)

// Assessment is the kind of loss, what can be saved and what may be lost.
type Assessment struct {
	Kind Kind `json:"kind"`
	// Saved is what a recovery gets back, Lost what may be lost, one sentence each.
	Saved string `json:"saved"`
	Lost  string `json:"lost"`
	// Evidence is why it is this kind, with numbers.
	Evidence []string `json:"evidence"`
	// Handled is whether recover apply can carry out a plan for it.
	Handled bool `json:"handled"`
	// Obstacles are why it cannot, where the kind itself is handled.
	Obstacles []string `json:"obstacles"`
	// Moves are the coordinators of CoordinatorsMoved, in the order of the connection string; empty
	// for other kinds.
	Moves []Move `json:"moves"`
	// Copy is what happens to coordination state; null for kinds but CoordinatorsLost.
	Copy *CoordinationCopy `json:"copy,omitempty"`
}

// Move is a coordinator and its address now.
type Move struct {
	Group string `json:"group"`
	Pod   string `json:"pod"`
	From  string `json:"from"`
	// To is the address now; the same as From for one that did not move.
	To string `json:"to"`
	// By is how the process group was identified.
	By Identification `json:"by"`
}

// Identification is how the process group of a coordinator was found.
type Identification string

const (
	// ByStatus means that the status has the old address as one of the process group.
	ByStatus Identification = "status"
	// ByFiles means that exactly as many volumes have coordination files as there are coordinators
	// without an address in the status.
	ByFiles Identification = "coordination-files"
)

// Assess determines what was lost. What is unknown is never taken for a loss, nor for its absence.
func Assess(f Facts) Assessment {
	switch {
	case f.Recorded == "" && !f.inferred():
		return assessment(Undetermined, "unknown", "unknown", "the status has no connection string")
	case f.Quorum != nil && !f.asks(f.Recorded):
		return assessment(Undetermined, "unknown", "unknown", "the pods use other coordinators than those of the status: "+phrase.List(f.Queried))
	case isTrue(f.Available) && isTrue(f.Quorum):
		return assessment(NothingLost, "everything", "nothing", append([]string{"a quorum of coordinators answers and the database is available"}, f.Outage.tooFull()...)...)
	case isTrue(f.Quorum) && len(f.emptyQuorum()) > 0:
		a := assessment(CoordinatorsMoved, "unknown", "unknown", "a quorum without coordination state answers at the addresses of coordinators")
		a.Obstacles = f.obstacles()
		return a
	case isTrue(f.Quorum):
		return databaseDown(f)
	}
	for _, assess := range []func(Facts) (Assessment, bool){released, regionLost, coordinatorsLost, podsLost, moved} {
		if a, is := assess(f); is {
			return a
		}
	}
	return assessment(Undetermined, "unknown", "unknown", "all coordinators have a running pod at their address, or their state is unknown")
}

func assessment(k Kind, saved, lost string, evidence ...string) Assessment {
	return Assessment{Kind: k, Saved: saved, Lost: lost, Evidence: evidence, Obstacles: []string{}, Moves: []Move{}}
}

func isTrue(known *bool) bool { return known != nil && *known }

// quorum is how many coordinators must answer.
func quorum(f Facts) int { return len(f.Coordinators)/2 + 1 }

// moved finds coordinators whose processes have other addresses now.
func moved(f Facts) (Assessment, bool) {
	moves, obstacles := f.moves()
	anyMoved := slices.ContainsFunc(moves, func(m Move) bool { return m.From != m.To })
	removed := 0
	for _, c := range f.Coordinators {
		if address, err := fdb.ParseAddress(c.Address); err == nil && address.IsIP() && f.at(address.Host) == nil {
			removed++
		}
	}
	if !anyMoved && removed == 0 {
		return Assessment{}, false
	}
	a := assessment(CoordinatorsMoved, "everything: the coordination state is in the volumes", "nothing",
		phrase.CountOf(removed, len(f.Coordinators), "coordinator address")+" without a pod of the cluster")
	for _, m := range moves {
		a.Evidence = append(a.Evidence, fmt.Sprintf("%s: %s is now %s", m.Group, m.From, m.To))
	}
	obstacles = append(obstacles, f.obstacles()...)
	if len(obstacles) > 0 {
		a.Saved, a.Lost = "unknown", "unknown"
		a.Obstacles = obstacles
		return a, true
	}
	a.Handled, a.Moves = true, moves
	return a, true
}

// groupOf returns the process group that the status has at the address of a coordinator.
func (f Facts) groupOf(c Coordinator) *Group {
	address, err := fdb.ParseAddress(c.Address)
	if err != nil {
		return nil
	}
	for i, g := range f.Groups {
		if g.isAt(address.Host) {
			return &f.Groups[i]
		}
	}
	return nil
}

// at returns the process group whose pod has an address now.
func (f Facts) at(host string) *Group {
	for i, g := range f.Groups {
		if g.nowAt(host) {
			return &f.Groups[i]
		}
	}
	return nil
}

// Outage is what the database reports of itself while it is not available.
type Outage struct {
	// RecoveryState is the state in which its recovery is; empty if it is unknown.
	RecoveryState string `json:"recoveryState,omitempty"`
	// Excluded are the process groups that were excluded when the status was written: a database that is
	// not available reports no exclusions.
	Excluded []string `json:"excluded"`
	// FullDisks are the process groups with less free space than FoundationDB requires.
	FullDisks []FullDisk `json:"fullDisks"`
	// Replicas is how many fault domains the redundancy mode requires.
	Replicas int `json:"replicas"`
}

// FullDisk is a disk with too little free space.
type FullDisk struct {
	Group string `json:"group"`
	Free  int64  `json:"freeBytes"`
	Total int64  `json:"totalBytes"`
}

// Recovery states of FoundationDB in which a recovery stops.
const (
	stateRecruiting = "recruiting_transaction_servers"
	// The name of the state while old logs are locked: 7.3.79 reports no other for it, although it has one.
	stateLockingState = "locking_coordinated_state"
	stateLockingLogs  = "locking_old_transaction_servers"
	stateNeverCreated = "configuration_never_created"
)

// databaseDown assesses a database that is not available although a quorum of coordinators answers.
func databaseDown(f Facts) Assessment {
	a := assessment(DatabaseDown, "all data that is on volumes of the status", "unknown until the database is available", "a quorum of coordinators answers and the database is not available")
	if state := f.Outage.RecoveryState; state != "" {
		a.Evidence = append(a.Evidence, "recovery state "+state)
	}
	if excluded := f.Outage.Excluded; len(excluded) > 0 {
		a.Evidence = append(a.Evidence, phrase.CountOf(len(excluded), len(f.Groups), "process group")+" excluded in the status: "+phrase.List(excluded))
	}
	a.Obstacles = append(a.Obstacles, f.Outage.tooFull()...)
	switch f.Outage.RecoveryState {
	case stateRecruiting:
		a.Lost = "nothing, as long as no volume is deleted: the logs were read, and too few processes can be recruited"
	case stateLockingState, stateLockingLogs:
		a.Lost = "nothing, if enough log processes of the last generation come back with their volumes; else all commits since the last backup"
	case stateNeverCreated:
		a.Saved, a.Lost = "what the volumes have, if the coordination state is found", "the database, if it is configured again: its coordinators have no state of it"
	}
	return a
}

// tooFull returns a sentence for each disk with too little free space.
func (o Outage) tooFull() []string {
	var all []string
	for _, d := range o.FullDisks {
		all = append(all, fmt.Sprintf("the disk of %s has %s of %s free, 5%% required", d.Group, phrase.Bytes(d.Free), phrase.Bytes(d.Total)))
	}
	return all
}

// moreSpace returns what to do about full disks; nothing without any.
func moreSpace(o Outage) []string {
	if len(o.FullDisks) == 0 {
		return []string{}
	}
	return []string{
		"delete no PVC, pod or process group: a process with a full disk needs its volume to start",
		"expand the PVCs of the full disks (spec.resources.requests.storage), if their storage class allows it; else add storage process groups once the database is available",
	}
}

// withoutDatabase returns what to do about a database that is not available.
func withoutDatabase(cluster string, f Facts, command func(words ...string) string) (steps []string) {
	steps = moreSpace(f.Outage)
	switch f.Outage.RecoveryState {
	case stateRecruiting:
		steps = append(steps,
			"if too many processes were excluded, add process groups that are not, each on a node of its own, which needs no database: "+command(enlarge(f, cluster)...),
			"then end the exclusions that were a mistake: "+command("include", cluster, "--all"),
			"neither include nor configure exclude= of fdbcli ends an exclusion before: include needs an available database, and configure exclude= only adds exclusions")
	case stateLockingState, stateLockingLogs:
		steps = append(steps,
			"bring the pods of all log process groups back, on their own PVCs: "+command("reconcile", cluster, "--wait"),
			"only if their volumes are permanently lost, restore a backup into a new cluster: "+command("restore", "start", "--help"))
	case stateNeverCreated:
		steps = append(steps,
			"do not configure the database: configure new would begin an empty one",
			"find the volumes of the former coordinators: "+command("recover", "collect", cluster),
			"only if they are permanently lost, restore a backup into a new cluster: "+command("restore", "start", "--help"))
	default:
		steps = append(steps, "find out what blocks the database: "+command("why", cluster))
	}
	return append(steps, "verify the result: "+command("recover", "verify", cluster, "--wait"))
}

// enlarge returns the command after which there are so many process groups that they make the database able to recruit again without those that are
// excluded: logs in as many fault domains as the redundancy mode requires, and a stateless one.
func enlarge(f Facts, cluster string) []string {
	count := func(class string) (n int) {
		for _, g := range f.Groups {
			if g.Class == class {
				n++
			}
		}
		return n
	}
	logs, stateless := count("log"), count("stateless")
	return []string{
		"reconcile", cluster,
		"--set", fmt.Sprintf("processCounts.log=%d", logs+max(1, f.Outage.Replicas)),
		"--set", fmt.Sprintf("processCounts.stateless=%d", stateless+1),
	}
}

// manual returns what to do where recover apply does nothing, in order.
func manual(cluster string, f Facts, a Assessment, command func(words ...string) string) []string {
	switch a.Kind {
	case NothingLost:
		return moreSpace(f.Outage)
	case PodsLost:
		return []string{
			"delete no PVC",
			"resolve each obstacle of the plan, then create another plan: " + command("recover", "plan", cluster),
		}
	case VolumesReleased:
		return []string{
			"delete no PersistentVolume, and run no pass meanwhile: it creates empty PVCs",
			"resolve each obstacle of the plan, then create another plan: " + command("recover", "plan", cluster),
		}
	case CoordinatorsLost:
		return []string{
			"recover the nodes and volumes of the lost coordinators first: a majority of them is enough",
			"resolve each obstacle of the plan, then create another plan: " + command("recover", "plan", cluster),
			"only if they are permanently lost, restore a backup into a new cluster: " + command("restore", "start", "--help"),
		}
	case DatabaseDown:
		return withoutDatabase(cluster, f, command)
	case RegionLost:
		return []string{
			"delete no PVC and no process group of any resource of the database",
			"bring back a majority of coordinators: in the namespace, and with the kubeconfig context, of each resource whose process groups are the coordinators above, kubectl fdb recover plan NAME",
			"then verify the result: " + command("recover", "verify", cluster, "--wait"),
			"only if they are permanently lost, restore a backup into a new cluster: " + command("restore", "start", "--help"),
		}
	case CoordinatorsMoved:
		return []string{
			"delete no PVC and no process group, and stop operators: " + command("pause", cluster),
			"resolve each obstacle of the plan, then create another plan: " + command("recover", "plan", cluster),
		}
	case Undetermined:
	}
	return []string{"explain what blocks the cluster: " + command("why", cluster), "explain each coordinator: " + command("coordinators", "repair", cluster, "--dry-run")}
}
