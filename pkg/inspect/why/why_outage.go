package why

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// OutageView is the cause of an outage of the database, and how to end it.
type OutageView struct {
	Cause OutageCause `json:"cause"`
	// Answering is how many of the coordinators answer; null when that was not checked.
	Answering *int `json:"answering"`
	// Coordinators is how many there are, and Required how many of them must answer.
	Coordinators int `json:"coordinators"`
	Required     int `json:"required"`
	// Missing are the coordinators that do not answer; all of them when that was not checked.
	Missing []MissingCoordinator `json:"missing"`
	// Steps end the outage, in order.
	Steps []Step `json:"steps"`
	// WaitingStages are the stages that wait only for the database.
	WaitingStages []plan.StageName `json:"waitingStages"`
}

// OutageCause is why the database is unavailable.
type OutageCause string

// The causes.
const (
	// OutageNoQuorum is a quorum of coordinators that does not answer.
	OutageNoQuorum OutageCause = "no-quorum"
	// OutageUnavailable is a database that reports that it is unavailable, with a quorum.
	OutageUnavailable OutageCause = "unavailable"
	// OutageIncomplete is a status document that the database could not complete: it may be available.
	OutageIncomplete OutageCause = "status-incomplete"
	// OutageNoAnswer is a database whose state is unknown.
	OutageNoAnswer OutageCause = "no-answer"
)

// MissingCoordinator is a coordinator that does not answer.
type MissingCoordinator struct {
	Address string `json:"address"`
	// Group is the process group; empty where none of the cluster is known to have the address.
	Group string                 `json:"processGroup,omitempty"`
	State lists.CoordinatorState `json:"state"`
}

// Name returns the process group, or the address of a coordinator without a known one.
func (c MissingCoordinator) Name() string { return phrase.Or(c.Group, c.Address) }

// Step is one thing to do, and the command for it.
type Step struct {
	Message string `json:"message"`
	Command string `json:"command"`
}

// Text returns the cause with its numbers.
func (v OutageView) Text() string {
	switch {
	case v.Cause == OutageNoQuorum && v.Answering != nil:
		return fmt.Sprintf("no quorum: %s, %d required", inspect.Answering(*v.Answering, v.Coordinators), v.Required)
	case v.Cause == OutageUnavailable:
		return "the database is unavailable, and a quorum of coordinators answers"
	case v.Cause == OutageIncomplete:
		return "whether the database is available is unknown: its status document is incomplete, and a quorum of coordinators answers"
	default:
		return "the database does not answer; whether a quorum of coordinators does is unknown"
	}
}

// outageOf returns the outage of a database that was created; nil for none, and where only
// permissions are missing.
func (w *why) outageOf(status inspect.StatusView) *OutageView {
	if len(w.Only) > 0 || !w.Cluster.Status.Configured || w.forbidden() {
		return nil
	}
	v := OutageView{Missing: []MissingCoordinator{}, WaitingStages: []plan.StageName{}}
	switch c := status.Coordinators; {
	case status.State == inspect.StateUnknown && c.QuorumReachable == nil:
		v.Cause = OutageNoAnswer
	case status.State == inspect.StateUnknown && *c.QuorumReachable:
		v.Cause = OutageIncomplete
	case status.State != inspect.StateUnknown && status.State != inspect.StateUnavailable || w.LacksTraceEvents() && len(w.TraceEventsSuppressedBy()) > 0:
		return nil
	case c.QuorumReachable != nil && !*c.QuorumReachable:
		v.Cause = OutageNoQuorum
	default:
		v.Cause = OutageUnavailable
	}
	d := lists.NewCoordinatorDiagnosisView(status.Metadata, w.Facts)
	v.Answering, v.Coordinators, v.Required = status.Coordinators.Reachable, len(d.Items), d.Quorum
	for _, c := range d.Items {
		if c.State != lists.CoordinatorReachable {
			v.Missing = append(v.Missing, MissingCoordinator{Address: c.Address, Group: c.Group, State: c.State})
		}
	}
	v.Steps = w.stepsOf(v, d.Case)
	return &v
}

// stepsOf returns what ends an outage: bringing back what is down, and the recovery where that
// cannot be enough.
func (w *why) stepsOf(v OutageView, quorum lists.CoordinatorCase) []Step {
	collect := w.FDB("recover", "collect", w.name)
	if v.Cause == OutageNoQuorum && quorum != lists.QuorumDown {
		return []Step{
			{"this quorum does not come back by itself: " + w.causeOf(quorum) + "; show what was lost and what can be saved", collect},
			{"write the plan of a recovery, and review it", w.FDB("recover", "plan", w.name)},
		}
	}
	steps := []Step{
		w.bringBack(v),
		{"wait until the database is available", w.FDB("wait", w.name, "--for", "available")},
	}
	if names, unresolved := w.names(v); unresolved {
		steps = slices.Insert(steps, 0, names)
	}
	switch v.Cause {
	case OutageUnavailable:
		return steps
	case OutageIncomplete:
		return []Step{
			{"read any key: an answer proves that the database is available", w.FDB("cli", w.name, "--", "get", "key")},
			steps[0],
			{"wait until the status document is complete; no pass changes the database before", w.FDB("wait", w.name, "--for", "available")},
		}
	case OutageNoQuorum, OutageNoAnswer:
	}
	return append(steps, Step{"if no quorum comes back by itself, show what was lost and what can be saved", collect})
}

func (w *why) causeOf(quorum lists.CoordinatorCase) string {
	switch {
	case quorum == lists.QuorumMoved:
		return "coordinators have other addresses"
	case len(w.Cluster.Spec.DatabaseConfiguration.Regions) > 1:
		return "coordinators have neither a pod nor a volume here, those of other data centers are in other resources"
	}
	return "coordinators have neither a pod nor a volume"
}

// bringBack returns the first step: the coordinators of which enough must answer, or what else
// does not run.
func (w *why) bringBack(v OutageView) Step {
	links, names := w.problems(nil), []string{}
	if v.isAboutCoordinators() {
		links = w.coordinatorProblems()
	}
	for _, c := range v.Missing {
		names = append(names, c.Name())
	}
	s := Step{Message: "bring back what does not run", Command: w.FDB("status", w.name)}
	if next := w.inspections(links); len(next) > 0 {
		s.Command = next[0]
	}
	switch {
	case w.recreates(v):
		s.Command = w.FDB("reconcile", w.name)
	case !v.isAboutCoordinators():
		return s
	}
	missing := v.Required
	if v.Answering != nil {
		missing -= *v.Answering
	}
	if len(names) > 0 && v.Cause == OutageNoQuorum {
		s.Message = fmt.Sprintf("bring back %d of %s, with %s", missing, phrase.List(names), phrase.Either(missing, "its volume", "their volumes"))
	} else if len(names) > 0 {
		s.Message = fmt.Sprintf("%d of these coordinators must run and answer: %s", missing, phrase.List(names))
	}
	return s
}

// names returns the step that makes the names of coordinators resolve, where nothing else explains that they do
// not answer. A client without the address of any coordinator reports no quorum, or ends before it asks, while
// the database serves others.
func (w *why) names(v OutageView) (Step, bool) {
	if !v.isAboutCoordinators() {
		return Step{}, false
	}
	for _, a := range w.missedCoordinators() {
		for _, g := range w.Groups() {
			switch {
			case g.DNSName(w.Cluster) != a.Host || w.Pod(g) == nil || w.ProblemOf(g) != nil:
			case w.Services != nil && w.Services[w.Cluster.HeadlessServiceName()] == nil:
				return Step{"create service " + w.Cluster.HeadlessServiceName() + ": without it no name of a coordinator resolves, and processes that run cannot be asked", w.FDB("reconcile", w.name)}, true
			default:
				return Step{"check that the names of coordinators resolve: pods run whose coordinators do not answer", w.FDB("check", w.name, "--rules", "CONN-003,CONN-004")}, true
			}
		}
	}
	return Step{}, false
}

// isAboutCoordinators reports whether coordinators may be what has to be brought back.
func (v OutageView) isAboutCoordinators() bool {
	return v.Cause == OutageNoQuorum || v.Cause == OutageNoAnswer
}

// recreates reports whether a pass would create the pod of a coordinator that does not answer.
func (w *why) recreates(v OutageView) bool {
	return slices.ContainsFunc(v.Missing, func(c MissingCoordinator) bool {
		_, acts := w.itemFor(plan.StageAddPods, v1beta2.ProcessGroupID(c.Group))
		return acts
	})
}

// waitsForDatabase are the holds that end once the database answers.
var waitsForDatabase = []plan.HoldCode{
	plan.HoldAddressesUnknown, plan.HoldClientsUnknown, plan.HoldConfigurationUnknown, plan.HoldDatabaseUnavailable, plan.HoldDenyListUnknown,
	plan.HoldExclusionsUnread, plan.HoldLockUnread, plan.HoldNotReconciled, plan.HoldNotReporting, plan.HoldNotesUnread,
	plan.HoldProcessesStarting, plan.HoldProcessesUnknown, plan.HoldSharedListsUnread,
}

// waitsOnly reports whether a hold waits only for the database.
func waitsOnly(h planned.PlanHold) bool {
	refused := func(c plan.Check) bool { return c.ID == plan.CheckAvailable }
	return !h.ManualIntervention && (h.Follows || slices.Contains(waitsForDatabase, h.Code) || slices.ContainsFunc(h.Refused, refused))
}

// leaveToDatabase takes the holds that wait only for the database out of what is reported as chains.
func (w *why) leaveToDatabase() {
	for _, h := range w.Plan.Holds {
		if waitsOnly(h) && !w.reported[h.Stage] {
			w.reported[h.Stage] = true
			if h.Stage != plan.StageUpdateStatus { // it only sums up what the others wait for
				w.outage.WaitingStages = append(w.outage.WaitingStages, h.Stage)
			}
		}
	}
}

// withoutBookkeeping joins the process groups that wait for the database in one chain: what runs
// has nothing to do with the outage, whatever a pass would change of it later.
func (w *why) withoutBookkeeping(chains []Chain) []Chain {
	var broken []Chain
	waiting := Chain{State: Waiting, rank: rankReady, Next: []string{w.FDB("wait", w.name, "--for", "available")}}
	for _, c := range chains {
		g := w.Cluster.ProcessGroup(v1beta2.ProcessGroupID(c.Subjects[0]))
		if c.State == Blocked || g == nil || w.ProblemOf(g) != nil {
			broken = append(broken, c)
			continue
		}
		waiting.Subjects = append(waiting.Subjects, c.Subjects...)
	}
	if len(waiting.Subjects) == 0 {
		return broken
	}
	waiting.Summary = phrase.Either(len(waiting.Subjects), "waits", "wait") + " for the database"
	waiting.Reasons = []Link{{Message: "not reconciled, which is no cause of the outage"}}
	return append(broken, waiting)
}

// created are the actions that a pod may need to run.
var created = []string{"ApplyConfigMap", "ApplyService", "CreatePVC", "CreatePod"}

// bringsNothingBack reports whether no action creates what may be missing in an outage.
func bringsNothingBack(items []planned.PlanItem) bool {
	return !slices.ContainsFunc(items, func(i planned.PlanItem) bool { return slices.Contains(created, i.Kind) })
}

// findingsBeside returns the chains of errors about process groups that no other chain has.
func (w *why) findingsBeside(all []findings.Finding, others []Chain) []Chain {
	var chains []Chain
	for _, found := range all {
		subjects := slices.DeleteFunc(slices.Clone(found.Groups), func(id string) bool { return hasChain(others, id) || !w.isAbout(id) })
		if !found.Severity.AtLeast(findings.Error) || len(subjects) == 0 {
			continue
		}
		chains = append(chains, Chain{
			Subjects: subjects, State: Blocked, rank: rankBlocked, Since: inspect.Known(found.Since), Summary: phrase.Has(len(subjects)) + " a problem",
			Reasons: []Link{{Code: found.Code, Message: found.Message, Since: inspect.Known(found.Since)}},
			Next:    []string{w.Kubectl(found.Fix...)},
		})
	}
	return chains
}

// hasChain reports whether a process group is a subject of a chain.
func hasChain(chains []Chain, id string) bool {
	return slices.ContainsFunc(chains, func(c Chain) bool { return slices.Contains(c.Subjects, id) })
}

// isAbout reports whether a report is about a process group.
func (w *why) isAbout(id string) bool {
	return len(w.Only) == 0 || slices.Contains(w.Only, v1beta2.ProcessGroupID(id))
}

// recreated returns the chain of a resource that was created again over the objects of a former one: all
// that the stages report of it follows from its empty status. Where neither ConfigMap nor spec has the
// connection string, a stage reports that only a user can decide.
func (w *why) recreated() (Chain, bool) {
	r := w.Recorded
	if len(w.Only) > 0 || r == nil || r.Status.ConnectionString != "" || len(r.Status.ProcessGroups) > 0 ||
		len(w.Pods)+len(w.Volumes) == 0 || readings.RememberedClusterFile(w.Snapshot) == "" {
		return Chain{}, false
	}
	return Chain{
		Subjects: []string{subjectCluster}, State: Ready, rank: rankDatabase,
		Summary: "has an empty status, and " + phrase.Count(len(w.Pods), "pod") + " and " + phrase.Count(len(w.Volumes), "PVC"),
		Reasons: []Link{{Message: "the resource was created again: the next pass records the connection string and the process groups"}},
		Next:    []string{w.FDB("reconcile", w.name, "--wait")},
	}, true
}
