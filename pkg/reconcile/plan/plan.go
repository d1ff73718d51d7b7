// Package plan is the vocabulary of a reconcile pass: what was observed, what
// should be done about it, and why. It holds data and pure functions only; it
// never reads a clock, a network or a file, and it never changes what it is given.
package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Check is one safety question and its answer. Passed checks are kept as well as failed
// ones, so that every output can show both.
type Check struct {
	// ID is the stable code of the question; see the Check constants.
	ID CheckID `json:"id,omitempty"`
	// Subject is what the question is about, if not the cluster: a process group, a
	// class, a node, a backup's tag or destination.
	Subject string `json:"subject,omitempty"`
	// Question is the question as a sentence.
	Question string `json:"question"`
	// OK is true when the answer allows the action.
	OK bool `json:"ok"`
	// Evidence is a clause that can be read without the question, with numbers: "last recovery 47s ago, 2m0s required".
	Evidence string `json:"evidence"`
	// Have and Need are the current and the required value of a question about numbers, short:
	// "45s", "at least 2m0s". Empty where the answer is yes or no, and where the current value
	// is unknown.
	Have string `json:"have,omitempty"`
	Need string `json:"need,omitempty"`
	// Left is how long after the observation a refused check passes at the earliest, where that is
	// a question of time alone; 0 otherwise.
	Left time.Duration `json:"-"`
	// Gate is the stable code of the question; see the Gate constants.
	Gate Gate `json:"gate,omitempty"`
}

// Text returns the question and the evidence. The evidence alone is a clause that is complete by
// itself.
func (c Check) Text() string { return c.Question + " " + c.Evidence }

// Gate is the stable code of a safety question. Scripts and --override name it.
type Gate string

// The gates that a pass can encounter.
const (
	GateAudit     Gate = "G-AUDIT"      // the audit file of this machine can be continued
	GateAvailable Gate = "G-AVAIL"      // the database is available
	GateBackup    Gate = "G-BACKUP"     // the backup on the tag belongs to this resource
	GateBudget    Gate = "G-BUDGET"     // enough processes up to exclude one
	GateExcluded  Gate = "G-EXCL"       // an exclusion is proven complete
	GateReplicas  Gate = "G-REPL"       // full fault tolerance
	GateConfig    Gate = "G-CONFIG"     // counts, zones, halls and regions can hold
	GateCoord     Gate = "G-COORD"      // coordinator quorum, one per fault domain
	GateClock     Gate = "G-CLOCK"      // the clock of this machine agrees with the API server's
	GateDBLock    Gate = "G-DBLOCK"     // the database is not locked by a restore or by DR
	GateDD        Gate = "G-DD"         // data distribution is healthy
	GateDeletion  Gate = "G-DELETION"   // neither the resource nor its namespace is being deleted
	GateDeny      Gate = "G-DENY"       // this control-plane instance is not on the deny list
	GateGens      Gate = "G-GENS"       // few active log generations
	GateLease     Gate = "G-LEASE"      // no other run on this cluster
	GateLock      Gate = "G-LOCK"       // this control-plane instance holds the database lock
	GateLockOwner Gate = "G-LOCK-OWNER" // the lock has an owner id
	GateMaintain  Gate = "G-MAINT"      // no other zone is under maintenance
	GateOperator  Gate = "G-OPERATOR"   // no live operator manages this cluster
	GatePlan      Gate = "G-PLAN"       // the plan still matches the cluster state
	GateQoS       Gate = "G-QOS"        // lag and queues within limits
	GateRecovery  Gate = "G-RECOVERY"   // long enough since the last recovery
	GateSync      Gate = "G-SYNC"       // all control-plane instances are ready for a synchronized action
	GateRestore   Gate = "G-RESTORE"    // nothing else is being restored into the database, and the restore finds no data there
	GateAdmission Gate = "G-ADMISSION"  // the API server accepts the objects of a successor
	GateUptime    Gate = "G-UPTIME"     // processes have been up long enough for a restart
)

// Hold is why a stage has more to do than its actions cover.
type Hold struct {
	// Code is the stable reason; see the Hold constants.
	Code HoldCode `json:"code"`
	// Subjects are the process groups, pods, nodes or zones that the hold is about, all of
	// them; empty where it is about the cluster as a whole.
	Subjects []string `json:"subjects,omitempty"`
	// Reason is one clause: what the stage waits for, with numbers.
	Reason string `json:"reason"`
	// Detail is the evidence for the reason: the words of the refused check, or an error.
	// Empty where the reason is complete.
	Detail string `json:"-"`
	// RetryAfter is how long the cause lasts at least; 0 when unknown.
	RetryAfter time.Duration `json:"-"`
	// Manual is true when manual intervention is required.
	Manual bool `json:"human,omitempty"`
	// Aside is true where that concerns the subjects alone, and everything else goes on without them: it
	// blocks a pass only once nothing else is left that time or another pass brings forward.
	Aside bool `json:"-"`
	// Follows is true when the hold ends by itself once other stages have finished: it only
	// waits for them, or sums them up, and is never the cause of a wait.
	Follows bool `json:"follows,omitempty"`
	// Then is what the pass does next.
	Then Then `json:"-"`
}

// Then is how a pass continues after a stage that holds.
type Then int

// The ways to continue.
const (
	CarryOn   Then = iota // later stages may still help
	EndPass               // later stages must not run on these facts
	StartOver             // earlier stages must run on the new state
)

// Decision is what one stage does next, and why.
type Decision struct {
	// Why is one clause: the purpose of the actions. Empty without actions.
	Why string
	// Actions are carried out in order.
	Actions []Action
	// Checks are the evaluated safety questions, in order.
	Checks []Check
	// Hold is nil when the actions cover everything there is to do, but for Housekeeping.
	Hold *Hold
	// Housekeeping is what a later pass completes; nil for nothing. A stage with nothing else
	// left to do is done.
	Housekeeping *Housekeeping
}

// Stage is one stage of a pass.
type Stage struct {
	// Name is the stage's name in every output, and for --only and --skip.
	Name StageName
	// Reads are the facets that Decide always reads.
	Reads Facet
	// More are facets that Decide reads as well, where they matter: they take long to
	// observe. It reads no others.
	More Facet
	// Matters reports whether More is needed, given the facets in Reads. Nil where More is empty.
	Matters func(Snapshot) bool
	// Decide is a pure function: it neither changes the snapshot nor reads
	// anything but the declared facets, Now, Seed and Overrides.
	Decide func(Snapshot) Decision
}

// Facets are all that Decide reads, given the facets in Reads.
func (s Stage) Facets(known Snapshot) Facet {
	if s.More == 0 || !s.Matters(known) {
		return s.Reads
	}
	return s.Reads | s.More
}

// Refused returns the first check that does not hold, and false when all hold.
func (d Decision) Refused() (Check, bool) {
	for _, c := range d.Checks {
		if !c.OK {
			return c, true
		}
	}
	return Check{}, false
}

// WaitBehind returns a decision that only waits for what other stages do.
func WaitBehind(retryAfter time.Duration, code HoldCode, reason string) Decision {
	return Decision{Hold: &Hold{Code: code, Reason: reason, RetryAfter: retryAfter, Follows: true}}
}

// Wait returns a decision that only waits.
func Wait(retryAfter time.Duration, code HoldCode, reason string) Decision {
	return Decision{Hold: &Hold{Code: code, Reason: reason, RetryAfter: retryAfter}}
}

// Evicting returns the same stage with all pods deleted by the eviction API, which respects
// disruption budgets: a budget that allows none makes the stage wait.
func Evicting(stage Stage) Stage {
	decide := stage.Decide
	stage.Decide = func(s Snapshot) Decision {
		d := decide(s)
		actions := make([]Action, len(d.Actions))
		for i, a := range d.Actions {
			actions[i] = a
			if e, is := a.(evictable); is {
				actions[i] = e.byEviction()
			}
		}
		d.Actions = actions
		return d
	}
	return stage
}

// evictable is an action that deletes pods, and can do so by the eviction API.
type evictable interface{ byEviction() Action }

func (a DeletePods) byEviction() Action {
	a.Evict = true
	return a
}

func (a DeleteGroupObjects) byEviction() Action {
	a.Evict = a.Pod != ""
	return a
}

func (a EvictAgent) byEviction() Action {
	a.Evict = true
	return a
}

// Housekeeping is what remains when everything essential is done: the objects of process
// groups are deleted, and their processes are proven drained and removed. Their exclusions end,
// and their status entries are dropped, once the database has been stable for long enough.
// Any later pass does that, and until then nothing depends on it.
type Housekeeping struct {
	// Groups are the removed process groups that the status still lists.
	Groups []v1beta2.ProcessGroupID `json:"groups"`
	// Exclusions are those of the groups that are still in force.
	Exclusions []string `json:"exclusions"`
	// Requires are the checks that do not hold yet.
	Requires []Check `json:"requires"`
	// RetryAfter is how long that takes at least, if no other recovery follows; 0 when unknown.
	RetryAfter time.Duration `json:"-"`
	// Due is the time after RetryAfter; zero when unknown.
	Due time.Time `json:"-"`
}

// Task is what a later pass does, as an imperative clause.
func (h Housekeeping) Task() string {
	groups := make([]string, len(h.Groups))
	for i, id := range h.Groups {
		groups[i] = string(id)
	}
	return fmt.Sprintf("include %s and remove %s from the status", strings.Join(h.Exclusions, " "), strings.Join(groups, ", "))
}

// Text are the task, and when a later pass does it.
func (h Housekeeping) Text() string {
	when := "once the database is stable"
	if h.RetryAfter > 0 {
		when = "in " + h.RetryAfter.Round(time.Second).String()
	}
	var evidence []string
	for _, c := range h.Requires {
		evidence = append(evidence, c.Evidence)
	}
	return fmt.Sprintf("%s, %s (%s)", h.Task(), when, strings.Join(evidence, "; "))
}

// IsRestOf reports whether an action is the rest of an approved one, and no more: a deletion
// from a store can be interrupted, and then has less to delete. Both are of the same backup and
// destination. Actions of other kinds have no rest.
func IsRestOf(a, approved Action) bool {
	switch approved := approved.(type) { //nolint:gochecksumtype // all others are done as a whole, or not at all
	case ExpireBackup:
		rest, ok := a.(ExpireBackup)
		return ok && rest.isRestOf(approved)
	case ClearBackupData:
		rest, ok := a.(ClearBackupData)
		return ok && rest.isRestOf(approved)
	}
	return false
}

// isRestOf compares the version, how much is deleted, and what can be restored afterwards.
func (a ExpireBackup) isRestOf(approved ExpireBackup) bool {
	switch {
	case a.Backup != approved.Backup, a.URL != approved.URL, a.Before != approved.Before, a.Force != approved.Force:
		return false
	case a.Snapshots > approved.Snapshots, a.Bytes > approved.Bytes:
		return false
	case approved.RestorableFrom == nil:
		return true
	default:
		return a.RestorableFrom != nil && *a.RestorableFrom <= *approved.RestorableFrom
	}
}

// isRestOf compares the version, how much is deleted, and what could be restored before.
func (a ClearBackupData) isRestOf(approved ClearBackupData) bool {
	switch {
	case a.Backup != approved.Backup, a.URL != approved.URL, a.UpTo > approved.UpTo:
		return false
	case a.Snapshots > approved.Snapshots, a.Bytes > approved.Bytes:
		return false
	case a.RestorableFrom == nil || a.RestorableTo == nil:
		return true
	case approved.RestorableFrom == nil || approved.RestorableTo == nil:
		return false
	default:
		return *a.RestorableFrom >= *approved.RestorableFrom && *a.RestorableTo <= *approved.RestorableTo
	}
}
