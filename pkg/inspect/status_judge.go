package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// State is the state of a cluster's database in one word.
type State string

// The states, from best to worst.
const (
	StateHealthy State = "healthy"
	// StateDegraded is available, with less fault tolerance than desired.
	StateDegraded State = "degraded"
	// StateNotConfigured was never created.
	StateNotConfigured State = "not-configured"
	// StateUnavailable is unavailable by its own status.
	StateUnavailable State = "unavailable"
	// StateUnknown is that of a database that does not answer.
	StateUnknown State = "unknown"
)

// Judge returns the state of the cluster, with reasons. What is being deleted leads: nothing of the cluster
// is healthy that does not last.
func (f Facts) Judge(v StatusView) (State, []string) {
	state, reasons := f.judgeDatabase(v)
	deletions := f.Deletions()
	if len(deletions) == 0 {
		return state, reasons
	}
	leading := make([]string, 0, len(deletions)+len(reasons))
	for _, d := range deletions {
		leading = append(leading, d.Message)
	}
	if state == StateHealthy {
		state = StateDegraded
	}
	return state, append(leading, reasons...)
}

// judgeDatabase returns the state of the database, with reasons. A database is available only if the
// status document of this snapshot reports it.
func (f Facts) judgeDatabase(v StatusView) (State, []string) {
	s := f.Database.Status
	switch {
	case s == nil && !f.Cluster.Status.Configured && f.Database.NotQueried != "" && f.neverCreated():
		return StateNotConfigured, append(invalidReasons(v.Restrictions), f.Database.NotQueried)
	case s == nil:
		return StateUnknown, append([]string{NoAnswer(f.Database)}, invalidReasons(v.Restrictions)...)
	case s.NeverConfigured() && !f.Cluster.Status.Configured && !f.neverCreated():
		_, found := safety.NeverCreated(f.Snapshot)
		return StateUnknown, append([]string{"the status is that of a database that was never created, and " + found.Evidence}, invalidReasons(v.Restrictions)...)
	case s.NeverConfigured() && !f.Cluster.Status.Configured:
		return StateNotConfigured, append(invalidReasons(v.Restrictions), "the database was never created")
	case !s.Available():
		return StateUnavailable, append(f.unavailable(v), invalidReasons(v.Restrictions)...)
	}
	reasons := restrictionReasons(v.Restrictions)
	for _, d := range f.Degradations(v) {
		reasons = append(reasons, d.Message)
	}
	if len(reasons) > 0 {
		return StateDegraded, reasons
	}
	return StateHealthy, reasons
}

// neverCreated reports whether a database that was not queried was certainly never created: there is no way to one
// yet, or the files of its pods prove it.
func (f Facts) neverCreated() bool {
	if f.Database.DataDirs == nil {
		return true
	}
	proof, _ := safety.NeverCreated(f.Snapshot)
	return proof.OK
}

func (f Facts) unavailable(v StatusView) []string {
	reasons := []string{"the database reports that it is unavailable"}
	if v.Database.RecoveryState != "" {
		reasons = append(reasons, fmt.Sprintf("its recovery is at %s", Spaced(v.Database.RecoveryState)))
	}
	reasons = append(reasons, coordinatorReasons(v.Coordinators)...)
	return append(reasons, f.LossReasons()...)
}

// Degradation is why a database that is available is degraded.
type Degradation struct {
	Message string
	// Code is that of the rule of check that finds it; empty where process groups have several.
	Code string
}

// Degradations returns why a database that is available is degraded beside its restrictions, the causes first.
func (f Facts) Degradations(v StatusView) []Degradation {
	var all []Degradation
	add := func(code string, messages ...string) {
		for _, m := range messages {
			all = append(all, Degradation{Message: m, Code: code})
		}
	}
	add("", slices.Concat(f.LossReasons(), f.conditionReasons(), f.findingReasons(v.found))...)
	switch words := v.Database.FaultWords(); v.Database.DataFault() {
	case NoFault:
	case FaultUnhealthy:
		add(CodeUnhealthy, words)
	case FaultFewReplicas, FaultReplicationUnknown, FaultNotReplicated, FaultDataState:
		add(CodeReplication, words)
	}
	add(CodeCoordinator, coordinatorReasons(v.Coordinators)...)
	add(CodeTolerance, toleranceReasons(v)...)
	return all
}

// toleranceReasons are a fault tolerance that is lower than desired or unknown.
func toleranceReasons(v StatusView) (reasons []string) {
	switch t := v.FaultTolerance; {
	case t.Zones == nil:
		reasons = append(reasons, "the fault tolerance is unknown: the database does not report it")
	case *t.Zones < t.Desired:
		reasons = append(reasons, fmt.Sprintf("%s, %d desired", Losable(*t.Zones), t.Desired))
		reasons = append(reasons, fewCoordinators(v.Coordinators, t.Desired)...)
	}
	return reasons
}

// coordinatorReasons returns why the coordinators are a problem; nil where they are none.
func coordinatorReasons(v CoordinatorsView) []string {
	switch {
	case v.QuorumReachable != nil && !*v.QuorumReachable:
		return []string{"no quorum: " + Answering(*v.Reachable, len(v.Items))}
	case v.Reachable != nil && *v.Reachable < len(v.Items):
		return []string{Answering(*v.Reachable, len(v.Items))}
	default:
		return nil
	}
}

// Answering returns how many coordinators answer.
func Answering(n, all int) string {
	return phrase.CountOf(n, all, "coordinator") + phrase.EitherOf(n, all, " answers", " answer")
}

// fewCoordinators is a cause of too little tolerance: the loss of the desired number of zones
// would take the quorum of so few coordinators.
func fewCoordinators(v CoordinatorsView, zones int) []string {
	n := len(v.Items)
	if n == 0 || n >= v.Desired || (n-1)/2 >= zones {
		return nil
	}
	return []string{phrase.CountOf(n, v.Desired, "desired coordinator")}
}

// LossReasons names the nodes that processes were lost with, and then the other groups whose
// processes do not report. None means that all report, where the database lists processes.
func (f Facts) LossReasons() []string { return append(f.nodeReasons(), f.notReportingReasons()...) }

// notReportingReasons names the groups whose processes do not report, by class, without those
// whose node explains it.
func (f Facts) notReportingReasons() []string {
	return f.byClass("missing", func(g *v1beta2.ProcessGroupStatus) (safety.Outage, bool) {
		if g.IsMarkedForRemoval() || !f.isNotReporting(g) {
			return safety.Outage{}, false
		}
		_, explained := f.lostNodeOf(g)
		return f.Outage(g), !explained
	})
}

// nodeReasons names each node that processes were lost with, and the process groups there:
// "node node-5 is not ready 3m (log-3, storage-2; 1 coordinator)".
func (f Facts) nodeReasons() []string {
	losses := f.nodeLosses()
	if len(losses) == 0 {
		return nil
	}
	var reasons []string
	coordinators := f.coordinatorGroups()
	for _, loss := range losses {
		ids := loss.notReporting
		if len(ids) == 0 {
			continue
		}
		on := phrase.Some(ids, MostNamed)
		if n := countIn(ids, coordinators); n > 0 {
			on += "; " + phrase.Count(n, "coordinator")
		}
		reasons = append(reasons, fmt.Sprintf("node %s %s%s (%s)%s", loss.name, loss.words(), f.forHowLong(loss.since), on, f.maintained(ids)))
	}
	return reasons
}

func countIn(items, set []string) int {
	n := 0
	for _, item := range items {
		if slices.Contains(set, item) {
			n++
		}
	}
	return n
}

// conditionReasons names the groups that report and have a condition that causes a replacement
// if it persists.
func (f Facts) conditionReasons() []string {
	var reasons []string
	for _, condition := range v1beta2.ReplacementConditions() {
		if condition.IsInformational() || condition == v1beta2.ConditionMissingProcesses {
			continue
		}
		reasons = append(reasons, f.byClass("with "+string(condition), func(g *v1beta2.ProcessGroupStatus) (safety.Outage, bool) {
			since, has := f.Since(g, condition)
			return safety.Outage{Since: since}, has && !g.IsMarkedForRemoval() && !f.isNotReporting(g)
		})...)
	}
	return reasons
}

// statedCodes are the rules about which the reasons of the state have sentences of their own.
var statedCodes = []string{CodeTolerance, CodeReplication, CodeQuorum, CodeCoordinator}

// findingReasons has the errors of the rules about process groups that no other reason names.
func (f Facts) findingReasons(all []findings.Finding) []string {
	var reasons []string
	for _, found := range all {
		left := slices.DeleteFunc(slices.Clone(found.Groups), f.isNamed)
		switch {
		case !found.Severity.AtLeast(findings.Error), slices.Contains(statedCodes, found.Code):
		case len(found.Groups) == 0:
			reasons = append(reasons, found.Message)
		case len(left) > 0:
			reasons = append(reasons, found.Message+" ("+phrase.Some(left, MostNamed)+")")
		}
	}
	return reasons
}

// isNamed reports whether the reasons of the state have a process group, or it is being removed and counts no more.
func (f Facts) isNamed(id string) bool {
	g := f.Cluster.ProcessGroup(v1beta2.ProcessGroupID(id))
	return g == nil || g.IsMarkedForRemoval() || f.isNotReporting(g) || slices.ContainsFunc(v1beta2.ReplacementConditions(), func(t v1beta2.ProcessGroupConditionType) bool {
		return !t.IsInformational() && t != v1beta2.ConditionMissingProcesses && g.HasCondition(t)
	})
}

// MostNamed is how many process groups a sentence names before it only counts them.
const MostNamed = 3

// byClass returns the groups that match, by class: "2 storage groups missing 14m (a, b)".
func (f Facts) byClass(what string, matches func(*v1beta2.ProcessGroupStatus) (first safety.Outage, is bool)) []string {
	type found struct {
		ids   []string
		first safety.Outage
	}
	classes := map[v1beta2.ProcessClass]*found{}
	for _, g := range f.Groups() {
		since, is := matches(g)
		if !is {
			continue
		}
		of := classes[g.ProcessClass]
		if of == nil {
			of = &found{}
			classes[g.ProcessClass] = of
		}
		of.ids = append(of.ids, string(g.ProcessGroupID))
		if !since.Since.IsZero() && (of.first.Since.IsZero() || since.Since.Before(of.first.Since)) {
			of.first = since
		}
	}
	var reasons []string
	for _, class := range v1beta2.ProcessClasses() {
		if of := classes[class]; of != nil {
			reasons = append(reasons, fmt.Sprintf("%s %s%s (%s)%s", phrase.Count(len(of.ids), string(class)+" group"), what, f.age(of.first), phrase.Some(of.ids, MostNamed), f.maintained(of.ids)))
		}
	}
	return reasons
}

// age returns how long an outage lasts; "first seen" if only a pass recorded it, which is after its beginning.
func (f Facts) age(o safety.Outage) string {
	if words := f.forHowLong(o.Since); words != "" && o.Source == safety.OutageFirstSeen {
		return ", first seen" + words + " ago"
	}
	return f.forHowLong(o.Since)
}

// maintained returns which of the process groups with a problem are in the zone under
// maintenance.
func (f Facts) maintained(ids []string) string {
	m, known := f.Maintenance()
	if !known || m.Zone == "" {
		return ""
	}
	var in []string
	for _, id := range ids {
		if g := f.Cluster.ProcessGroup(v1beta2.ProcessGroupID(id)); g != nil && string(g.FaultDomain) == m.Zone {
			in = append(in, id)
		}
	}
	switch {
	case len(in) == 0:
		return ""
	case len(in) == len(ids):
		return ", in zone " + m.Zone + ", which is under maintenance"
	default:
		return fmt.Sprintf(", %s of them in zone %s, which is under maintenance", phrase.Some(in, MostNamed), m.Zone)
	}
}

func (f Facts) forHowLong(since time.Time) string {
	if since.IsZero() || f.Now.Before(since) {
		return ""
	}
	return " " + phrase.Duration(f.Now.Sub(since))
}

// Losable returns how many zones may be lost in addition.
func Losable(n int) string {
	if n == 0 {
		return "cannot lose another zone"
	}
	return "safe to lose " + phrase.Count(n, "more zone")
}

// Spaced returns a name of the database as words.
func Spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }

// Title returns the state as the first words of a sentence.
func (s State) Title() string {
	words := Spaced(strings.ReplaceAll(string(s), "-", "_"))
	return strings.ToUpper(words[:1]) + words[1:]
}

// summarize returns the state in one sentence. Information is no reason for the state.
func summarize(v StatusView, information []string) string {
	if v.Replacing != nil {
		return v.title() + ": " + strings.Join(append([]string{v.replacingWords()}, information...), "; ")
	}
	if v.State != StateHealthy {
		return v.title() + ": " + strings.Join(append(slices.Clone(v.Reasons), information...), "; ")
	}
	spec := "matches its spec"
	if !v.Reconciliation.Reconciled {
		spec = "not reconciled: " + phrase.SomeBy(v.Reconciliation.Reasons, MostNamed, "; ")
	}
	safe := fmt.Sprintf("%s, %s", v.Database.replicationWords(), Losable(*v.FaultTolerance.Zones))
	return v.title() + ": " + strings.Join(append(information, safe, spec), "; ")
}

// title returns the state as the first words of a sentence. A database whose clients are stopped is not merely degraded.
func (v StatusView) title() string {
	if v.Replacing != nil {
		return "Replacing " + v.Replacing.count()
	}
	if v.State == StateDegraded && v.StopsClients() {
		return "Available, but unusable"
	}
	if v.isUncounted() {
		return "Available"
	}
	return v.State.Title()
}

// isUncounted reports whether a database calls itself healthy and does not report how many copies its data has: for some seconds
// after each recovery.
func (v StatusView) isUncounted() bool {
	return v.State == StateHealthy && v.Database.Replicas == nil
}

// StopsClients reports whether a restriction makes the database useless for its clients.
func (v StatusView) StopsClients() bool {
	return len(v.Restrictions) > 0 && v.Restrictions[0].Effect == StopsClients
}

// information returns the restrictions that are no reason for the state.
func (v StatusView) information() []string {
	var all []string
	for _, r := range v.Restrictions {
		if r.Effect == Informs {
			all = append(all, r.Text())
		}
	}
	return all
}

// invalidReasons returns the restrictions for which no pass repairs what the database lacks.
func invalidReasons(all []Restriction) []string {
	return restrictionReasons(slices.DeleteFunc(slices.Clone(all), func(r Restriction) bool {
		return r.Code != RestrictionInvalidSpec && r.Code != RestrictionInvalidPod
	}))
}

// restrictionReasons returns the restrictions that make a cluster not healthy.
func restrictionReasons(all []Restriction) []string {
	reasons := []string{}
	for _, r := range all {
		if r.Effect != Informs {
			reasons = append(reasons, r.Text())
		}
	}
	return reasons
}

// Cell returns the state, and in parentheses what leads its reasons: a deletion, else the first restriction.
func (v StatusView) Cell() string {
	switch {
	case len(v.Deletions) > 0:
		return fmt.Sprintf("%s (%s)", v.State, v.Deletions[0].cell())
	case len(v.Restrictions) > 0:
		return fmt.Sprintf("%s (%s)", v.State, v.Restrictions[0].Code)
	}
	return string(v.State)
}

func (v DatabaseView) replicationWords() string {
	if v.Replicas == nil {
		return "data distribution is starting and the number of copies unknown"
	}
	return fmt.Sprintf("all data has its %s", phrase.Count(v.ReplicasDesired, "copy"))
}

// NoAnswer returns why there is no status document that proves anything.
func NoAnswer(d plan.DatabaseFacts) string {
	if d.Partial != nil {
		return d.Why() // it answered
	}
	return "no answer from " + d.Respondent() + ": " + d.Why()
}
