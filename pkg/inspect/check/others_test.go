package check

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// otherProblems are those that other controllers cause.
var otherProblems = map[string]problem{
	"a budget with maxUnavailable": {"PDB-001", budget("apps", func(b *policyv1.PodDisruptionBudget) {
		b.Spec.MinAvailable, b.Spec.MaxUnavailable = nil, new(intstr.FromInt32(1))
	}), "maxUnavailable: 1 of 12 selected pods cannot be computed: use an integer minAvailable", `patch poddisruptionbudget apps --type merge -p {"spec":{"maxUnavailable":null,"minAvailable":11}} -n fdb`},
	"a budget with a percentage": {"PDB-001", budget("apps", func(b *policyv1.PodDisruptionBudget) {
		b.Spec.MinAvailable = new(intstr.FromString("80%"))
		b.Status.Conditions = []metav1.Condition{{Type: policyv1.DisruptionAllowedCondition, Reason: policyv1.SyncFailedReason, Message: "no scale"}}
	}), "minAvailable: 80% of 12 selected pods cannot be computed: use an integer minAvailable; Kubernetes reports SyncFailed: no scale; how many pods it selects is unknown, since its selector does not require the labels of the cluster", "describe poddisruptionbudget apps"},
	"a budget with a percentage over this cluster": {"PDB-001", ofCluster(budget("apps", func(b *policyv1.PodDisruptionBudget) {
		b.Spec.MinAvailable, b.Spec.Selector = new(intstr.FromString("80%")), &metav1.LabelSelector{MatchLabels: map[string]string{v1beta2.LabelClusterName: "sample"}}
		b.Status.Conditions = []metav1.Condition{{Type: policyv1.DisruptionAllowedCondition, Reason: policyv1.SyncFailedReason, Message: "no scale"}}
	})), "Kubernetes reports SyncFailed: no scale", `patch poddisruptionbudget apps --type merge -p {"spec":{"maxUnavailable":null,"minAvailable":11}} -n fdb`},
	"a budget that could not be computed": {"PDB-002", budget("apps", func(b *policyv1.PodDisruptionBudget) {
		b.Status.Conditions = []metav1.Condition{{Type: policyv1.DisruptionAllowedCondition, Reason: policyv1.SyncFailedReason, Message: "no scale"}}
	}), "Kubernetes could not compute it, and refuses every eviction", "describe poddisruptionbudget apps"},
	"a budget that allows nothing": {"PDB-002", budget("apps", func(b *policyv1.PodDisruptionBudget) {
		b.Spec.MinAvailable = new(intstr.FromInt32(12))
		b.Status.DesiredHealthy, b.Status.DisruptionsAllowed = 12, 0
	}), "12 of 12 pods healthy, 12 required: no pod may be evicted", `patch poddisruptionbudget apps --type merge -p {"spec":{"maxUnavailable":null,"minAvailable":11}} -n fdb`},
	"a closed budget that selects other pods too": {"PDB-002", budget("apps", func(b *policyv1.PodDisruptionBudget) {
		b.Spec.MinAvailable = new(intstr.FromInt32(20))
		b.Status.ExpectedPods, b.Status.CurrentHealthy, b.Status.DesiredHealthy, b.Status.DisruptionsAllowed = 20, 20, 20, 0
	}), "20 of 20 pods healthy, 20 required", `"minAvailable":19}`},
	"a closed budget over the only copy": {"PDB-002", both(budget("apps", func(b *policyv1.PodDisruptionBudget) {
		b.Status.DesiredHealthy, b.Status.DisruptionsAllowed = 12, 0
	}), single), "no budget can allow the eviction of the only copy", "fdb drain sample node-"},
	"a closed budget over one pod": {"PDB-002", budget("apps", func(b *policyv1.PodDisruptionBudget) {
		b.Status.ExpectedPods, b.Status.CurrentHealthy, b.Status.DesiredHealthy, b.Status.DisruptionsAllowed = 1, 1, 1, 0
	}), "kubectl fdb drain moves it first", "--dry-run"},
	"a closed budget over stateless pods of one copy": {"PDB-002", both(ofClass("stateless"), single), "3 of 3 pods healthy", `"minAvailable":2}`},
	"our budget, closed": {"PDB-002", func(f *Facts) {
		f.Cluster.UID = "1"
		budget(objects.DisruptionBudgetName(f.Cluster), func(b *policyv1.PodDisruptionBudget) {
			b.Status.DisruptionsAllowed, b.OwnerReferences = 0, []metav1.OwnerReference{{UID: "1", Controller: new(true)}}
		})(f)
	}, "a pass opens it once the database can lose any one pod", "fdb plan sample"},
	"two budgets for one pod":              {"PDB-003", both(budget("apps", nil), budget("base", nil)), "the PodDisruptionBudgets apps, base select it", "get poddisruptionbudget apps base"},
	"a storage pod on a node of Karpenter": {"SCALE-001", onKarpenter, "Karpenter may evict it: no annotation karpenter.sh/do-not-disrupt=true", `{"annotations":{"karpenter.sh/do-not-disrupt":"true"}}`},
	"a pod that is declared safe to evict": {"SCALE-002", onPod(func(p *corev1.Pod) {
		p.Annotations = map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}
	}), "the Cluster Autoscaler may evict it", `{"annotations":{"cluster-autoscaler.kubernetes.io/safe-to-evict":"false"}}`},
	"a node that Karpenter removes":      {"SCALE-003", nodeWith("karpenter.sh/disrupted"), "Karpenter removes the node: taint karpenter.sh/disrupted", "fdb drain sample node-"},
	"a node that the autoscaler takes":   {"SCALE-003", nodeWith("ToBeDeletedByClusterAutoscaler"), "the Cluster Autoscaler removes the node", "fdb drain sample node-"},
	"a candidate of the autoscaler":      {"SCALE-003", nodeWith("DeletionCandidateOfClusterAutoscaler"), "may remove the node soon", "fdb drain sample node-"},
	"a node out of service":              {"SCALE-003", nodeWith("node.kubernetes.io/out-of-service"), "out of service", "fdb drain sample node-"},
	"a node that the cloud shut down":    {"SCALE-003", nodeWith("node.cloudprovider.kubernetes.io/shutdown"), "the cloud has shut the node down", "fdb drain sample node-"},
	"a spot interruption":                {"SCALE-003", nodeWith("aws-node-termination-handler/spot-itn"), "within two minutes: taint aws-node-termination-handler/spot-itn", "fdb drain sample node-"},
	"scheduled maintenance of AWS":       {"SCALE-003", nodeWith("aws-node-termination-handler/scheduled-maintenance"), "scheduled maintenance", "fdb drain sample node-"},
	"a termination by the scaling group": {"SCALE-003", nodeWith("aws-node-termination-handler/asg-lifecycle-termination"), "terminates the node", "fdb drain sample node-"},
	"a recommendation to rebalance":      {"SCALE-003", nodeWith("aws-node-termination-handler/rebalance-recommendation"), "expects to reclaim", "fdb drain sample node-"},
	"a cordoned node":                    {"SCALE-004", cordoned, "the node is cordoned, with 1 pod of the cluster", "fdb drain sample node-"},
	"a node that is being drained": {"SCALE-004", both(cordoned, func(f *Facts) {
		f.Lease.Operation, f.Lease.OperationActive = &reconcile.Operation{Command: "drain sample node-1"}, true
	}), "1 pod of the cluster; active operation: drain sample node-1", "fdb operations list"},
	"a node that is being deleted": {"SCALE-003", onNode(func(n *corev1.Node) { n.DeletionTimestamp = &metav1.Time{Time: noon} }), "the node is being deleted", "fdb drain sample node-"},
	"a class that deletes volumes": {"STORAGE-001", onClass(func(c *storagev1.StorageClass) { c.ReclaimPolicy = nil }), "reclaim policy Delete (9 PVCs of the cluster)", "get storageclass fast -o yaml"},
	"a class without expansion":    {"STORAGE-002", onClass(func(c *storagev1.StorageClass) { c.AllowVolumeExpansion = nil }), "does not allow volume expansion", `patch storageclass fast -p {"allowVolumeExpansion":true} -n fdb`},
	"a class that does not exist":  {"STORAGE-003", both(template("fast"), func(f *Facts) { f.Others.Classes = nil }), "storage class fast does not exist", "get storageclass"},
	"a class that deletes volumes that exist": {"STORAGE-001", both(onClass(func(c *storagev1.StorageClass) { c.ReclaimPolicy = nil }), func(f *Facts) {
		f.Volumes[f.first("storage").PVCName(f.Cluster)].Spec.VolumeName = "pv-1"
	}), "reclaim policy Delete (9 PVCs of the cluster)", `patch pv pv-1 -p {"spec":{"persistentVolumeReclaimPolicy":"Retain"}} -n fdb`},
	"a class of new volumes that deletes them": {"STORAGE-001", both(template("slow"), otherClass("slow", func(c *storagev1.StorageClass) { c.ReclaimPolicy = nil })), "reclaim policy Delete (new PVCs of storage, log)", "get storageclass slow -o yaml"},
	"a default class without expansion":        {"STORAGE-002", both(otherClass("slow", asDefault), onClass(func(c *storagev1.StorageClass) { c.Annotations = nil })), "does not allow volume expansion (new PVCs of storage, log)", "patch storageclass slow"},
	"a class in the spec that does not exist":  {"STORAGE-003", template("fats"), "storage class fats does not exist", "get storageclass"},
	"no default class":                         {"STORAGE-003", onClass(func(c *storagev1.StorageClass) { c.Annotations = nil }), "no default storage class exists, and the spec names none", "get storageclass"},
	"a class that ignores where a pod is":      {"STORAGE-004", onClass(func(c *storagev1.StorageClass) { c.VolumeBindingMode = nil }), "volumeBindingMode Immediate, with nodes in 3 zones", "get storageclass fast"},
}

// surrounded adds nodes in three zones, a storage class that suits, and no budget.
func (f *Facts) surrounded() {
	zones := []string{"a", "b", "c"}
	names := map[string]bool{}
	for _, p := range f.Pods {
		names[p.Spec.NodeName] = true
	}
	for i, name := range slices.Sorted(maps.Keys(names)) {
		f.Others.Nodes = append(f.Others.Nodes, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: zones[i%len(zones)]}}})
	}
	f.Others.Classes = []storagev1.StorageClass{{
		ObjectMeta: metav1.ObjectMeta{Name: "fast", Annotations: map[string]string{objects.AnnotationDefaultClass: "true"}}, ReclaimPolicy: new(corev1.PersistentVolumeReclaimRetain), AllowVolumeExpansion: new(true),
		VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
	}}
	for _, c := range f.Volumes {
		c.Spec.StorageClassName = new("fast")
	}
}

// budget adds one over all pods of the cluster that allows one eviction, and edits it.
func budget(name string, edit func(*policyv1.PodDisruptionBudget)) func(*Facts) {
	return func(f *Facts) {
		b := policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 2},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}, MinAvailable: new(intstr.FromInt32(11))},
			Status:     policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 2, ExpectedPods: 12, CurrentHealthy: 12, DesiredHealthy: 11, DisruptionsAllowed: 1},
		}
		if edit != nil {
			edit(&b)
		}
		f.Others.Budgets = append(f.Others.Budgets, b)
	}
}

// ofCluster gives all pods the label of the cluster.
func ofCluster(then func(*Facts)) func(*Facts) {
	return func(f *Facts) {
		for _, p := range f.Pods {
			p.Labels = map[string]string{v1beta2.LabelClusterName: "sample"}
		}
		then(f)
	}
}

// ofClass is a budget that allows no eviction of the pods of a class.
func ofClass(class v1beta2.ProcessClass) func(*Facts) {
	return func(f *Facts) {
		n := int32(0)
		for _, g := range f.Groups() {
			if g.ProcessClass == class {
				f.Pod(g).Labels = map[string]string{"class": string(class)}
				n++
			}
		}
		budget("apps", func(b *policyv1.PodDisruptionBudget) {
			b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"class": string(class)}}
			b.Status.ExpectedPods, b.Status.CurrentHealthy, b.Status.DesiredHealthy, b.Status.DisruptionsAllowed = n, n, n, 0
		})(f)
	}
}

func single(f *Facts) {
	f.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeSingle
}

func onNode(edit func(*corev1.Node)) func(*Facts) {
	return func(f *Facts) {
		for i := range f.Others.Nodes {
			if f.Others.Nodes[i].Name == f.Pod(f.first("storage")).Spec.NodeName {
				edit(&f.Others.Nodes[i])
			}
		}
	}
}

func nodeWith(taint string) func(*Facts) {
	return onNode(func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: taint, Value: "1763600000"}} })
}

func cordoned(f *Facts) { onNode(func(n *corev1.Node) { n.Spec.Unschedulable = true })(f) }

func onKarpenter(f *Facts) {
	onNode(func(n *corev1.Node) { n.Labels[karpenterNodePool] = "general" })(f)
}

func onClass(edit func(*storagev1.StorageClass)) func(*Facts) {
	return func(f *Facts) { edit(&f.Others.Classes[0]) }
}

// template makes the spec name a storage class.
func template(class string) func(*Facts) {
	return func(f *Facts) {
		settings := f.Cluster.Spec.Processes[v1beta2.ProcessClassGeneral]
		settings.VolumeClaimTemplate = &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class}}
		f.Cluster.Spec.Processes[v1beta2.ProcessClassGeneral] = settings
	}
}

// otherClass adds a newer class that suits except for an edit.
func otherClass(name string, edit func(*storagev1.StorageClass)) func(*Facts) {
	return func(f *Facts) {
		c := f.Others.Classes[0].DeepCopy()
		c.Name, c.CreationTimestamp, c.Annotations = name, metav1.Time{Time: noon}, nil
		edit(c)
		f.Others.Classes = append(f.Others.Classes, *c)
	}
}

func asDefault(c *storagev1.StorageClass) {
	c.Annotations, c.AllowVolumeExpansion = map[string]string{"storageclass.beta.kubernetes.io/is-default-class": "true"}, nil
}

// What other controllers do to no data, or may do, is no finding; what is unknown is not checked.
func TestRulesAboutOtherControllersPassOrAreNotChecked(t *testing.T) {
	annotate := func(key, value string) func(*Facts) {
		return func(f *Facts) {
			for _, p := range f.Pods {
				p.Annotations = map[string]string{key: value}
			}
		}
	}
	tests := map[string]struct {
		rule   string
		given  func(*Facts)
		want   Outcome
		reason string
	}{
		"an integer minAvailable": {"PDB-001", budget("apps", nil), Passed, ""},
		"a budget over other pods": {"PDB-001", budget("apps", func(b *policyv1.PodDisruptionBudget) {
			b.Spec.MaxUnavailable, b.Spec.Selector = new(intstr.FromInt32(1)), &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		}), Passed, ""},
		"a budget without a selector": {"PDB-001", budget("apps", func(b *policyv1.PodDisruptionBudget) {
			b.Spec.MaxUnavailable, b.Spec.Selector = new(intstr.FromInt32(1)), nil
		}), Passed, ""},
		"a budget over pods that fail":      {"PDB-002", budget("apps", func(b *policyv1.PodDisruptionBudget) { b.Status.CurrentHealthy, b.Status.DisruptionsAllowed = 11, 0 }), Passed, ""},
		"a budget of an older generation":   {"PDB-002", budget("apps", func(b *policyv1.PodDisruptionBudget) { b.Status.ObservedGeneration, b.Status.DisruptionsAllowed = 1, 0 }), NotChecked, "poddisruptionbudget/apps: Kubernetes has not computed its current spec yet"},
		"budgets that may not be read":      {"PDB-001", func(f *Facts) { f.Others.BudgetsUnread = "forbidden" }, NotChecked, "PodDisruptionBudgets could not be read: forbidden"},
		"the same, for closed ones":         {"PDB-002", func(f *Facts) { f.Others.BudgetsUnread = "forbidden" }, NotChecked, "forbidden"},
		"the same, for two of a pod":        {"PDB-003", func(f *Facts) { f.Others.BudgetsUnread = "forbidden" }, NotChecked, "forbidden"},
		"do-not-disrupt on the pods":        {"SCALE-001", both(onKarpenter, annotate(karpenterDoNotDisrupt, "true")), Passed, ""},
		"do-not-disrupt: false":             {"SCALE-001", both(onKarpenter, annotate(karpenterDoNotDisrupt, "false")), Failed, ""},
		"do-not-disrupt on the node":        {"SCALE-001", both(onKarpenter, onNode(func(n *corev1.Node) { n.Annotations = map[string]string{karpenterDoNotDisrupt: "true"} })), Passed, ""},
		"no data on the nodes of Karpenter": {"SCALE-001", onlyStatelessOnKarpenter, Passed, ""},
		"a coordinator without data":        {"SCALE-001", statelessCoordinatorOnKarpenter, Failed, ""},
		"a node that was not listed":        {"SCALE-001", func(f *Facts) { f.Others.Nodes = f.Others.Nodes[1:] }, NotChecked, "not found"},
		"nodes that may not be read":        {"SCALE-001", func(f *Facts) { f.Others.Nodes, f.Others.NodesUnread = nil, "forbidden" }, NotChecked, "nodes could not be read: forbidden"},
		"the same, for removed ones":        {"SCALE-003", func(f *Facts) { f.Others.Nodes, f.Others.NodesUnread = nil, "forbidden" }, NotChecked, "forbidden"},
		"safe-to-evict: false":              {"SCALE-002", annotate(safeToEvict, "false"), Passed, ""},
		"another taint":                     {"SCALE-003", nodeWith("example.com/gpu"), Passed, ""},
		"a cordoned node that is removed":   {"SCALE-004", both(cordoned, nodeWith(toBeDeleted)), Passed, ""},
		"a cordoned node, found once":       {"SCALE-003", cordoned, Passed, ""},
		"nodes unread, for cordoned ones":   {"SCALE-004", func(f *Facts) { f.Others.Nodes, f.Others.NodesUnread = nil, "forbidden" }, NotChecked, "forbidden"},
		"nodes unread, for pods":            {"SCALE-002", func(f *Facts) { f.Others.Nodes, f.Others.NodesUnread = nil, "forbidden" }, Passed, ""},
		"a node without pods": {"SCALE-003", func(f *Facts) {
			f.Others.Nodes = append(f.Others.Nodes, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "empty"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: karpenterDisrupted}}}})
		}, Passed, ""},
		"classes that may not be read":    {"STORAGE-001", func(f *Facts) { f.Others.Classes, f.Others.ClassesUnread = nil, "forbidden" }, NotChecked, "storage classes could not be read: forbidden"},
		"the same, for missing ones":      {"STORAGE-003", func(f *Facts) { f.Others.Classes, f.Others.ClassesUnread = nil, "forbidden" }, NotChecked, "forbidden"},
		"PVCs of volumes made manually":   {"STORAGE-003", func(f *Facts) { f.Others.Classes = nil; classless(f) }, Passed, ""},
		"no class in the spec on purpose": {"STORAGE-003", both(template(""), onClass(func(c *storagev1.StorageClass) { c.Annotations = nil })), Passed, ""},
		"a class in the spec":             {"STORAGE-003", both(template("fast"), onClass(func(c *storagev1.StorageClass) { c.Annotations = nil })), Passed, ""},
		"an older default class":          {"STORAGE-002", otherClass("slow", func(c *storagev1.StorageClass) { asDefault(c); c.CreationTimestamp = metav1.Time{} }), Passed, ""},
		"a newer default class":           {"STORAGE-002", otherClass("slow", asDefault), Failed, ""},
		"PVCs that wait for a default class": {"STORAGE-003", func(f *Facts) {
			f.Others.Classes = nil
			for _, c := range f.Volumes {
				c.Spec.StorageClassName, c.Status.Phase = nil, corev1.ClaimPending
			}
		}, Failed, ""},
		"Immediate in one zone":    {"STORAGE-004", both(onClass(func(c *storagev1.StorageClass) { c.VolumeBindingMode = nil }), oneZone), Passed, ""},
		"Immediate, zones unknown": {"STORAGE-004", func(f *Facts) { f.Others.Nodes, f.Others.NodesUnread = nil, "forbidden" }, NotChecked, "nodes could not be read"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(&f)
			if item := itemOf(t, reportOn(f, Options{}), tc.rule); item.Outcome != tc.want || !strings.Contains(item.Reason, tc.reason) {
				t.Errorf("got %s because %q, want %s because %q: %+v", item.Outcome, item.Reason, tc.want, tc.reason, item.Findings)
			}
		})
	}
}

func onlyStatelessOnKarpenter(f *Facts) {
	for _, g := range f.Groups() {
		if g.ProcessClass == v1beta2.ProcessClassStateless {
			f.Pod(g).Spec.NodeName = "spot"
		}
	}
	f.Others.Nodes = append(f.Others.Nodes, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "spot", Labels: map[string]string{karpenterNodePool: "spot"}}})
	f.Database.Status.Client.Coordinators.Coordinators = nil
	f.Database.Status.Cluster.ConnectionString = ""
}

func statelessCoordinatorOnKarpenter(f *Facts) {
	onlyStatelessOnKarpenter(f)
	f.Database.Status.Cluster.ConnectionString = "sample:sample@" + f.Database.Status.ProcessesOf(string(f.first("stateless").ProcessGroupID))[0].Address.String()
}

func classless(f *Facts) {
	for _, c := range f.Volumes {
		c.Spec.StorageClassName = new("")
	}
}

func oneZone(f *Facts) {
	for i := range f.Others.Nodes {
		f.Others.Nodes[i].Labels[corev1.LabelTopologyZone] = "a"
	}
}

// The Cluster Autoscaler keeps in the value of its taints when it added them.
func TestAnAutoscalerTaintFindingHasItsStartTime(t *testing.T) {
	f := healthy(t)
	nodeWith(toBeDeleted)(&f)
	found := itemOf(t, reportOn(f, Options{}), "SCALE-003").Findings
	if want := time.Unix(1763600000, 0).UTC(); len(found) != 1 || found[0].Since == nil || !found[0].Since.Equal(want) {
		t.Errorf("got %+v, want one since %s", found, want)
	}
}

// The annotation is added to what the general template has, which a template of the class replaces.
func TestAnnotationPatchesKeepTheGeneralPodTemplate(t *testing.T) {
	cluster := &v1beta2.FoundationDBCluster{}
	cluster.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {PodTemplate: &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"team": "db"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "foundationdb", Image: "x"}}},
	}}}
	got, err := annotationPatch(cluster, "log", "k", "v")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"annotations":{"k":"v","team":"db"}`, `"image":"x"`, `"log":{"podTemplate"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	cluster.Spec.Processes["log"] = v1beta2.ProcessSettings{PodTemplate: &corev1.PodTemplateSpec{}}
	if got, _ = annotationPatch(cluster, "log", "k", "v"); got != `{"spec":{"processes":{"log":{"podTemplate":{"metadata":{"annotations":{"k":"v"}}}}}}}` {
		t.Errorf("got %s, want nothing but the annotation", got)
	}
}
