package changes

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// collect returns the facts of a side by section. Times are no facts here, nor is what moves all the
// time: loads, lags, ages, roles.
func collect(s Side) map[Section]facts {
	status := inspect.NewStatusView(inspect.Metadata{}, s.Facts)
	return map[Section]facts{
		Availability:  availability(status),
		Spec:          {ofCluster: spec(s)},
		Versions:      versions(s),
		Configuration: configuration(status),
		Coordinators:  coordinators(s),
		ProcessGroups: groups(s),
		Exclusions:    exclusions(s),
		Pods:          pods(s),
		Nodes:         nodes(s),
		Locks:         locks(s),
	}
}

// spec returns the fields of the spec. Dumps replace the ID of a connection string, each by another one, so
// only the coordinators of one are compared.
func spec(s Side) fields {
	desired := *s.Facts.Cluster.Spec.DeepCopy()
	seed, err := fdb.ParseConnectionString(desired.SeedConnectionString)
	if err != nil {
		f := flattened(desired)
		f.setWord("metadata.uid", string(s.Facts.Cluster.UID))
		return f
	}
	desired.SeedConnectionString = ""
	f := flattened(desired)
	f.setWord("metadata.uid", string(s.Facts.Cluster.UID))
	seed.ID = "***"
	f.set("seedConnectionString", seed.String())
	return f
}

func availability(v inspect.StatusView) facts {
	f, d := fields{}, v.Database
	f.set("state", string(v.State))
	f.set("available", d.Available)
	f.set("healthy", d.Healthy)
	f.set("fullyRecovered", d.FullyRecovered)
	f.set("fullReplication", d.FullReplication)
	f.set("locked", d.Locked)
	f.set("processesReported", d.ProcessesReported)
	f.set("zonesThatMayFail", v.FaultTolerance.Zones)
	f.set("quorumReachable", v.Coordinators.QuorumReachable)
	f.setWord("recoveryState", d.RecoveryState)
	f.setWord("dataState", d.DataState)
	f.setWord("maintenanceZone", d.MaintenanceZone)
	f.setWord("performanceLimit", d.PerformanceLimit)
	f.set("messages", d.Messages)
	f.set("reconciled", v.Reconciliation.Reconciled)
	f.set("skip", v.Reconciliation.Skip)
	return facts{ofCluster: f}
}

// versions returns the version of the status, and those that processes report.
func versions(s Side) facts {
	f := fields{}
	f.setWord("running", s.Facts.Cluster.RunningVersion())
	f.set("processes", nil)
	if status := s.Facts.Database.Status; status.ListsProcesses() {
		found := []string{}
		for _, p := range status.ProcessList() {
			if p.Version != "" && !slices.Contains(found, p.Version) {
				found = append(found, p.Version)
			}
		}
		slices.Sort(found)
		f.set("processes", found)
	}
	return facts{ofCluster: f}
}

func configuration(v inspect.StatusView) facts {
	if v.Configuration.Live == nil {
		return nil
	}
	return facts{ofCluster: flattened(v.Configuration.Live)}
}

func coordinators(s Side) facts {
	all := facts{}
	for _, c := range inspect.NewCoordinatorListView(inspect.Metadata{}, s.Facts).Items {
		f := fields{}
		f.set("reachable", c.Reachable)
		f.setWord("processGroup", c.Group)
		all[c.Address] = f
	}
	return all
}

func groups(s Side) facts {
	all := facts{}
	for _, g := range inspect.NewGroupListView(inspect.Metadata{}, s.Facts).Items {
		conditions := []string{}
		for _, c := range g.Conditions {
			conditions = append(conditions, c.Type)
		}
		slices.Sort(conditions)
		// Those of the status: whether processes report them is a fact of its own.
		addresses := append([]string{}, s.Facts.Cluster.ProcessGroup(v1beta2.ProcessGroupID(g.ID)).Addresses...)
		slices.Sort(addresses)
		f := fields{}
		f.set("class", g.Class)
		f.setWord("zone", g.Zone)
		f.set("addresses", addresses)
		f.set("conditions", conditions)
		f.set("exclusion", string(g.Exclusion))
		f.set("markedForRemoval", g.RemovalSince != nil)
		f.set("processes", g.Processes)
		all[g.ID] = f
	}
	return all
}

func exclusions(s Side) facts {
	if s.Exclusions == nil {
		return nil
	}
	all := facts{}
	for _, target := range s.Exclusions.Exclusions {
		f := fields{}
		f.set("failed", slices.Contains(s.Exclusions.FailedExclusions, target))
		all[target] = f
	}
	return all
}

func pods(s Side) facts {
	all := facts{}
	for name, pod := range s.Facts.Pods {
		f := fields{}
		f.set("uid", string(pod.UID))
		f.set("phase", string(pod.Status.Phase))
		f.setWord("node", pod.Spec.NodeName)
		f.set("terminating", pod.DeletionTimestamp != nil)
		ready := false
		for _, c := range pod.Status.Conditions {
			ready = ready || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}
		f.set("ready", ready)
		for _, c := range pod.Spec.Containers {
			f.set("image["+c.Name+"]", c.Image)
		}
		for _, c := range pod.Status.ContainerStatuses {
			f.set("restarts["+c.Name+"]", strconv.Itoa(int(c.RestartCount)))
		}
		all[name] = f
	}
	return all
}

// nodes returns the nodes that pods of the cluster run on; nil if they could not be read.
func nodes(s Side) facts {
	v := inspect.NewNodeListView(inspect.Metadata{}, s.Facts)
	if v.Hidden != "" {
		return nil
	}
	all := facts{}
	for _, n := range v.Items {
		if n.Exists != nil && !*n.Exists {
			continue // pods refer to it
		}
		taints := slices.Clone(n.Taints)
		slices.Sort(taints)
		f := fields{}
		f.set("ready", "Unknown") // a kubelet that does not report is a fact
		if n.Ready != nil {
			f.set("ready", n.Ready)
		}
		f.set("unschedulable", n.Unschedulable)
		f.set("taints", taints)
		all[n.Name] = f
	}
	return all
}

// locks returns who may change the database. The Lease is that of the run at that time.
func locks(s Side) facts {
	if s.Shared == nil {
		return nil
	}
	all := s.Facts
	all.Coordination = *s.Shared
	v := inspect.NewLockListView(inspect.Metadata{}, all)
	f := fields{}
	for _, lock := range v.Items {
		f.set("state", string(lock.State))
		if lock.Owner != nil {
			f.set("owner", *lock.Owner)
		}
		if lock.ManualHolder != nil {
			f.set("manualHolder", *lock.ManualHolder)
		}
	}
	for _, denied := range v.Denied {
		f.set("denied["+denied.ID+"]", denied.InDatabase)
	}
	f.set("leaseHolder", nil)
	if v.Lease.Read {
		f.set("leaseHolder", v.Lease.Holder)
	}
	return facts{ofCluster: f}
}
