// Package collect reads the facts of package recovery. It changes nothing, and needs no quorum of
// coordinators.
package collect

import (
	"cmp"
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/datadirs"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery/rebuild"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
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

// requiredSpace is the share of a disk that must be free, as one in so many: FoundationDB accepts no
// commits with less. Source: its knob min_available_space_ratio.
const requiredSpace = 20

// readOutage reads what the database reports of itself while it is not available.
func readOutage(s plan.Snapshot, f *recovery.Facts) {
	f.Outage = recovery.Outage{Excluded: []string{}, FullDisks: []recovery.FullDisk{}, Replicas: s.Cluster.MinimumFaultDomains()}
	stateless := map[string]bool{}
	for _, g := range s.Groups() {
		stateless[string(g.ProcessGroupID)] = !g.ProcessClass.IsStateful()
		if g.MayBeExcluded() {
			f.Outage.Excluded = append(f.Outage.Excluded, string(g.ProcessGroupID))
		}
	}
	if s.Database.Status == nil {
		return
	}
	f.Outage.RecoveryState = s.Database.Status.RecoveryName()
	for _, p := range s.Database.Status.ProcessList() {
		if stateless[p.InstanceID()] || p.Disk == nil || p.Disk.FreeBytes == nil || p.Disk.TotalBytes == nil || *p.Disk.FreeBytes >= *p.Disk.TotalBytes/requiredSpace {
			continue // or unknown
		}
		f.Outage.FullDisks = append(f.Outage.FullDisks, recovery.FullDisk{Group: cmp.Or(p.InstanceID(), p.Address.HostPort()), Free: *p.Disk.FreeBytes, Total: *p.Disk.TotalBytes})
	}
	stable.Sort(f.Outage.FullDisks, func(a, b recovery.FullDisk) int { return cmp.Compare(a.Group, b.Group) })
}

// readReleased lists the volumes whose PVC, one of the cluster, was deleted, and those that are
// reserved for a PVC of this name. Where the status has no process groups, and no PVC and pod of the cluster
// exists, the process groups are inferred from the names of the PVCs.
func (r Reader) readReleased(ctx context.Context, s plan.Snapshot, f *recovery.Facts) (warnings []string) {
	claims := claimsOf(s)
	var free []recovery.ReleasedVolume
	for next := ""; ; {
		page := &corev1.PersistentVolumeList{}
		if err := r.Client.List(ctx, page, client.Limit(pageSize), client.Continue(next)); err != nil {
			f.Placement.VolumesUnknown = err.Error()
			return []string{"released volumes are unknown: list PersistentVolumes: " + err.Error()}
		}
		for i := range page.Items {
			v := &page.Items[i]
			if !isClaimedFrom(s, v) {
				continue
			}
			if isFree(v) {
				free = append(free, released(v))
			} else if name := v.Spec.ClaimRef.Name; isReleasing(s, claims, name) {
				f.Releasing = append(f.Releasing, recovery.ReleasingVolume{Name: v.Name, PVC: name, Phase: string(v.Status.Phase)})
			}
			if isLeftover(s, claims, *v) {
				f.Placement.Volumes = append(f.Placement.Volumes, v.Name)
			}
		}
		if next = page.Continue; next == "" {
			break
		}
	}
	stable.Sort(free, func(a, b recovery.ReleasedVolume) int { return strings.Compare(a.Name, b.Name) })
	if isEmpty(s) {
		infer(s, free, f)
	}
	f.Released = append(f.Released, slices.DeleteFunc(free, func(v recovery.ReleasedVolume) bool {
		return !slices.ContainsFunc(f.Groups, func(g recovery.Group) bool { return g.Names.PVC == v.PVC })
	})...)
	return nil
}

// isReleasing reports whether the PVC that a volume names is of a process group, and does not exist.
func isReleasing(s plan.Snapshot, claims map[string]bool, pvc string) bool {
	return s.Volumes[pvc] == nil && (claims[pvc] || isEmpty(s) && rebuild.GroupOfPVC(s.Cluster, pvc) != nil)
}

// claimsOf returns the names of the PVCs of the process groups in the status.
func claimsOf(s plan.Snapshot) map[string]bool {
	claims := map[string]bool{}
	for _, g := range s.Groups() {
		claims[g.PVCName(s.Cluster)] = true
	}
	return claims
}

// isClaimedFrom reports whether a volume is, or was, of a PVC in the namespace of the cluster.
func isClaimedFrom(s plan.Snapshot, v *corev1.PersistentVolume) bool {
	return v.Spec.ClaimRef != nil && v.Spec.ClaimRef.Namespace == s.Cluster.Namespace
}

// isEmpty reports whether a status has no process groups, and the resource no objects from which a pass
// restores them. A run that was interrupted while it restored the status has written the connection string.
func isEmpty(s plan.Snapshot) bool {
	return len(s.Groups()) == 0 && len(s.Pods) == 0 && len(s.Volumes) == 0
}

// infer adds the process groups to which volumes belonged, by the names of their PVCs, and the
// connection string that a pass would restore.
func infer(s plan.Snapshot, free []recovery.ReleasedVolume, f *recovery.Facts) {
	for _, v := range free {
		g := rebuild.GroupOfPVC(s.Cluster, v.PVC)
		if g == nil || slices.ContainsFunc(f.Groups, func(known recovery.Group) bool { return known.ID == string(g.ProcessGroupID) }) {
			continue
		}
		group := groupOf(s, g)
		group.Inferred = true
		f.Groups = append(f.Groups, group)
	}
	stable.Sort(f.Groups, func(a, b recovery.Group) int { return strings.Compare(a.ID, b.ID) })
	if len(f.Groups) > 0 && f.Recorded == "" {
		f.Recorded = strings.TrimSpace(readings.RememberedClusterFile(s))
	}
}

// isFree reports whether a volume was released by its PVC, or is reserved for one by its name alone.
func isFree(v *corev1.PersistentVolume) bool {
	ref := v.Spec.ClaimRef
	return ref != nil && v.DeletionTimestamp == nil && (v.Status.Phase == corev1.VolumeReleased || ref.UID == "" && v.Status.Phase != corev1.VolumeBound)
}

func released(v *corev1.PersistentVolume) recovery.ReleasedVolume {
	return recovery.ReleasedVolume{
		Name: v.Name, UID: string(v.UID), PVC: v.Spec.ClaimRef.Name, ClaimUID: string(v.Spec.ClaimRef.UID), Policy: string(v.Spec.PersistentVolumeReclaimPolicy),
	}
}

// readUsers reads which other pods mount the PVCs of process groups that have no running pod.
func (r Reader) readUsers(ctx context.Context, s plan.Snapshot, f *recovery.Facts) (warnings []string) {
	byPVC := map[string]*recovery.Group{}
	for i := range f.Groups {
		if g := &f.Groups[i]; g.Stateful && g.Phase != string(corev1.PodRunning) {
			byPVC[g.Names.PVC] = g
		}
	}
	if len(byPVC) == 0 {
		return nil
	}
	for next := ""; ; {
		page := &corev1.PodList{}
		if err := r.Client.List(ctx, page, client.InNamespace(s.Cluster.Namespace), client.Limit(pageSize), client.Continue(next)); err != nil {
			f.UsersUnknown = err.Error()
			return []string{"which pods mount PVCs is unknown: list pods: " + err.Error()}
		}
		for i := range page.Items {
			noteUser(byPVC, &page.Items[i])
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}

func noteUser(byPVC map[string]*recovery.Group, pod *corev1.Pod) {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return
	}
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		if g := byPVC[v.PersistentVolumeClaim.ClaimName]; g != nil && pod.Name != g.Names.Pod {
			g.UsedBy = append(g.UsedBy, pod.Name)
		}
	}
}
