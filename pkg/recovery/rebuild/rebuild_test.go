package rebuild

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// What a pass creates from the inferred manifest equals the objects that are left, so that it replaces
// and configures nothing.
func TestAPassOverAnInferredManifestChangesNothing(t *testing.T) {
	template := func(change func(*corev1.PodTemplateSpec)) func(*v1beta2.FoundationDBCluster) {
		return func(c *v1beta2.FoundationDBCluster) {
			p := &corev1.PodTemplateSpec{}
			change(p)
			c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {PodTemplate: p}}
		}
	}
	for name, change := range map[string]func(*v1beta2.FoundationDBCluster){
		"all defaults":    func(*v1beta2.FoundationDBCluster) {},
		"the split image": func(c *v1beta2.FoundationDBCluster) { c.Spec.ImageType = new(v1beta2.ImageTypeSplit) },
		"a prefix":        func(c *v1beta2.FoundationDBCluster) { c.Spec.ProcessGroupIDPrefix = "west" },
		"a data center":   func(c *v1beta2.FoundationDBCluster) { c.Spec.DataCenter = "dc1" },
		"a data hall":     func(c *v1beta2.FoundationDBCluster) { c.Spec.DataHall = "hall1" },
		"a log group":     func(c *v1beta2.FoundationDBCluster) { c.Spec.LogGroup = "logs" },
		"addresses of services": func(c *v1beta2.FoundationDBCluster) {
			c.Spec.Routing.PublicIPSource = new(v1beta2.PublicIPSourceService)
		},
		"an address family":  func(c *v1beta2.FoundationDBCluster) { c.Spec.Routing.PodIPFamily = new(6) },
		"no listen address":  func(c *v1beta2.FoundationDBCluster) { c.Spec.OmitListenAddress() },
		"another DNS domain": func(c *v1beta2.FoundationDBCluster) { c.Spec.Routing.DNSDomain = new("example.org") },
		"a zone per pod":     func(c *v1beta2.FoundationDBCluster) { c.Spec.FaultDomain.Key = v1beta2.FaultDomainKeyNone },
		"a zone by topology": func(c *v1beta2.FoundationDBCluster) { c.Spec.FaultDomain.Key = "topology.kubernetes.io/zone" },
		"a zone of annotations": func(c *v1beta2.FoundationDBCluster) {
			c.Spec.FaultDomain = v1beta2.FoundationDBClusterFaultDomain{Key: "rack", ValueFrom: "metadata.annotations['rack']"}
		},
		"a zone per Kubernetes cluster": func(c *v1beta2.FoundationDBCluster) {
			c.Spec.FaultDomain = v1beta2.FoundationDBClusterFaultDomain{Key: v1beta2.FaultDomainKeyKubernetesCluster, Value: "k8s-1"}
		},
		"several processes per pod": func(c *v1beta2.FoundationDBCluster) { c.Spec.StorageServersPerPod, c.Spec.LogServersPerPod = 3, 2 },
		"an image of one's own": func(c *v1beta2.FoundationDBCluster) {
			c.Spec.MainContainer.ImageConfigs = []v1beta2.ImageConfig{{BaseImage: "registry.example:5000/fdb", TagSuffix: "-2"}}
		},
		"a pinned image": func(c *v1beta2.FoundationDBCluster) {
			c.Spec.MainContainer.ImageConfigs = []v1beta2.ImageConfig{{Version: "7.3.79", Tag: "stable"}}
		},
		"knobs of a class": func(c *v1beta2.FoundationDBCluster) {
			c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassStorage: {CustomParameters: []v1beta2.FoundationDBCustomParameter{"knob_a=1", "knob_b=x"}}}
		},
		"knobs of all": func(c *v1beta2.FoundationDBCluster) {
			c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {CustomParameters: []v1beta2.FoundationDBCustomParameter{"knob_a=1"}}}
		},
		"a configuration": func(c *v1beta2.FoundationDBCluster) {
			c.Spec.DatabaseConfiguration = v1beta2.DatabaseConfiguration{RedundancyMode: v1beta2.RedundancyModeTriple, StorageEngine: "ssd-rocksdb-v1", RoleCounts: v1beta2.RoleCounts{Logs: 5}}
		},
		"two sizes of volumes": func(c *v1beta2.FoundationDBCluster) {
			claim := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("fast")}}
			claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Ti")}
			c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassStorage: {VolumeClaimTemplate: claim}}
		},
		"a service account": template(func(p *corev1.PodTemplateSpec) { p.Spec.ServiceAccountName = "fdb" }),
		"a node selector":   template(func(p *corev1.PodTemplateSpec) { p.Spec.NodeSelector = map[string]string{"pool": "fdb"} }),
		"a toleration": template(func(p *corev1.PodTemplateSpec) {
			p.Spec.Tolerations = []corev1.Toleration{{Key: "fdb", Operator: corev1.TolerationOpExists}}
		}),
		"a security context": template(func(p *corev1.PodTemplateSpec) {
			p.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: new(int64(4059))}
		}),
		"labels": template(func(p *corev1.PodTemplateSpec) { p.Labels = map[string]string{"team": "storage"} }),
		"resources and variables": template(func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers = []corev1.Container{{
				Name: v1beta2.ContainerMain, Env: []corev1.EnvVar{{Name: "EXTRA", Value: "1"}},
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}, Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("9Gi")}},
			}}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			n, f := given(t, change)
			f.report(t, n)
			m, err := Rebuild(f)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&Match{Pods: 4, MatchingPods: 4, Claims: 3, MatchingClaims: 3, Configured: 4, MatchingConfigured: 4}, m.Match); diff != "" {
				t.Errorf("%s\n%s", diff, readable(t, m))
			}
			want, got := objects.DesiredConfiguration(n), objects.DesiredConfiguration(clusterOf(t, m))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("a pass would configure: %s", diff)
			}
			if diff := cmp.Diff(n.Settings(v1beta2.ProcessClassGeneral).PodTemplate.Labels, labelsOf(clusterOf(t, m))); diff != "" {
				t.Errorf("labels: %s", diff)
			}
		})
	}
}

func labelsOf(c *v1beta2.FoundationDBCluster) map[string]string {
	if t := c.Settings(v1beta2.ProcessClassStorage).PodTemplate; t != nil {
		return t.Labels
	}
	return nil
}

func readable(t *testing.T, m Manifest) string {
	t.Helper()
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func clusterOf(t *testing.T, m Manifest) *v1beta2.FoundationDBCluster {
	t.Helper()
	text, err := json.Marshal(m.Resource)
	if err != nil {
		t.Fatal(err)
	}
	c := &v1beta2.FoundationDBCluster{}
	if err := json.Unmarshal(text, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// What is unknown is listed, and never guessed.
func TestRebuildListsUnknownFieldsAndNeverGuesses(t *testing.T) {
	for name, tc := range map[string]struct {
		change  func(*Facts)
		unknown map[string]string // a path, and a part of its reason
		absent  []string          // fields of the spec that are not in the manifest
		match   bool
	}{
		"only volumes are left": {
			change:  func(f *Facts) { f.Pods, f.Claims, f.ConfigMap, f.Status = nil, nil, nil, nil },
			unknown: map[string]string{"spec.version": "no pod is left", "spec.seedConnectionString": "add that of a client's cluster file", "spec.databaseConfiguration": "no pod is ready", "spec.processGroupIDPrefix": "names of PVCs", "spec.processCounts": "stateless, are unknown"},
			absent:  []string{"version", "seedConnectionString", "databaseConfiguration", "imageType", "faultDomain"},
		},
		"the database does not answer": {
			change:  func(f *Facts) { f.Status = nil },
			unknown: map[string]string{"spec.databaseConfiguration": "no pod is ready", "spec.dataCenter": "no process reports", "spec.processes.*.customParameters": "no process reports"},
			absent:  []string{"databaseConfiguration"},
			match:   true,
		},
		"pods of two versions": {
			change: func(f *Facts) {
				f.Status, f.ConfigMap.Data = nil, map[string]string{}
				f.Pods[0].Spec.Containers[0].Image = "foundationdb/fdb-kubernetes-monitor:7.3.63"
			},
			unknown: map[string]string{"spec.version": "have different values: 7.3.63, 7.3.79", "spec.seedConnectionString": "neither the database"},
			absent:  []string{"version"},
		},
		"an upgrade": {
			change: func(f *Facts) {
				f.Pods[0].Spec.Containers[0].Image = "foundationdb/fdb-kubernetes-monitor:7.3.63"
			},
			unknown: map[string]string{"spec.version": "pods have images of 7.3.63"},
			match:   true,
		},
		"a pod that another template created": {
			change:  func(f *Facts) { f.Pods[0].Annotations[v1beta2.AnnotationLastAppliedSpec] = "other" },
			unknown: map[string]string{"spec.processes.storage.podTemplate": "would replace or recreate pod sample-storage-1"},
			match:   true,
		},
		"a container of an admission webhook": {
			change: func(f *Facts) {
				f.Pods[0].Spec.Containers = append(f.Pods[0].Spec.Containers, corev1.Container{Name: "istio-proxy"})
			},
			unknown: map[string]string{"spec.processes.storage.podTemplate": "the container istio-proxy"},
			match:   true,
		},
		"the ConfigMap and the database disagree": {
			change:  func(f *Facts) { f.ConfigMap.Data[objects.KeyClusterFile] = "sample:zzzzzzzz@10.0.0.1:4501" },
			unknown: map[string]string{"spec.seedConnectionString": "the one of the database is used"},
			match:   true,
		},
		"a database in a fallback mode": {
			change:  func(f *Facts) { f.Status.Cluster.Configuration.RedundancyMode = "three_data_hall_fallback" },
			unknown: map[string]string{"spec.databaseConfiguration.redundancy_mode": "the database reports three_data_hall_fallback, which no spec can have"},
			match:   true,
		},
		"volumes could not be listed": {
			change:  func(f *Facts) { f.Unread["volumes"] = "forbidden" },
			unknown: map[string]string{"": "volumes are unknown: forbidden", "spec.automationOptions": "leaves no trace"},
			match:   true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			n, f := given(t, func(*v1beta2.FoundationDBCluster) {})
			f.report(t, n)
			tc.change(&f)
			m, err := Rebuild(f)
			if err != nil {
				t.Fatal(err)
			}
			for path, part := range tc.unknown {
				if !slices.ContainsFunc(m.Unknown, func(u Unknown) bool { return u.Path == path && strings.Contains(u.Reason, part) }) {
					t.Errorf("%q is not listed with %q: %s", path, part, readable(t, m))
				}
			}
			spec, _ := m.Resource["spec"].(map[string]any)
			for _, field := range tc.absent {
				if value, is := spec[field]; is {
					t.Errorf("spec.%s is %v", field, value)
				}
			}
			if spec["skip"] != true {
				t.Error("an operator would act on it")
			}
			if (m.Match != nil) != tc.match {
				t.Errorf("match: %v", m.Match)
			}
		})
	}
}

// A volume belongs to the process group by the name of its PVC, whose counts and size it shows.
func TestRebuildInfersCountsAndSizesFromVolumes(t *testing.T) {
	_, f := given(t, func(*v1beta2.FoundationDBCluster) {})
	f.Pods, f.Claims, f.ConfigMap = nil, nil, nil
	f.Volumes = append(f.Volumes, corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Spec: corev1.PersistentVolumeSpec{ClaimRef: &corev1.ObjectReference{Name: "sample-backup-data"}}})
	m, err := Rebuild(f)
	if err != nil {
		t.Fatal(err)
	}
	c := clusterOf(t, m)
	if diff := cmp.Diff(v1beta2.ProcessCounts{Storage: 2, Log: 1}, c.Spec.ProcessCounts); diff != "" {
		t.Error(diff)
	}
	claim := c.Spec.Processes[v1beta2.ProcessClassGeneral].VolumeClaimTemplate
	if claim == nil || classOf(claim) != "fast" || sizeOf(claim) != "128G" {
		t.Errorf("%+v", claim)
	}
}

// An incomplete status document has a configuration and no processes, for example: neither is used, and
// the manifest has the doubt.
func TestRebuildUsesNoIncompleteStatusDocument(t *testing.T) {
	for name, complete := range map[string]bool{"complete": true, "incomplete": false} {
		t.Run(name, func(t *testing.T) {
			_, f := given(t, func(*v1beta2.FoundationDBCluster) {})
			s := &fdb.Status{Cluster: fdb.ClusterStatus{
				ConnectionString: connection, Configuration: &fdb.Configuration{RedundancyMode: "double", StorageEngine: "ssd-2"},
			}}
			if !complete {
				s.Cluster.Messages = []fdb.Message{{Name: fdb.MessageIncompleteTimeout}}
			}
			f.SetStatus(s)
			m, err := Rebuild(f)
			if err != nil {
				t.Fatal(err)
			}
			doubted := slices.ContainsFunc(m.Unknown, func(u Unknown) bool {
				return u.Path == "spec.databaseConfiguration" && strings.Contains(u.Reason, "the status document is incomplete")
			})
			known := slices.ContainsFunc(m.Known, func(k Known) bool { return k.Path == "spec.databaseConfiguration" })
			if doubted == complete || known != complete {
				t.Errorf("known %+v, unknown %+v", m.Known, m.Unknown)
			}
		})
	}
}
