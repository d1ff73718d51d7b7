package check

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// Labels, annotations and taints of the controllers that add and remove nodes. Sources: the
// documentation of Karpenter (v1), of the Cluster Autoscaler, of the AWS Node Termination Handler, and of
// Kubernetes.
const (
	karpenterNodePool     = "karpenter.sh/nodepool"
	karpenterDoNotDisrupt = "karpenter.sh/do-not-disrupt"
	karpenterDisrupted    = "karpenter.sh/disrupted"
	karpenterDisruption   = "karpenter.sh/disruption" // before Karpenter 1.0
	safeToEvict           = "cluster-autoscaler.kubernetes.io/safe-to-evict"
	toBeDeleted           = "ToBeDeletedByClusterAutoscaler"
	deletionCandidate     = "DeletionCandidateOfClusterAutoscaler"
	cloudShutdown         = "node.cloudprovider.kubernetes.io/shutdown"
	spotInterruption      = "aws-node-termination-handler/spot-itn"
	scheduledMaintenance  = "aws-node-termination-handler/scheduled-maintenance"
	lifecycleTermination  = "aws-node-termination-handler/asg-lifecycle-termination"
	rebalance             = "aws-node-termination-handler/rebalance-recommendation"
)

// autoscalers returns the rules about controllers that remove nodes.
func autoscalers() []Rule {
	return []Rule{
		{
			Code: "SCALE-001", Severity: Warning, Title: "Karpenter does not disrupt nodes with data",
			Why:  "Karpenter evicts pods to consolidate or update nodes. With the annotation karpenter.sh/do-not-disrupt on pods with data or coordination state it leaves their nodes alone; a node that expires or is interrupted is drained all the same, and waits for such pods no longer than terminationGracePeriod of its NodePool; a PodDisruptionBudget or the eviction webhook only limits how many it evicts at a time. In the pod template it is added to running pods, and nothing restarts.",
			Find: disruptable,
		},
		{
			Code: "SCALE-002", Severity: Warning, Title: "No pod with data is declared safe to evict",
			Why:  "The Cluster Autoscaler leaves nodes alone whose pods have no replica set or the like, unless the annotation cluster-autoscaler.kubernetes.io/safe-to-evict is true. Then it evicts them to remove a node that is little used. That holds for its default --skip-nodes-with-custom-controller-pods=true; with false it may also evict pods without the annotation. The value false prevents it in any case.",
			Find: declaredSafe,
		},
		{
			Code: "SCALE-003", Severity: Warning, Title: "No node with pods is about to be removed",
			Why:  "An autoscaler, a cloud or a user removes the node. Drain it first, while its processes can still hand over their data.",
			Find: vanishingNodes,
		},
		{
			Code: "SCALE-004", Severity: Info, Title: "No cordoned node has pods of the cluster",
			Why:  "A drain runs, waits for something, was interrupted, or has not begun. No new pod is scheduled to the node: a pod without a volume moves to another node if it is recreated, and one whose volume is bound to the node stays pending.",
			Find: cordonedNodes,
		},
	}
}

// podsWithState returns the process groups with data or coordination state whose pods exist.
func (f Facts) podsWithState() []*v1beta2.ProcessGroupStatus {
	var all []*v1beta2.ProcessGroupStatus
	for _, g := range f.Groups() {
		if p := f.Pod(g); p == nil || p.DeletionTimestamp != nil {
			continue
		}
		if objects.InDisruptionBudget(g.ProcessClass) || safety.Coordinates(f.Snapshot, g) {
			all = append(all, g)
		}
	}
	return all
}

// disruptable finds pods with state on nodes of Karpenter that it may evict. A node that has the
// annotation itself is left alone as well.
func disruptable(f Facts) ([]Finding, string) {
	at := map[v1beta2.ProcessClass][]string{}
	untested := reasons{}
	untested.add("", f.Others.unreadNodes())
	for _, g := range f.podsWithState() {
		p := f.Pod(g)
		if p.Spec.NodeName == "" || f.Others.NodesUnread != "" {
			continue
		}
		node := f.Others.node(p.Spec.NodeName)
		switch {
		case node == nil:
			untested.add("node/"+p.Spec.NodeName, "not found")
		case node.Labels[karpenterNodePool] == "":
		case protects(p.Annotations[karpenterDoNotDisrupt]) || protects(node.Annotations[karpenterDoNotDisrupt]):
		default:
			at[g.ProcessClass] = append(at[g.ProcessClass], findings.Pod(p.Name))
		}
	}
	return f.annotated(at, karpenterDoNotDisrupt, "true", "Karpenter may evict it: no annotation "+karpenterDoNotDisrupt+"=true", &untested)
}

// protects reports whether a value of karpenter.sh/do-not-disrupt keeps Karpenter away for good.
func protects(value string) bool { return value == strconv.FormatBool(true) }

// declaredSafe finds pods with state that the Cluster Autoscaler may evict.
func declaredSafe(f Facts) ([]Finding, string) {
	at := map[v1beta2.ProcessClass][]string{}
	for _, g := range f.podsWithState() {
		if p := f.Pod(g); p.Annotations[safeToEvict] == strconv.FormatBool(true) {
			at[g.ProcessClass] = append(at[g.ProcessClass], findings.Pod(p.Name))
		}
	}
	return f.annotated(at, safeToEvict, "false", "the Cluster Autoscaler may evict it: annotation "+safeToEvict+"=true", &reasons{})
}

// annotated returns a finding for each class, with the patch that gives its pods the annotation.
func (f Facts) annotated(at map[v1beta2.ProcessClass][]string, key, value, message string, untested *reasons) ([]Finding, string) {
	var found []Finding
	for _, class := range slices.Sorted(maps.Keys(at)) {
		finding := Finding{Subjects: at[class], Message: message}
		patch, err := annotationPatch(f.Resource, class, key, value)
		if err != nil {
			untested.add("class/"+string(class), err.Error())
		} else {
			finding.Fix = f.patch(patch)
		}
		found = append(found, finding)
	}
	return found, untested.String()
}

// annotationPatch returns a merge patch that gives the pods of a class an annotation and changes
// nothing else.
func annotationPatch(cluster *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass, key, value string) (string, error) {
	template, err := inheritedTemplate(cluster, class)
	if err != nil {
		return "", err
	}
	metadata := child(template, "metadata")
	child(metadata, "annotations")[key] = value
	return templatePatch(class, template)
}

// vanishingNodes finds nodes with pods of the cluster that are about to be removed.
func vanishingNodes(f Facts) ([]Finding, string) {
	return f.eachUsedNode(func(n *corev1.Node, _ int) *Finding {
		message, since := vanishes(n)
		if message == "" {
			return nil
		}
		return &Finding{Message: message, Since: since, Fix: f.fix("drain", n.Name)}
	})
}

// cordonedNodes finds nodes with pods of the cluster that are cordoned, unless SCALE-003 finds them.
func cordonedNodes(f Facts) ([]Finding, string) {
	return f.eachUsedNode(func(n *corev1.Node, pods int) *Finding {
		if message, _ := vanishes(n); message != "" || !n.Spec.Unschedulable {
			return nil
		}
		finding := &Finding{Message: "the node is cordoned, with " + phrase.Count(pods, "pod") + " of the cluster", Fix: f.fix("drain", n.Name)}
		for _, t := range n.Spec.Taints {
			if t.Key == corev1.TaintNodeUnschedulable {
				finding.Since = addedAt(t)
			}
		}
		if f.Lease.OperationActive && f.Lease.Operation != nil {
			finding.Message += "; active operation: " + f.Lease.Operation.Command
			finding.Fix = []string{"fdb", "operations", "list"}
		}
		return finding
	})
}

// eachUsedNode returns the findings about each node with pods of the cluster, by their number.
func (f Facts) eachUsedNode(judge func(n *corev1.Node, pods int) *Finding) ([]Finding, string) {
	if why := f.Others.unreadNodes(); why != "" {
		return nil, why
	}
	used := map[string]int{}
	for _, p := range f.Pods {
		used[p.Spec.NodeName]++
	}
	var found []Finding
	for i := range f.Others.Nodes {
		n := &f.Others.Nodes[i]
		if used[n.Name] == 0 {
			continue
		}
		if finding := judge(n, used[n.Name]); finding != nil {
			finding.Subjects = []string{"node/" + n.Name}
			found = append(found, *finding)
		}
	}
	return found, ""
}

// vanishes returns by what a node is about to be removed, and since when; empty if by nothing.
func vanishes(n *corev1.Node) (message string, since time.Time) {
	if n.DeletionTimestamp != nil {
		return "the node is being deleted", n.DeletionTimestamp.Time
	}
	for _, t := range n.Spec.Taints {
		if who := removes(t.Key); who != "" {
			return fmt.Sprintf("%s: taint %s", who, t.Key), addedAt(t)
		}
	}
	return "", time.Time{}
}

// removes returns what a taint announces; empty for other taints.
func removes(taint string) string {
	switch taint {
	case karpenterDisrupted, karpenterDisruption:
		return "Karpenter removes the node"
	case toBeDeleted:
		return "the Cluster Autoscaler removes the node"
	case deletionCandidate:
		return "the Cluster Autoscaler may remove the node soon"
	case corev1.TaintNodeOutOfService:
		return "the node is out of service: its pods are deleted, and their volumes detached"
	case cloudShutdown:
		return "the cloud has shut the node down"
	case spotInterruption:
		return "AWS reclaims the spot node within two minutes"
	case scheduledMaintenance:
		return "AWS has scheduled maintenance of the node"
	case lifecycleTermination:
		return "the Auto Scaling group of AWS terminates the node"
	case rebalance:
		return "AWS expects to reclaim the spot node soon"
	default:
		return ""
	}
}

// addedAt returns when a taint was added; zero if unknown. The Cluster Autoscaler keeps it in the
// value, in seconds.
func addedAt(t corev1.Taint) time.Time {
	if t.TimeAdded != nil {
		return t.TimeAdded.Time
	}
	if t.Key != toBeDeleted && t.Key != deletionCandidate {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(t.Value, 10, 64)
	if err != nil || seconds <= 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// coordinators returns the rules about the coordinators of the database.
func coordinators() []Rule {
	return append(rulesOf(inspect.CoordinatorRules()), []Rule{
		{
			Code: "COORD-003", Severity: Warning, Title: "The coordinators match the spec", Needs: findings.NeedsAvailableDatabase,
			Why: "Their number, fault domains, classes or addresses differ from the spec; a pass changes them.",
			Find: func(f Facts) ([]Finding, string) {
				var found []Finding
				for _, problem := range safety.JudgeCoordinators(f.Snapshot).Problems {
					found = append(found, one(database, problem, f.fix("plan")...)...)
				}
				return found, ""
			},
		},
		{
			Code: "COORD-004", Severity: Error, Title: "No coordinator is marked for removal", Needs: findings.NeedsAvailableDatabase,
			Why:  "Removing its process group removes one vote of the quorum, unless coordinators change first. A pass does that.",
			Find: removedCoordinators,
		},
		{
			Code: "COORD-005", Severity: Warning, Title: "No data center of several has a majority of the coordinators", Needs: findings.NeedsAvailableDatabase,
			Why:  "The loss of that data center makes the database unavailable, whatever the others hold. With two data centers one of them always has a majority; a third one, for example a satellite, avoids it.",
			Find: coordinatorMajority,
		},
	}...)
}

// coordinatorMajority finds coordinators of a database in several regions that do not survive the
// loss of a data center. Without a quorum COORD-001 reports more.
func coordinatorMajority(f Facts) ([]Finding, string) {
	if safety.CoordinatorSite(f.Cluster) != fdb.LocalityDCID || safety.JudgeCoordinators(f.Snapshot).Tolerance.Sites != 0 {
		return nil, ""
	}
	all := len(f.Database.Status.Coordinators())
	return with(one(database, fmt.Sprintf("the loss of one data center leaves no quorum of the %s", phrase.Count(all, "coordinator")), "fdb", "get", "coordinators", f.Cluster.Name))
}

func removedCoordinators(f Facts) ([]Finding, string) {
	finding := Finding{Message: "is a coordinator and marked for removal", Fix: f.fix("reconcile")}
	for _, g := range f.Groups() {
		if g.IsMarkedForRemoval() && safety.Coordinates(f.Snapshot, g) {
			finding.Subjects = append(finding.Subjects, findings.ProcessGroup(g.ProcessGroupID))
			finding.Began(g.RemovalTimestamp.Time)
		}
	}
	return finding.IfAny(), ""
}
