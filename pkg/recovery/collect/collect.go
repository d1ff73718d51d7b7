// Package collect reads the facts of package recovery. It changes nothing, and needs no quorum of
// coordinators.
package collect

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/datadirs"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

// Facets are what a snapshot must have observed for [Reader.Read].
const Facets = plan.ClusterResource | plan.Pods | plan.Volumes | plan.ConfigMap | plan.Database

// pageSize is the maximum number of volumes per list request.
const pageSize = 500

// Reader reads what a snapshot of a cluster does not have.
type Reader struct {
	// Client lists PersistentVolumes.
	Client client.Client
	// Tool opens a runner of programs in a container of a pod.
	Tool func(pod *corev1.Pod, container string) (admin.Transport, error)
}

// Read returns the facts, and warnings about what could not be read. What cannot be read of a single
// pod is a fact; only the end of the context is an error.
func (r Reader) Read(ctx context.Context, s plan.Snapshot) (recovery.Facts, []string, error) {
	f := recovery.Facts{UID: string(s.Cluster.UID), Recorded: s.Cluster.Status.ConnectionString, Queried: []string{}, Coordinators: []recovery.Coordinator{}, Groups: []recovery.Group{}, Released: []recovery.ReleasedVolume{}}
	f.Placement = recovery.Placement{Candidates: []recovery.Candidate{}, Volumes: []string{}, Claims: []string{}}
	if s.ConfigMap != nil {
		f.ConfigMap = strings.TrimSpace(s.ConfigMap.Data[objects.KeyClusterFile])
	}
	for _, g := range s.Groups() {
		f.Groups = append(f.Groups, groupOf(s, g))
	}
	warnings := r.readReleased(ctx, s, &f)
	readDatabase(&f, s.Database)
	r.readFiles(ctx, s, &f)
	readPlacement(s, &f)
	readOutage(s, &f)
	warnings = append(warnings, r.readUsers(ctx, s, &f)...)
	return f, warnings, ctx.Err()
}

// readDatabase reads which coordinators answer.
func readDatabase(f *recovery.Facts, d plan.DatabaseFacts) {
	recorded, err := fdb.ParseConnectionString(f.Recorded)
	if err != nil {
		f.Unknown = "the status has no valid connection string"
		return
	}
	answers := map[string]bool{}
	if d.Status == nil {
		f.Unknown = d.Why()
	} else {
		f.Quorum, f.Available = new(d.Status.Client.Coordinators.QuorumReachable), new(d.Available())
		for _, c := range d.Status.Client.Coordinators.Coordinators {
			answers[c.Address.Coordinator()] = c.Reachable
			f.Queried = append(f.Queried, c.Address.Coordinator())
		}
	}
	for _, a := range recorded.Coordinators {
		c := recovery.Coordinator{Address: a.Coordinator()}
		if reachable, known := answers[c.Address]; known {
			c.Reachable = &reachable
		}
		f.Coordinators = append(f.Coordinators, c)
	}
}

func groupOf(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) recovery.Group {
	out := recovery.Group{
		ID: string(g.ProcessGroupID), Class: string(g.ProcessClass), Addresses: append([]string{}, g.Addresses...), Now: []string{}, Stateful: g.ProcessClass.IsStateful(),
		Names: recovery.Names{Pod: g.PodName(s.Cluster), PVC: g.PVCName(s.Cluster), DNS: g.DNSName(s.Cluster)}, Removed: g.IsRemovable(),
	}
	if claim := s.Volumes[g.PVCName(s.Cluster)]; claim != nil {
		out.PVC, out.Volume, out.PVCPhase = claim.Name, claim.Spec.VolumeName, string(claim.Status.Phase)
		if claim.DeletionTimestamp != nil {
			out.PVCPhase = "Terminating"
		}
	}
	pod := s.Pods[g.PodName(s.Cluster)]
	if pod == nil {
		return out
	}
	out.Pod, out.PodUID, out.Node, out.Phase = pod.Name, string(pod.UID), pod.Spec.NodeName, string(pod.Status.Phase)
	if pod.DeletionTimestamp != nil {
		out.Phase = "Terminating"
	}
	if ips, err := objects.PublicIPs(pod); err == nil {
		out.Now = append(out.Now, ips...)
	}
	return out
}

// readFiles reads the files of all running pods.
func (r Reader) readFiles(ctx context.Context, s plan.Snapshot, f *recovery.Facts) {
	var names []string
	for _, g := range f.Groups {
		if g.Pod != "" && g.Phase == string(corev1.PodRunning) {
			names = append(names, g.Pod)
		}
	}
	open := func(name string) (admin.Transport, error) { return r.Tool(s.Pods[name], v1beta2.ContainerMain) }
	files, unread := datadirs.Read(ctx, names, open, recovery.Generation(f.Recorded))
	for i := range f.Groups {
		g := &f.Groups[i]
		g.Files = files[g.Pod]
		if err := unread[g.Pod]; err != nil {
			g.Unread = err.Error()
		}
	}
}
