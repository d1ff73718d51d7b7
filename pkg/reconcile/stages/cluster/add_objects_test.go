package cluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// serviceOf adds the service of the first storage group with a cluster IP.
func serviceOf(ip string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		service := objects.GroupService(s.Cluster, stagestest.FirstOf(*s, "storage"))
		service.Spec.ClusterIP = ip
		s.Services[service.Name] = service
	}
}

func TestAddPods(t *testing.T) {
	create := []string{"create pod sample-storage-114"}
	tests := map[string]struct {
		given  func(*plan.Snapshot)
		does   []string
		holds  string
		manual bool
	}{
		"leaves pods alone that are there":                                 {given: func(*plan.Snapshot) {}},
		"creates the pod that is missing":                                  {given: stagestest.LosePod, does: create},
		"gives a group that is leaving its pod back: its data has to move": {given: stagestest.All(stagestest.LosePod, stagestest.MarkFirst), does: create},
		"gives no pod to a group whose data has moved":                     {given: stagestest.All(stagestest.LosePod, stagestest.ExcludeFirst)},
		"gives no pod to a group that goes without exclusion": {given: stagestest.All(stagestest.LosePod, stagestest.MarkFirst, func(s *plan.Snapshot) {
			stagestest.FirstOf(*s, "storage").ExclusionSkipped = true
		})},
		"creates none beside a PVC that is being deleted, which no pod may start with": {given: stagestest.All(stagestest.LosePod, func(s *plan.Snapshot) {
			s.Volumes[stagestest.FirstOf(*s, "storage").PVCName(s.Cluster)].DeletionTimestamp = new(stagestest.NoonTime())
		}), holds: "the pod of storage-114 is not created while PVC sample-storage-114-data is being deleted"},
		"creates nothing beside a pod that terminates": {given: func(s *plan.Snapshot) {
			ends := stagestest.NoonTime()
			s.Pod(stagestest.FirstOf(*s, "storage")).DeletionTimestamp = &ends
		}},
		"waits for the ConfigMap that pods mount":           {given: stagestest.All(stagestest.LosePod, func(s *plan.Snapshot) { s.ConfigMap = nil }), holds: "ConfigMap does not exist"},
		"waits for the service that gives the address":      {given: stagestest.All(stagestest.LosePod, stagestest.PublicIPFromService), holds: "the pod of storage-114 cannot be created"},
		"waits for the service to get its address":          {given: stagestest.All(stagestest.LosePod, stagestest.PublicIPFromService, serviceOf("")), holds: "no cluster IP yet"},
		"takes no headless service for one with an address": {given: stagestest.All(stagestest.LosePod, stagestest.PublicIPFromService, serviceOf("None")), holds: "no cluster IP yet"},
		"creates the pod once its service has an address":   {given: stagestest.All(stagestest.LosePod, stagestest.PublicIPFromService, serviceOf("10.96.0.9")), does: create},
		"needs a user where the spec cannot become a pod": {given: stagestest.All(stagestest.LosePod, func(s *plan.Snapshot) {
			s.Cluster.Spec.Processes = nil // as if the cluster had not been normalized
		}), holds: "invalid spec", manual: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			check(t, AddPods.Decide(s), tc.does, tc.holds, tc.manual)
		})
	}
}

// check compares what a decision does and whether it holds.
func check(t *testing.T, d plan.Decision, does []string, holds string, manual bool) {
	t.Helper()
	if diff := cmp.Diff(does, stagestest.Described(d)); diff != "" {
		t.Errorf("actions (-want +got):\n%s\nholds with %q", diff, stagestest.Reason(d))
	}
	if got := stagestest.Reason(d); !strings.Contains(got, holds) || (holds == "") != (got == "") {
		t.Errorf("holds with %q, want %q", got, holds)
	}
	if d.Hold != nil && d.Hold.Manual != manual {
		t.Errorf("needs a user: %t, want %t", d.Hold.Manual, manual)
	}
	if (len(d.Actions) > 0) != (d.Why != "") {
		t.Errorf("wants %d actions because of %q", len(d.Actions), d.Why)
	}
}

func TestAServiceWithoutAnAddressDoesNotBlockOtherPods(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	stagestest.PublicIPFromService(&s)
	serviceOf("10.96.0.9")(&s)
	for name := range s.Pods {
		if strings.Contains(name, "storage") {
			delete(s.Pods, name)
		}
	}
	d := AddPods.Decide(s)
	if diff := cmp.Diff([]string{"create pod sample-storage-114"}, stagestest.Described(d)); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	if d.Hold == nil {
		t.Error("nothing is left to wait for, though two services have no address")
	}
}

func TestANewPodIsAnnotatedWithItsConfigMapHashAndServiceIP(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	stagestest.All(stagestest.LosePod, stagestest.PublicIPFromService, serviceOf("10.96.0.9"))(&s)
	pod := AddPods.Decide(s).Actions[0].(plan.CreatePod).Object
	hash, err := objects.ConfigMapHash(s.Cluster, objects.DesiredLaunch(s.Cluster, v1beta2.ProcessClassStorage))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{v1beta2.AnnotationLastAppliedConfigMap: hash, v1beta2.AnnotationPublicIP: "10.96.0.9"}
	for key, value := range want {
		if pod.Annotations[key] != value {
			t.Errorf("annotation %s is %q, want %q", key, pod.Annotations[key], value)
		}
	}
}

func TestAddPVCs(t *testing.T) {
	create := []string{"create PVC sample-storage-114-data"}
	lost := stagestest.All(stagestest.LosePod, stagestest.LoseClaim)
	fresh := stagestest.All(lost, func(s *plan.Snapshot) { stagestest.FirstOf(*s, "storage").Addresses = nil })
	recovering := func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.Name = "all_logs_recruited" }
	replicas := func(n int) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = &n
		}
	}
	tests := map[string]struct {
		given  func(*plan.Snapshot)
		does   []string
		holds  string
		manual bool
	}{
		"creates the claim of a group that never had a pod": {given: fresh, does: create},
		"creates it even while the database is down": {given: stagestest.All(fresh, func(s *plan.Snapshot) {
			s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
		}), does: create},
		"creates an empty claim for a lost one whose data is elsewhere": {given: stagestest.All(lost, replicas(1)), does: create},
		"creates none for a lost one while some data has no copy": {
			given: stagestest.All(lost, replicas(0)), holds: "PVC sample-storage-114-data of storage-114 no longer exists, and no empty one is created: all data has 0 replicas without it", manual: true,
		},
		"creates none for the only copy, whatever the database still shows": {given: stagestest.All(lost, func(s *plan.Snapshot) {
			s.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeSingle
		}), holds: "keeps one copy, which was on that volume", manual: true},
		"creates none for a lost one while the database does not answer": {given: stagestest.All(lost, func(s *plan.Snapshot) {
			s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
		}), holds: "no empty one is created: no database status: timed out"},
		"creates none for a lost one while the database recovers": {
			given: stagestest.All(lost, replicas(1), recovering), holds: "no empty one is created: the database is not fully recovered", manual: true,
		},
		"creates one for a lost one of two regions, whose recovery ends only with both": {
			given: stagestest.All(lost, replicas(1), recovering, func(s *plan.Snapshot) { s.Database.Status.Cluster.Configuration.UsableRegions = 2 }), does: create,
		},
		"creates none while its pod runs with the volume": {
			given: stagestest.LoseClaim, holds: "1 pod is not deleted, because the data on the volume would be lost with it: storage-114: PVC sample-storage-114-data not found", manual: true,
		},
		"creates one for a pod that waits for it": {given: stagestest.All(stagestest.LoseClaim, func(s *plan.Snapshot) {
			s.Pod(stagestest.FirstOf(*s, "storage")).Status.Phase = corev1.PodPending
		}), does: create},
		"creates none beside one that is being deleted": {given: stagestest.All(stagestest.LosePod, func(s *plan.Snapshot) {
			s.Volumes[stagestest.FirstOf(*s, "storage").PVCName(s.Cluster)].DeletionTimestamp = new(stagestest.NoonTime())
		})},
		"leaves claims alone that are there":         {given: func(*plan.Snapshot) {}},
		"gives a group that is leaving its claim":    {given: stagestest.All(fresh, stagestest.MarkFirst), does: create},
		"gives none to a group whose data has moved": {given: stagestest.All(lost, stagestest.ExcludeFirst)},
		"gives none to a group that goes without exclusion": {given: stagestest.All(lost, stagestest.MarkFirst, func(s *plan.Snapshot) {
			stagestest.FirstOf(*s, "storage").ExclusionSkipped = true
		})},
		"never changes a claim that differs": {given: func(s *plan.Snapshot) {
			s.Volumes[stagestest.FirstOf(*s, "storage").PVCName(s.Cluster)].Annotations[v1beta2.AnnotationLastAppliedSpec] = "other"
		}},
		"creates none for stateless groups": {given: func(s *plan.Snapshot) {
			for name := range s.Volumes {
				if strings.Contains(name, "stateless") {
					delete(s.Volumes, name)
				}
			}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			check(t, AddPVCs.Decide(s), tc.does, tc.holds, tc.manual)
		})
	}
}

func headless(s *plan.Snapshot) *corev1.Service { return s.Services[s.Cluster.HeadlessServiceName()] }

func TestAddServices(t *testing.T) {
	withHeadless := func(s *plan.Snapshot) {
		s.Cluster.Spec.Routing.HeadlessService = new(true)
		service := objects.HeadlessService(s.Cluster)
		s.Services = map[string]*corev1.Service{service.Name: service}
	}
	allServices := func(s *plan.Snapshot) {
		withHeadless(s)
		stagestest.PublicIPFromService(s)
		for _, g := range s.Groups() {
			service := objects.GroupService(s.Cluster, g)
			s.Services[service.Name] = service
		}
	}
	wantFamily := func(family int) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Cluster.Spec.Routing.PodIPFamily = &family }
	}
	tests := map[string]struct {
		given func(*plan.Snapshot)
		does  []string
	}{
		"creates no service that the spec does not require": {given: func(s *plan.Snapshot) { s.Services = nil; s.Cluster.Spec.Routing.HeadlessService = nil }},
		"creates the headless service":                      {given: stagestest.All(withHeadless, func(s *plan.Snapshot) { s.Services = nil }), does: []string{"create service sample"}},
		"leaves services alone that are right":              {given: allServices},
		"leaves alone what the API server filled in": {given: stagestest.All(allServices, func(s *plan.Snapshot) {
			service := headless(s)
			service.Spec.SessionAffinity = corev1.ServiceAffinityNone
			for i := range service.Spec.Ports {
				service.Spec.Ports[i].Protocol = corev1.ProtocolTCP
			}
			service.Labels["theirs"], service.Annotations = "1", map[string]string{"theirs": "1"}
		})},
		"creates the service of a group": {given: stagestest.All(allServices, func(s *plan.Snapshot) {
			delete(s.Services, stagestest.FirstOf(*s, "storage").ServiceName(s.Cluster))
		}), does: []string{"create service sample-storage-114"}},
		"gives a group that is leaving its service": {given: stagestest.All(allServices, stagestest.MarkFirst, func(s *plan.Snapshot) {
			delete(s.Services, stagestest.FirstOf(*s, "storage").ServiceName(s.Cluster))
		}), does: []string{"create service sample-storage-114"}},
		"gives none to a group whose data has moved": {given: stagestest.All(allServices, stagestest.ExcludeFirst, func(s *plan.Snapshot) {
			delete(s.Services, stagestest.FirstOf(*s, "storage").ServiceName(s.Cluster))
		})},
		"corrects a selector": {given: stagestest.All(allServices, func(s *plan.Snapshot) { headless(s).Spec.Selector = map[string]string{"app": "other"} }), does: []string{"update service sample"}},
		"corrects ports": {given: stagestest.All(allServices, func(s *plan.Snapshot) {
			s.Services[stagestest.FirstOf(*s, "storage").ServiceName(s.Cluster)].Spec.Ports[0].Port = 1
		}), does: []string{"update service sample-storage-114"}},
		"adds a label that is missing": {given: stagestest.All(allServices, func(s *plan.Snapshot) { headless(s).Labels = nil }), does: []string{"update service sample"}},
		"replaces a service of the wrong IP family, which never changes": {given: stagestest.All(withHeadless, wantFamily(6), func(s *plan.Snapshot) {
			headless(s).Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
		}), does: []string{"replace service sample"}},
		"leaves a service of the right IP family": {given: stagestest.All(wantFamily(6), withHeadless)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			check(t, AddServices.Decide(s), tc.does, "", false)
		})
	}
}

func TestAServiceUpdateKeepsForeignLabelsAndTheClusterIP(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	s.Cluster.Spec.Routing.HeadlessService = new(true)
	service := objects.HeadlessService(s.Cluster)
	service.ResourceVersion, service.Spec.ClusterIP = "7", "None"
	service.Labels = map[string]string{"theirs": "1"}
	service.Spec.Selector = map[string]string{"app": "other"}
	s.Services = map[string]*corev1.Service{service.Name: service}
	updated := AddServices.Decide(s).Actions[0].(plan.ApplyService).Object
	if updated.ResourceVersion != "7" || updated.Spec.ClusterIP != "None" || updated.Labels["theirs"] != "1" || updated.Spec.Selector["app"] == "other" {
		t.Errorf("updates to %+v", updated)
	}
	if service.Spec.Selector["app"] != "other" {
		t.Error("deciding changed the service in the snapshot")
	}
}

func TestUpdateConfigMap(t *testing.T) {
	tests := map[string]struct {
		given func(*plan.Snapshot)
		does  []string
	}{
		"leaves one alone that is right":  {given: func(*plan.Snapshot) {}},
		"creates one where there is none": {given: func(s *plan.Snapshot) { s.ConfigMap = nil }, does: []string{"create ConfigMap sample-config"}},
		"brings keys up to date": {
			given: func(s *plan.Snapshot) { s.ConfigMap.Data[objects.KeyClusterFile] = "old" }, does: []string{"update ConfigMap sample-config (cluster-file)"},
		},
		"follows the connection string": {
			given: func(s *plan.Snapshot) { s.Cluster.Status.ConnectionString = "sample:def@10.1.0.9:4501" },
			does:  []string{"update ConfigMap sample-config (cluster-file)"},
		},
		"takes foreign keys out, which pods would mount": {
			given: func(s *plan.Snapshot) { s.ConfigMap.Data["theirs"] = "1" }, does: []string{"update ConfigMap sample-config (theirs)"},
		},
		"adds a label that is missing": {given: func(s *plan.Snapshot) { s.ConfigMap.Labels = nil }, does: []string{"update ConfigMap sample-config (labels or annotations)"}},
		"leaves foreign labels and annotations alone": {given: func(s *plan.Snapshot) {
			s.ConfigMap.Labels["theirs"] = "1"
			s.ConfigMap.Annotations = map[string]string{"theirs": "1"}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			check(t, UpdateConfigMap.Decide(s), tc.does, "", false)
		})
	}
}

func TestAConfigMapUpdateKeepsLabelsOfOtherClients(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	s.ConfigMap.ResourceVersion = "7"
	s.ConfigMap.Labels["theirs"] = "1"
	s.ConfigMap.Data[objects.KeyClusterFile] = "old"
	updated := UpdateConfigMap.Decide(s).Actions[0].(plan.ApplyConfigMap).Object
	if updated.Labels["theirs"] != "1" || updated.ResourceVersion != "7" || updated.Data[objects.KeyClusterFile] != stagestest.SampleConnectionString {
		t.Errorf("updates to %+v", updated)
	}
}

func TestRemoveServices(t *testing.T) {
	// A headless service that was needed until a moment ago.
	superfluous := func(s *plan.Snapshot) {
		s.Cluster.Spec.Routing.HeadlessService = new(true)
		headless := objects.HeadlessService(s.Cluster)
		s.Services[headless.Name] = headless
		s.Cluster.Spec.Routing.HeadlessService = nil
	}
	service := func(edit func(*corev1.Service)) func(*plan.Snapshot) {
		return stagestest.Combined(superfluous, func(s *plan.Snapshot) { edit(s.Services["sample"]) })
	}
	stagestest.Decides(t, RemoveServices, map[string]stagestest.Decision{
		"does nothing without a service":           {Given: func(*plan.Snapshot) {}},
		"deletes the one that nothing needs":       {Given: superfluous, Does: []string{"delete service sample"}},
		"keeps the one that the spec requires":     {Given: stagestest.Combined(superfluous, func(s *plan.Snapshot) { s.Cluster.Spec.Routing.HeadlessService = new(true) })},
		"keeps one without an owner":               {Given: service(func(o *corev1.Service) { o.OwnerReferences = nil })},
		"keeps one of a cluster that had its name": {Given: service(func(o *corev1.Service) { o.OwnerReferences[0].UID = "before" })},
		"keeps one without the cluster's labels":   {Given: service(func(o *corev1.Service) { o.Labels = nil })},
		"deletes none twice":                       {Given: service(func(o *corev1.Service) { o.DeletionTimestamp = new(stagestest.NoonTime()) })},
		"keeps it while a coordinator is known by a name": {
			Given: stagestest.Combined(superfluous, func(s *plan.Snapshot) {
				s.Cluster.Status.ConnectionString = "sample:abc@sample-log-101.sample.fdb.svc.cluster.local:4501,10.1.0.2:4501,10.1.0.3:4501"
			}), Holds: "sample-log-101.sample.fdb.svc.cluster.local:4501",
		},
		"keeps it while the cluster file cannot be read": {
			Given: stagestest.Combined(superfluous, func(s *plan.Snapshot) { s.Cluster.Status.ConnectionString = "?" }), Holds: "stays until",
		},
	})
}
