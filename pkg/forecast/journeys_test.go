package forecast_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/forecast"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
)

// journey is a change that the pages describe, of a cluster that matches its spec.
type journey struct {
	// begin returns the cluster; nil for one with the defaults.
	begin func(*testing.T) *sim.Cluster
	// change is what the user changes; nil for nothing.
	change func(*sim.Cluster)
	// stages are those of the command; nil for all of a pass.
	stages func(*sim.Cluster) []plan.Stage
	// surprises are the actions that differ, by stage and kind: forecast, and done.
	surprises map[string][2]int
}

// journeys are all that forecasts are calibrated with.
var journeys = map[string]journey{
	"nothing to do": {},
	"creation":      {begin: unborn},
	"growth":        {change: func(w *sim.Cluster) { w.Resource.Spec.ProcessCounts.Storage += 2 }},
	"shrinking":     {change: func(w *sim.Cluster) { w.Resource.Spec.ProcessCounts.Storage-- }},
	"replacement of a storage process group": {change: func(w *sim.Cluster) {
		w.Resource.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{groupOf(w, v1beta2.ProcessClassStorage)}
	}},
	"replacement of a log process group": {change: func(w *sim.Cluster) {
		w.Resource.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{groupOf(w, v1beta2.ProcessClassLog)}
	}},
	"replace": {stages: func(w *sim.Cluster) []plan.Stage {
		return stages.Replacing(operations.ReplaceGroups(operations.Replacement{Groups: []v1beta2.ProcessGroupID{groupOf(w, v1beta2.ProcessClassStorage)}, Max: 1}))
	}},
	"drain of a node": {stages: func(w *sim.Cluster) []plan.Stage {
		return stages.Draining([]string{w.Pods[w.Resource.ProcessGroup(groupOf(w, v1beta2.ProcessClassStorage)).PodName(w.Resource)].Spec.NodeName}, 1)
	}},
	"restart": {stages: func(w *sim.Cluster) []plan.Stage {
		return stages.Marking(operations.RestartGroups(operations.Restart{Groups: groupsOf(w), Since: w.Now(), Strategy: operations.RestartStrategies()[0]}))
	}},
	"knob change":            {change: setKnob},
	"pod template change":    {change: setCPU},
	"patch upgrade":          {change: func(w *sim.Cluster) { w.Resource.Spec.Version = "7.3.81" }},
	"minor upgrade":          {change: func(w *sim.Cluster) { w.Resource.Spec.Version = "7.4.6" }},
	"storage engine change":  {change: migrateEngine},
	"redundancy mode change": {change: func(w *sim.Cluster) { w.Resource.Spec.DatabaseConfiguration.RedundancyMode = "triple" }},
	"coordinators change": {stages: func(w *sim.Cluster) []plan.Stage {
		return stages.Marking(cluster.MoveCoordinators(coordinatorOf(w)))
	}},
	"exclusion": {stages: func(w *sim.Cluster) []plan.Stage {
		return stages.Excluding([]v1beta2.ProcessGroupID{groupOf(w, v1beta2.ProcessClassStorage)})
	}},
	"maintenance": {stages: func(w *sim.Cluster) []plan.Stage {
		return stages.Marking(operations.MaintainZone(zoneOf(w), 10*time.Minute))
	}},
	"lost pod": {change: func(w *sim.Cluster) {
		w.KillPod(w.Resource.Status.ProcessGroups[0].PodName(w.Resource))
		w.Tick(time.Minute)
	}},
	// It is created only once, also if the resource no longer records that.
	"growth, not configured by the status": {change: func(w *sim.Cluster) {
		w.Resource.Status.Configured = false
		w.Resource.Spec.ProcessCounts.Storage += 2
	}},
	"three data halls, knob change": {begin: threeHalls, change: setKnob},
	"three data halls, minor upgrade": {
		begin: threeHalls, change: func(w *sim.Cluster) { w.Resource.Spec.Version = "7.4.6" },
	},
	"two regions, replacement": {begin: twoRegions, change: func(w *sim.Cluster) {
		w.Resource.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{groupOf(w, v1beta2.ProcessClassStorage)}
	}},
	"two regions, change of the primary region": {begin: twoRegions, change: func(w *sim.Cluster) {
		w.Resource.Spec.DatabaseConfiguration.Regions = []v1beta2.Region{region("dc1", 0), region("dc2", 1)}
	}},
	"split image, creation":       {begin: unbornWith(splitImage)},
	"split image, knob change":    {begin: settledWith(splitImage), change: setKnob},
	"split image, patch upgrade":  {begin: settledWith(splitImage), change: func(w *sim.Cluster) { w.Resource.Spec.Version = "7.3.81" }},
	"split image, minor upgrade":  {begin: settledWith(splitImage), change: func(w *sim.Cluster) { w.Resource.Spec.Version = "7.4.6" }},
	"split image, growth":         {begin: settledWith(splitImage), change: func(w *sim.Cluster) { w.Resource.Spec.ProcessCounts.Storage += 2 }},
	"service addresses, creation": {begin: unbornWith(serviceIPs)},
	"service addresses, growth":   {begin: settledWith(serviceIPs), change: func(w *sim.Cluster) { w.Resource.Spec.ProcessCounts.Storage += 2 }},
	"service addresses, minor upgrade": {
		begin: settledWith(serviceIPs), change: func(w *sim.Cluster) { w.Resource.Spec.Version = "7.4.6" },
	},
	"IPv6, creation": {begin: unbornWith(sixth)},
	"IPv6, replacement": {begin: settledWith(sixth), change: func(w *sim.Cluster) {
		w.Resource.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{groupOf(w, v1beta2.ProcessClassStorage)}
	}},
	"IPv6, minor upgrade":               {begin: settledWith(sixth), change: func(w *sim.Cluster) { w.Resource.Spec.Version = "7.4.6" }},
	"IPv6 in split images, knob change": {begin: settledWith(splitImage, sixth), change: setKnob},
}

// What is forecast is what then happens.
func TestForecastsComeTrue(t *testing.T) {
	for name, j := range journeys {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := j.start(t)
			list := j.list(w)
			f, err := forecast.Play(t.Context(), forecast.Request{Observed: observed(t, w), Stages: list, Seed: 42, PodStart: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			if f.End != planned.ForecastComplete {
				t.Fatalf("ends %s: %+v\n%s", f.End, f.Unavailable, summary(f))
			}
			pods := len(w.Pods)
			found := differences(counts(f), withoutMetadata(happens(t, w, list)))
			if diff := cmp.Diff(j.surprises, found); diff != "" {
				t.Errorf("forecast and what happened (-surprises +found):\n%s", diff)
			}
			if f.Totals.PodsNow != pods || f.Totals.PodsAtEnd != len(w.Pods) {
				t.Errorf("pods %d then %d, forecast %d then %d", pods, len(w.Pods), f.Totals.PodsNow, f.Totals.PodsAtEnd)
			}
			t.Log(summary(f))
		})
	}
}

func (j journey) start(t *testing.T) *sim.Cluster {
	t.Helper()
	if j.begin == nil {
		j.begin = settledWith()
	}
	w := j.begin(t)
	if j.change != nil {
		j.change(w)
		w.Resource.Generation++
	}
	return w
}

func (j journey) list(w *sim.Cluster) []plan.Stage {
	if j.stages == nil {
		return stages.Cluster()
	}
	return j.stages(w)
}

// differences are the counts that are not the same, by their key; nil for none.
func differences(forecast, done map[string]int) map[string][2]int {
	var found map[string][2]int
	for _, counted := range []map[string]int{forecast, done} {
		for key := range counted {
			if forecast[key] == done[key] {
				continue
			}
			if found == nil {
				found = map[string][2]int{}
			}
			found[key] = [2]int{forecast[key], done[key]}
		}
	}
	return found
}

// Few forecasts are surprised: at most one of ten journeys has other actions than its forecast.
func TestAtLeastNineOfTenForecastsMatchTheActions(t *testing.T) {
	surprised := 0
	for _, j := range journeys {
		if len(j.surprises) > 0 {
			surprised++
		}
	}
	if surprised*10 > len(journeys) {
		t.Errorf("%d of %d journeys are surprised", surprised, len(journeys))
	}
}

func settledWith(edits ...func(*v1beta2.FoundationDBCluster)) func(*testing.T) *sim.Cluster {
	return func(t *testing.T) *sim.Cluster {
		t.Helper()
		return settled(t, func(c *v1beta2.FoundationDBCluster) {
			for _, edit := range edits {
				edit(c)
			}
		})
	}
}

func unbornWith(edit func(*v1beta2.FoundationDBCluster)) func(*testing.T) *sim.Cluster {
	return func(t *testing.T) *sim.Cluster {
		t.Helper()
		w, err := sim.New(clusterOf(edit), 7)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
}

func unborn(t *testing.T) *sim.Cluster {
	t.Helper()
	return unbornWith(nil)(t)
}

func splitImage(c *v1beta2.FoundationDBCluster) { c.Spec.ImageType = new(v1beta2.ImageTypeSplit) }

func serviceIPs(c *v1beta2.FoundationDBCluster) {
	c.Spec.Routing.PublicIPSource = new(v1beta2.PublicIPSourceService)
}

func sixth(c *v1beta2.FoundationDBCluster) { c.Spec.Routing.PodIPFamily = new(6) }

func setKnob(w *sim.Cluster) {
	general := w.Resource.Spec.Processes[v1beta2.ProcessClassGeneral]
	general.CustomParameters = append(slices.Clone(general.CustomParameters), "knob_disable_posix_kernel_aio=1")
	w.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: general}
}

func setCPU(w *sim.Cluster) {
	w.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: {
		PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: v1beta2.ContainerMain, Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}},
		}}}},
	}}
}

func groupsOf(w *sim.Cluster) []v1beta2.ProcessGroupID {
	var ids []v1beta2.ProcessGroupID
	for _, g := range w.Resource.Status.ProcessGroups {
		ids = append(ids, g.ProcessGroupID)
	}
	return ids
}

func zoneOf(w *sim.Cluster) string {
	return w.Pods[w.Resource.ProcessGroup(groupOf(w, v1beta2.ProcessClassStorage)).PodName(w.Resource)].Spec.NodeName
}

// coordinatorOf is the process group of a coordinator.
func coordinatorOf(w *sim.Cluster) v1beta2.ProcessGroupID {
	for _, g := range w.Resource.Status.ProcessGroups {
		if strings.Contains(w.Resource.Status.ConnectionString, g.DNSName(w.Resource)+":") {
			return g.ProcessGroupID
		}
	}
	return ""
}

// threeHalls is a cluster whose nodes are in three data halls.
func threeHalls(t *testing.T) *sim.Cluster {
	t.Helper()
	w := unbornWith(func(c *v1beta2.FoundationDBCluster) {
		c.Spec.DatabaseConfiguration = v1beta2.DatabaseConfiguration{
			RedundancyMode: v1beta2.RedundancyModeThreeDataHall, RoleCounts: v1beta2.RoleCounts{Storage: 9, Logs: 9},
		}
		c.Spec.ProcessCounts = v1beta2.ProcessCounts{Stateless: 9}
		c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"locality_data_hall=$NODE_LABEL_TOPOLOGY_KUBERNETES_IO_ZONE"}},
		}
	})(t)
	w.Nodes, w.NodeLabels = nil, map[string]map[string]string{}
	for i := range 12 {
		node := fmt.Sprintf("node-%d", i)
		w.Nodes = append(w.Nodes, node)
		w.NodeLabels[node] = map[string]string{"topology.kubernetes.io/zone": fmt.Sprintf("hall-%d", i%3)}
	}
	rest(t, w)
	return w
}

func region(dc string, priority int) v1beta2.Region {
	return v1beta2.Region{Datacenters: []v1beta2.DataCenter{{ID: dc, Priority: priority}}}
}

// twoRegions is the resource in the primary data center of a database in two.
func twoRegions(t *testing.T) *sim.Cluster {
	t.Helper()
	in := func(dc string) func(*v1beta2.FoundationDBCluster) {
		return func(c *v1beta2.FoundationDBCluster) {
			c.Name, c.Spec.DataCenter, c.Spec.ProcessGroupIDPrefix = "sample-"+dc, dc, dc
			c.Spec.DatabaseConfiguration = v1beta2.DatabaseConfiguration{UsableRegions: 1, Regions: []v1beta2.Region{region("dc1", 1)}}
		}
	}
	w := unbornWith(in("dc1"))(t)
	passes(t, w)
	object := w.Resource.DeepCopy()
	object.Status = v1beta2.FoundationDBClusterStatus{}
	object.Spec.SeedConnectionString = w.Resource.Status.ConnectionString
	in("dc2")(object)
	other, err := w.Join(object)
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range []*sim.Cluster{w, other} {
		configuration := &each.Resource.Spec.DatabaseConfiguration
		configuration.UsableRegions, configuration.Regions = 2, []v1beta2.Region{region("dc1", 1), region("dc2", 0)}
		each.Resource.Generation++
	}
	rest(t, w, other)
	return w
}

func migrateEngine(w *sim.Cluster) {
	w.Resource.Spec.DatabaseConfiguration.StorageEngine = v1beta2.StorageEngineRedwood
	w.Resource.Spec.DatabaseConfiguration.StorageMigrationType = new(v1beta2.StorageMigrationAggressive)
}
