package objects

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// kinds are clusters that differ in what their pods look like, with one group each.
var kinds = map[string]struct {
	given []given
	group *v1beta2.ProcessGroupStatus
}{
	"unified storage":   {group: storage1},
	"unified stateless": {group: stateless1},
	"unified log with two servers": {
		given: []given{twoServers},
		group: log1,
	},
	"split storage": {
		given: []given{splitImage},
		group: storage1,
	},
	"split storage with two servers": {
		given: []given{splitImage, twoServers, func(c *v1beta2.FoundationDBCluster) { c.Status.StorageServersPerDisk = []int{1, 2} }},
		group: storage1,
	},
	"split with TLS everywhere": {
		given: []given{splitImage, withTLS, func(c *v1beta2.FoundationDBCluster) {
			c.Spec.MainContainer.PeerVerificationRules = "S.CN=fdb"
			c.Spec.SidecarContainer = v1beta2.ContainerOverrides{
				EnableTLS: true, PeerVerificationRules: "S.CN=sidecar",
				EnableReadinessProbe: new(true), //nolint:staticcheck // deprecated, and still read
			}
			c.Spec.SidecarVariables = []string{"RACK"}
			c.Spec.TrustedCAs = []string{"ca one"}
		}},
		group: storage1,
	},
	"every pod its own zone": {
		given: []given{func(c *v1beta2.FoundationDBCluster) { c.Spec.FaultDomain.Key = v1beta2.FaultDomainKeyNone }},
		group: storage1,
	},
	"a Kubernetes cluster is a zone": {
		given: []given{func(c *v1beta2.FoundationDBCluster) {
			c.Spec.FaultDomain = v1beta2.FoundationDBClusterFaultDomain{Key: v1beta2.FaultDomainKeyKubernetesCluster, Value: "zone-a"}
			c.Spec.DataCenter = "dc1"
		}},
		group: storage1,
	},
	"the zone comes from a variable": {
		given: []given{func(c *v1beta2.FoundationDBCluster) {
			c.Spec.FaultDomain = v1beta2.FoundationDBClusterFaultDomain{Key: "topology.kubernetes.io/rack", ValueFrom: "$RACK"}
		}},
		group: storage1,
	},
	"the public IP comes from a service": {
		given: []given{publicIPFromService, twoServers},
		group: storage1,
	},
	"unified on IPv6": {
		given: []given{ipFamily(6), publicIPFromService},
		group: storage1,
	},
	"split on IPv6": {
		given: []given{splitImage, ipFamily(6)},
		group: storage1,
	},
	"trusted CAs": {
		given: []given{withTLS, func(c *v1beta2.FoundationDBCluster) { c.Spec.TrustedCAs = []string{"ca one", "ca two"} }},
		group: storage1,
	},
	"what the template sets wins": {
		given: []given{ownTemplate},
		group: storage1,
	},
	"image rules": {
		given: []given{func(c *v1beta2.FoundationDBCluster) {
			c.Spec.MainContainer.ImageConfigs = []v1beta2.ImageConfig{
				{Version: "7.1.67", BaseImage: "registry/old", Tag: "never"},
				{TagSuffix: "-debug"},
				{BaseImage: "registry/monitor", TagSuffix: "-late"},
			}
		}},
		group: storage1,
	},
	"a unified crash loop": {
		given: []given{func(c *v1beta2.FoundationDBCluster) {
			c.Spec.Buggify.CrashLoop = []v1beta2.ProcessGroupID{"storage-1"} //nolint:staticcheck // deprecated, and still read
		}},
		group: storage1,
	},
	"a split crash loop": {
		given: []given{splitImage, func(c *v1beta2.FoundationDBCluster) {
			c.Spec.Buggify.CrashLoopContainers = []v1beta2.CrashLoopContainerObject{
				{ContainerName: v1beta2.ContainerMain, Targets: []v1beta2.ProcessGroupID{"*"}},
				{ContainerName: v1beta2.ContainerSidecar, Targets: []v1beta2.ProcessGroupID{"storage-1"}},
				{ContainerName: v1beta2.ContainerInit, Targets: []v1beta2.ProcessGroupID{"storage-2"}},
			}
		}},
		group: storage1,
	},
	"no node is allowed": {
		given: []given{template(corev1.PodTemplateSpec{Spec: corev1.PodSpec{Affinity: requiredNode("zone", "a")}}), func(c *v1beta2.FoundationDBCluster) {
			c.Spec.Buggify.NoSchedule = []v1beta2.ProcessGroupID{"storage-1"}
		}},
		group: storage1,
	},
	"no DNS": {
		given: []given{withoutDNS},
		group: storage1,
	},
	"an ID with a prefix and an underscore": {
		given: []given{func(c *v1beta2.FoundationDBCluster) {
			c.Spec.ProcessGroupIDPrefix = "dc1"
			c.Spec.ProcessCounts.ClusterController = 1
		}},
		group: group(v1beta2.ProcessClassClusterController, "dc1-cluster_controller-7"),
	},
	"all classes packed together": {
		given: []given{packed(v1beta2.BinPackAll, false)},
		group: storage1,
	},
	"all classes packed together, required": {
		given: []given{packed(v1beta2.BinPackAll, true)},
		group: storage1,
	},
	"stateful classes packed together": {
		given: []given{packed(v1beta2.BinPackStateful, false)},
		group: stateless1,
	},
	"stateful classes packed together, required": {
		given: []given{packed(v1beta2.BinPackStateful, true)},
		group: log1,
	},
	"each class packed on its own": {
		given: []given{packed(v1beta2.BinPackClass, false)},
		group: storage1,
	},
	"each class packed on its own, required, after other terms": {
		given: []given{packed(v1beta2.BinPackClass, true), template(corev1.PodTemplateSpec{Spec: corev1.PodSpec{Affinity: ownTerms()}})},
		group: storage1,
	},
}

// ownTerms are an affinity and an anti-affinity that a user's template has.
func ownTerms() *corev1.Affinity {
	term := func(app string) []corev1.PodAffinityTerm {
		return []corev1.PodAffinityTerm{{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}
	}
	return &corev1.Affinity{
		PodAffinity:     &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term("cache")},
		PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term("batch")},
	}
}

func requiredNode(key, value string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}},
		}}},
	}}
}

// ownTemplate sets something of every sort that would be added otherwise.
func ownTemplate(c *v1beta2.FoundationDBCluster) {
	c.Spec.Labels = v1beta2.LabelConfig{
		MatchLabels:          map[string]string{"app": "fdb"},
		ResourceLabels:       map[string]string{"team": "storage"},
		ProcessGroupIDLabels: []string{"group", "group-too"},
		ProcessClassLabels:   []string{"class", "class-too"},
	}
	c.Spec.ConfigMap = &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "unused", Labels: map[string]string{"map": "ours"}, Annotations: map[string]string{"note": "map"}},
		Data:       map[string]string{"running-version": "mine", "extra": "text"},
	}
	settings(v1beta2.ProcessClassGeneral, v1beta2.ProcessSettings{
		PodTemplate: &corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"pod": "ours", "app": "overwritten"}, Annotations: map[string]string{"note": "pod"}},
			Spec: corev1.PodSpec{
				ServiceAccountName: "fdb",
				Containers: []corev1.Container{
					{Name: "logger", Image: "logger:1"},
					{
						Name:  v1beta2.ContainerMain,
						Image: "registry/fdb",
						Env: []corev1.EnvVar{
							{Name: "MINE", Value: "1"}, {Name: v1beta2.EnvMachineID, Value: "m1"}, {Name: v1beta2.EnvClusterFile, Value: "/mine"},
						},
						VolumeMounts:    []corev1.VolumeMount{{Name: "certs", MountPath: "/certs"}, {Name: "data", MountPath: "/elsewhere"}},
						SecurityContext: &corev1.SecurityContext{ReadOnlyRootFilesystem: new(false), RunAsUser: new(int64(4059))},
						Resources:       corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}},
					},
				},
				InitContainers: []corev1.Container{{Name: "prepare", Image: "prepare:1"}, {Name: v1beta2.ContainerInit}},
				Volumes: []corev1.Volume{
					{Name: "certs", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "certs"}}},
					{Name: "fdb-trace-logs", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/logs"}}},
				},
				Affinity: requiredNode("zone", "a"),
			},
		},
		VolumeClaimTemplate: &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "unused", Labels: map[string]string{"claim": "ours"}, Annotations: map[string]string{"note": "claim"}},
			Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: new("fast"),
				Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("16Gi")}},
			},
		},
	})(c)
}

func TestObjectsOfEveryKindOfCluster(t *testing.T) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			golden.RequireEqual(t, describe(t, sample(t, kind.given...), kind.group))
		})
	}
}

// describe writes every object of a cluster and one group down.
func describe(t *testing.T, c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) string {
	t.Helper()
	pod, err := Pod(c, g)
	if err != nil {
		t.Fatal(err)
	}
	claim, err := PersistentVolumeClaim(c, g)
	if err != nil {
		t.Fatal(err)
	}
	configMap, err := ConfigMap(c)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := ConfigMapHash(c, DesiredLaunch(c, g.ProcessClass))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	section := func(title, content string) { fmt.Fprintf(&text, "=== %s\n%s\n", title, content) }
	section("Pod", pretty(t, pod))
	section("PersistentVolumeClaim", pretty(t, claim))
	section("headless Service", pretty(t, HeadlessService(c)))
	section("Service of the group", pretty(t, GroupService(c, g)))
	section("ConfigMap", pretty(t, configMap.ObjectMeta))
	for _, key := range slices.Sorted(maps.Keys(configMap.Data)) {
		section("ConfigMap "+key, configMap.Data[key])
	}
	section("hash of the ConfigMap for the pod", hash)
	return text.String()
}

func pretty(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
