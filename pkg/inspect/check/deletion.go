package check

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// deletions returns the rules about what is being deleted. An object that is going away is not one that
// is there.
func deletions() []Rule {
	return []Rule{
		{
			Code: "DEL-001", Severity: Critical, Title: "The FoundationDBCluster is not being deleted",
			Why:  "Kubernetes deletes all pods and PVCs with it as soon as the last finalizer is removed. A deletion cannot be reverted: keep the volumes first, with the reclaim policy Retain.",
			Find: resourceDeleted,
		},
		{
			Code: "DEL-002", Severity: Critical, Title: "The namespace is not being deleted",
			Why:  "Kubernetes deletes everything in it, and accepts no new pods. A deletion cannot be reverted: keep the volumes first, with the reclaim policy Retain.",
			Find: namespaceDeleted,
		},
		{
			Code: "DEL-003", Severity: Critical, Title: "No PVC of a process group is being deleted",
			Why:  "The PVC ends with the pod that uses it, and its data too. Passes keep the pod; nothing keeps it from an eviction, a lost node or a user. Replace the process group: its data moves while the pod runs.",
			Find: claimsDeleted,
		},
		{
			Code: "DEL-004", Severity: Critical, Title: "Volumes outlive PVCs that are being deleted",
			Why:  "With the reclaim policy Delete the volume is deleted with its PVC. With Retain it is released, and can be bound again: kubectl fdb recover plan.",
			Find: volumesDeleted,
		},
		{
			Code: "DEL-005", Severity: Warning, Title: "No ConfigMap and no service that pods use is being deleted",
			Why:  "A finalizer holds it. Once it is removed, pods that start wait for the next pass, which creates it again.",
			Find: objectsDeleted,
		},
	}
}

func resourceDeleted(f Facts) ([]Finding, string) { return f.deletionsOf("FoundationDBCluster"), "" }

func namespaceDeleted(f Facts) ([]Finding, string) {
	return f.deletionsOf("Namespace"), f.Namespace.Hidden
}

// deletionsOf returns the finding for the deletion of one kind of object.
func (f Facts) deletionsOf(kind string) []Finding {
	subject := map[string]string{"FoundationDBCluster": "foundationdbcluster/", "Namespace": "namespace/"}[kind]
	var found []Finding
	for _, d := range safety.Deletions(f.Snapshot) {
		if d.Kind != kind {
			continue
		}
		fix := inspect.RetainArgs(f.VolumeNames()...)
		if fix == nil {
			fix = f.fix("status")
		}
		found = append(found, Finding{Subjects: []string{subject + d.Name}, Message: d.Text(), Since: d.Since, Fix: fix})
	}
	return found
}

func claimsDeleted(f Facts) ([]Finding, string) {
	var found []Finding
	for _, d := range f.Deletions() {
		if d.ProcessGroup == "" {
			continue
		}
		found = append(found, Finding{Subjects: []string{findings.Claim(d.Name)}, Message: d.Message, Since: d.Since, Fix: f.fix("replace", d.ProcessGroup)})
	}
	return found, ""
}

func volumesDeleted(f Facts) ([]Finding, string) {
	var found []Finding
	untested := reasons{}
	for _, g := range f.Groups() {
		c := f.GoingPVC(g)
		if c == nil || c.Spec.VolumeName == "" {
			continue
		}
		policy, known := safety.PolicyOf(f.Snapshot, c)
		switch {
		case !known && f.BoundVolumesHidden != "":
			untested.add("", f.BoundVolumesHidden)
		case !known:
			untested.add("persistentvolume/"+c.Spec.VolumeName, "not found")
		case policy != corev1.PersistentVolumeReclaimRetain:
			found = append(found, Finding{
				Subjects: []string{"persistentvolume/" + c.Spec.VolumeName}, Since: c.DeletionTimestamp.Time, Fix: inspect.RetainArgs(c.Spec.VolumeName),
				Message: fmt.Sprintf("it has the reclaim policy %s, and its PVC %s is being deleted", policy, c.Name),
			})
		}
	}
	return found, untested.String()
}

func objectsDeleted(f Facts) ([]Finding, string) {
	var found []Finding
	add := func(kind string, o metav1.Object) {
		if since := o.GetDeletionTimestamp(); since != nil {
			found = append(found, Finding{Subjects: []string{kind + "/" + o.GetName()}, Message: "it is being deleted", Since: since.Time, Fix: []string{"get", kind, o.GetName(), "-o", "yaml"}})
		}
	}
	if f.ConfigMap != nil {
		add("configmap", f.ConfigMap)
	}
	for _, g := range f.Remaining() {
		if service := f.Services[g.ServiceName(f.Cluster)]; service != nil {
			add("service", service)
		}
	}
	if service := f.Services[f.Cluster.HeadlessServiceName()]; service != nil && !slices.ContainsFunc(found, func(x Finding) bool { return x.Subjects[0] == "service/"+service.Name }) {
		add("service", service)
	}
	return found, ""
}
