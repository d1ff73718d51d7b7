package planned

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/admission"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// PlanView is what a pass would do: the document of `plan`.
type PlanView struct {
	inspect.Document
	// Digest is equal for two plans with the same items in the same order, regardless of actions
	// that only record observations.
	Digest string `json:"digest"`
	// Digests are those of all other fields of the document, by name, so that a saved plan cannot show
	// anything else than what was planned; absent where the plan is a part of another document.
	Digests map[string]string `json:"digests,omitempty"`
	// Command is the command that carries it out, with the flags that matter; --plan of the same
	// command accepts this document.
	Command []string `json:"command"`
	// Seed determines the random choices of the pass, a decimal number: the pass that carries
	// out the plan makes the same.
	Seed     string       `json:"seed"`
	Observed PlanObserved `json:"observed"`
	// Proposed is the change of the resource that the plan is made for; absent for the resource as it is stored.
	Proposed *Proposed `json:"proposed,omitempty"`
	// Gates are the checks before the first change.
	Gates []plan.Check `json:"gates"`
	Items []PlanItem   `json:"items"`
	// Holds are why the items do not cover everything.
	Holds []PlanHold `json:"holds"`
	// Kept are the process groups that the spec keeps from being replaced, each as the subject of a
	// check: the evidence is what would mark it without that.
	Kept []plan.Check `json:"kept,omitempty"`
	// Changes are the settings that differ from the spec, with their old and new values.
	Changes []SettingChange `json:"changes,omitempty"`
	// Privileges are what the pod templates of the resource request beyond their own pods; absent for nothing.
	Privileges []objects.Privilege `json:"privileges,omitempty"`
	// Forecast is what all passes will do; null where nothing is to do, for backups and restores,
	// and where it was not requested.
	Forecast *Forecast `json:"forecast,omitempty"`
	// Simulations are how all passes end while processes, pods and nodes fail; null where that was
	// not requested.
	Simulations *Simulations `json:"simulations,omitempty"`
	// SingleFaults are how all passes end with one fault at each of their steps; null where that was not requested.
	SingleFaults *SingleFaults `json:"singleFaults,omitempty"`
	// Limits are those of --at-most, with the totals of the plan; absent without the flag.
	Limits []Limit `json:"limits,omitempty"`
	// Pause is why operators skip the cluster, and until when; absent where it is not paused. A pass
	// acts on it regardless.
	Pause *inspect.PauseView `json:"pause,omitempty"`
	// Refusals are the objects among those of the items that the API server did not accept when a pass wrote them last;
	// absent for none.
	Refusals []plan.Refusal `json:"refusals,omitempty"`
	// NamespaceRules are what ResourceQuotas and LimitRanges of the namespace have room for, beside what the plan takes
	// at most, with its forecast; absent where they say nothing about it.
	NamespaceRules *admission.Rules `json:"namespaceRules,omitempty"`
	// Pass is how the preview ended.
	Pass inspect.PassRecord `json:"pass"`

	// Decided are the stages that decided; nil where they are unknown.
	Decided []plan.StageName `json:"-"`
}

// PlanObserved is the cluster state that the plan was made for.
type PlanObserved struct {
	// UID distinguishes the resource from another one of the same name.
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Generation      int64  `json:"generation,omitempty"`
	// SpecDigest changes with the spec.
	SpecDigest string `json:"specDigest,omitempty"`
	// ConnectionString has no ID, which grants access to the database.
	ConnectionString string `json:"connectionString,omitempty"`
	// ConnectionDigest changes with the connection string, its ID included.
	ConnectionDigest string `json:"connectionDigest,omitempty"`
	// DatabaseAvailable is null when the database status was not read, or the database did not
	// answer.
	DatabaseAvailable *bool `json:"databaseAvailable"`
}

// PlanItem is one action that a pass would carry out.
type PlanItem struct {
	Number int            `json:"number"`
	Stage  plan.StageName `json:"stage"`
	inspect.ActionRecord
	// Fingerprint identifies what the action does, payloads included; see plan.Fingerprint.
	// Empty for an action that only records what was observed: that needs no approval.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Why is the reason of the action.
	Why string `json:"why,omitempty"`
	// Preconditions must hold when the action runs.
	Preconditions Preconditions `json:"preconditions"`
	// Provisional lists the stages after whose actions this item is decided again.
	Provisional []plan.StageName `json:"provisional,omitempty"`
	// Bookkeeping is true for an action that is no reason to run a pass: it only writes a status that
	// users and monitoring read.
	Bookkeeping bool `json:"bookkeeping,omitempty"`
}

// Work returns the number of actions without bookkeeping.
func (v PlanView) Work() int { return WorkOf(v.Items) }

// WorkOf returns the number of items that are not bookkeeping.
func WorkOf(items []PlanItem) (n int) {
	for _, item := range items {
		if !item.Bookkeeping {
			n++
		}
	}
	return n
}

// Preconditions are what must hold for an item to run.
type Preconditions struct {
	Lease  bool         `json:"lease"`
	Lock   bool         `json:"lock"`
	Checks []plan.Check `json:"checks"`
}

// PlanHold is a stage that waits, or that requires manual intervention.
type PlanHold struct {
	Stage plan.StageName `json:"stage"`
	inspect.HoldRecord
	// Nature is ordinary for a wait that ends by itself, and trouble for anything else.
	Nature plan.Nature `json:"nature"`
	// Refused are the checks that do not hold.
	Refused     []plan.Check     `json:"refused"`
	Provisional []plan.StageName `json:"provisional,omitempty"`
}

// IsOrdinary reports whether the stage continues by itself, and nothing is wrong meanwhile.
func (h PlanHold) IsOrdinary() bool { return !h.ManualIntervention && h.Nature == plan.Ordinary }

// IsAbout reports whether a hold is about a process group or a pod: it is among the subjects,
// or a check about it refused.
func (h PlanHold) IsAbout(subject string) bool {
	refused := func(c plan.Check) bool { return c.Subject == subject }
	return subject != "" && (slices.Contains(h.Subjects, subject) || slices.ContainsFunc(h.Refused, refused))
}

// PlanRecorder makes a PlanView of the events of a preview.
type PlanRecorder struct {
	view    PlanView
	asOf    time.Time
	cluster bool // one was observed
	// missing describes process groups that the spec keeps and that do not exist.
	missing []string
}

// Report takes one event of the preview.
func (r *PlanRecorder) Report(e reconcile.Event) {
	switch e := e.(type) {
	case reconcile.Observed:
		r.observed(e.Snapshot)
	case reconcile.GatesChecked:
		r.view.Gates = append(r.view.Gates, e.Checks...)
	case reconcile.StageDecided:
		r.decided(e)
	case reconcile.PassDone:
		r.view.Pass = inspect.RecordPass(e)
	case reconcile.PassStarted, reconcile.Observing, reconcile.LeaseTaken, reconcile.LockTaken,
		reconcile.ActionStarted, reconcile.ActionDone, reconcile.StageDone: // nothing to plan in these
	}
}

// connectionDigest returns a digest of a connection string; empty without one.
func connectionDigest(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// observed keeps the first state of the resource: edits of the preview are no facts.
func (r *PlanRecorder) observed(s plan.Snapshot) {
	r.asOf = s.Now
	if of := ResourceOf(s); of != nil && r.view.Observed.UID == "" {
		r.view.Observed.UID = string(of.GetUID())
		r.view.Observed.ResourceVersion = of.GetResourceVersion()
		r.view.Observed.Generation = of.GetGeneration()
		r.view.Observed.SpecDigest = specDigest(s)
	}
	if s.Cluster != nil && !r.cluster {
		r.cluster, r.view.Observed.ConnectionString = true, redact.Kept(s.Cluster.Status.ConnectionString)
		r.view.Observed.ConnectionDigest = connectionDigest(s.Cluster.Status.ConnectionString)
		r.view.Pause = inspect.NewPauseView(inspect.Facts{Snapshot: s})
	}
	if s.Database.Status != nil {
		available := s.Database.Available()
		r.view.Observed.DatabaseAvailable = &available
	}
}

// specDigest returns a digest of the spec of the resource that a pass is about.
func specDigest(s plan.Snapshot) string {
	var spec any
	switch {
	case s.Backup != nil:
		spec = s.Backup.Spec
	case s.Restore != nil:
		spec = s.Restore.Spec
	default:
		spec = s.Cluster.Spec
	}
	text, err := json.Marshal(spec)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ResourceOf returns the resource that a pass is about; nil before it was read.
func ResourceOf(s plan.Snapshot) metav1.Object {
	switch {
	case s.Backup != nil:
		return s.Backup
	case s.Restore != nil:
		return s.Restore
	case s.Cluster != nil:
		return s.Cluster
	default:
		return nil
	}
}

func (r *PlanRecorder) decided(e reconcile.StageDecided) {
	r.view.Decided = append(r.view.Decided, e.Stage)
	for _, c := range e.Checks {
		switch c.ID { //nolint:exhaustive // all others are part of actions and holds
		case plan.CheckKept:
			r.view.Kept = append(r.view.Kept, c)
		case plan.CheckKeptExist:
			r.missing = append(r.missing, c.Evidence)
		}
	}
	for _, a := range e.Actions {
		item := PlanItem{
			Number: len(r.view.Items) + 1, Stage: e.Stage, ActionRecord: inspect.RecordAction(a), Fingerprint: fingerprint(a), Why: e.Why,
			Preconditions: Preconditions{Lease: true, Lock: plan.EffectOf(a).Locked, Checks: inspect.OrEmpty(e.Checks)},
			Provisional:   e.Provisional, Bookkeeping: plan.IsBookkeeping(a),
		}
		r.view.Items = append(r.view.Items, item)
	}
	if e.Hold != nil {
		refused := slices.DeleteFunc(slices.Clone(e.Checks), func(c plan.Check) bool { return c.OK })
		r.view.Holds = append(r.view.Holds, PlanHold{Stage: e.Stage, HoldRecord: *inspect.RecordHold(e.Hold), Nature: e.Nature(), Refused: inspect.OrEmpty(refused), Provisional: e.Provisional})
	}
}

// View returns the plan so far.
func (r *PlanRecorder) View(m inspect.Metadata) PlanView {
	v := r.view
	v.Document = inspect.NewDocument("Plan", m, r.asOf, inspect.SourceLive)
	v.Gates, v.Items, v.Holds, v.Command = inspect.OrEmpty(v.Gates), inspect.OrEmpty(v.Items), inspect.OrEmpty(v.Holds), inspect.OrEmpty(v.Command)
	v.Warnings = append(v.Warnings, r.missing...)
	v.Digest = digest(v.keys())
	return v
}

// Sealed returns the plan with the digests of its fields, for a file. It is the last change of a plan.
func (v PlanView) Sealed() (PlanView, error) {
	v.Digests = nil
	var err error
	v.Digests, err = inspect.Seal(v)
	return v, err
}

// Refused returns the gates that would keep a pass from starting.
func (v PlanView) Refused() []plan.Check {
	return slices.DeleteFunc(slices.Clone(v.Gates), func(c plan.Check) bool { return c.OK })
}

// MainHold returns the first hold that does not only follow others, else the first; nil
// without one.
func (v PlanView) MainHold() *PlanHold {
	for i := range v.Holds {
		if !v.Holds[i].Follows {
			return &v.Holds[i]
		}
	}
	if len(v.Holds) > 0 {
		return &v.Holds[0]
	}
	return nil
}

// LosesData reports whether part of the plan deletes data that cannot be recovered.
func (v PlanView) LosesData() bool {
	return slices.ContainsFunc(v.Items, func(i PlanItem) bool { return i.Impact == plan.DataLoss })
}

// Privileges returns those of the pod templates of the resource that a pass is about.
func Privileges(s plan.Snapshot) []objects.Privilege {
	switch {
	case s.Backup != nil:
		return objects.BackupPrivileges(s.Backup)
	case s.Restore != nil || s.Cluster == nil:
		return nil
	default:
		return objects.Privileges(s.Cluster)
	}
}
