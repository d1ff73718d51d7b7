package safety

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// RecoveredFor checks whether the last recovery is long enough ago. A recovery
// stops all commits for a moment, so recoveries must not follow each other closely.
func RecoveredFor(d plan.DatabaseFacts, need time.Duration) plan.Check {
	c := plan.Check{ID: plan.CheckRecoveryAge, Question: fmt.Sprintf("was the last recovery at least %s ago?", need), Gate: plan.GateRecovery, Need: fmt.Sprintf("at least %s", need)}
	if c.Evidence = noAnswer(d); c.Evidence != "" {
		return c
	}
	version, known := versionOf(d.Status, fdb.RoleMaster)
	if known && !version.HasRecoveryAge() {
		return upFor(c, d.Status, version, need)
	}
	age, reported := d.Status.RecoveryAge()
	if !reported || (!known && !allReportRecoveryAge(d.Status)) {
		c.Evidence = "the status document does not report the age of the last recovery"
		return c
	}
	c.OK, c.Have, c.Left = age >= need, age.Round(time.Second).String(), max(0, need-age)
	c.Evidence = fmt.Sprintf("last recovery %s ago, %s required", c.Have, need)
	return c
}

// upFor is RecoveredFor for a version that does not report the age of recoveries: no
// process may have started within that time, since the start or end of one causes nearly
// all recoveries. A recovery for another reason, as a change of the configuration, stays
// unseen. An age that the document has all the same counts where it is lower.
func upFor(c plan.Check, status *fdb.Status, version fdb.Version, need time.Duration) plan.Check {
	youngest, ofAll := youngestOf(status)
	if !ofAll.known {
		c.Evidence = fmt.Sprintf("FoundationDB %s does not report the age of recoveries, and %s", version, ofAll.why)
		return c
	}
	if age, reported := status.RecoveryAge(); reported {
		youngest = min(youngest, age)
	}
	c.OK, c.Have, c.Left = youngest >= need, youngest.Round(time.Second).String(), max(0, need-youngest)
	c.Evidence = fmt.Sprintf("FoundationDB %s does not report the age of recoveries; last known start or recovery %s ago, %s required", version, c.Have, need)
	return c
}

// completeness is whether all uptimes that count are known, and if not, why not.
type completeness struct {
	known bool
	why   string
}

// youngestOf is the uptime of the youngest process. Testers start and end at any time, and an excluded
// process without a role takes part in no recovery. The uptime of every other process must
// be known: one that just started reports none, nor does one that just ended.
func youngestOf(status *fdb.Status) (youngest time.Duration, all completeness) {
	if !status.ListsProcesses() {
		return 0, completeness{why: incompleteDocument}
	}
	for _, p := range status.ProcessList() {
		if v1beta2.ProcessClass(p.ClassType).IsTester() || (p.IsExcluded() && len(p.Roles) == 0) {
			continue
		}
		uptime, known := p.Uptime()
		if !known {
			return 0, completeness{why: fmt.Sprintf("the uptime of the process at %s is unknown", p.Address.HostPort())}
		}
		if !all.known || uptime < youngest {
			youngest, all.known = uptime, true
		}
	}
	if !all.known {
		all.why = "no uptime is known"
	}
	return youngest, all
}

// allReportRecoveryAge reports whether the age of recoveries is reliable, whichever process has
// the role of the master: the versions of processes are known, and none is too old.
func allReportRecoveryAge(status *fdb.Status) bool {
	some := false
	for _, p := range status.ProcessList() {
		version, err := fdb.ParseVersion(p.Version)
		if err != nil {
			continue // a process that just started has no version yet
		}
		if !version.HasRecoveryAge() {
			return false
		}
		some = true
	}
	return some
}

// versionOf is the version of the process that has a role which one process has.
func versionOf(status *fdb.Status, role string) (version fdb.Version, known bool) {
	with := status.ProcessesThat(func(p fdb.Process) bool { return p.HasRole(role) })
	if len(with) == 0 {
		return fdb.Version{}, false
	}
	version, err := fdb.ParseVersion(with[0].Version)
	return version, err == nil
}

// CleanBounce checks whether the database reports that all of its processes may restart at once.
//
// FoundationDB derives that from its recovery state alone. 7.4.7 reads the recovery state
// only after it has written the answer, which then is no in every state; there the recovery
// state of the same document counts. Any other reason is a refusal.
func CleanBounce(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckCleanBounce, Question: "does the database allow all processes to restart at once?", Gate: plan.GateRecovery}
	if c.Evidence = noAnswer(d); c.Evidence != "" {
		return c
	}
	can, known := d.Status.CanCleanBounce()
	switch {
	case !known:
		c.Evidence = "the status document does not report bounce_impact.can_clean_bounce"
	case can:
		c.OK, c.Evidence = true, "bounce_impact.can_clean_bounce is true"
	case contradictsRecovery(d.Status):
		c.OK, c.Evidence = true, fmt.Sprintf("recovery_state is %s; bounce_impact of %s contradicts it (%q) and is ignored",
			fdb.RecoveryFullyRecovered, wrongVersion(d.Status), fdb.ReasonNotFullyRecovered)
	default:
		c.Evidence = "bounce_impact.can_clean_bounce is false: " + phrase.Or(d.Status.Cluster.BounceImpact.Reason, phrase.Unknown)
	}
	return c
}

// contradictsRecovery reports whether the reason of a refusal is a recovery that is over
// according to the same document.
func contradictsRecovery(status *fdb.Status) bool {
	return status.RecoveryName() == fdb.RecoveryFullyRecovered &&
		status.Cluster.BounceImpact.Reason == fdb.ReasonNotFullyRecovered
}

// wrongVersion names the version of the process that creates status documents, and whether it
// is known to report a wrong bounce impact. The document alone decides: the recovery state that
// bounce_impact is derived from proves any version wrong.
func wrongVersion(status *fdb.Status) string {
	version, _ := versionOf(status, fdb.RoleClusterController)
	if fact, known := versionfacts.About(versionfacts.BounceImpactNeverClean, version); known {
		return fmt.Sprintf("FoundationDB %s, a known defect (%s),", version, fact.Sources[0])
	}
	return fmt.Sprintf("FoundationDB %s, which has no known defect,", phrase.Or(version.String(), phrase.Unknown))
}

// UpLongEnough checks whether the last recovery, and the last start of any process, are long
// enough ago for the next restart. Restarts in quick succession would leave the database
// recovering most of the time. Missing is how much of the time remains.
func UpLongEnough(s plan.Snapshot, need time.Duration) (c plan.Check, missing time.Duration) {
	c = plan.Check{ID: plan.CheckAllUp, Question: fmt.Sprintf("have all processes been up for %s?", need), Gate: plan.GateUptime, Need: fmt.Sprintf("at least %s", need)}
	if c.Evidence = noAnswer(s.Database); c.Evidence != "" {
		return c, need
	}
	up, youngest, unknown := shortestUptime(s)
	if unknown != "" {
		c.Evidence = unknown
		return c, need
	}
	c.OK, c.Have = up >= need, up.Round(time.Second).String()
	c.Evidence = fmt.Sprintf("%s %s ago, %s required", youngest, c.Have, need)
	c.Left = max(0, need-up)
	return c, c.Left
}

// shortestUptime is the shortest of the age of the last recovery and the uptimes of all
// processes that count, not of testers and excluded processes. A process that does not report
// its uptime, as right after its start, counts as just started. Unknown is what is missing; empty
// where nothing is.
func shortestUptime(s plan.Snapshot) (up time.Duration, youngest, unknown string) {
	const noRecoveryAge = "the status document does not report the age of the last recovery"
	status := s.Database.Status
	version, err := fdb.ParseVersion(s.Cluster.RunningVersion())
	if err != nil {
		return 0, "", noRecoveryAge
	}
	if version.HasRecoveryAge() {
		age, known := status.RecoveryAge()
		if !known {
			return 0, "", noRecoveryAge
		}
		up, youngest = age, "last recovery"
	}
	counted := false
	for _, p := range status.ProcessList() {
		if v1beta2.ProcessClass(p.ClassType).IsTester() || p.IsExcluded() || !p.Reporting() {
			continue
		}
		uptime, _ := p.Uptime() // zero when unknown
		if youngest == "" || uptime < up {
			up, youngest = uptime, fmt.Sprintf("process at %s (%s) started", p.Address.HostPort(), p.InstanceID())
		}
		counted = true
	}
	if !counted {
		return 0, "", "no process reports its uptime"
	}
	return up, youngest, ""
}
