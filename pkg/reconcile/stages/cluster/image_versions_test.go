package cluster

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// A pinned tag is the usual cause: a user raises spec.version alone.
func TestAnUpgradeToAVersionThatNoImageHasIsRefused(t *testing.T) {
	pinned := []v1beta2.ImageConfig{{Tag: "7.3.79"}}
	for name, tc := range map[string]struct {
		given func(*plan.Snapshot)
		holds bool
	}{
		"the version of the tag":        {func(*plan.Snapshot) {}, false},
		"a compatible version":          {func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.3.80" }, true},
		"a version of another protocol": {func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" }, true},
		"no database yet": {func(s *plan.Snapshot) {
			s.Cluster.Spec.Version, s.Cluster.Status = "7.4.6", v1beta2.FoundationDBClusterStatus{}
			s.Database = plan.DatabaseFacts{Unreachable: "no pod"}
		}, true},
		"the check is omitted by the spec": {func(s *plan.Snapshot) {
			s.Cluster.Spec.Version, s.Cluster.Spec.IgnoreUpgradabilityChecks = "7.3.80", true
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			s.Cluster.Spec.MainContainer.ImageConfigs = pinned
			tc.given(&s)
			d := CheckClientCompatibility.Decide(s)
			if held := d.Hold != nil && strings.Contains(d.Hold.Reason, "spec.mainContainer.imageConfigs[0].tag"); held != tc.holds {
				t.Errorf("%+v", d.Hold)
			} else if held && (!d.Hold.Manual || d.Hold.Then != plan.EndPass) {
				t.Errorf("%+v, want the pass to end", d.Hold)
			}
		})
	}
}

// Without an upgrade as well: the next pods would have the image.
func TestNoPassGivesPodsAnImageOfAnotherVersion(t *testing.T) {
	other := []v1beta2.ImageConfig{{Tag: "7.1.38"}}
	main := func(s *plan.Snapshot) { s.Cluster.Spec.MainContainer.ImageConfigs = other }
	sidecar := func(s *plan.Snapshot) { s.Cluster.Spec.SidecarContainer.ImageConfigs = other }
	for name, tc := range map[string]struct {
		image v1beta2.ImageType
		given []func(*plan.Snapshot)
		names string
	}{
		"the main container of the unified image":           {v1beta2.ImageTypeUnified, []func(*plan.Snapshot){main}, "spec.mainContainer.imageConfigs[0].tag"},
		"the main container of the split image":             {v1beta2.ImageTypeSplit, []func(*plan.Snapshot){main}, "spec.mainContainer.imageConfigs[0].tag"},
		"the sidecar of the split image":                    {v1beta2.ImageTypeSplit, []func(*plan.Snapshot){sidecar}, "spec.sidecarContainer.imageConfigs[0].tag"},
		"rules of the sidecar that the unified image omits": {v1beta2.ImageTypeUnified, []func(*plan.Snapshot){sidecar}, ""},
		"the check is omitted by the spec": {v1beta2.ImageTypeSplit, []func(*plan.Snapshot){sidecar, func(s *plan.Snapshot) {
			s.Cluster.Spec.IgnoreUpgradabilityChecks = true
		}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			s.Cluster.Spec.ImageType = &tc.image
			for _, given := range tc.given {
				given(&s)
			}
			h := CheckClientCompatibility.Decide(s).Hold
			switch {
			case tc.names == "" && h == nil:
			case tc.names == "" || h == nil || !strings.Contains(h.Reason, tc.names) || !h.Manual || h.Then != plan.EndPass:
				t.Errorf("%+v, want a hold that names %q", h, tc.names)
			}
		})
	}
}

// Tags such as latest, dates and digests name no version: what the pods with the image report is compared.
func TestAnUpgradeToAVersionThatTheImageProvesNotToHaveIsRefused(t *testing.T) {
	latest := func(s *plan.Snapshot) {
		s.Cluster.Spec.MainContainer.ImageConfigs = []v1beta2.ImageConfig{{Tag: "latest"}}
	}
	running := func(s *plan.Snapshot) {
		for _, g := range s.Groups() {
			image, err := objects.MainImage(s.Cluster, g.ProcessClass, s.Cluster.Spec.Version)
			if err != nil {
				t.Fatal(err)
			}
			pod := s.Pod(g)
			for i, c := range pod.Spec.Containers {
				if c.Name == v1beta2.ContainerMain {
					pod.Spec.Containers[i].Image = image
				}
			}
		}
	}
	to := func(version string) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Cluster.Spec.Version = version }
	}
	for name, tc := range map[string]struct {
		given []func(*plan.Snapshot)
		holds bool
	}{
		"the version that it has":       {[]func(*plan.Snapshot){latest, running}, false},
		"a compatible version":          {[]func(*plan.Snapshot){latest, running, to("7.3.80")}, true},
		"a version of another protocol": {[]func(*plan.Snapshot){latest, running, to("7.4.6")}, true},
		"an image that no pod has yet":  {[]func(*plan.Snapshot){running, latest, to("7.3.80")}, false},
		"an image that follows":         {[]func(*plan.Snapshot){running, to("7.3.80")}, false},
		"nothing is reported":           {[]func(*plan.Snapshot){latest, running, to("7.3.80"), func(s *plan.Snapshot) { s.Database.Status.Cluster.Processes = nil }}, false},
		"the tag has another image now": {[]func(*plan.Snapshot){latest, running, to("7.3.80"), func(s *plan.Snapshot) {
			for id, p := range s.Database.Status.Cluster.Processes {
				p.Version = "7.3.80"
				s.Database.Status.Cluster.Processes[id] = p
				break
			}
		}}, false},
		"the check is omitted by the spec": {[]func(*plan.Snapshot){latest, running, to("7.3.80"), func(s *plan.Snapshot) { s.Cluster.Spec.IgnoreUpgradabilityChecks = true }}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			for _, given := range tc.given {
				given(&s)
			}
			d := CheckClientCompatibility.Decide(s)
			if held := d.Hold != nil && strings.Contains(d.Hold.Reason, "latest has 7.3.79, as "); held != tc.holds {
				t.Errorf("%+v", d.Hold)
			} else if held && (!d.Hold.Manual || d.Hold.Then != plan.EndPass) {
				t.Errorf("%+v, want the pass to end", d.Hold)
			}
		})
	}
}
