package collect

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

// readPlacement determines where coordinators can be, after the files of pods were read.
func readPlacement(s plan.Snapshot, f *recovery.Facts) {
	f.Placement.Desired, f.Placement.Shared, f.Placement.Claims = s.Cluster.DesiredCoordinators(), shared(s.Cluster), leftoverClaims(s)
	f.Placement.Regions = len(s.Cluster.Spec.DatabaseConfiguration.Regions)
	for i, g := range s.Groups() {
		priority, eligible := s.Cluster.CoordinatorPriority(g.ProcessClass)
		if !eligible || g.IsMarkedForRemoval() || g.FaultDomain == "" || f.Groups[i].Files == nil {
			continue
		}
		address, err := readings.FirstAddress(s.Cluster, g, s.Pods[f.Groups[i].Pod])
		if err != nil {
			continue
		}
		if dir, running := directoryOf(f.Groups[i], address); running {
			f.Placement.Candidates = append(f.Placement.Candidates, recovery.Candidate{
				Group: f.Groups[i].ID, Zone: string(g.FaultDomain), Address: address.Coordinator(), Directory: dir, Priority: priority,
			})
		}
	}
}

// isLeftover reports whether a volume of the namespace may have state of the cluster, although it is of no
// PVC that a process group has: by the name of its PVC, in whatever phase. Released volumes of process groups are not
// among them.
func isLeftover(s plan.Snapshot, claims map[string]bool, v corev1.PersistentVolume) bool {
	name := v.Spec.ClaimRef.Name
	switch v.Status.Phase {
	case corev1.VolumeBound:
		return claims[name] && s.Volumes[name] == nil
	case corev1.VolumeReleased:
		return !claims[name] && strings.HasPrefix(name, s.Cluster.Name+"-")
	default:
		return strings.HasPrefix(name, s.Cluster.Name+"-")
	}
}

// leftoverClaims are PVCs of the cluster that no process group in the status has.
func leftoverClaims(s plan.Snapshot) []string {
	claims := claimsOf(s)
	names := []string{}
	for name := range s.Volumes {
		if !claims[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// shared returns why processes of the database may run elsewhere than in the pods of the cluster, or in
// several data centers.
func shared(c *v1beta2.FoundationDBCluster) string {
	d := c.Spec.DatabaseConfiguration
	switch {
	case d.UsableRegions > 1 || len(d.Regions) > 1:
		return "the database has several regions, 1 required"
	case d.RedundancyMode == v1beta2.RedundancyModeThreeDataHall:
		return "the redundancy mode is three_data_hall: its coordinators are spread over data halls"
	case c.Spec.ProcessGroupIDPrefix != "":
		return "spec.processGroupIDPrefix is set: other control-plane instances may have processes of this database"
	}
	return ""
}

// directoryOf returns the data directory of the process of a group that listens at an address: by its
// port, since a name and the address of a service are not in its command line.
func directoryOf(g recovery.Group, address fdb.Address) (dir string, running bool) {
	for _, server := range g.Files.Servers {
		for _, text := range server.Addresses {
			if a, err := fdb.ParseAddress(text); err == nil && a.Port == address.Port && a.TLS == address.TLS && server.Directory != "" {
				return server.Directory, true
			}
		}
	}
	return "", false
}
