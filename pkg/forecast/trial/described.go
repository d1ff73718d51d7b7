package trial

import (
	"slices"
)

// Promise is an invariant as it is documented.
type Promise struct {
	Code, Sentence string
	// Judged is when it is judged.
	Judged string
}

// judged is when invariants are judged.
var judged = map[occasion]string{
	beforeAction: "before each action",
	afterAction:  "after each action",
	afterPass:    "after each pass",
	onceKept:     "once the spec was kept",
	underTrouble: "while something is wrong",
	atTheEnd:     "once nothing is wrong",
}

// Invariants are all that have to hold in any history, in the order in which they are judged.
func Invariants() []Promise {
	var all []Promise
	for _, i := range invariants {
		all = append(all, Promise{i.code, i.sentence, judged[i.requested]})
	}
	return all
}

// sentenceOf is what the invariant with a code promises.
func sentenceOf(code string) string {
	i := slices.IndexFunc(Invariants(), func(p Promise) bool { return p.Code == code })
	return Invariants()[i].Sentence
}

// Problem is something that can go wrong as it is documented.
type Problem struct {
	Code, Sentence string
	// Singly is true where it meets each step of an operation, Observed where also those of an observed cluster.
	Singly, Observed bool
}

// Problems are all that can go wrong, and what users change meanwhile.
func Problems() []Problem {
	var all []Problem
	singly := singleProblems()
	for _, p := range slices.Concat(problems(), rare) {
		alone := slices.ContainsFunc(singly, func(q problem) bool { return q.code == p.code }) && !slices.Contains(ends, p.code)
		all = append(all, Problem{p.code, p.name, alone, slices.Contains(ofObserved, p.code)})
	}
	return all
}
