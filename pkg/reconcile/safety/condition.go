package safety

import (
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Condition is a rule as data: named questions about facts of one kind, combined with
// "and" and "or". It can be printed, compared with documentation, and evaluated. A condition
// without any question is never met.
type Condition[F any] struct {
	// name is the name of the question in rules; empty in an "and" or an "or".
	name string
	ask  func(F) plan.Check
	all  []Condition[F]
	any  []Condition[F]
}

// When is one question under its name in rules: "drained".
func When[F any](name string, ask func(F) plan.Check) Condition[F] {
	return Condition[F]{name: name, ask: ask}
}

// AllOf is met when each of its parts is.
func AllOf[F any](parts ...Condition[F]) Condition[F] { return Condition[F]{all: parts} }

// AnyOf is met when one of its parts is.
func AnyOf[F any](parts ...Condition[F]) Condition[F] { return Condition[F]{any: parts} }

// Always is met whatever the facts are; the reason is its evidence.
func Always[F any](reason string) Condition[F] {
	return When("always", func(F) plan.Check {
		return plan.Check{ID: plan.CheckAlways, Question: "is it always allowed?", OK: true, Evidence: reason}
	})
}

// Never is met under no facts; the reason is its evidence.
func Never[F any](reason string) Condition[F] {
	return When("never", func(F) plan.Check {
		return plan.Check{ID: plan.CheckNever, Question: "is it ever allowed?", Evidence: reason}
	})
}

// String is the rule as text, the more tightly bound parts in brackets:
// "drained or (keeps its volume and all replicas)".
func (c Condition[F]) String() string {
	switch {
	case len(c.all) > 0:
		return joined(c.all, " and ")
	case len(c.any) > 0:
		return joined(c.any, " or ")
	case c.name == "":
		return "never"
	default:
		return c.name
	}
}

func joined[F any](parts []Condition[F], word string) string {
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = p.String()
		if len(parts) > 1 && len(p.all)+len(p.any) > 1 {
			words[i] = "(" + words[i] + ")"
		}
	}
	return strings.Join(words, word)
}

// Ask returns checks that all must be OK: one for each question of an "and", and one for an
// "or" as a whole. The list is never empty.
func (c Condition[F]) Ask(facts F) []plan.Check {
	switch {
	case len(c.all) > 0:
		var checks []plan.Check
		for _, part := range c.all {
			checks = append(checks, part.Ask(facts)...)
		}
		return checks
	case len(c.any) > 0:
		return []plan.Check{c.eitherOf(facts)}
	case c.ask == nil:
		return []plan.Check{{ID: plan.CheckNoRule, Question: "does a rule allow it?", Evidence: "no rule allows it"}}
	default:
		return []plan.Check{c.ask(facts)}
	}
}

// eitherOf is the first alternative that is met; when none is, its evidence lists what each
// lacks, and its gate is that of the first.
func (c Condition[F]) eitherOf(facts F) plan.Check {
	var questions, lacking []string
	var gate plan.Gate
	var subject string
	for _, part := range c.any {
		checks := part.Ask(facts)
		first, met := firstRefused(checks)
		if met {
			return plan.Check{ID: plan.CheckAnyOf, Subject: first.Subject, Question: question([]string{part.String()}), OK: true, Evidence: evidence(checks), Gate: first.Gate}
		}
		if gate == "" {
			gate, subject = first.Gate, first.Subject
		}
		questions = append(questions, part.String())
		lacking = append(lacking, first.Evidence)
	}
	return plan.Check{ID: plan.CheckAnyOf, Subject: subject, Question: question(questions), Evidence: strings.Join(lacking, "; and "), Gate: gate}
}

func question(alternatives []string) string {
	return "is this true: " + strings.Join(alternatives, ", or ") + "?"
}

// firstRefused is the first check that does not hold; when all hold, met is true and the
// check is the first of them.
func firstRefused(checks []plan.Check) (c plan.Check, met bool) {
	if refused, found := (plan.Decision{Checks: checks}).Refused(); found {
		return refused, false
	}
	return checks[0], true
}

func evidence(checks []plan.Check) string {
	words := make([]string, len(checks))
	for i, c := range checks {
		words[i] = c.Evidence
	}
	return strings.Join(words, "; ")
}

// Met reports whether every check holds; no checks at all hold nothing.
func Met(checks []plan.Check) bool {
	if len(checks) == 0 {
		return false
	}
	_, met := firstRefused(checks)
	return met
}

// disruptable is the rule of the PodDisruptionBudget: whoever evicts a pod asks no other
// question. So the rule does not depend on the pod, and a coordinator may be the one: a quorum
// remains without any one of them as long as all are reachable.
var disruptable = AllOf(recent, keepsCopies, fullyTolerant, otherZonesUp, otherZonesSettled, noMaintenance)

var (
	keepsCopies   = When("data and logs have copies", func(p Pod) plan.Check { return hasCopies(p.Snapshot) })
	noMaintenance = When("no zone is under maintenance", noMaintenanceAnywhere)
)

// MayLoseAnyPod checks whether the database tolerates now that any one pod with data or
// coordination state disappears, whichever it is. All of the checks must be OK.
func MayLoseAnyPod(s plan.Snapshot) []plan.Check {
	if NoDatabaseYet(s) {
		return Always[Pod]("the database does not exist yet").Ask(Pod{Snapshot: s})
	}
	// A pod of an unknown fault domain: all known ones are other ones.
	return disruptable.Ask(Pod{Snapshot: s, Group: &v1beta2.ProcessGroupStatus{}})
}

// OthersOfClassUp checks whether all other process groups of a class that keeps no data have pods
// whose processes report. A pod that was evicted before is missing here long before the database
// notices: its process runs until the grace period ends, and a recovery follows only then.
func OthersOfClassUp(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) plan.Check {
	c := plan.Check{
		ID: plan.CheckClassUp, Subject: string(g.ProcessClass), Question: fmt.Sprintf("are all other %s process groups up?", g.ProcessClass),
		Gate: plan.GateReplicas, OK: true, Evidence: "all others have their pods and report",
	}
	if why := noAnswer(s.Database); why != "" {
		c.OK, c.Evidence = false, why
		return c
	}
	for _, other := range s.Remaining() {
		if other == g || other.ProcessClass != g.ProcessClass {
			continue
		}
		if why := notUp(s, other); why != "" {
			c.OK, c.Evidence = false, fmt.Sprintf("%s %s", other.ProcessGroupID, why)
			return c
		}
	}
	return c
}

// NeverDisruptable reports whether MayLoseAnyPod is refused for as long as the redundancy mode is
// what it is: there is only one copy of some data.
func NeverDisruptable(s plan.Snapshot) bool {
	known := noAnswer(s.Database) == "" && s.Database.Status.Cluster.Configuration != nil
	return known && !NoDatabaseYet(s) && withoutCopies(s)
}

func hasCopies(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckToleratesLoss, Question: "do all data and logs have copies?", Gate: plan.GateReplicas}
	if c.Evidence = noAnswer(s.Database); c.Evidence != "" {
		return c
	}
	if s.Database.Status.Cluster.Configuration == nil {
		c.Evidence = unknownRedundancy(s)
		return c
	}
	c.OK = !withoutCopies(s)
	c.Evidence = "all data and logs have copies"
	if !c.OK {
		c.Evidence = "the redundancy mode keeps a single copy of data or logs"
	}
	return c
}

func noMaintenanceAnywhere(p Pod) plan.Check {
	known := MaintenanceKnown(p.Database)
	c := plan.Check{ID: plan.CheckNoOtherMaintenance, Question: "is no zone under maintenance?", Gate: known.Gate, OK: known.OK, Evidence: known.Evidence}
	if c.OK {
		now, _ := p.Database.Status.Maintenance()
		c.OK = !now.Active()
	}
	return c
}

const maintenanceNotReported = "the database does not report whether a zone is under maintenance"

// MaintenanceKnown checks whether the database reports which zone is under maintenance, if any.
func MaintenanceKnown(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckNoOtherMaintenance, Question: "is it known which zone is under maintenance?", Gate: plan.GateMaintain}
	if c.Evidence = noAnswer(d); c.Evidence != "" {
		return c
	}
	now, known := d.Status.Maintenance()
	switch {
	case !known:
		c.Evidence = maintenanceNotReported
	case now.Zone != "":
		c.OK, c.Evidence = true, "zone "+now.Zone+" is under maintenance"
	default:
		c.OK, c.Evidence = true, "no zone is under maintenance"
	}
	return c
}
