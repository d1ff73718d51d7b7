package cluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestNothingIsCreatedForASpecThatCannotBecomeADatabase(t *testing.T) {
	type edit = func(*v1beta2.FoundationDBCluster)
	main := func(c *v1beta2.FoundationDBCluster, change func(*corev1.Container)) {
		container := corev1.Container{Name: v1beta2.ContainerMain}
		change(&container)
		c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {
			PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{container}}},
		}}
	}
	tls := func(change func(*corev1.Container)) edit {
		return func(c *v1beta2.FoundationDBCluster) { c.Spec.MainContainer.EnableTLS = true; main(c, change) }
	}
	parameters := func(all ...v1beta2.FoundationDBCustomParameter) edit {
		return func(c *v1beta2.FoundationDBCluster) {
			c.Spec.MainContainer.EnableTLS = true
			c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {CustomParameters: all}}
		}
	}
	halls := func(c *v1beta2.FoundationDBCluster) {
		c.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeThreeDataHall
	}
	regions := func(dc string) edit {
		return func(c *v1beta2.FoundationDBCluster) {
			c.Spec.DataCenter = dc
			c.Spec.DatabaseConfiguration.Regions = []v1beta2.Region{{Datacenters: []v1beta2.DataCenter{{ID: "az-a", Priority: 1}}}}
		}
	}
	counts := func(storage, log int) edit {
		return func(c *v1beta2.FoundationDBCluster) {
			c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: storage, Log: log}
		}
	}
	tests := map[string]struct {
		given edit
		field string // empty where the cluster is created
	}{
		"a plain cluster":                   {func(*v1beta2.FoundationDBCluster) {}, ""},
		"three data halls and no data hall": {halls, "spec.dataHall: Required value"},
		"three data halls, and one of them": {func(c *v1beta2.FoundationDBCluster) { halls(c); c.Spec.DataHall = "a" }, ""},
		"regions without a data center":     {regions(""), `spec.dataCenter: Invalid value: ""`},
		"regions of other data centers":     {regions("az-b"), `spec.dataCenter: Invalid value: "az-b"`},
		"one of the regions":                {regions("az-a"), ""},
		"TLS without certificates":          {tls(func(*corev1.Container) {}), "spec.mainContainer.enableTls: Invalid value: true"},
		"TLS with a certificate alone":      {parameters("tls_certificate_file=/a"), "spec.mainContainer.enableTls"},
		"TLS with parameters":               {parameters("tls-certificate-file=/a", "tls_key_file=/b"), ""},
		"TLS with variables": {tls(func(c *corev1.Container) {
			c.Env = []corev1.EnvVar{{Name: v1beta2.EnvTLSCertificateFile, Value: "/a"}, {Name: v1beta2.EnvTLSKeyFile, Value: "/b"}}
		}), ""},
		"TLS with variables of a whole Secret": {tls(func(c *corev1.Container) { c.EnvFrom = []corev1.EnvFromSource{{}} }), ""},
		"TLS with files at the default path": {tls(func(c *corev1.Container) {
			c.VolumeMounts = []corev1.VolumeMount{{Name: "certificates", MountPath: "/etc/foundationdb"}}
		}), ""},
		"a name with a dot, and no Service": {func(c *v1beta2.FoundationDBCluster) {
			c.Name = "my.cluster"
			c.Spec.Routing.UseDNSInClusterFile = new(false)
		}, ""},
		"a name with a dot, and a headless Service": {func(c *v1beta2.FoundationDBCluster) {
			c.Name = "my.cluster"
			c.Spec.Routing.HeadlessService = new(true)
		}, `metadata.name: Invalid value: "my.cluster"`},
		"a name with a dot, and Services with addresses": {func(c *v1beta2.FoundationDBCluster) {
			c.Name = "my.cluster"
			c.Spec.Routing.PublicIPSource = new(v1beta2.PublicIPSourceService)
		}, "metadata.name"},
		"a name that no label can have":    {func(c *v1beta2.FoundationDBCluster) { c.Name = strings.Repeat("a", 64) }, "metadata.name"},
		"fewer storage groups than copies": {counts(1, 3), "spec.processCounts.storage: Invalid value: 1"},
		"fewer log groups than copies":     {counts(3, 1), "spec.processCounts.log: Invalid value: 1"},
		"fewer groups than coordinators": {func(c *v1beta2.FoundationDBCluster) {
			c.Spec.CoordinatorSelection = []v1beta2.CoordinatorSelectionSetting{{ProcessClass: v1beta2.ProcessClassCoordinator}}
		}, "spec.processCounts: Invalid value: 0"},
		"few groups of a database that others share": {func(c *v1beta2.FoundationDBCluster) { counts(1, 1)(c); c.Spec.ProcessGroupIDPrefix = "dc1" }, ""},
		"few groups of a database that another configures": {func(c *v1beta2.FoundationDBCluster) {
			counts(1, 1)(c)
			c.Spec.AutomationOptions.ConfigureDatabase = new(false)
		}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.EmptyCluster(t)
			tc.given(s.Cluster)
			s.Cluster = s.Cluster.NormalizedToRead()
			d := CheckFields().Decide(s)
			switch {
			case tc.field == "":
				if d.Hold != nil {
					t.Errorf("holds with %q", d.Hold.Text())
				}
			case d.Hold == nil || !d.Hold.Manual || d.Hold.Then != plan.EndPass || !strings.Contains(d.Hold.Detail, tc.field):
				t.Errorf("got hold %+v, want %s", d.Hold, tc.field)
			}
			s.Overrides = map[plan.Gate]string{plan.GateConfig: "an image with certificates"}
			if d := CheckFields().Decide(s); d.Hold != nil {
				t.Errorf("an override does not help: %q", d.Hold.Text())
			}
			existing := stagestest.HealthyCluster(t)
			tc.given(existing.Cluster)
			if d := CheckFields().Decide(existing); d.Hold != nil {
				t.Errorf("a cluster that exists holds with %q", d.Hold.Text())
			}
		})
	}
}

func TestNothingIsCreatedWhoseFirstObjectsTheAPIServerRefuses(t *testing.T) {
	invalid := func(kind, name, field string) plan.FirstObjectFacts {
		return plan.FirstObjectFacts{Read: true, Refused: []plan.Refusal{{ObjectKind: kind, ObjectName: name, Kind: plan.RefusedAsInvalid, Field: field, Message: "not so"}}}
	}
	quota := plan.FirstObjectFacts{Read: true, Refused: []plan.Refusal{{ObjectKind: plan.WrittenPod, ObjectName: "a", Kind: plan.RefusedByQuota, By: "q"}}}
	tests := map[string]struct {
		facts  plan.FirstObjectFacts
		says   string // empty where the cluster is created
		manual bool
	}{
		"all are accepted":      {facts: plan.FirstObjectFacts{Read: true}},
		"an unknown answer":     {facts: plan.FirstObjectFacts{Read: true, Unknown: []string{"forbidden"}, ClassesHidden: "forbidden"}},
		"a family of addresses": {facts: invalid(plan.WrittenService, "sample", "spec.ipFamilies[0]"), says: "spec.routing.podIPFamily: ", manual: true},
		"a name of a Service":   {facts: invalid(plan.WrittenService, "sample", "metadata.name"), says: "metadata.name: ", manual: true},
		"resources of a pod":    {facts: invalid(plan.WrittenPod, "sample-log-1", "spec.containers[0].resources.requests"), says: "spec.processes[general].podTemplate.spec.containers[0].resources.requests: ", manual: true},
		"a PVC":                 {facts: invalid(plan.WrittenPVC, "sample-log-1-data", "spec.accessModes"), says: "spec.processes[general].volumeClaimTemplate.spec.accessModes: ", manual: true},
		"a quota, which waits":  {facts: quota, says: "ResourceQuota q refused 1 object (Pod/a)"},
		"a storage class":       {facts: plan.FirstObjectFacts{Read: true, NoClass: []string{"fast-ssd"}}, says: `spec.processes[general].volumeClaimTemplate.spec.storageClassName: Not found: "fast-ssd"`, manual: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.EmptyCluster(t)
			s.FirstObjects = tc.facts
			d := CheckFields().Decide(s)
			switch {
			case tc.says == "":
				if d.Hold != nil {
					t.Errorf("holds with %q", d.Hold.Text())
				}
			case d.Hold == nil || d.Hold.Manual != tc.manual || d.Hold.Then != plan.EndPass || !strings.Contains(d.Hold.Detail, tc.says):
				t.Errorf("got hold %+v, want %q", d.Hold, tc.says)
			}
		})
	}
}

func TestTheFirstObjectsAreTriedOnlyWhileNothingExists(t *testing.T) {
	stage := CheckFields()
	if s := stagestest.EmptyCluster(t); stage.Facets(s)&plan.FirstObjects == 0 {
		t.Error("a new cluster is not tried")
	}
	if s := stagestest.HealthyCluster(t); stage.Facets(s)&plan.FirstObjects != 0 {
		t.Error("a cluster that exists is tried")
	}
	s := stagestest.EmptyCluster(t)
	s.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeThreeDataHall
	if stage.Facets(s)&plan.FirstObjects != 0 {
		t.Error("a spec that is refused anyway is tried")
	}
}
