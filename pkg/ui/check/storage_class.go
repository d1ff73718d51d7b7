package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// storageClasses returns the rules about the storage classes of the cluster's PVCs.
func storageClasses() []Rule {
	return []Rule{
		classRule("STORAGE-001", Info, "Volumes outlive their PVCs",
			"With the reclaim policy Delete the volume and its data are deleted with the PVC, so nothing remains of a PVC or namespace that is deleted by mistake. With Retain a volume can be bound again; released volumes have to be deleted manually.",
			func(f Facts, c *storagev1.StorageClass) string {
				if c.ReclaimPolicy == nil || *c.ReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
					return "its new volumes have the reclaim policy Delete"
				}
				return ""
			}),
		classRule("STORAGE-002", Info, "Volumes can grow",
			"Without allowVolumeExpansion a larger volume is a new one: process groups are replaced, and their data is copied.",
			func(f Facts, c *storagev1.StorageClass) string {
				if c.AllowVolumeExpansion == nil || !*c.AllowVolumeExpansion {
					return "it does not allow volume expansion"
				}
				return ""
			}),
		{
			Code: "STORAGE-003", Severity: Warning, Title: "Every storage class exists",
			Why:  "No volume is provisioned for the next PVC of that class, so replacements and new process groups stay pending, and existing volumes cannot grow. PersistentVolumes that were created manually need no class.",
			find: missingClasses,
		},
		zoneRule(),
	}
}

// zoneRule needs the nodes too.
func zoneRule() Rule {
	r := classRule("STORAGE-004", Info, "Volumes are provisioned where their pods are scheduled",
		"With volumeBindingMode Immediate a volume is provisioned in some zone before its pod is scheduled, and binds the pod to that zone, whatever the pod's fault domain should be: it stays pending, or fault domains get uneven. Volumes that can be attached in every zone are not concerned. Use a class with WaitForFirstConsumer.",
		func(f Facts, c *storagev1.StorageClass) string {
			zones := f.Others.zones()
			if len(zones) < 2 || c.VolumeBindingMode != nil && *c.VolumeBindingMode != storagev1.VolumeBindingImmediate {
				return ""
			}
			return "volumeBindingMode Immediate, with nodes in " + phrase.Count(len(zones), "zone")
		})
	find := r.find
	r.find = func(f Facts) ([]Finding, string) {
		found, unknown := find(f)
		untested := reasons{}
		untested.add("", unknown)
		untested.add("", f.Others.unreadNodes())
		return found, untested.String()
	}
	return r
}

// zones returns the zones of all nodes, sorted.
func (o OtherControllers) zones() []string {
	zones := map[string]bool{}
	for _, n := range o.Nodes {
		if zone := n.Labels[corev1.LabelTopologyZone]; zone != "" {
			zones[zone] = true
		}
	}
	return slices.Sorted(maps.Keys(zones))
}

// classRule returns a rule about each storage class that PVCs of the cluster have.
func classRule(code string, severity Severity, title, why string, judge func(Facts, *storagev1.StorageClass) string) Rule {
	return Rule{Code: code, Severity: severity, Title: title, Why: why, find: func(f Facts) ([]Finding, string) {
		used, untested := f.usedClasses()
		var found []Finding
		for _, name := range slices.Sorted(maps.Keys(used)) {
			c := f.Others.class(name)
			if c == nil {
				continue // STORAGE-003 finds it
			}
			if message := judge(f, c); message != "" {
				found = append(found, one("storageclass/"+name, message+fmt.Sprintf(" (%s of the cluster)", phrase.Count(len(used[name]), "PVC")), "get", "storageclass", name, "-o", "yaml")...)
			}
		}
		return found, untested.String()
	}}
}

func missingClasses(f Facts) ([]Finding, string) {
	used, untested := f.usedClasses()
	if f.Others.ClassesUnread != "" {
		return nil, untested.String()
	}
	var found []Finding
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if f.Others.class(name) == nil {
			found = append(found, Finding{Subjects: used[name], Message: "storage class " + name + " does not exist", Fix: []string{"get", "storageclass"}})
		}
	}
	return found, untested.String()
}

// usedClasses returns the PVCs of the cluster by their storage class, and why some may be missing
// from them. PVCs without a class bind to volumes that were created manually.
func (f Facts) usedClasses() (map[string][]string, *reasons) {
	untested := &reasons{}
	if f.Others.ClassesUnread != "" {
		untested.add("", "storage classes could not be read: "+f.Others.ClassesUnread)
	}
	used := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(f.Volumes)) {
		if class := classOf(f.Volumes[name]); class != "" {
			used[class] = append(used[class], claim(name))
		}
	}
	return used, untested
}

// classOf returns the storage class of a PVC; empty without one. Kubernetes sets the default class
// when a PVC is created.
func classOf(c *corev1.PersistentVolumeClaim) string {
	if old := strings.TrimSpace(c.Annotations[corev1.BetaStorageClassAnnotation]); old != "" {
		return old
	}
	if c.Spec.StorageClassName == nil {
		return ""
	}
	return *c.Spec.StorageClassName
}

// class returns a storage class by its name; nil if there is none.
func (o OtherControllers) class(name string) *storagev1.StorageClass {
	i := slices.IndexFunc(o.Classes, func(c storagev1.StorageClass) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &o.Classes[i]
}
