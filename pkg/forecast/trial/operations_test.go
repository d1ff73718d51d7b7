package trial

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
)

// operation is a change of a settled cluster, of which each step meets each fault.
type operation struct {
	// given changes the cluster before it exists; nil changes nothing.
	given func(*v1beta2.FoundationDBCluster)
	// change is the operation; nil where that is the creation of the cluster.
	change func(*v1beta2.FoundationDBCluster)
	// sites are the names of the data centers of a database of several; nil for one without names.
	sites []string
}

// changed is an operation on the usual cluster.
func changed(change func(*v1beta2.FoundationDBCluster)) operation { return operation{change: change} }

var operations = map[string]operation{
	"create": {},
	"grow": changed(func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessCounts.Storage, c.Spec.ProcessCounts.Log = 5, 5
	}),
	"shrink": changed(func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessCounts.Storage, c.Spec.ProcessCounts.Stateless = 3, 3
	}),
	"replace": changed(func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessGroupsToRemove = firstOf(c, v1beta2.ProcessClassStorage, v1beta2.ProcessClassStateless)
	}),
	"knob": changed(general(v1beta2.ProcessSettings{CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_max_trace_lines=1000"}})),
	"template": changed(general(v1beta2.ProcessSettings{
		PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{ServiceAccountName: "fdb"}},
	})),
	"upgrade":              changed(func(c *v1beta2.FoundationDBCluster) { c.Spec.Version = "7.3.80" }),
	"upgrade-incompatible": changed(func(c *v1beta2.FoundationDBCluster) { c.Spec.Version = "7.4.6" }),
	"redundancy": changed(func(c *v1beta2.FoundationDBCluster) {
		c.Spec.DatabaseConfiguration.RedundancyMode, c.Spec.ProcessCounts.Storage = v1beta2.RedundancyModeTriple, 5
	}),
	"coordinators": changed(func(c *v1beta2.FoundationDBCluster) {
		c.Spec.CoordinatorSelection = []v1beta2.CoordinatorSelectionSetting{{ProcessClass: v1beta2.ProcessClassStorage, Priority: 10}}
	}),
	"prefix": changed(func(c *v1beta2.FoundationDBCluster) { c.Spec.ProcessGroupIDPrefix = "east" }),
	"tls": {
		given:  general(v1beta2.ProcessSettings{PodTemplate: certificates()}),
		change: func(c *v1beta2.FoundationDBCluster) { c.Spec.MainContainer.EnableTLS = true },
	},
	"engine": changed(func(c *v1beta2.FoundationDBCluster) {
		d := &c.Spec.DatabaseConfiguration
		d.StorageEngine, d.StorageMigrationType = v1beta2.StorageEngineRedwood, new(v1beta2.StorageMigrationGradual)
		d.PerpetualStorageWiggle = new(1)
	}),
	"region": {
		given:  regions(1, "dc1"),
		change: regions(2, "dc1", "dc2"),
		sites:  []string{"dc1", "dc2"},
	},
}

// general are settings of all classes.
func general(p v1beta2.ProcessSettings) func(*v1beta2.FoundationDBCluster) {
	return func(c *v1beta2.FoundationDBCluster) {
		c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: p}
	}
}

// firstOf is the first process group of each of some classes.
func firstOf(c *v1beta2.FoundationDBCluster, classes ...v1beta2.ProcessClass) []v1beta2.ProcessGroupID {
	var ids []v1beta2.ProcessGroupID
	for _, class := range classes {
		for _, g := range c.Status.ProcessGroups {
			if g.ProcessClass == class {
				ids = append(ids, g.ProcessGroupID)
				break
			}
		}
	}
	return ids
}

// certificates are a template of pods that have them.
func certificates() *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Volumes: []corev1.Volume{{Name: "certs", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "certs"}}}},
		Containers: []corev1.Container{{
			Name: v1beta2.ContainerMain,
			Env: []corev1.EnvVar{
				{Name: v1beta2.EnvTLSCertificateFile, Value: "/certs/tls.crt"},
				{Name: v1beta2.EnvTLSKeyFile, Value: "/certs/tls.key"},
				{Name: v1beta2.EnvTLSCAFile, Value: "/certs/ca.crt"},
			},
			VolumeMounts: []corev1.VolumeMount{{Name: "certs", MountPath: "/certs"}},
		}},
	}}
}

// regions are regions of one data center each, the first of which serves.
func regions(usable int, dataCenters ...string) func(*v1beta2.FoundationDBCluster) {
	return func(c *v1beta2.FoundationDBCluster) {
		d := &c.Spec.DatabaseConfiguration
		d.UsableRegions, d.Regions = usable, nil
		for i, dc := range dataCenters {
			d.Regions = append(d.Regions, v1beta2.Region{Datacenters: []v1beta2.DataCenter{{ID: dc, Priority: 1 - i}}})
		}
	}
}

// bringUp settles the clusters that the operation changes; what it creates has had no pass.
func (o operation) bringUp(t *testing.T, seed uint64) []*sim.Cluster {
	t.Helper()
	if o.sites != nil {
		return o.bringUpSites(t, seed)
	}
	w, err := simtest.Sample(seed, o.usual)
	if err != nil {
		t.Fatal(err)
	}
	w.Nodes = simtest.NodeNames(14)
	if o.change == nil {
		return []*sim.Cluster{w}
	}
	if err := simtest.Settle(t.Context(), 14, w); err != nil {
		t.Fatal(err)
	}
	return []*sim.Cluster{w}
}

// usual is what all operations begin with.
func (o operation) usual(c *v1beta2.FoundationDBCluster) {
	c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 4, Log: 4, Stateless: 4}
	c.Spec.LockOptions.DisableLocks = new(false)
	c.Spec.AutomationOptions.Replacements.FailureDetectionTimeSeconds = new(600)
	c.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
	if o.given != nil {
		o.given(c)
	}
}

// bringUpSites settles one cluster in each data center.
func (o operation) bringUpSites(t *testing.T, seed uint64) []*sim.Cluster {
	t.Helper()
	all, err := simtest.Share(t.Context(), seed, func(s *v1beta2.FoundationDBClusterSpec) {
		c := &v1beta2.FoundationDBCluster{Spec: *s}
		o.usual(c)
		c.Spec.DataCenter = c.Spec.ProcessGroupIDPrefix
		*s = c.Spec
	}, o.sites...)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range all {
		addNodes(w)
	}
	return all
}

// An operation without an action has no step for a fault.
func TestEveryOperationChangesItsClusterAndSettles(t *testing.T) {
	does := map[string][]plan.Action{
		"create":               {plan.CreatePod{}, plan.Configure{}},
		"grow":                 {plan.AddGroups{}, plan.CreatePod{}},
		"shrink":               {plan.MarkForRemoval{}, plan.Exclude{}, plan.IncludeAndForget{}},
		"replace":              {plan.AddGroups{}, plan.Exclude{}, plan.DeleteGroupObjects{}},
		"knob":                 {plan.ApplyConfigMap{}, plan.RestartProcesses{}},
		"template":             {plan.DeletePods{}, plan.CreatePod{}},
		"upgrade":              {plan.DeletePods{}},
		"upgrade-incompatible": {plan.SetSidecarImage{}, plan.RestartProcesses{}, plan.DeletePods{}},
		"redundancy":           {plan.AddGroups{}, plan.Configure{}},
		"coordinators":         {plan.ChangeCoordinators{}},
		"prefix":               {plan.AddGroups{}, plan.Exclude{}, plan.ChangeCoordinators{}},
		"tls":                  {plan.RestartProcesses{}, plan.ChangeCoordinators{}},
		"engine":               {plan.Configure{}},
		"region":               {plan.Configure{}},
	}
	for name := range operations {
		t.Run(name, func(t *testing.T) {
			h := exhaustionOf(t, name).begin(t, nil)
			missing := map[string]bool{}
			for _, a := range does[name] {
				missing[plan.KindOf(a)] = true
			}
			h.arriving = func(at Step, _ []v1beta2.ProcessGroupID) bool {
				delete(missing, at.Kind)
				return false
			}
			h.endure(t.Context())
			if !h.finished() || h.violated() || len(does[name]) == 0 || len(missing) > 0 {
				t.Errorf("finished: %t; violations: %v; missing actions: %v", h.finished(), h.violations, missing)
			}
		})
	}
}
