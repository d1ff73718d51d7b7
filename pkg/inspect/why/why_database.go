package why

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

const (
	subjectDatabase = "database"
	subjectCluster  = "cluster"
	// subjectBackup and subjectRestore come before a name, as commands take it.
	subjectBackup  = "fdbbackup/"
	subjectRestore = "fdbrestore/"
)

// database returns the chain of a database that is unavailable or unknown. Everything else
// depends on it.
func (w *why) database(v inspect.StatusView) []Chain {
	c := Chain{Subjects: []string{subjectDatabase}, rank: rankDatabase}
	switch v.State {
	case inspect.StateUnknown:
		c.State, c.Summary = Unknown, "does not answer"
		if w.Database.Partial != nil {
			c.Summary = "has an incomplete status document"
		}
		c.Reasons = []Link{{Message: v.Database.UnknownReason, Reasons: w.coordinatorProblems()}}
		if w.forbidden() {
			c.Next = []string{w.Kubectl("auth", "can-i", "--list")}
			return []Chain{c}
		}
	case inspect.StateUnavailable:
		c.State, c.Summary = Blocked, "is unavailable"
		coordinators := w.coordinatorProblems()
		if q := v.Coordinators.QuorumReachable; q != nil && !*q && len(coordinators) > 0 {
			c.Reasons = append(w.suppressedTraceEvents(), Link{Message: w.unavailableWords(v), Reasons: coordinators})
			break
		}
		others := w.problems(func(g *v1beta2.ProcessGroupStatus) bool {
			return !slices.ContainsFunc(coordinators, func(l Link) bool { return l.Subject == string(g.ProcessGroupID) })
		})
		c.Reasons = append(w.suppressedTraceEvents(), Link{Message: w.unavailableWords(v), Reasons: append(coordinators, others...)})
	case inspect.StateHealthy, inspect.StateDegraded, inspect.StateNotConfigured:
		return nil
	}
	c.Next = append(w.inspections(c.Reasons), w.FDB("status", w.name))
	return []Chain{c}
}

// suppressedTraceEvents returns the knob that suppresses what every pass requires of the status document;
// nil where the document has that, or no knob is known.
func (w *why) suppressedTraceEvents() []Link {
	places := w.TraceEventsSuppressedBy()
	if !w.LacksTraceEvents() || len(places) == 0 {
		return nil
	}
	return []Link{{
		Message: fmt.Sprintf("the status document has neither the recovery state nor the localities of processes, which require trace events of severity 10: knob_min_trace_severity suppresses those (%s)", phrase.Some(places, inspect.MostNamed)),
		command: []string{"edit", "foundationdbcluster", w.Cluster.Name},
	}}
}

// forbidden reports whether the database is unknown only because permissions are missing.
func (w *why) forbidden() bool { return w.Database.Forbidden }

// unavailableWords returns which coordinators answer, and the progress of the recovery, which has
// none without a quorum.
func (w *why) unavailableWords(v inspect.StatusView) string {
	var words, missing []string
	answering, all := 0, len(v.Coordinators.Items)
	for _, c := range v.Coordinators.Items {
		if c.Reachable != nil && *c.Reachable {
			answering++
		} else {
			missing = append(missing, phrase.Or(w.Coordinator(c).Group, c.Address))
		}
	}
	if q := v.Coordinators.QuorumReachable; q != nil && !*q {
		words = append(words, fmt.Sprintf("no quorum: %s, %d required", inspect.Answering(answering, all), all/2+1))
	} else {
		words = append(words, "its recovery is at "+inspect.Spaced(phrase.Or(v.Database.RecoveryState, "an unknown state")))
		if len(missing) > 0 {
			words = append(words, inspect.Answering(answering, all))
		}
	}
	if len(missing) > 0 {
		words = append(words, phrase.List(missing)+phrase.Either(len(missing), " does not answer", " do not answer"))
	}
	if v.Database.RecoveryDetail != "" {
		words = append(words, inspect.OneLine(v.Database.RecoveryDetail))
	}
	return strings.Join(words, "; ")
}

// coordinatorProblems returns the problems of the process groups of the coordinators that do
// not answer. Without an answer of the database those are all in the connection string.
func (w *why) coordinatorProblems() []Link {
	var links []Link
	for _, a := range w.missedCoordinators() {
		for _, g := range w.Groups() {
			if !slices.Contains(g.Addresses, a.Host) && g.DNSName(w.Cluster) != a.Host {
				continue
			}
			t := w.ProblemOf(g)
			if t == nil && w.CoordinatorDocument() != nil { // else it was not checked
				t = &inspect.Problem{Message: fmt.Sprintf("runs on node %s as far as Kubernetes knows, which takes most of a minute to detect a lost node; its coordinator does not answer", nodeOf(w.Pod(g))), Command: []string{"logs", g.PodName(w.Cluster), "-c", v1beta2.ContainerMain, "--tail=50"}}
			}
			if t != nil {
				l := link(*t, string(g.ProcessGroupID), " (coordinator)")
				l.Coordinator = a.HostPort()
				links = append(links, l)
			}
		}
	}
	return links
}

func nodeOf(pod *corev1.Pod) string {
	if pod == nil {
		return phrase.UnknownCell
	}
	return phrase.Or(pod.Spec.NodeName, phrase.UnknownCell)
}

func (w *why) missedCoordinators() []fdb.Address {
	if s := w.CoordinatorDocument(); s != nil {
		var missed []fdb.Address
		for _, c := range s.Client.Coordinators.Coordinators {
			if !c.Reachable {
				missed = append(missed, c.Address)
			}
		}
		return missed
	}
	cs, err := fdb.ParseConnectionString(w.Cluster.Status.ConnectionString)
	if err != nil {
		return nil
	}
	return cs.Coordinators
}

// problems returns the problems of the groups that count, three at most by name.
func (w *why) problems(counts func(*v1beta2.ProcessGroupStatus) bool) []Link {
	var links []Link
	for _, g := range w.Groups() {
		if counts != nil && !counts(g) {
			continue
		}
		if t := w.ProblemOf(g); t != nil {
			links = append(links, link(*t, string(g.ProcessGroupID), ""))
		}
	}
	if len(links) > inspect.MostNamed {
		more := Link{Message: "and " + phrase.Count(len(links)-inspect.MostNamed, "more process group") + " with problems", key: "more"}
		return append(links[:inspect.MostNamed:inspect.MostNamed], more)
	}
	return links
}

// keyProblem is the key of the links that are about the problem of a pod.
const keyProblem = "problem"

func link(t inspect.Problem, subject, remark string) Link {
	l := Link{Subject: subject, Message: t.Text() + remark, Since: inspect.Known(t.Since), Holder: t.Kept, Code: t.Code, command: t.Command, key: keyProblem, problem: t.Key, own: t.Own}
	if subject == "" {
		l.each = t.TextOfEach() + remark
	}
	return l
}

// inspections returns the command that shows more of the first problem in a tree of reasons.
func (w *why) inspections(links []Link) []string {
	for _, l := range links {
		if deeper := w.inspections(l.Reasons); len(deeper) > 0 {
			return deeper
		}
		if len(l.command) > 0 {
			return []string{w.Kubectl(l.command...)}
		}
	}
	return nil
}

// degraded returns the chain of a database that is available with less fault tolerance than
// desired.
func (w *why) degraded(v inspect.StatusView) []Chain {
	degradations := w.Degradations(v)
	if v.State != inspect.StateDegraded || len(degradations) == 0 {
		return nil
	}
	c := Chain{Subjects: []string{subjectDatabase}, State: Waiting, Summary: "is degraded", rank: rankDegraded}
	for _, reason := range degradations {
		link := Link{Message: reason.Message, Code: reason.Code}
		if reason.Code == inspect.CodeCoordinator {
			link.Reasons = w.coordinatorProblems()
		}
		c.Reasons = append(c.Reasons, link)
	}
	c.Next = append(w.inspections(c.Reasons), w.FDB("status", w.name))
	return []Chain{c}
}

// housekeepingOf returns what the plan leaves to a later pass about a group; nil for nothing.
func (w *why) housekeepingOf(g *v1beta2.ProcessGroupStatus) *inspect.HousekeepingRecord {
	all := w.Plan.Pass.Housekeeping
	at := slices.IndexFunc(all, func(h inspect.HousekeepingRecord) bool { return slices.Contains(h.Groups, g.ProcessGroupID) })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// onlyTidied reports whether a removed group only waits for its exclusion to end, which blocks
// nothing.
func (w *why) onlyTidied(g *v1beta2.ProcessGroupStatus) bool { return w.housekeepingOf(g) != nil }

// tidied returns the chain of such a group, for a report about it alone.
func (w *why) tidied(g *v1beta2.ProcessGroupStatus) Chain {
	h := w.housekeepingOf(g)
	l := Link{Stage: plan.StageRemovePods, Message: "its exclusion ends later: " + h.Text()}
	for _, c := range h.Requires {
		l.Reasons = append(l.Reasons, w.refused(c, nil))
	}
	return Chain{
		Subjects: []string{string(g.ProcessGroupID)}, Since: inspect.Known(g.RemovalTimestamp.Time), State: Waiting, rank: rankWaiting,
		Summary: "is being removed", Reasons: []Link{l}, RetryAfterSeconds: h.RetryAfterSeconds,
		Next: []string{w.FDB("reconcile", w.name, "--wait=all")},
	}
}

// ReportList is the document of `why -A`: the report of each cluster.
type ReportList struct {
	inspect.Document
	// State is the worst of the clusters'.
	State State    `json:"state"`
	Items []Report `json:"items"`
}

// NewUnread returns the report about a cluster that could not be read.
func NewUnread(m inspect.Metadata, problem string) Report {
	return Report{
		Document: inspect.NewDocument("WhyReport", m, time.Time{}, inspect.SourceLive),
		State:    Unknown, Summary: "cannot read the cluster: " + problem, Next: []string{}, Items: []Chain{},
	}
}

// NewReportList returns the document.
func NewReportList(m inspect.Metadata, asOf time.Time, reports []Report) ReportList {
	l := ReportList{Document: inspect.NewDocument("WhyReportList", m, asOf, inspect.SourceLive), State: Ready, Items: append([]Report{}, reports...)}
	for _, r := range reports {
		if r.State.grade() > l.State.grade() {
			l.State = r.State
		}
	}
	return l
}

// shownProblem is the problem of the pod of a process group that a report has.
type shownProblem struct {
	group   string
	problem inspect.ProblemKey
}

// markRepeated marks the problems of pods that stand earlier in a report: the same pod can be a group's own problem,
// and the reason why a stage waits for others.
func markRepeated(chains []Chain) {
	shown := map[shownProblem]bool{}
	for _, c := range chains {
		eachLink(c.Reasons, func(l *Link) {
			if l.key == keyProblem {
				l.Repeated = showAgain(shown, l.groups(c), l.problem)
			}
		})
	}
}

// showAgain adds the problem of some process groups to those that a report has, and returns whether it had all of them.
func showAgain(shown map[shownProblem]bool, groups []string, problem inspect.ProblemKey) bool {
	again := true
	for _, g := range groups {
		again = again && shown[shownProblem{g, problem}]
		shown[shownProblem{g, problem}] = true
	}
	return again
}

// groups returns the process groups that a link of a chain is about.
func (l Link) groups(c Chain) []string {
	if l.Subject != "" {
		return []string{l.Subject}
	}
	return c.Subjects
}

// eachLink calls a function for each link and those below it, in the order in which they are printed.
func eachLink(links []Link, do func(*Link)) {
	for i := range links {
		do(&links[i])
		eachLink(links[i].Reasons, do)
	}
}
