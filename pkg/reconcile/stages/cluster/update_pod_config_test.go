package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// forgetful is a healthy cluster whose first storage pod has not confirmed its configuration.
func forgetful(t *testing.T) plan.Snapshot {
	t.Helper()
	s := stagestest.HealthyCluster(t)
	stagestest.FirstPod(&s).Annotations[v1beta2.AnnotationLastAppliedConfigMap] = "old"
	return s
}

// accepted changes the configuration that the first storage pod's monitor has accepted.
func accepted(t *testing.T, edit func(*fdb.MonitorConfiguration)) func(*plan.Snapshot) {
	t.Helper()
	return stagestest.Report(func(r *plan.PodReport) {
		c, err := fdb.ParseMonitorConfiguration([]byte(r.Configuration))
		if err != nil {
			t.Fatal(err)
		}
		edit(&c)
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		r.Configuration = string(text)
	})
}

func nudged(ago time.Duration) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		stagestest.FirstPod(s).Annotations[v1beta2.AnnotationOutdatedConfigMapSeen] = strconv.FormatInt(stagestest.Noon.Add(-ago).Unix(), 10)
	}
}

func TestUpdatePodConfigOfUnifiedPods(t *testing.T) {
	confirm := []string{"set on pod/sample-storage-114: foundationdb.org/last-applied-config-map"}
	confirmAndForget := []string{"set on pod/sample-storage-114: foundationdb.org/last-applied-config-map, -foundationdb.org/outdated-config-map-seen"}
	nudge := []string{"set on pod/sample-storage-114: foundationdb.org/outdated-config-map-seen"}
	const lags = "storage-114 has not loaded its monitor configuration"
	old := accepted(t, func(c *fdb.MonitorConfiguration) { c.Version = "7.3.77" })
	tests := map[string]struct {
		given func(*plan.Snapshot)
		does  []string
		holds string
	}{
		"confirms what the monitor has accepted":        {given: func(*plan.Snapshot) {}, does: confirm},
		"takes the nudge back with it":                  {given: nudged(time.Hour), does: confirmAndForget},
		"nudges a pod that uses an older configuration": {given: old, does: nudge, holds: lags},
		"nudges no more than every 15 s":                {given: stagestest.All(old, nudged(14*time.Second)), holds: lags},
		"nudges again after 15 s":                       {given: stagestest.All(old, nudged(15*time.Second)), does: nudge, holds: lags},
		"nudges over a note that it cannot read": {given: stagestest.All(old, func(s *plan.Snapshot) {
			stagestest.FirstPod(s).Annotations[v1beta2.AnnotationOutdatedConfigMapSeen] = "noon"
		}), does: nudge, holds: lags},
		"confirms no configuration with another argument":     {given: accepted(t, func(c *fdb.MonitorConfiguration) { c.Arguments = c.Arguments[1:] }), does: nudge, holds: lags},
		"confirms no configuration with a different value":    {given: accepted(t, func(c *fdb.MonitorConfiguration) { c.Arguments[0].Value += "x" }), does: nudge, holds: lags},
		"confirms no configuration that stops its servers":    {given: accepted(t, func(c *fdb.MonitorConfiguration) { c.RunServers = new(bool) }), does: nudge, holds: lags},
		"confirms nothing that it cannot read":                {given: stagestest.Report(func(r *plan.PodReport) { r.Configuration = "{" }), does: nudge, holds: lags},
		"confirms nothing of a pod that has reported nothing": {given: stagestest.Report(func(r *plan.PodReport) { *r = plan.PodReport{} }), does: nudge, holds: lags},
		"confirms nothing of a pod that cannot be asked":      {given: stagestest.Report(func(r *plan.PodReport) { r.Unreachable = "timed out" }), does: nudge, holds: "storage-114 is unreachable: timed out"},
		"waits for the ConfigMap":                             {given: func(s *plan.Snapshot) { s.ConfigMap = nil }, holds: "storage-114 waits for the ConfigMap"},
		"nudges no pod that mounts an outdated ConfigMap": {given: stagestest.All(old, func(s *plan.Snapshot) {
			s.ConfigMap = s.ConfigMap.DeepCopy()
			s.ConfigMap.Data["cluster-file"] = "sample:old@10.1.0.1:4501"
		}), holds: "storage-114 waits for the ConfigMap"},
		"waits for a pod to run":                          {given: func(s *plan.Snapshot) { stagestest.FirstPod(s).Status.Phase = corev1.PodPending }, holds: "storage-114 does not run yet"},
		"leaves a pod alone that goes away":               {given: func(s *plan.Snapshot) { stagestest.FirstPod(s).DeletionTimestamp = new(stagestest.NoonTime()) }},
		"leaves a group alone whose data has moved":       {given: stagestest.ExcludeFirst},
		"leaves a group alone that is marked for removal": {given: stagestest.MarkFirst},
		"does not wait for a marked group that cannot be asked": {
			given: stagestest.All(stagestest.MarkFirst, stagestest.Report(func(r *plan.PodReport) { r.Unreachable = "timed out" })),
		},
		"leaves a group alone that has no pod": {given: stagestest.LosePod},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := forgetful(t)
			tc.given(&s)
			check(t, UpdatePodConfig.Decide(s), tc.does, tc.holds, false)
		})
	}
}

// A group that is marked for removal restarts with all others in these cases, and holds data until it
// is drained.
func TestAMarkedGroupGetsNewConfigurationOnlyForUpgradesAndTLS(t *testing.T) {
	const nudge = "set on pod/sample-storage-114: foundationdb.org/outdated-config-map-seen"
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  bool
	}{
		"a knob changes":                 {given: func(*plan.Snapshot) {}},
		"an upgrade to another protocol": {given: func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" }, want: true},
		"the way to TLS": {given: func(s *plan.Snapshot) {
			s.Cluster.Status.RequiredAddresses = v1beta2.RequiredAddressSet{TLS: true, NonTLS: true}
		}, want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := forgetful(t)
			stagestest.All(stagestest.MarkFirst, stagestest.Report(func(r *plan.PodReport) { *r = plan.PodReport{} }), tc.given)(&s)
			writeConfigMap(t, &s)
			if got := slices.Contains(stagestest.Described(UpdatePodConfig.Decide(s)), nudge); got != tc.want {
				t.Errorf("synced: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestAPodWithOldConfigurationDoesNotBlockOtherPods(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	for _, g := range s.Groups() {
		s.Pod(g).Annotations[v1beta2.AnnotationLastAppliedConfigMap] = "old"
	}
	for _, g := range s.Groups()[:5] {
		s.PodFiles[g.PodName(s.Cluster)] = plan.PodReport{Unreachable: "timed out"}
		s.Pod(g).Annotations[v1beta2.AnnotationOutdatedConfigMapSeen] = fmt.Sprint(stagestest.Noon.Unix())
	}
	d := UpdatePodConfig.Decide(s)
	if len(d.Actions) != len(s.Groups())-5 {
		t.Errorf("wants %v, want a confirmation of each of the %d others", stagestest.Described(d), len(s.Groups())-5)
	}
	if !strings.HasSuffix(stagestest.Reason(d), "; and 2 more") {
		t.Errorf("holds with %q", stagestest.Reason(d))
	}
}

// splitGroup turns the first storage group's pod into a split one that has copied its files.
func splitGroup(t *testing.T) plan.Snapshot {
	t.Helper()
	s := forgetful(t)
	split := &v1beta2.FoundationDBCluster{Spec: v1beta2.FoundationDBClusterSpec{Version: "7.3.79", ImageType: new(v1beta2.ImageTypeSplit), Routing: s.Cluster.Spec.Routing}}
	normalized, err := split.Normalized()
	if err != nil {
		t.Fatal(err)
	}
	s.Cluster.Spec = normalized.Spec
	g := stagestest.FirstOf(s, "storage")
	pod, err := objects.Pod(s.Cluster, g)
	if err != nil {
		t.Fatal(err)
	}
	pod.Status = stagestest.FirstPod(&s).Status
	s.Pods[pod.Name] = pod
	launch, err := objects.LaunchOf(pod, g.ProcessClass)
	if err != nil {
		t.Fatal(err)
	}
	variables := maps.Clone(s.PodFiles[pod.Name].Variables)
	conf, err := objects.MonitorConf(s.Cluster, launch, variables)
	if err != nil {
		t.Fatal(err)
	}
	s.PodFiles[pod.Name] = plan.PodReport{Variables: variables, Hashes: map[string]string{readings.ClusterFile: readings.Sum(stagestest.SampleConnectionString), readings.MonitorConfFile: readings.Sum(conf)}}
	// The others stay unified and confirmed.
	for _, other := range s.Groups() {
		if other == g {
			continue
		}
		hash, err := readings.ConfigHashes{}.Of(s, other, s.Pod(other))
		if err != nil {
			t.Fatal(err)
		}
		objects.RecordConfigMap(s.Pod(other), hash)
	}
	writeConfigMap(t, &s)
	return s
}

// writeConfigMap brings the ConfigMap up to date.
func writeConfigMap(t *testing.T, s *plan.Snapshot) {
	t.Helper()
	current, err := objects.ConfigMap(s.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	s.ConfigMap = current
}

func TestUpdatePodConfigOfSplitPods(t *testing.T) {
	sync := func(files string) string { return "copy " + files + " in the sidecar of sample-storage-114" }
	const nudge = "set on pod/sample-storage-114: foundationdb.org/outdated-config-map-seen"
	hash := func(file, value string) func(*plan.Snapshot) {
		return stagestest.Report(func(r *plan.PodReport) {
			if r.Hashes = maps.Clone(r.Hashes); value == "" {
				delete(r.Hashes, file)
			} else {
				r.Hashes[file] = value
			}
		})
	}
	tests := map[string]struct {
		given func(*plan.Snapshot)
		does  []string
		holds string
	}{
		"confirms files that are equal":               {given: func(*plan.Snapshot) {}, does: []string{"set on pod/sample-storage-114: foundationdb.org/last-applied-config-map"}},
		"copies a cluster file that differs":          {given: hash(readings.ClusterFile, "01"), does: []string{sync("fdb.cluster"), nudge}, holds: "storage-114 has not loaded fdb.cluster"},
		"copies a configuration that is missing":      {given: hash(readings.MonitorConfFile, ""), does: []string{sync("fdbmonitor.conf"), nudge}, holds: "has not loaded fdbmonitor.conf"},
		"copies both":                                 {given: stagestest.All(hash(readings.MonitorConfFile, ""), hash(readings.ClusterFile, "")), does: []string{sync("fdb.cluster, fdbmonitor.conf"), nudge}, holds: "has not loaded fdb.cluster and fdbmonitor.conf"},
		"copies in every pass, and nudges every 15 s": {given: stagestest.All(hash(readings.ClusterFile, "01"), nudged(time.Second)), does: []string{sync("fdb.cluster")}, holds: "has not loaded fdb.cluster"},
		"does not ask a sidecar that cannot be reached to copy": {
			given: stagestest.Report(func(r *plan.PodReport) { *r = plan.PodReport{Unreachable: "timed out"} }), does: []string{nudge}, holds: "is unreachable: timed out",
		},
		"compares nothing before the sidecar has reported its values": {
			given: stagestest.Report(func(r *plan.PodReport) { r.Variables = nil }), does: []string{sync("fdbmonitor.conf"), nudge}, holds: "has not loaded fdbmonitor.conf",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := splitGroup(t)
			tc.given(&s)
			check(t, UpdatePodConfig.Decide(s), tc.does, tc.holds, false)
		})
	}
}

func TestUpdateLabels(t *testing.T) {
	tests := map[string]struct {
		given func(*plan.Snapshot)
		does  []string
	}{
		"leaves alone what is right": {given: func(*plan.Snapshot) {}},
		"leaves foreign labels and annotations alone": {given: func(s *plan.Snapshot) {
			stagestest.FirstPod(s).Labels["theirs"], stagestest.FirstPod(s).Annotations["theirs"] = "1", "1"
		}},
		"corrects a label and an annotation in one patch": {given: func(s *plan.Snapshot) {
			stagestest.FirstPod(s).Labels[v1beta2.LabelProcessClass] = "wrong"
			delete(stagestest.FirstPod(s).Annotations, v1beta2.AnnotationCurrentNode)
		}, does: []string{"set on pod/sample-storage-114: foundationdb.org/fdb-process-class, " + v1beta2.AnnotationCurrentNode}},
		"corrects claims as well": {given: func(s *plan.Snapshot) {
			claim := s.Volumes[stagestest.FirstOf(*s, "storage").PVCName(s.Cluster)]
			delete(claim.Labels, v1beta2.LabelProcessGroupID)
		}, does: []string{"set on persistentvolumeclaim/sample-storage-114-data: foundationdb.org/fdb-process-group-id"}},
		"never touches what a claim was made from": {given: func(s *plan.Snapshot) {
			s.Volumes[stagestest.FirstOf(*s, "storage").PVCName(s.Cluster)].Annotations[v1beta2.AnnotationLastAppliedSpec] = "other"
		}},
		"never touches what a pod was made from": {given: func(s *plan.Snapshot) {
			stagestest.FirstPod(s).Annotations[v1beta2.AnnotationLastAppliedSpec] = "other"
		}},
		"leaves a group alone whose data has moved": {given: stagestest.All(stagestest.ExcludeFirst, func(s *plan.Snapshot) { stagestest.FirstPod(s).Labels = nil })},
		"looks after a group whose data has to move": {given: stagestest.All(stagestest.MarkFirst, func(s *plan.Snapshot) {
			delete(stagestest.FirstPod(s).Labels, v1beta2.LabelProcessClass)
		}), does: []string{"set on pod/sample-storage-114: foundationdb.org/fdb-process-class"}},
		"has nothing to do for what is not there": {given: stagestest.All(stagestest.LosePod, stagestest.LoseClaim)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			check(t, UpdateLabels.Decide(s), tc.does, "", false)
		})
	}
}

func TestALabelPatchContainsOnlyWrongLabels(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	stagestest.FirstPod(&s).Labels[v1beta2.LabelProcessClass] = "wrong"
	got := UpdateLabels.Decide(s).Actions
	want := []plan.Action{plan.PatchMetadata{Group: "storage-114", Kind: plan.KindPod, Name: "sample-storage-114", Labels: map[string]string{v1beta2.LabelProcessClass: "storage"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	if slices.Contains(slices.Collect(maps.Values(stagestest.FirstPod(&s).Labels)), "storage") {
		t.Error("deciding changed the pod in the snapshot")
	}
}
