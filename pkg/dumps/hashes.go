package dumps

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

const clustersResource = "foundationdbclusters"

// clustersIn returns the clusters of a dump, with defaults applied. An invalid one is not in the
// result: its hashes are not computed by any command.
func clustersIn(d *Dump) map[Cluster]*v1beta2.FoundationDBCluster {
	found := map[Cluster]*v1beta2.FoundationDBCluster{}
	add := func(raw json.RawMessage) {
		stored := &v1beta2.FoundationDBCluster{}
		if json.Unmarshal(raw, stored) != nil {
			return
		}
		if normal, err := stored.Normalized(); err == nil {
			found[Cluster{Namespace: normal.Namespace, Name: normal.Name}] = normal
		}
	}
	for _, list := range d.Lists {
		for _, raw := range list.Items {
			if list.Resource == clustersResource {
				add(raw)
			}
		}
	}
	for _, single := range d.Singles {
		if single.Resource == clustersResource {
			add(single.Object)
		}
	}
	return found
}

// keepHashes replaces the hashes that objects have of what was redacted by those of what is left:
// commands compare them with the spec, and redaction must not look like a change of it.
func keepHashes(d *Dump, before map[Cluster]*v1beta2.FoundationDBCluster) error {
	after := clustersIn(d)
	var pairs []string
	for name, was := range before {
		is := after[name]
		if is == nil {
			return fmt.Errorf("redact FoundationDBCluster %s: it is invalid afterwards", name.Name)
		}
		pairs = append(pairs, changedHashes(was, is, podsOf(d, was))...)
	}
	if len(pairs) == 0 {
		return nil
	}
	replacer := strings.NewReplacer(pairs...)
	d.eachText(func(path, text string) string {
		if path != "" {
			return text
		}
		return replacer.Replace(text)
	})
	return nil
}

// podsOf returns the pods of a cluster.
func podsOf(d *Dump, c *v1beta2.FoundationDBCluster) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, list := range d.Lists {
		if list.Resource != "pods" {
			continue
		}
		for _, raw := range list.Items {
			pod := &corev1.Pod{}
			if json.Unmarshal(raw, pod) == nil && pod.Namespace == c.Namespace && matches(pod.Labels, c.MatchLabels()) {
				pods = append(pods, pod)
			}
		}
	}
	return pods
}

func matches(labels, selector map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// changedHashes returns pairs of a hash before and after redaction.
func changedHashes(was, is *v1beta2.FoundationDBCluster, pods []*corev1.Pod) []string {
	var pairs []string
	add := func(of func(c *v1beta2.FoundationDBCluster) (string, error)) {
		old, err := of(was)
		now, failed := of(is)
		if err == nil && failed == nil && old != now && old != "" {
			pairs = append(pairs, old, now)
		}
	}
	hashes := map[*v1beta2.FoundationDBCluster]*objects.SpecHashes{was: objects.NewSpecHashes(was), is: objects.NewSpecHashes(is)}
	classes := map[v1beta2.ProcessClass]bool{}
	for _, g := range was.Status.ProcessGroups {
		add(func(c *v1beta2.FoundationDBCluster) (string, error) { return hashes[c].Of(g) })
		if !classes[g.ProcessClass] && g.ProcessClass.IsStateful() {
			add(func(c *v1beta2.FoundationDBCluster) (string, error) { return objects.ClaimSpecHash(c, g.ProcessClass) })
		}
		classes[g.ProcessClass] = true
	}
	launches := map[objects.Launch]bool{}
	for _, pod := range pods {
		class := v1beta2.ProcessClass(pod.Labels[was.ProcessClassLabels()[0]])
		launch, err := objects.LaunchOf(pod, class)
		if err != nil || launches[launch] {
			continue
		}
		launches[launch] = true
		add(func(c *v1beta2.FoundationDBCluster) (string, error) { return objects.ConfigMapHash(c, launch) })
	}
	return pairs
}

// Resource is a type of objects that commands read.
type Resource struct {
	Group, Version, Resource, Kind string
	// Collect is which of them a dump always has.
	Collect Collection
}

// Collection is which objects of a resource a dump always has.
type Collection int

const (
	// OnDemand are objects that only some commands read, one at a time: a dump has no others, since
	// a namespace may have those of other programs.
	OnDemand Collection = iota
	// InNamespace are all objects in the namespaces of the clusters.
	InNamespace
	// Everywhere are all objects of the Kubernetes cluster.
	Everywhere
)

// Resources returns all types of objects that commands read.
func Resources() []Resource {
	crd := v1beta2.GroupVersion
	return []Resource{
		{crd.Group, crd.Version, clustersResource, "FoundationDBCluster", InNamespace},
		{crd.Group, crd.Version, "foundationdbbackups", "FoundationDBBackup", InNamespace},
		{crd.Group, crd.Version, "foundationdbrestores", "FoundationDBRestore", InNamespace},
		{"", "v1", "pods", "Pod", InNamespace},
		{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", InNamespace},
		{"", "v1", "services", "Service", InNamespace},
		{"", "v1", "events", "Event", InNamespace},
		{"coordination.k8s.io", "v1", "leases", "Lease", InNamespace},
		{"apps", "v1", "deployments", "Deployment", InNamespace},
		{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", InNamespace},
		{"batch", "v1", "cronjobs", "CronJob", InNamespace},
		{"", "v1", "nodes", "Node", Everywhere},
		{"", "v1", "persistentvolumes", "PersistentVolume", Everywhere},
		{"storage.k8s.io", "v1", "storageclasses", "StorageClass", Everywhere},
		{"", "v1", "namespaces", "Namespace", OnDemand},
		{"", "v1", "configmaps", "ConfigMap", OnDemand},
		{"", "v1", "secrets", "Secret", OnDemand},
		{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", OnDemand},
	}
}
