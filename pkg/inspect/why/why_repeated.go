package why

import "github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"

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
