package recovery

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

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
		steps = append(steps, enlarge(f),
			"create them, which needs no database: "+command("reconcile", cluster),
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

// enlarge returns how many process groups make the database able to recruit again without those that are
// excluded: logs in as many fault domains as the redundancy mode requires, and a stateless one.
func enlarge(f Facts) string {
	count := func(class string) (n int) {
		for _, g := range f.Groups {
			if g.Class == class {
				n++
			}
		}
		return n
	}
	logs, stateless := count("log"), count("stateless")
	return fmt.Sprintf("if too many processes were excluded, add process groups that are not, each on a node of its own: raise spec.processCounts.log from %d to %d, and stateless from %d to %d", logs, logs+max(1, f.Outage.Replicas), stateless, stateless+1)
}
