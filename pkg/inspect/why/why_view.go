package why

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// Report is the document of `why`: what does not match the desired state, and for each the
// chain of reasons.
type Report struct {
	inspect.Document
	// State is the worst of the items'.
	State State `json:"state"`
	// Summary is the most important item in one line.
	Summary string `json:"summary"`
	// Next are complete commands for that item, the best first.
	Next  []string `json:"next"`
	Items []Chain  `json:"items"`
	// Pause is why operators skip the cluster, and until when; absent where it is not paused.
	Pause *inspect.PauseView `json:"pause,omitempty"`
	// Operation is the active operation on the cluster, which may be the cause of the rest; absent
	// without one.
	Operation *inspect.OperationView `json:"operation,omitempty"`
	// Rollout is the change that is reaching the process groups; absent without one.
	Rollout *reconcile.Rollout `json:"rollout,omitempty"`
	// Outage is why the database is unavailable, and how to end that; absent while it is available.
	Outage *OutageView `json:"outage,omitempty"`
	// Groups are the reports of single process groups, where they have other items than those of this one about the
	// database. Only frames of the dashboard have them.
	Groups []GroupReport `json:"groups,omitempty"`
}

// State is what is required to reach the desired state.
type State string

// The states, from the best to the worst.
const (
	// Ready is reached by the next pass.
	Ready State = "ready"
	// Waiting requires only time.
	Waiting State = "waiting"
	// Blocked requires manual intervention.
	Blocked State = "blocked"
	// Unknown cannot be determined.
	Unknown State = "unknown"
)

func (s State) grade() int {
	return slices.Index([]State{Ready, Waiting, Blocked, Unknown}, s)
}

// Chain goes from a problem to its root cause.
type Chain struct {
	// Subjects are "cluster", "database", a backup as fdbbackup/NAME, a restore as
	// fdbrestore/NAME, or IDs of process groups that share the chain.
	Subjects []string `json:"subjects"`
	State    State    `json:"state"`
	// Summary is the problem of the subjects.
	Summary string `json:"summary"`
	// Since is when that began; null when unknown.
	Since *time.Time `json:"since"`
	// Reasons are what causes it.
	Reasons []Link `json:"reasons"`
	// Next are complete commands.
	Next []string `json:"next"`
	// RetryAfterSeconds is how long the cause takes at least; null when unknown.
	RetryAfterSeconds *float64 `json:"retryAfterSeconds"`

	rank int // the order of the chains, whatever their states
	// ofAll is true where the summary is a proof: joined chains have it since the last of them does.
	ofAll bool

	// key identifies the summary whatever the subjects; chains without one are never joined.
	key   string
	words func(subjects int) string
}

// Link is one reason, and its own reasons.
type Link struct {
	// Stage is the stage of a pass that waits; empty where no stage does.
	Stage plan.StageName `json:"stage,omitempty"`
	// Gate is the check that refused, with what there is and what is required.
	Gate plan.Gate `json:"gate,omitempty"`
	Have string    `json:"have,omitempty"`
	Need string    `json:"need,omitempty"`
	// Message is the reason in one clause.
	Message string `json:"message"`
	// Subject is the process group that the reason is about; empty for the chain's own.
	Subject string `json:"subject,omitempty"`
	// Coordinator is the address of the coordinator that the reason is about.
	Coordinator string `json:"coordinator,omitempty"`
	// Holder is an object that is being deleted and does not end, and what keeps it; absent elsewhere.
	Holder *readings.Terminating `json:"holder,omitempty"`
	// Code is that of the rule of check that finds the reason; absent elsewhere.
	Code string `json:"code,omitempty"`
	// Repeated is true for a reason that stands earlier in the report; absent elsewhere.
	Repeated bool       `json:"repeated,omitempty"`
	Since    *time.Time `json:"since"`
	Reasons  []Link     `json:"reasons"`

	command []string // a kubectl command that shows more

	// key identifies the reason whatever process group it is about; own is true where the
	// message has a name or a number of that group.
	key string
	own bool
	// problem identifies the problem of a pod that the link is about.
	problem inspect.ProblemKey
	// each is the message about several process groups, where it is another one; empty elsewhere.
	each string
	// check is the safety question that the link is about.
	check plan.Check
}

// Input are the facts of a report.
type Input struct {
	inspect.Facts
	// Plan is what a pass over the same facts would do.
	Plan planned.PlanView
	// Only are the process groups of the report; none is all.
	Only []v1beta2.ProcessGroupID
	inspect.Commands
}

// NewReport makes the document.
func NewReport(m inspect.Metadata, in Input) Report {
	return newWhy(m, in).report(m, inspect.NewStatusView(m, in.Facts))
}

func newWhy(m inspect.Metadata, in Input) *why {
	return &why{Input: in, name: m.Cluster, subject: subjectCluster, reported: map[plan.StageName]bool{}, found: sync.OnceValue(in.Findings)}
}

func (w *why) report(m inspect.Metadata, status inspect.StatusView) Report {
	return w.reportOf(m, w.chains(status))
}

// NewResourceWhyReport makes the document of one backup or restore, whatever else the input
// has; the metadata has its name as in commands. The plan is of a pass over it.
func NewResourceWhyReport(m inspect.Metadata, in Input) Report {
	w := why{Input: in, name: m.Cluster, subject: m.Cluster, reported: map[plan.StageName]bool{}}
	chains := slices.DeleteFunc(w.ofBackups(), func(c Chain) bool { return c.Subjects[0] != w.subject })
	w.Warnings = append(w.Warnings, w.doubts()...)
	for _, stage := range []plan.StageName{plan.StageUpdateBackupStatus, plan.StageUpdateRestoreStatus} {
		w.reported[stage] = len(chains) > 0 // the chain has what they wait for
	}
	passes := append(w.failures(), w.holds()...)
	passes = append(passes, w.actionsBeside(slices.Concat(chains, passes))...)
	if len(passes) > 0 {
		chains = slices.DeleteFunc(chains, func(c Chain) bool { return c.State == Ready })
	}
	chains = append(chains, passes...)
	if len(chains) == 0 {
		chains = w.doubtful()
	}
	return w.reportOf(m, inOrder(chains))
}

func (w *why) reportOf(m inspect.Metadata, items []Chain) Report {
	markRepeated(items)
	v := Report{Document: inspect.NewDocument("WhyReport", m, w.Now, inspect.SourceLive), State: worstOf(items), Next: []string{}, Items: items}
	v.Warnings = append(append(v.Warnings, w.Warnings...), w.UnreadBackups()...)
	v.Outage = w.outage
	if w.Cluster != nil {
		v.Pause = inspect.NewPauseView(w.Facts)
		v.Operation, v.Rollout = w.operation(), w.Rollout()
	}
	v.Summary = w.nothing()
	if len(v.Items) > 0 {
		v.Summary, v.Next = v.Items[0].line(w.Now), v.Items[0].Next
	}
	return v
}

// why collects chains. Name is the object of the report in commands, and subject in chains about
// all of it. Reported are the stages whose holds some chain already has.
type why struct {
	Input
	name, subject string

	reported map[plan.StageName]bool
	// outage is that of the database; nil for none.
	outage *OutageView
	// found are the findings about the cluster.
	found func() []findings.Finding
}

// Ranks of chains: what explains others comes first.
const (
	rankDeletion = iota
	rankGoing    // a PVC that is being deleted
	rankDatabase
	rankFailure
	rankRestore // one that runs locks the database
	rankRestricted
	rankBlocked
	rankBroken // and the next pass fixes it
	rankBackup
	rankWaiting
	rankDegraded
	rankReady
)

func (w *why) chains(status inspect.StatusView) []Chain {
	if c, is := w.recreated(); is {
		return inOrder(append(w.failures(), c)) // what could not be read is no consequence
	}
	chains, groups := w.database(status), w.groups()
	if w.outage = w.outageOf(status); w.outage != nil {
		groups = w.withoutBookkeeping(alikeOnce(groups))
		w.leaveToDatabase()
	}
	chains = slices.Concat(w.deletions(), chains, groups, w.keptChains())
	if len(w.Only) == 0 {
		backups := w.ofBackups()
		chains = slices.Concat(chains, w.failures(), w.holds(), backups, w.restricted(status, backups), w.degraded(status))
	}
	chains = append(chains, w.findingsBeside(w.found(), chains)...)
	chains = append(chains, w.actionsBeside(chains)...)
	return inOrder(alikeOnce(chains))
}

// inOrder sorts by rank, then by time.
func inOrder(chains []Chain) []Chain {
	stable.Sort(chains, func(a, b Chain) int {
		if a.rank != b.rank {
			return a.rank - b.rank
		}
		return inspect.CompareTimes(a.Since, b.Since)
	})
	for i := range chains {
		chains[i].Next, chains[i].Reasons = inspect.OrEmpty(slices.Compact(chains[i].Next)), filled(chains[i].Reasons)
	}
	return inspect.OrEmpty(chains)
}

// filled replaces nil lists, which JSON would show as null.
func filled(links []Link) []Link {
	for i := range links {
		links[i].Reasons = filled(links[i].Reasons)
	}
	return inspect.OrEmpty(links)
}

// alikeOnce joins the chains of process groups that have the same reasons, as a rollout or a
// full node causes for many of them.
func alikeOnce(chains []Chain) []Chain {
	var joined []Chain
	for _, c := range chains {
		at := slices.IndexFunc(joined, func(j Chain) bool { return c.IsOfGroups() && j.sameAs(c) })
		if at < 0 {
			joined = append(joined, c)
			continue
		}
		joined[at].join(c)
	}
	return joined
}

// IsOfGroups reports whether the subjects are process groups.
func (c Chain) IsOfGroups() bool {
	return !slices.Contains(c.Subjects, subjectCluster) && !slices.Contains(c.Subjects, subjectDatabase) && !c.IsOfResource()
}

// IsOfResource reports whether the subject is a backup or a restore.
func (c Chain) IsOfResource() bool {
	return strings.HasPrefix(c.Subjects[0], subjectBackup) || strings.HasPrefix(c.Subjects[0], subjectRestore)
}

// summarize sets the summary. The key identifies what it states of any number of subjects.
func (c *Chain) summarize(key string, words func(subjects int) string) {
	c.key, c.words, c.Summary = key, words, words(len(c.Subjects))
}

// join adds the subjects of a chain with the same reasons.
func (c *Chain) join(other Chain) {
	c.Subjects = append(c.Subjects, other.Subjects...)
	c.Summary, c.Reasons = c.words(len(c.Subjects)), alikeForAll(c.Reasons)
	if before := inspect.CompareTimes(other.Since, c.Since) < 0; before != c.ofAll {
		c.Since = other.Since
	}
}

func (c Chain) sameAs(other Chain) bool {
	return c.key != "" && c.key == other.key && c.State == other.State && c.rank == other.rank && sameLinks(c.Reasons, other.Reasons)
}

// sameLinks compares the reasons of two process groups by their keys. One without a key is
// like no other.
func sameLinks(a, b []Link) bool {
	return slices.EqualFunc(a, b, func(x, y Link) bool {
		return x.key != "" && x.key == y.key && x.problem == y.problem && x.Stage == y.Stage && x.Gate == y.Gate && x.Subject == y.Subject && sameLinks(x.Reasons, y.Reasons)
	})
}

// alikeForAll returns links that hold for several process groups. A message that names only
// one of them gets a remark.
func alikeForAll(links []Link) []Link {
	links = slices.Clone(links)
	for i := range links {
		links[i].Message, links[i].each = phrase.Or(links[i].each, links[i].Message), ""
		if links[i].own {
			links[i].Message, links[i].own = links[i].Message+inspect.ForOthers, false
		}
		links[i].Reasons = alikeForAll(links[i].Reasons)
	}
	return links
}

// line returns the chain in one line: the subjects, the summary, and the root cause.
func (c Chain) line(now time.Time) string {
	return phrase.Some(c.Subjects, inspect.MostNamed) + " " + c.Predicate(now)
}

// Predicate returns the line without the subjects.
func (c Chain) Predicate(now time.Time) string {
	text := c.Summary
	if c.Since != nil {
		text += " for " + phrase.Duration(now.Sub(*c.Since))
	}
	path := []string{}
	for links := c.Reasons; len(links) > 0; links = links[0].Reasons {
		path = append(path, links[0].Text())
	}
	if len(path) == 0 {
		return text
	}
	if len(path) > 2 { // the first has the effect, the last the root cause
		path = []string{path[0], path[len(path)-1]}
	}
	return text + ": " + strings.Join(path, "; ")
}

// Text returns the reason in one clause.
func (l Link) Text() string {
	text := l.Message
	if l.Subject != "" {
		text = l.Subject + ": " + text
	}
	if l.Gate != "" {
		text = string(l.Gate) + ": " + text
	}
	return text
}

// nothing returns the summary of a report without chains.
func (w *why) nothing() string {
	if len(w.Only) > 0 {
		return nothingBlocks(w.Only...)
	}
	if w.subject != subjectCluster {
		return "nothing is blocked, and no action is pending"
	}
	var clauses []string
	for _, r := range w.Restrictions() {
		clauses = append(clauses, r.Text()) // all others are chains
	}
	clauses = append(clauses, "nothing is blocked: the cluster matches its spec")
	for _, h := range w.Plan.Pass.Housekeeping {
		clauses = append(clauses, "a later pass: "+h.Text())
	}
	return strings.Join(clauses, "; ")
}
