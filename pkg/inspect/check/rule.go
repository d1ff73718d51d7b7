package check

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// Severity is how severe the findings of a rule are.
type Severity string

// The severities, from the least severe.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Error    Severity = "error"
	Critical Severity = "critical"
)

// Severities returns all severities, from the least severe.
func Severities() []Severity { return []Severity{Info, Warning, Error, Critical} }

// AtLeast reports whether a severity is as severe as another, or more.
func (s Severity) AtLeast(other Severity) bool { return s.rank() >= other.rank() }

func (s Severity) rank() int {
	for i, known := range Severities() {
		if s == known {
			return i
		}
	}
	return -1
}

// Rule is one check of a cluster, which should find nothing.
type Rule struct {
	// Code identifies the rule permanently: its family and a number.
	Code     string
	Severity Severity
	// Title is what should be true, without a full stop.
	Title string
	// Why is the meaning of a finding.
	Why string
	// severe reports whether findings are errors, of a rule with warnings; nil for never.
	severe func(Facts) bool
	// needs is what the rule requires.
	needs requirement
	// find evaluates the rule. Untested is why it could not do so, or only in part; the
	// findings count even then.
	find func(f Facts) (found []Finding, untested string)
}

// Family returns the part of the code that names the subject of a rule.
func (r Rule) Family() string {
	family, _, _ := strings.Cut(r.Code, "-")
	return family
}

// Finding is one problem that a rule found, about one or more subjects.
type Finding struct {
	// Subjects are the affected objects: "processgroup/storage-1", "database".
	Subjects []string
	// Message is one sentence.
	Message string
	// Since is when it began; zero if unknown.
	Since time.Time
	// Fix is a command line without "kubectl", as arguments: what to run or to read next. Only
	// a user runs it.
	Fix []string
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

// requirement is what a rule needs to be evaluated.
type requirement int

const (
	nothing requirement = iota
	// statusDocument is a status document of the database.
	statusDocument
	// processList is a status document that lists the processes that report.
	processList
	// availableDatabase is a database that reports that it is available.
	availableDatabase
	// currentConditions are process groups with up-to-date conditions.
	currentConditions
	// sharedLists are the lock and the lists that control-plane instances keep in the database.
	sharedLists
)

// lacking returns the missing requirement of a rule; empty if it can be evaluated.
func (r Rule) lacking(f Facts) string {
	switch {
	case r.needs == nothing:
		return ""
	case f.Database.Status == nil:
		return inspect.NoAnswer(f.Database)
	case r.needs == statusDocument:
		return ""
	case r.needs == processList && !f.Database.Status.ListsProcesses():
		return "the database is unavailable and lists no processes"
	case r.needs == processList:
		return ""
	case !f.Database.Available() && r.needs == currentConditions && f.Cluster.Status.Configured:
		return "the conditions of the process groups are outdated: the database is unavailable"
	case !f.Database.Available() && r.needs != currentConditions:
		return "the database is unavailable"
	case r.needs == sharedLists && !f.Coordination.Read && usesShared(f):
		return "the lock and the shared lists in the database were not read"
	default:
		return ""
	}
}

// usesShared reports whether the spec uses the lock or the deny list.
func usesShared(f Facts) bool {
	return f.Cluster.LocksUsed() || len(f.Cluster.Spec.LockOptions.DenyList) > 0
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

const database = "database"

// group returns a process group as a subject.
func group(id v1beta2.ProcessGroupID) string { return "processgroup/" + string(id) }

// fix returns a command line of this plugin about the cluster.
func (f Facts) fix(words ...string) []string {
	return append([]string{"fdb", words[0], f.Cluster.Name}, words[1:]...)
}

func (f Facts) listGroups(words ...string) []string {
	return append([]string{"fdb", "get", "process-groups", f.Cluster.Name}, words...)
}
