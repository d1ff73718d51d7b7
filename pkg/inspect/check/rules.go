package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// Severity is how severe the findings of a rule are.
type Severity = findings.Severity

// The severities, from the least severe.
const (
	Info     = findings.Info
	Warning  = findings.Warning
	Error    = findings.Error
	Critical = findings.Critical
)

// Rule is one check of a cluster, which should find nothing.
type Rule = findings.Rule[Facts]

// Finding is one problem that a rule found, about one or more subjects.
type Finding = findings.Finding

// rulesOf returns the rules about a cluster that other documents evaluate as well.
func rulesOf(rules []findings.Rule[inspect.Facts]) []Rule {
	return findings.Within(rules, func(f Facts) inspect.Facts { return f.Facts })
}

// Facts are the input of the rules.
type Facts struct {
	inspect.Facts
	// Status is the document of the command status.
	Status inspect.StatusView
	// Resource is the custom resource as it is stored, without defaults.
	Resource *v1beta2.FoundationDBCluster
	// Secrets are the mounted Secrets of a cluster with TLS, by name; nil without TLS.
	Secrets map[string]Secret
	// Backups are those of the cluster, and the restores into it.
	Backups inspect.ClusterBackups
	// Others are the objects of other controllers.
	Others OtherControllers
	// Names are lookups of the coordinators' names in a pod of the cluster. NamesUnread is why
	// they were not measured.
	Names       fdb.NameLookups
	NamesUnread string
	// Served are the certificates that processes serve. ServedUnread is why they were not read.
	Served       []fdb.ServedCertificate
	ServedUnread string
	// Templates are the restrictions of pod templates.
	Templates objects.TemplateRestrictions
	// Missing are the permissions that a pass needs and the user does not have. It is valid
	// only if MissingRead is true.
	Missing     []string
	MissingRead bool
	// Manifests is what is wrong with the manifests that a report is about; nil for one about a cluster as it is stored.
	Manifests *Manifests
}

// Secret has the certificates of a mounted Secret.
type Secret struct {
	// Expires is when each certificate expires, by key of the Secret: of several under one key
	// the first.
	Expires map[string]time.Time
	// ValidFrom is when each of these certificates became valid, by key; absent if unknown.
	ValidFrom map[string]time.Time
	// Issued is when the newest certificate became valid; zero if unknown. Processes that started
	// earlier have read an older one.
	Issued time.Time
	// Fingerprints are those of all certificates, as fdb.Fingerprint returns them.
	Fingerprints []string
	// Unread is why they could not be read; empty if they could.
	Unread string
}

// reasons are why a rule could not be evaluated on some of its subjects, without duplicates.
type reasons []string

func (r *reasons) add(subject, why string) {
	if subject != "" && why != "" {
		why = subject + ": " + why
	}
	if why != "" && !slices.Contains(*r, why) {
		*r = append(*r, why)
	}
}

// String returns the reasons on one line; empty if there are none.
func (r reasons) String() string { return strings.Join(r, "; ") }

// one returns a list of a single finding.
func one(subject, message string, fix ...string) []Finding {
	return []Finding{{Subjects: []string{subject}, Message: message, Fix: fix}}
}

// with returns the result of a rule that was evaluated in full.
func with(found []Finding) ([]Finding, string) { return found, "" }

// edit returns a finding about a field of a resource that its author has to change.
func edit(kind, name, subject, field, message string) Finding {
	return Finding{Subjects: []string{subject}, Field: field, Message: message, Fix: []string{"edit", kind, name}}
}

func (f Facts) edit(subject, field, message string) Finding {
	return edit("foundationdbcluster", f.Cluster.Name, subject, field, message)
}

// templateField returns the path of the pod template that a class has: its own, or the general one.
func (f Facts) templateField(class v1beta2.ProcessClass) string {
	if f.Resource != nil && f.Resource.Spec.Processes[class].PodTemplate == nil && f.Resource.Spec.Processes[v1beta2.ProcessClassGeneral].PodTemplate != nil {
		class = v1beta2.ProcessClassGeneral
	}
	return "spec.processes[" + string(class) + "].podTemplate"
}

const database = "database"

// fix returns a command line of this plugin about the cluster.
func (f Facts) fix(words ...string) []string { return f.Fix(words...) }

func (f Facts) listGroups(words ...string) []string { return f.ListGroups(words...) }

// Rules returns all rules in the order of their families.
func Rules() []Rule {
	return slices.Concat(deletions(), availability(), topology(), coordinators(), connections(), groups(), pods(), rulesOf(inspect.NodeRules()), autoscalers(), budgets(), volumes(), storageClasses(), certificates(),
		upgrades(), locks(), drifts(), settings(), templates(), admissions(), orphans(), backups(), backupResources(), restores(), permissions())
}

// RuleList is the document of `check --list`.
type RuleList struct {
	inspect.Document
	Items []RuleView `json:"items"`
}

// RuleView is one rule.
type RuleView struct {
	Rule        string   `json:"rule"`
	Family      string   `json:"family"`
	Severity    Severity `json:"severity"`
	Title       string   `json:"title"`
	Explanation string   `json:"explanation"`
}

// NewRuleList returns the document.
func NewRuleList(m inspect.Metadata, rules []Rule) RuleList {
	l := RuleList{Document: inspect.NewDocument("CheckRuleList", m, time.Time{}, inspect.SourceLive), Items: []RuleView{}}
	for _, r := range rules {
		l.Items = append(l.Items, RuleView{r.Code, r.Family(), r.Severity, r.Title, r.Why})
	}
	return l
}

// Named returns the rules of these codes or families, or all without names; unknown is the
// first name that no rule has.
func Named(names []string) (rules []Rule, unknown string) {
	for _, name := range names {
		known := false
		for _, r := range Rules() {
			known = known || named(r, []string{name})
		}
		if !known {
			return nil, name
		}
	}
	for _, r := range Rules() {
		if len(names) == 0 || named(r, names) {
			rules = append(rules, r)
		}
	}
	return rules, ""
}

// admissions returns the rules about what the API server accepts.
func admissions() []Rule {
	return []Rule{
		{
			Code: "ADM-001", Severity: Error, Title: "The API server accepts the objects of the cluster",
			Why:  "A ResourceQuota, a LimitRange, Pod Security, a policy, a webhook or the validation of the API server refused an object when a pass wrote it last. No permission is missing. The next pass tries again; only what a ResourceQuota refuses can be accepted without a change of the rule or of the spec.",
			Find: refusedObjects,
		},
		{
			Code: codeRoom, OfSpec: true, Severity: Warning, Title: "The namespace has room for the added process groups",
			Why:  "A ResourceQuota or a LimitRange of the manifests or of the namespace refuses pods or PVCs that the counts of the spec add: the cluster is created in part, and its database may not start. Only manifests are checked; kubectl fdb plan compares all that its passes create with the quotas.",
			Find: noRoom,
		},
	}
}

func refusedObjects(f Facts) (found []Finding, untested string) {
	if !f.Lease.Read {
		return nil, "the Lease, which has the refusals, could not be read"
	}
	all := f.Refusals()
	for _, r := range plan.ByRule(all) {
		finding := Finding{Message: r.Rule() + " refused: " + r.Message + "; " + r.Remedy(), Fix: f.fix("reconcile", "--dry-run=server")}
		for _, other := range all {
			if other.Kind == r.Kind && other.By == r.By {
				finding.Subjects = append(finding.Subjects, other.Object())
				finding.Began(other.Since)
			}
		}
		found = append(found, finding)
	}
	return found, ""
}

// drifts returns the rules about differences from the spec.
func drifts() []Rule {
	return []Rule{
		{
			Code: "DRIFT-001", Severity: Warning, Title: "The database configuration matches the spec", Needs: findings.NeedsStatusDocument,
			Why:  "A pass changes it, or reports what it waits for.",
			Find: configurationDrift,
		},
		{
			Code: "DRIFT-002", Severity: Info, Title: "The cluster is reconciled", Needs: findings.NeedsCurrentConditions,
			Why:  "The plan shows what a pass would do.",
			Find: unreconciled,
		},
		{
			Code: "DRIFT-003", Severity: Info, Title: "Reconciliation is not paused",
			Why:  "spec.skip stops operators: nothing is repaired until a user runs a pass.",
			Find: reconciliationPaused,
		},
	}
}

func configurationDrift(f Facts) ([]Finding, string) {
	switch matches := f.Status.Configuration.Matches; {
	case matches == nil:
		return nil, "the configuration of the database is unknown"
	case *matches:
		return nil, ""
	default:
		return with(one(database, "its configuration does not match the spec", f.fix("plan")...))
	}
}

func unreconciled(f Facts) ([]Finding, string) {
	if f.Gaps.Reconciled() {
		return nil, ""
	}
	return with(one("foundationdbcluster/"+f.Cluster.Name, "not reconciled: "+someReasons(f.Gaps.Reasons), f.fix("plan")...))
}

// someReasons returns the first reason and the number of others: each process group can have
// several.
func someReasons(reasons []string) string {
	if len(reasons) == 1 {
		return reasons[0]
	}
	return reasons[0] + ", and " + phrase.Count(len(reasons)-1, "more reason")
}

func reconciliationPaused(f Facts) ([]Finding, string) {
	if !f.Cluster.Spec.Skip {
		return nil, ""
	}
	return with(one("foundationdbcluster/"+f.Cluster.Name, "spec.skip is true",
		"patch", "foundationdbcluster", f.Cluster.Name, "--type", "merge", "-p", `{"spec":{"skip":false}}`))
}

// topology returns the rules about the number of processes and their fault domains.
func topology() []Rule {
	return []Rule{
		{
			Code: "TOPO-001", Severity: Error, Title: "Processes report from enough fault domains", Needs: findings.NeedsProcessList,
			Why: "The redundancy mode needs more zones or data halls than there are. FoundationDB accepts such a configuration and waits forever.",
			Find: func(f Facts) ([]Finding, string) {
				return with(f.refused(safety.CanHold(f.Database, f.Desired)))
			},
		},
		{
			Code: "TOPO-002", Severity: Warning, Title: "Each class has the desired number of process groups",
			Why:  "The next pass adds the missing ones.",
			Find: fewGroups,
		},
		{
			Code: "TOPO-003", Severity: Warning, Title: "Packed pods are in the fault domain of their distribution key", Severe: requiresDistribution,
			Why:  "A fault domain may have been full, or pods are still being replaced. The loss of a fault domain, or its maintenance, then affects more than one bucket.",
			Find: misplaced,
		},
	}
}

// requiresDistribution reports whether misplaced pods are errors: the scheduler would not place them so.
func requiresDistribution(f Facts) bool { return distribution.Of(f.Cluster).Required() }

func misplaced(f Facts) ([]Finding, string) {
	use := f.Distribution()
	if use == nil {
		return nil, ""
	}
	found, where := []Finding{}, use.Misplaced()
	for _, subject := range slices.Sorted(maps.Keys(where)) {
		found = append(found, one(subject, where[subject], f.listGroups("-o", "wide")...)...)
	}
	return found, ""
}

func fewGroups(f Facts) ([]Finding, string) {
	var found []Finding
	for _, c := range f.Status.ProcessGroups.Classes {
		if c.Current < c.Desired {
			found = append(found, one("class/"+c.Class, fmt.Sprintf("%s, %d desired", phrase.Count(c.Current, "process group"), c.Desired), f.fix("plan")...)...)
		}
	}
	return found, ""
}
