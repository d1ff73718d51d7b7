package safety

import (
	"strings"

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
