package check

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// settings returns the rules about the effect of the spec.
func settings() []Rule {
	return []Rule{
		{
			Code: "CFG-001", OfSpec: true, Severity: Error, Title: "The API server kept all fields of the spec",
			Why:  "The API server drops fields that its CRD does not have without an error: those of v1beta1, misspelled ones, and with the CRD of the operator those of this program. The spec is not what was applied. Fields of the manifest of the last kubectl apply are compared; a patch and a server-side apply leave no trace of dropped fields: managedFields has none of them either, because the API server drops them before it records managed fields.",
			Find: droppedFields,
		},
		{
			Code: "CFG-002", Severity: Info, Title: "Failures are detected", Needs: findings.NeedsCurrentConditions,
			Why:  "A failed process group is replaced some time after a run recorded its condition. Without a watch, an operator or a failure detector nothing records it.",
			Find: undetected,
		},
		{
			Code: "CFG-010", OfSpec: true, Severity: Error, Title: "The spec sets nothing that a pass sets itself",
			Why:  "Arguments, variables, annotations and keys of the ConfigMap that a pass sets identify the processes and configure them. With other values a pass finds no process of the cluster again, so none is carried out.",
			Find: overrides,
		},
		{
			Code: "CFG-011", OfSpec: true, Severity: Error, Title: "The spec is valid",
			Why:  "No pass reconciles a cluster whose spec has an error: nothing is repaired until it is corrected. The operator accepts some of these errors and carries them out. Commands that read work, as do those that need no spec.",
			Find: invalidFields,
		},
		{
			Code: "CFG-012", OfSpec: true, Severity: Error, Title: "Processes as the spec has them can form a database",
			Why:  "Counts, localities, names and certificates of the spec contradict each other: pods and volumes would exist, and no database with the configuration of the spec. No new cluster is created from such a spec; one that exists is left as it is.",
			Find: contradictions,
		},
		{
			Code: "CFG-013", OfSpec: true, Severity: Warning, Title: "Memory limits fit the processes of a pod",
			Why:  "fdbserver keeps to a limit of its own, 8 GiB unless customParameters have memory, and FoundationDB asks for 4 GiB per process. A container with less runs until there is load; then the kernel ends its processes repeatedly.",
			Find: littleMemory,
		},
	}
}

func littleMemory(f Facts) ([]Finding, string) {
	var found []Finding
	for _, l := range objects.TooLittleMemory(f.Cluster) {
		found = append(found, f.edit("class/"+string(l.Class), f.templateField(l.Class), l.Text()))
	}
	return found, ""
}

func droppedFields(f Facts) ([]Finding, string) {
	var found []Finding
	for _, field := range f.Cluster.DroppedFields() {
		found = append(found, one("foundationdbcluster/"+f.Cluster.Name,
			fmt.Sprintf("the API server dropped %s: install manifests/crd, or use the annotation %s", field, field.Annotation()),
			"get", "foundationdbcluster", f.Cluster.Name, "-o", "yaml")...)
	}
	if f.Manifests != nil {
		return append(found, f.Manifests.lost()...), ""
	}
	for _, lost := range f.Cluster.LostFields() {
		message := "the API server dropped " + lost.Path + ", which FoundationDBCluster does not have"
		if lost.Successor != "" {
			message += ": use " + lost.Successor
		}
		found = append(found, one("foundationdbcluster/"+f.Cluster.Name, message, "explain", "foundationdbcluster.spec")...)
	}
	return found, ""
}

func invalidFields(f Facts) ([]Finding, string) {
	var found []Finding
	refused := f.Manifests.refused(isOfCluster)
	for _, field := range f.InvalidSpec {
		if !slices.ContainsFunc(refused, func(r Finding) bool { return r.Field == field.Field }) {
			found = append(found, f.edit("foundationdbcluster/"+f.Cluster.Name, field.Field, field.Message))
		}
	}
	return append(refused, found...), ""
}

func contradictions(f Facts) ([]Finding, string) {
	var found []Finding
	for _, err := range objects.Contradictions(f.Cluster) {
		found = append(found, f.edit("foundationdbcluster/"+f.Cluster.Name, err.Field, err.Error()))
	}
	return found, ""
}

func overrides(f Facts) ([]Finding, string) {
	var found []Finding
	for _, err := range objects.Overrides(f.Cluster) {
		found = append(found, f.edit("foundationdbcluster/"+f.Cluster.Name, err.Field, err.Field+": "+err.Detail))
	}
	return found, ""
}

// missedPeriods is how many failure detection times may pass without a sign of detection.
const missedPeriods = 3

func undetected(f Facts) ([]Finding, string) {
	if !f.Cluster.ReplacementsEnabled() || f.Cluster.MaxConcurrentAutomaticReplacements() == 0 {
		return nil, ""
	}
	if f.Cluster.RunsFailureDetector() {
		return idleDetector(f)
	}
	return unrecordedFailures(f)
}

// idleDetector finds a failure detector that does not run.
func idleDetector(f Facts) ([]Finding, string) {
	job, name := f.Detector.Job, objects.FailureDetectorName(f.Cluster)
	long := missedPeriods * f.Cluster.FailureDetectionTime()
	v := f.Status.Reconciliation.FailureDetector
	switch {
	case f.Detector.Hidden != "":
		return nil, f.Detector.Hidden
	case job == nil:
		return with(one("cronjob/"+name, "the failure detector has no CronJob yet", f.fix("plan")...))
	case v.Suspended:
		return with(one("cronjob/"+name, "it is suspended", "describe", "cronjob", name))
	case f.Now.Sub(job.CreationTimestamp.Time) > long && (v.LastSuccess == nil || f.Now.Sub(*v.LastSuccess) > long):
		finding := Finding{Subjects: []string{"cronjob/" + name}, Message: "no job has succeeded for more than " + phrase.Duration(long), Fix: []string{"describe", "cronjob", name}}
		if v.LastSuccess != nil {
			finding.Since = *v.LastSuccess
		}
		return finding.IfAny(), ""
	default:
		return nil, ""
	}
}

// unrecordedFailures finds process groups with a condition that no run has recorded, where no
// run held the Lease for long. A run without a change takes no Lease, so the Lease alone
// proves nothing.
func unrecordedFailures(f Facts) ([]Finding, string) {
	long := missedPeriods * f.Cluster.FailureDetectionTime()
	recent := f.Now.Sub(f.Lease.Until) < long
	finding := Finding{Message: fmt.Sprintf("it has failed, no run has recorded that, and none has acted for %s", phrase.Duration(long)), Fix: f.fix("detect-failures")}
	for _, g := range f.Cluster.Status.ProcessGroups {
		if !g.IsMarkedForRemoval() && hasUnrecorded(g, f.Resource.ProcessGroup(g.ProcessGroupID)) {
			finding.Subjects = append(finding.Subjects, findings.ProcessGroup(g.ProcessGroupID))
		}
	}
	switch {
	case len(finding.Subjects) > 0 && !f.Lease.Read:
		return nil, "the Lease could not be read"
	case recent:
		return nil, ""
	default:
		return finding.IfAny(), ""
	}
}

func hasUnrecorded(now, recorded *v1beta2.ProcessGroupStatus) bool {
	for _, c := range v1beta2.ReplacementConditions() {
		if now.HasCondition(c) && (recorded == nil || !recorded.HasCondition(c)) {
			return true
		}
	}
	return false
}
