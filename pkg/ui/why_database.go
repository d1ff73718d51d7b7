package ui

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
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
func (w *why) database(v StatusView) []WhyChain {
	c := WhyChain{Subjects: []string{subjectDatabase}, rank: rankDatabase}
	switch v.State {
	case StateUnknown:
		c.State, c.Summary = WhyUnknown, "does not answer"
		c.Reasons = []WhyLink{{Message: v.Database.UnknownReason, Reasons: w.coordinatorTroubles()}}
		if strings.HasPrefix(v.Database.UnknownReason, "forbidden: ") {
			c.Next = []string{w.Kubectl("auth", "can-i", "--list")}
			return []WhyChain{c}
		}
	case StateUnavailable:
		c.State, c.Summary = WhyBlocked, "is unavailable"
		coordinators := w.coordinatorTroubles()
		others := w.troubles(func(g *v1beta2.ProcessGroupStatus) bool {
			return !slices.ContainsFunc(coordinators, func(l WhyLink) bool { return l.Subject == string(g.ProcessGroupID) })
		})
		c.Reasons = append(w.blinded(), WhyLink{Message: w.unavailableWords(v), Reasons: append(coordinators, others...)})
	case StateHealthy, StateDegraded, StateNotConfigured:
		return nil
	}
	c.Next = append(w.looks(c.Reasons), w.FDB("status", w.name))
	return []WhyChain{c}
}

// blinded returns the knob that suppresses what every pass requires of the status document;
// nil where the document has that, or no knob is known.
func (w *why) blinded() []WhyLink {
	places := w.BlindedBy()
	if !w.IsBlinded() || len(places) == 0 {
		return nil
	}
	return []WhyLink{{
		Message: fmt.Sprintf("the status document has neither the recovery state nor the configuration, which require trace events of severity 10: knob_min_trace_severity suppresses those (%s)", phrase.Some(places, mostNamed)),
		look:    []string{"edit", "foundationdbcluster", w.Cluster.Name},
	}}
}

// unavailableWords returns the progress of the recovery, and which coordinators answer.
func (w *why) unavailableWords(v StatusView) string {
	words := []string{"its recovery is at " + spaced(phrase.Or(v.Database.RecoveryState, "an unknown state"))}
	var answer, missing []string
	for _, c := range v.Coordinators.Items {
		if c.Reachable != nil && *c.Reachable {
			answer = append(answer, c.Address)
		} else {
			missing = append(missing, c.Address)
		}
	}
	if len(missing) > 0 {
		words = append(words, answering(len(answer), len(v.Coordinators.Items))+"; "+phrase.List(missing)+phrase.Either(len(missing), " does not", " do not"))
	}
	if v.Database.RecoveryDetail != "" {
		words = append(words, oneLine(v.Database.RecoveryDetail))
	}
	return strings.Join(words, "; ")
}

// coordinatorTroubles returns the problems of the process groups of the coordinators that do
// not answer. Without an answer of the database those are all in the connection string.
func (w *why) coordinatorTroubles() []WhyLink {
	var links []WhyLink
	for _, a := range w.missedCoordinators() {
		for _, g := range w.Groups() {
			if !slices.Contains(g.Addresses, a.Host) && g.DNSName(w.Cluster) != a.Host {
				continue
			}
			t := w.troubleOf(g)
			if t == nil && w.Database.Status != nil { // else it was not checked
				t = &Trouble{Message: fmt.Sprintf("runs on node %s as far as Kubernetes knows, which takes most of a minute to detect a lost node; its coordinator does not answer", nodeOf(w.Pod(g))), Look: []string{"logs", g.PodName(w.Cluster), "-c", v1beta2.ContainerMain, "--tail=50"}}
			}
			if t != nil {
				links = append(links, t.link(string(g.ProcessGroupID), fmt.Sprintf(" (coordinator %s)", a.HostPort())))
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
	if s := w.Database.Status; s != nil {
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

// troubles returns the problems of the groups that count, three at most by name.
func (w *why) troubles(counts func(*v1beta2.ProcessGroupStatus) bool) []WhyLink {
	var links []WhyLink
	for _, g := range w.Groups() {
		if counts != nil && !counts(g) {
			continue
		}
		if t := w.troubleOf(g); t != nil {
			links = append(links, t.link(string(g.ProcessGroupID), ""))
		}
	}
	if len(links) > mostNamed {
		more := WhyLink{Message: "and " + phrase.Count(len(links)-mostNamed, "more process group") + " with problems", key: "more"}
		return append(links[:mostNamed:mostNamed], more)
	}
	return links
}

func (t Trouble) link(subject, remark string) WhyLink {
	return WhyLink{Subject: subject, Message: t.words() + remark, Since: known(t.Since), look: t.Look, key: t.key, own: t.own}
}

// looks returns the commands that show more of the first problem in a tree of reasons.
func (w *why) looks(links []WhyLink) []string {
	for _, l := range links {
		if deeper := w.looks(l.Reasons); len(deeper) > 0 {
			return deeper
		}
		if len(l.look) > 0 {
			return []string{w.Kubectl(l.look...)}
		}
	}
	return nil
}

// degraded returns the chain of a database that is available with less fault tolerance than
// desired.
func (w *why) degraded(v StatusView) []WhyChain {
	if v.State != StateDegraded {
		return nil
	}
	c := WhyChain{Subjects: []string{subjectDatabase}, State: WhyWaiting, Summary: "is degraded", rank: rankDegraded}
	about := coordinatorReasons(v.Coordinators)
	for _, reason := range v.Reasons {
		link := WhyLink{Message: reason}
		if slices.Contains(about, reason) {
			link.Reasons = w.coordinatorTroubles()
		}
		c.Reasons = append(c.Reasons, link)
	}
	c.Next = append(w.looks(c.Reasons), w.FDB("status", w.name))
	return []WhyChain{c}
}
