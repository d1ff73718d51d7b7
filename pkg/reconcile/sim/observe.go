package sim

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Observe implements reconcile.Observer.
func (w *Cluster) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets&plan.ClusterResource != 0 {
		into.Cluster, into.InvalidSpec = w.Resource.NormalizedToRead(), plan.InvalidFields(w.Resource.Validate())
	}
	if facets&plan.Nodes != 0 {
		into.Nodes, into.NodesHidden = w.nodes(), w.NodesHidden
	}
	if facets&plan.Pods != 0 {
		into.Pods = maps.Clone(w.Pods)
	}
	if facets&plan.Volumes != 0 {
		into.Volumes = maps.Clone(w.Volumes)
	}
	if facets&plan.Services != 0 {
		into.Services = copies(w.Services)
	}
	if facets&plan.ConfigMap != 0 {
		into.ConfigMap = w.ConfigMap.DeepCopy()
	}
	if facets&plan.Detector != 0 {
		into.Detector = plan.DetectorFacts{Job: w.Detector.DeepCopy()}
	}
	if facets&plan.DisruptionBudgets != 0 {
		into.DisruptionBudgets = copies(w.DisruptionBudgets)
	}
	if facets&plan.OtherClusters != 0 {
		into.OtherClusters = plan.OtherClusterFacts{Read: true, All: w.Others}
	}
	if facets&plan.Successors != 0 {
		into.Successors = w.successors()
	}
	if facets&plan.FirstObjects != 0 {
		into.FirstObjects = w.firstObjects()
	}
	if facets&plan.Agents != 0 {
		into.Agents = plan.AgentFacts{Hidden: w.AgentsHidden}
		if w.AgentsHidden == "" {
			into.Agents.Pods = copies(w.Agents)
		}
	}
	if facets&plan.PodFiles != 0 {
		into.PodFiles = w.reports()
	}
	if facets&plan.Database != 0 {
		into.Database = w.database(ctx)
	}
	if facets&plan.Coordination != 0 {
		into.Coordination = w.coordination(ctx)
	}
	into.Now, into.Clock, into.Overrides = w.ownTime(), w.Clock(), w.Overrides
	return nil
}

// ownTime is the time by the plugin's own clock.
func (w *Cluster) ownTime() time.Time { return w.Now().Add(w.Skew) }

// Clock returns how the plugin's own clock compares with all others.
func (w *Cluster) Clock() plan.ClockFacts {
	return plan.ClockFacts{Compared: true, Known: true, Ahead: w.Skew}
}

func (w *Cluster) nodes() map[string]*corev1.Node {
	if w.NodesHidden != "" || w.nodesUnread {
		return nil
	}
	nodes := map[string]*corev1.Node{}
	for _, name := range w.Nodes {
		if observed := w.observedNodes[name]; observed != nil {
			node := observed.DeepCopy()
			node.Annotations, node.Spec.Taints, node.Spec.Unschedulable = maps.Clone(w.NodeAnnotations[name]), slices.Clone(w.Taints[name]), w.Cordoned[name]
			nodes[name] = node
			continue
		}
		nodes[name] = &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: maps.Clone(w.NodeLabels[name]), Annotations: maps.Clone(w.NodeAnnotations[name])},
			Spec:       corev1.NodeSpec{Taints: slices.Clone(w.Taints[name]), Unschedulable: w.Cordoned[name]},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"), corev1.ResourcePods: resource.MustParse("110"),
			}},
		}
	}
	return nodes
}

// copies returns objects that change in place in the meantime.
func copies[T any, P interface {
	*T
	DeepCopy() *T
}](objects map[string]*T,
) map[string]*T {
	all := maps.Clone(objects)
	for name, o := range all {
		all[name] = P(o).DeepCopy()
	}
	return all
}

func (w *Cluster) reports() map[string]plan.PodReport {
	reports := map[string]plan.PodReport{}
	for name, pod := range w.Pods {
		if pod.Status.Phase != corev1.PodRunning {
			continue
		}
		if isSplit(pod) {
			reports[name] = w.splitReport(pod)
			continue
		}
		reports[name] = w.running[name].reportOf(pod)
	}
	return reports
}

// podReport is what the monitor of a pod reports, as long as the pod does not change.
type podReport struct {
	pod *corev1.Pod
	plan.PodReport
}

func (p *runningPod) reportOf(pod *corev1.Pod) plan.PodReport {
	if p == nil {
		return monitorReport(pod)
	}
	if p.report.pod != pod {
		p.report = podReport{pod, monitorReport(pod)}
	}
	return p.report.PodReport
}

func monitorReport(pod *corev1.Pod) plan.PodReport {
	variables, err := objects.Variables(pod)
	if err != nil {
		return plan.PodReport{Unreachable: err.Error()}
	}
	return plan.PodReport{Variables: variables, Configuration: pod.Annotations[v1beta2.AnnotationCurrentConfiguration]}
}

func (w *Cluster) database(ctx context.Context) plan.DatabaseFacts {
	if w.Resource.Status.ConnectionString == "" {
		return plan.DatabaseFacts{NotQueried: "there is no cluster file yet"}
	}
	facts := plan.DatabaseFacts{}
	if _, err := w.Client(); err == nil && plan.FilesProve(w.Resource) {
		dirs := w.awaitDataDirs()
		if !dirs.MayExist(w.Resource) {
			return plan.DatabaseFacts{NotQueried: "the pods that were read have no files of a database", DataDirs: dirs, AsOf: w.ownTime()}
		}
		if dirs.HasDatabase(w.Resource) || dirs.HidesVolumes(w.Resource) {
			facts.DataDirs = dirs
		}
	}
	began := w.ownTime()
	status, err := w.findVersion(ctx)
	facts.AsOf = w.ownTime()
	switch {
	case err != nil:
		facts.Unreachable = err.Error()
	case w.times.Of(status, began, w.ownTime()) > fdb.StaleAfter:
		facts.Unreachable = plan.StaleDocument
	default:
		facts.Status = status
	}
	return facts
}

func (w *Cluster) status(ctx context.Context) (*fdb.Status, error) {
	var status *fdb.Status
	err := w.read(ctx, func(c *client.Client) (err error) {
		status, err = c.Status()
		return err
	})
	return status, err
}

// coordination is what control-plane instances share, and which exclusions are in progress while
// a group is marked for removal. As in package live they are read only when needed.
func (w *Cluster) coordination(ctx context.Context) plan.CoordinationFacts {
	if !w.Resource.Status.Configured {
		return plan.CoordinationFacts{}
	}
	facts := plan.CoordinationFacts{
		Read: true, Lock: w.Shared.Lock, DenyList: w.Shared.denied(), Maintenance: maps.Clone(w.Shared.Maintenance),
		ReadyForUpgrade: slices.Sorted(maps.Keys(w.Shared.Upgrades[w.Resource.Spec.Version])), Announced: w.announced(),
		Lists: w.Shared.Lists.facts(w.Resource),
	}
	if w.exclusionsMatter() {
		addresses, err := w.listExclusions(ctx, client.InProgress)
		locations, otherErr := w.listExclusions(ctx, client.ExcludedAddresses, client.ExcludedLocalities)
		facts.ExclusionsRead = err == nil && otherErr == nil
		facts.InProgressExclusions, facts.Exclusions = addresses, locations
	}
	return facts
}

// exclusionsMatter reports whether decisions need the exclusions in force.
func (w *Cluster) exclusionsMatter() bool {
	c := w.Resource
	if _, annotated := c.Annotations[v1beta2.AnnotationCancelReplacements]; annotated {
		normalized, err := c.Normalized()
		if err != nil {
			return false
		}
		c = normalized
	}
	return plan.ExclusionsMatter(c)
}

// rejects refuses pods and PVCs that the API server does not accept.
func (w *Cluster) rejects(a plan.Action) error {
	var id v1beta2.ProcessGroupID
	if pod, is := a.(plan.CreatePod); is {
		id = pod.Group
	}
	if claim, is := a.(plan.CreatePVC); is {
		id = claim.Group
	}
	g := w.Resource.ProcessGroup(id)
	if w.Reject == nil || g == nil {
		return nil
	}
	if r := w.Reject(g.ProcessClass); r != nil {
		return &reconcile.AdmissionError{Refusal: *r}
	}
	return nil
}

// successors answers the dry runs of new process groups.
func (w *Cluster) successors() plan.SuccessorFacts {
	facts := plan.SuccessorFacts{Read: true, Refused: maps.Clone(w.refused)}
	if facts.Refused == nil {
		facts.Refused = map[v1beta2.ProcessClass]plan.Refusal{}
	}
	for _, g := range w.Resource.Status.ProcessGroups {
		if w.Reject == nil {
			break
		}
		if r := w.Reject(g.ProcessClass); r != nil {
			facts.Refused[g.ProcessClass] = *r
		}
	}
	return facts
}

// firstObjects answers the dry runs of a cluster without process groups.
func (w *Cluster) firstObjects() plan.FirstObjectFacts {
	facts := plan.FirstObjectFacts{Read: true}
	for _, class := range slices.Sorted(maps.Keys(w.Resource.DesiredProcessCounts())) {
		if w.Reject == nil {
			break
		}
		if r := w.Reject(class); r != nil {
			facts.Refused = append(facts.Refused, *r)
		}
	}
	return facts
}
