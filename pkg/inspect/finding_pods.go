package inspect

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// The rules about pods that the problems of process groups belong to.
const (
	CodePodMissing     = "POD-001"
	CodePodUnscheduled = "POD-002"
	CodePodNotReady    = "POD-003"
	CodePodTerminating = "POD-004"
)

// ForOthers follows a message about one process group that holds for others as well.
const ForOthers = " (and alike for the others)"

// PodRules returns the rules about pods as Kubernetes reports them: they need no database.
func PodRules() []findings.Rule[Facts] {
	return []findings.Rule[Facts]{
		{
			Code: CodePodMissing, Severity: findings.Error, Title: "Every process group has its pod",
			Why:  "A pass recreates it with its existing PVC.",
			Find: missingPods,
		},
		{
			Code: CodePodUnscheduled, Severity: findings.Error, Title: "Every pod is scheduled",
			Why:  "A pod without a node has no processes; its events have the reason.",
			Find: func(f Facts) ([]findings.Finding, string) { return f.podsWith(CodePodUnscheduled), "" },
		},
		{
			Code: CodePodNotReady, Severity: findings.Error, Title: "All containers are ready",
			Why:  "The pod serves nothing, or crashes repeatedly.",
			Find: func(f Facts) ([]findings.Finding, string) { return f.podsWith(CodePodNotReady), "" },
		},
		{
			Code: CodePodTerminating, Severity: findings.Warning, Title: "No pod, PVC or service terminates slowly",
			Why:  "A finalizer may hold it, or its node may be lost: Kubernetes waits for the kubelet to confirm the end. The process group waits with it, also one that was removed.",
			Find: slowToTerminate,
		},
	}
}

func missingPods(f Facts) ([]findings.Finding, string) {
	found := findings.Finding{Message: "its pod is missing", Fix: f.Fix("plan")}
	for _, g := range f.Remaining() {
		if f.Pod(g) == nil {
			addGroup(&found, findings.ProcessGroup(g.ProcessGroupID), g)
			found.Began(f.withoutPod(g).Since)
		}
	}
	return found.IfAny(), ""
}

// podsWith returns the pods with a problem of one rule: one finding for all with the same problem.
func (f Facts) podsWith(code string) []findings.Finding {
	var found []findings.Finding
	var keys []ProblemKey
	for _, g := range f.Groups() {
		if pod := f.Pod(g); pod == nil || serves(pod) {
			continue
		}
		t := f.problemWith(g, code)
		if t == nil {
			continue
		}
		at := slices.Index(keys, t.Key)
		if at < 0 {
			at, keys = len(keys), append(keys, t.Key)
			found = append(found, findings.Finding{Message: "the pod " + t.Message, Fix: t.Command})
		}
		if t.Own && len(found[at].Groups) == 1 {
			found[at].Message += ForOthers
		}
		addGroup(&found[at], findings.Pod(t.Pod), g)
		found[at].Began(t.Since)
	}
	return found
}

// serves reports whether a pod has a node, and all of its containers run and are ready: no rule about pods is evaluated
// then, which for hundreds of them takes time.
func serves(pod *corev1.Pod) bool {
	waits := func(c corev1.ContainerStatus) bool { return c.State.Waiting != nil }
	idle := func(c corev1.ContainerStatus) bool { return !c.Ready || waits(c) || c.State.Terminated != nil }
	return pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil && !hasEnded(pod) &&
		!slices.ContainsFunc(pod.Status.InitContainerStatuses, waits) && !slices.ContainsFunc(pod.Status.ContainerStatuses, idle)
}

// problemWith returns the first problem of a process group that belongs to a rule; nil for none.
func (f Facts) problemWith(g *v1beta2.ProcessGroupStatus, code string) *Problem {
	for _, t := range f.problemsOf(g) {
		if t.Code == code {
			return t
		}
	}
	return nil
}

// slow reports whether an object of a process group takes longer to terminate than passes wait for it.
func (f Facts) slow(t readings.Terminating) bool {
	return t.Stuck || f.Now.Sub(t.Due) > f.Cluster.IgnoreTerminatingPodsFor()
}

// codeOfEnd returns the code of an object that terminates slowly; none of one that just terminates.
func (f Facts) codeOfEnd(t readings.Terminating) string {
	if !f.slow(t) {
		return ""
	}
	return CodePodTerminating
}

func slowToTerminate(f Facts) ([]findings.Finding, string) {
	var found []findings.Finding
	for _, g := range f.Groups() {
		for _, t := range readings.TerminatingOf(f.Snapshot, g) {
			endsWithPod := t.Pod != "" && len(t.Finalizers) == 0 // its pod is a finding, or DEL-003 has it
			if !f.slow(t) || endsWithPod {
				continue
			}
			message := t.Text(f.Now)
			if remedy := t.Remedy(); remedy != "" {
				message += "; " + remedy
			}
			kind := strings.ToLower(t.Kind)
			subject := kind + "/" + t.Name
			if t.Kind == readings.KindPVC {
				subject = findings.Claim(t.Name)
			}
			one := findings.Finding{Message: message, Since: t.Due, Fix: []string{"describe", kind, t.Name}}
			addGroup(&one, subject, g)
			found = append(found, one)
		}
	}
	return found, ""
}

// clientWarnings are the issues of clients. They do not degrade the database.
func (v DatabaseView) clientWarnings() []string {
	var all []string
	for _, issue := range v.ClientIssues {
		all = append(all, fmt.Sprintf("clients have issues: %s; FoundationDB reports them until 10 minutes after a client ended", issue))
	}
	return all
}

// ClientIssueView is a problem that clients report about themselves: a database with any does not call itself
// healthy.
type ClientIssueView struct {
	// Name is FoundationDB's, such as incorrect_cluster_file_contents.
	Name    string `json:"name"`
	Clients int    `json:"clients"`
	// Addresses are those of some of the clients.
	Addresses []string `json:"addresses,omitempty"`
}

func (v ClientIssueView) String() string {
	if len(v.Addresses) == 0 {
		return fmt.Sprintf("%s of %s", v.Name, phrase.Count(v.Clients, "client"))
	}
	return fmt.Sprintf("%s of %s at %s", v.Name, phrase.Count(v.Clients, "client"), phrase.Some(v.Addresses, MostNamed))
}
