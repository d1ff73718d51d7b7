package waiting

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

func isAvailable(f inspect.Facts) verdict {
	switch {
	case f.Database.Status == nil:
		return unknown(inspect.NoAnswer(f.Database))
	case f.Database.Status.Incomplete():
		return unknown("the status document is incomplete")
	case !f.Database.Available():
		return no("the database reports that it is unavailable")
	default:
		return yes()
	}
}

func isHealthy(f inspect.Facts) verdict {
	if answer := isAvailable(f); answer.met == nil {
		return answer
	}
	ageless := withoutAges(f)
	v := inspect.NewStatusView(inspect.Metadata{}, ageless)
	switch restrictions := f.Restrictions(); {
	case len(restrictions) > 0 && restrictions[0].Effect == inspect.UnknownEffect:
		return unknown(restrictions[0].Text())
	case v.State != inspect.StateHealthy:
		return no(strings.Join(v.Reasons, "; "))
	case len(restrictions) > 0 && restrictions[0].Effect != inspect.Informs: // an overdue pause has no sentence without a time
		return no(restrictions[0].Text())
	}
	return hasSettled(f)
}

// hasSettled requires the end of the last recovery and healthy data: after a recovery the
// database is available seconds before it evaluates its data, and may still turn out degraded.
func hasSettled(f inspect.Facts) verdict {
	s := f.Database.Status
	if name := s.RecoveryName(); name != fdb.RecoveryFullyRecovered {
		return no("recovery state is " + inspect.Spaced(phrase.Or(name, phrase.Unknown)))
	}
	if state, known := s.DataState(); !known {
		return unknown("the status document does not report the state of the data")
	} else if !s.DataHealthy() {
		return no("data is " + inspect.Spaced(phrase.Or(state.Name, "not healthy")))
	}
	return yes()
}

func isReconciled(f inspect.Facts) verdict {
	if answer := isJudged(f); answer.met == nil {
		return answer
	}
	if !f.Gaps.Reconciled() {
		return no(phrase.Or(phrase.Some(f.Gaps.Reasons, inspect.MostNamed), "the cluster does not match its spec"))
	}
	return yes()
}

// isJudged reports whether the process groups were evaluated now, and not by the last pass.
func isJudged(f inspect.Facts) verdict {
	switch {
	case !f.Database.Available():
		return unknown(isAvailable(f).reason)
	case f.Unjudged != "":
		return unknown("the process groups are as in the status: " + f.Unjudged)
	default:
		return yes()
	}
}

// isFullyReplicated requires a count of copies: a database in one region always calls itself
// fully replicated. Processes that do not report count as lost copies, since the database
// takes about a minute to miss them.
func isFullyReplicated(f inspect.Facts) verdict {
	if answer := isAvailable(f); answer.reason != "" {
		return answer
	}
	s, d := f.Database.Status, f.DatabaseView()
	switch missing := f.ZonesNotReporting(); {
	case d.Replicas == nil:
		return unknown("data distribution is starting, so the number of copies is unknown yet")
	case d.DataFault() == inspect.FaultFewReplicas:
		return no(d.FaultWords())
	case d.FullReplication == nil || d.DataHealthy == nil:
		return unknown("cannot determine whether all data has its copies: the database does not report it")
	case d.DataFault() == inspect.FaultNotReplicated, d.DataFault() == inspect.FaultDataState:
		return no(d.FaultWords())
	case !s.LogsFullyReplicated():
		return no("not all logs have their copies")
	case len(missing) > 0:
		return no("processes that hold data do not report, in " + phrase.Count(len(missing), "zone") + ": " + phrase.Some(missing, inspect.MostNamed))
	default:
		return yes()
	}
}

func tolerates(f inspect.Facts, zones int) verdict {
	if answer := isAvailable(f); answer.reason != "" {
		return answer
	}
	left := f.Tolerance().Zones
	switch {
	case left == nil:
		return unknown("the fault tolerance is unknown: the database does not report it")
	case *left < zones:
		return no(inspect.Losable(*left))
	default:
		return yes()
	}
}

func hasNoExclusions(f inspect.Facts) verdict {
	if answer := isAvailable(f); answer.reason != "" {
		return answer
	}
	if f.Database.Status.Cluster.Configuration == nil {
		return unknown("the exclusions are unknown: the database does not report them")
	}
	if targets := exclusionsInForce(f); len(targets) > 0 {
		return no("excluded: " + phrase.Some(targets, inspect.MostNamed))
	}
	return yes()
}

// exclusionsInForce returns those of the status document and, where they were read, of
// the transaction that is newer than it.
func exclusionsInForce(f inspect.Facts) []string {
	targets := slices.Concat(f.Database.Status.ExcludedTargets(), f.Coordination.Exclusions, f.Coordination.InProgressExclusions)
	slices.Sort(targets)
	return slices.Compact(targets)
}

// areSafe requires the proof of `exclusion status` for each process.
func areSafe(f inspect.Facts, q inspect.ExclusionQuestion) verdict {
	if answer := isAvailable(f); answer.reason != "" {
		return answer
	}
	if !f.Coordination.ExclusionsRead {
		return unknown("the exclusions in force and in progress could not be read")
	}
	switch v := inspect.NewExclusionStatusView(inspect.Metadata{}, f, q, &inspect.DrainHistory{}); {
	case v.Safe == nil:
		return unknown(v.Summary)
	case !*v.Safe:
		return no(v.Summary)
	default:
		return yes()
	}
}

func isSafe(f inspect.Facts, id v1beta2.ProcessGroupID) verdict {
	if f.Cluster.ProcessGroup(id) == nil { // a pass has removed it meanwhile
		return isRemoved(f, id)
	}
	return areSafe(f, inspect.ExclusionQuestion{Named: true, Keep: func(g *v1beta2.ProcessGroupStatus) bool { return g.ProcessGroupID == id }})
}

func isRemoved(f inspect.Facts, id v1beta2.ProcessGroupID) verdict {
	if answer := isAvailable(f); answer.reason != "" {
		return answer
	}
	g := f.Cluster.ProcessGroup(id)
	switch objects := objectsOf(f, id); {
	case g != nil && !g.IsMarkedForRemoval():
		return no(fmt.Sprintf("process group %s is not marked for removal", id))
	case g != nil:
		return no(fmt.Sprintf("process group %s is marked for removal, its exclusion: %s", id, f.Exclusion(g)))
	case len(f.Database.Status.ProcessesOf(string(id))) > 0:
		return no(fmt.Sprintf("processes of %s still report", id))
	case slices.Contains(exclusionsInForce(f), id.ExclusionString()):
		return no(fmt.Sprintf("%s is still excluded", id.ExclusionString()))
	case len(objects) > 0:
		return no("still there: " + phrase.Some(objects, inspect.MostNamed))
	default:
		return yes()
	}
}

// objectsOf returns the objects labeled with the ID of a process group.
func objectsOf(f inspect.Facts, id v1beta2.ProcessGroupID) []string {
	var found []string
	add := func(kind string, o metav1.Object) {
		for _, label := range f.Cluster.ProcessGroupIDLabels() {
			if o.GetLabels()[label] == string(id) {
				found = append(found, kind+"/"+o.GetName())
				return
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Pods)) {
		add("pod", f.Pods[name])
	}
	for _, name := range slices.Sorted(maps.Keys(f.Volumes)) {
		add("persistentvolumeclaim", f.Volumes[name])
	}
	for _, name := range slices.Sorted(maps.Keys(f.Services)) {
		add("service", f.Services[name])
	}
	return found
}

func noneHas(f inspect.Facts, c v1beta2.ProcessGroupConditionType) verdict {
	if answer := isJudged(f); answer.met == nil {
		return answer
	}
	var ids []string
	for _, g := range f.Groups() {
		if g.HasCondition(c) {
			ids = append(ids, string(g.ProcessGroupID))
		}
	}
	if len(ids) > 0 {
		return no(fmt.Sprintf("%s with %s: %s", phrase.Count(len(ids), "process group"), c, phrase.Some(ids, inspect.MostNamed)))
	}
	return yes()
}

func isUnlocked(f inspect.Facts) verdict {
	locks := f.Locks()
	switch {
	case !locks.LeaseRead:
		return unknown("the Lease could not be read")
	case locks.LeaseHolder != "":
		return no("the Lease is held by " + locks.LeaseHolder)
	case locks.Used && !locks.Read:
		return unknown("the lock in the database could not be read")
	case locks.Owner != "" && !locks.Expired:
		return no("the lock is held by " + locks.Owner)
	default:
		return yes()
	}
}

func runs(f inspect.Facts, want fdb.Version) verdict {
	if answer := isAvailable(f); answer.reason != "" {
		return answer
	}
	if missing := withoutAges(f).LossReasons(); len(missing) > 0 {
		return no(phrase.Some(missing, inspect.MostNamed))
	}
	others := map[string]int{}
	for _, p := range f.Database.Status.ProcessList() {
		if version, err := fdb.ParseVersion(p.Version); err != nil || version != want {
			others[phrase.Or(p.Version, "an unknown version")]++
		}
	}
	if len(others) == 0 {
		return yes()
	}
	words := []string{}
	for _, version := range slices.Sorted(maps.Keys(others)) {
		words = append(words, fmt.Sprintf("%s %s %s", phrase.Count(others[version], "process"), phrase.Either(others[version], "runs", "run"), version))
	}
	return no(phrase.Some(words, inspect.MostNamed))
}

// withoutAges returns facts whose sentences do not change merely because time passes.
func withoutAges(f inspect.Facts) inspect.Facts {
	f.Now = time.Time{}
	return f
}
