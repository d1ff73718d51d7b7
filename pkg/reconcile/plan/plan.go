// Package plan is the vocabulary of a reconcile pass: what was observed, what
// should be done about it, and why. It holds data and pure functions only; it
// never reads a clock, a network or a file, and it never changes what it is given.
package plan

import "time"

// Check is one safety question that was asked and its answer. Checks that passed
// are kept as well as those that did not, so every screen can show both.
type Check struct {
	// ID is the stable code of the question; see the Check constants.
	ID CheckID `json:"id,omitempty"`
	// Subject is what the question is about, where it is not the cluster: a process group, a
	// class, a node, a backup's tag or destination.
	Subject string `json:"subject,omitempty"`
	// Question is what was asked, as a sentence a person would ask.
	Question string `json:"question"`
	// OK is true when the answer allows the action.
	OK bool `json:"ok"`
	// Evidence is what was seen, with numbers: "up for 1m59s, need 2m0s".
	Evidence string `json:"evidence"`
	// Have and Need are what there is and what is needed, short, of a question about
	// numbers: "45s", "at least 2m0s". Empty where the answer is a plain yes or no, and
	// where nobody can tell what there is.
	Have string `json:"have,omitempty"`
	Need string `json:"need,omitempty"`
	// Gate is the stable code of the question; see the Gate constants.
	Gate Gate `json:"gate,omitempty"`
}

// Words are the question and the evidence as one clause that can follow a colon or
// stand in brackets inside another sentence.
func (c Check) Words() string { return c.Question + " " + c.Evidence }

// Gate is the stable code of a safety question. Scripts and --override name it.
type Gate string

// The gates that a pass can meet.
const (
	GateAvailable Gate = "G-AVAIL"      // the database is available
	GateBackup    Gate = "G-BACKUP"     // the backup on the tag is this record's own
	GateBudget    Gate = "G-BUDGET"     // enough processes up to let one go
	GateExcluded  Gate = "G-EXCL"       // an exclusion is proven to be over
	GateReplicas  Gate = "G-REPL"       // full fault tolerance
	GateConfig    Gate = "G-CONFIG"     // counts, zones, halls and regions can hold
	GateCoord     Gate = "G-COORD"      // coordinator quorum, one per fault domain
	GateDBLock    Gate = "G-DBLOCK"     // the database is not locked by a restore or by DR
	GateDD        Gate = "G-DD"         // data distribution is healthy
	GateDeny      Gate = "G-DENY"       // this instance is not on the deny list
	GateGens      Gate = "G-GENS"       // few active log generations
	GateLease     Gate = "G-LEASE"      // no other run on this cluster
	GateLock      Gate = "G-LOCK"       // the database lock is ours
	GateLockOwner Gate = "G-LOCK-OWNER" // the lock has an owner id
	GateMaintain  Gate = "G-MAINT"      // no other zone is under maintenance
	GateOperator  Gate = "G-OPERATOR"   // no live operator manages this cluster
	GatePlan      Gate = "G-PLAN"       // the plan still matches the world
	GateQoS       Gate = "G-QOS"        // lag and queues within limits
	GateRecovery  Gate = "G-RECOVERY"   // long enough since the last recovery
	GateSync      Gate = "G-SYNC"       // all instances are ready for a common action
	GateRestore   Gate = "G-RESTORE"    // nothing else is being restored into the database, and the restore finds no data there
	GateUptime    Gate = "G-UPTIME"     // processes have been up long enough for a restart
)

// Hold says why a stage has more to do than its actions cover.
type Hold struct {
	// Code is the stable reason; see the Hold constants.
	Code HoldCode `json:"code"`
	// Subjects are the process groups, pods, nodes or zones that the hold is about, all of
	// them; empty where it is about the cluster as a whole.
	Subjects []string `json:"subjects,omitempty"`
	// Reason is one sentence: what is waited for, with numbers where there are any.
	Reason string `json:"reason"`
	// Detail is what the reason rests on: the words of the check that refused, or an error.
	// Empty where the reason says it all.
	Detail string `json:"-"`
	// RetryAfter is how long the cause needs at least; 0 when nobody can tell.
	RetryAfter time.Duration `json:"-"`
	// Human is true when time alone will not clear it.
	Human bool `json:"human,omitempty"`
	// Follows is true when the hold ends by itself once what other stages do or wait for is
	// over: it stands back for them, or sums them up, and is never the cause of a wait.
	Follows bool `json:"follows,omitempty"`
	// Then is what the pass does next.
	Then Then `json:"-"`
}

// Then says how a pass goes on after a stage that holds.
type Then int

// The ways to go on.
const (
	CarryOn   Then = iota // later stages may still help
	EndPass               // later stages must not run on these facts
	StartOver             // earlier stages have to see what was done
)

// Decision is what one stage wants, and why.
type Decision struct {
	// Why says in one sentence what the actions are for. Empty without actions.
	Why string
	// Actions are carried out in order.
	Actions []Action
	// Checks are the safety questions that were asked, in order.
	Checks []Check
	// Hold is nil when the actions cover everything there is to do, but for Housekeeping.
	Hold *Hold
	// Housekeeping is what a later pass completes; nil for nothing. A stage with nothing else
	// left to do is done.
	Housekeeping *Housekeeping
}

// Stage is one step of a pass.
type Stage struct {
	// Name is the stage's name in every output, and for --only and --skip.
	Name StageName
	// Reads are the facets that Decide always looks at.
	Reads Facet
	// More are facets that Decide looks at as well, where they matter: they take long to ask
	// for. It looks at no others.
	More Facet
	// Matters says whether More does, by what Reads brought. Nil where More is empty.
	Matters func(Snapshot) bool
	// Decide is a pure function: it neither changes the snapshot nor looks at
	// anything but the declared facets, Now and Seed.
	Decide func(Snapshot) Decision
}

// Facets are all that Decide looks at, where what Reads brings is known.
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
