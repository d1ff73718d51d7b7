package safety

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// processesOf are a group's processes: those that report its ID, and those that report no
// ID from an address that the group has or had. Such a process may be the group's, except
// at an address that another group has now.
func processesOf(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) []fdb.Process {
	status := s.Database.Status
	return status.ProcessesThat(func(p fdb.Process) bool {
		switch p.InstanceID() {
		case string(g.ProcessGroupID):
			return true
		case "":
			return slices.Contains(g.Addresses, p.Address.Host) && !reused(s, g, p.Address.Host)
		default:
			return false
		}
	})
}

// reused reports whether an address that a group had is another group's now: a live pod of
// another group has it, or a process reports another group's ID from it. The IPs of pods
// are used again, and a process that just started reports no ID yet.
func reused(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, host string) bool {
	if own := s.Pod(g); own != nil && hasAddress(own, host) {
		return false
	}
	return isOthers(s.Database.Status, g, host) || livePodHas(s, host)
}

// livePodHas reports whether a live pod has an address to itself. A pod that terminates may
// be of a node that is cut off, and one in its node's network shares the address with
// processes that have lost their pods.
func livePodHas(s plan.Snapshot, host string) bool {
	for _, pod := range s.Pods {
		live := pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning && !pod.Spec.HostNetwork
		if live && hasAddress(pod, host) {
			return true
		}
	}
	return false
}

// Misnamed returns the processes at the address of a group's pod that report another process group, or
// another number in it: their localities are wrong, since no other live pod has the address. With the
// right arguments they report as the group's again.
func Misnamed(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) []fdb.Process {
	pod := s.Pod(g)
	if s.Database.Status == nil || pod == nil || pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning || pod.Spec.HostNetwork {
		return nil
	}
	ips, err := objects.PublicIPs(pod)
	if err != nil || len(ips) == 0 {
		return nil
	}
	processes := s.Database.Status.ProcessesThat(func(p fdb.Process) bool {
		return slices.ContainsFunc(ips, func(ip string) bool { return fdb.SameHost(ip, p.Address.Host) }) && p.Reporting() && !named(p, g)
	})
	if len(processes) > 0 && !onlyPodAt(s, pod, processes) {
		return nil
	}
	return processes
}

// named reports whether a process reports the group, and its own number if it reports one.
func named(p fdb.Process, g *v1beta2.ProcessGroupStatus) bool {
	id := p.Locality[fdb.LocalityProcessID]
	return p.InstanceID() == string(g.ProcessGroupID) && (id == "" || id == g.ProcessGroupID.ProcessID(objects.ServerAt(p.Address.Port)))
}

// onlyPodAt reports whether no other pod, not even a terminating one, has the address of one of the processes.
func onlyPodAt(s plan.Snapshot, own *corev1.Pod, processes []fdb.Process) bool {
	for name, pod := range s.Pods {
		if name != own.Name && slices.ContainsFunc(processes, func(p fdb.Process) bool { return hasAddress(pod, p.Address.Host) }) {
			return false
		}
	}
	return true
}

// hasAddress reports whether a pod has an address; no where its addresses are unknown.
func hasAddress(pod *corev1.Pod, host string) bool {
	ips, err := objects.PublicIPs(pod)
	return err == nil && slices.ContainsFunc(ips, func(ip string) bool { return fdb.SameHost(ip, host) })
}

// whose names a process of a group, and states where the group is uncertain.
func whose(p fdb.Process) string {
	if p.InstanceID() == "" {
		return "the process at " + p.Address.HostPort() + ", which does not report its process group,"
	}
	return "its process at " + p.Address.HostPort()
}
