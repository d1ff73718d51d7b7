package check

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
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
