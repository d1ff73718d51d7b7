package check

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// Severity is how bad it is when a rule finds something.
type Severity string

// The severities, from the lightest.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Error    Severity = "error"
	Critical Severity = "critical"
)

// Severities are all severities, from the lightest.
func Severities() []Severity { return []Severity{Info, Warning, Error, Critical} }

// AtLeast reports whether a severity is as bad as another, or worse.
func (s Severity) AtLeast(other Severity) bool { return s.rank() >= other.rank() }

func (s Severity) rank() int {
	for i, known := range Severities() {
		if s == known {
			return i
		}
	}
	return -1
}

// Rule is one question about a cluster whose answer should be "nothing found".
type Rule struct {
	// Code names the rule for good: its family, and a number.
	Code     string
	Severity Severity
	// Title is what should be so, as a sentence without a full stop.
	Title string
	// Why says what it means when it is not so.
	Why string
	// needs is what has to be known before the rule can look.
	needs need
	// find looks. It says in untested why it could not; what it did find counts even then.
	find func(f Facts) (found []Finding, untested string)
}

// Family is the part of the code that says what a rule is about.
func (r Rule) Family() string {
	family, _, _ := strings.Cut(r.Code, "-")
	return family
}

// Finding is one thing that a rule found, about one or many subjects.
type Finding struct {
	// Subjects are what it is about: "processgroup/storage-1", "database".
	Subjects []string
	// Message is one sentence.
	Message string
	// Since is when it began; zero when nobody knows.
	Since time.Time
	// Fix are the words of a command line, without "kubectl": what to run or to look at
	// next. Nobody runs it but a person.
	Fix []string
}

// Facts are what rules look at.
type Facts struct {
	ui.Facts
	// Status is the same as the command status shows it.
	Status ui.StatusView
	// Record is the custom resource as it is stored, without anything spelled out.
	Record *v1beta2.FoundationDBCluster
	// Secrets are the mounted Secrets of a cluster with TLS, by name; nil without TLS.
	Secrets map[string]Secret
	// Backups are those of the cluster, and the restores into it.
	Backups ui.ClusterBackups
	// Names are lookups of the coordinators' names in a pod of the cluster. NamesUnread is why
	// they were not measured.
	Names       fdb.NameLookups
	NamesUnread string
	// Missing are the powers that a pass needs and that this user does not have. Read
	// only when MissingRead is true.
	Missing     []string
	MissingRead bool
}

// Secret is what is known of a mounted Secret's certificates.
type Secret struct {
	// Expires says when each certificate ends, by key of the Secret: of several under one
	// key the first to end.
	Expires map[string]time.Time
	// Unread is why nobody could look; empty when somebody could.
	Unread string
}

// need is what a rule cannot do without.
type need int

const (
	nothing need = iota
	// databaseWord is a status document.
	databaseWord
	// listing is a document that lists the processes that report.
	listing
	// serving is a database that serves, by its own word.
	serving
	// judged are process groups whose conditions are of now.
	judged
	// shared is what instances keep in the database for each other.
	shared
)

// lacking says what a rule needs and does not have; empty when it can look.
func (r Rule) lacking(f Facts) string {
	switch {
	case r.needs == nothing:
		return ""
	case f.Database.Status == nil:
		return "no answer from the database: " + f.Database.Why()
	case r.needs == databaseWord:
		return ""
	case r.needs == listing && !f.Database.Status.ListsProcesses():
		return "the database is unavailable and lists no processes"
	case r.needs == listing:
		return ""
	case !f.Database.Available() && r.needs == judged && f.Cluster.Status.Configured:
		return "the process groups were not judged anew: the database does not serve"
	case !f.Database.Available() && r.needs != judged:
		return "the database does not serve"
	case r.needs == shared && !f.Coordination.Read && usesShared(f):
		return "what instances share in the database was not read"
	default:
		return ""
	}
}

// usesShared reports whether anything of the spec is about what instances share.
func usesShared(f Facts) bool {
	return f.Cluster.LocksUsed() || len(f.Cluster.Spec.LockOptions.DenyList) > 0
}

// reasons are why a rule could not look at some of its subjects, alike ones once.
type reasons []string

func (r *reasons) add(subject, why string) {
	if subject != "" && why != "" {
		why = subject + ": " + why
	}
	if why != "" && !slices.Contains(*r, why) {
		*r = append(*r, why)
	}
}

// String is empty where there are none.
func (r reasons) String() string { return strings.Join(r, "; ") }

// one is a list of a single finding.
func one(subject, message string, fix ...string) []Finding {
	return []Finding{{Subjects: []string{subject}, Message: message, Fix: fix}}
}

// with is a rule's answer when nothing kept it from looking.
func with(found []Finding) ([]Finding, string) { return found, "" }

const database = "database"

// group is a process group as a subject.
func group(id v1beta2.ProcessGroupID) string { return "processgroup/" + string(id) }

// fix is a command line of ours about the cluster.
func (f Facts) fix(words ...string) []string {
	return append([]string{"fdb", words[0], f.Cluster.Name}, words[1:]...)
}

func (f Facts) listGroups(words ...string) []string {
	return append([]string{"fdb", "get", "process-groups", f.Cluster.Name}, words...)
}
