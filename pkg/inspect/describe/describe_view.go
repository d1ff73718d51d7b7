package describe

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// GroupDescription is the document of `describe process-group`: all facts about one.
type GroupDescription struct {
	inspect.Document
	Group inspect.GroupView `json:"group"`
	// Kept is how the spec keeps the group from being replaced; absent if it does not.
	Kept *inspect.KeptView `json:"kept,omitempty"`
	// Processes are those that report; null when the database does not answer.
	Processes []DescribedProcess `json:"processes" schema:"nullable"`
	// Pod is null when there is none.
	Pod *PodView `json:"pod"`
	// Volume is null for a class without one, and when there is none.
	Volume *VolumeView `json:"volume"`
	// Evict is whether the pod may leave its node now, and Replace whether a new group may
	// take over; see docs/eviction.md.
	Evict   []plan.Check `json:"evict"`
	Replace []plan.Check `json:"replace"`
	// Why is what blocks the group.
	Why why.Report `json:"why"`
	// Events are the Kubernetes events of the pod and its PVC, the newest last; null when
	// they could not be read.
	Events []ObjectEvent `json:"events" schema:"nullable"`
	// Commands are whole commands that show or do more.
	Commands []string `json:"commands"`
}

// DescribedProcess is one fdbserver process.
type DescribedProcess struct {
	Address       string   `json:"address"`
	Version       string   `json:"version,omitempty"`
	Class         string   `json:"class,omitempty"`
	Roles         []string `json:"roles"`
	UptimeSeconds *float64 `json:"uptimeSeconds"`
	Excluded      *bool    `json:"excluded"`
	Coordinator   bool     `json:"coordinator"`
	Messages      []string `json:"messages"`
}

// PodView is the state of a pod.
type PodView struct {
	Name       string          `json:"name"`
	Phase      string          `json:"phase"`
	Node       string          `json:"node,omitempty"`
	IPs        []string        `json:"ips"`
	Created    *time.Time      `json:"created"`
	Deleted    *time.Time      `json:"deleted"`
	Finalizers []string        `json:"finalizers"`
	Containers []ContainerView `json:"containers"`
	// Conditions are the pod's conditions that are not true, with their reasons.
	Conditions []string `json:"conditions"`
	// Problem is what is wrong with it; empty for nothing.
	Problem string `json:"problem,omitempty"`
}

// ContainerView is one container of a pod.
type ContainerView struct {
	Name     string `json:"name"`
	Image    string `json:"image"`
	Ready    bool   `json:"ready"`
	Restarts int    `json:"restarts"`
}

// VolumeView is a PVC.
type VolumeView struct {
	Name     string `json:"name"`
	Phase    string `json:"phase"`
	Capacity string `json:"capacity,omitempty"`
	Class    string `json:"class,omitempty"`
	Volume   string `json:"volume,omitempty"`
}

// ObjectEvent is one event of Kubernetes.
type ObjectEvent struct {
	Type    string     `json:"type"`
	Reason  string     `json:"reason"`
	Object  string     `json:"object"`
	Message string     `json:"message"`
	Count   int        `json:"count"`
	Last    *time.Time `json:"last"`
}

// Input are the facts of a description.
type Input struct {
	why.Input
	// Events of the objects; EventsHidden is why they could not be read.
	Events       []corev1.Event
	EventsHidden string
}

// NewGroupDescription makes the document of one process group.
func NewGroupDescription(m inspect.Metadata, in Input, g *v1beta2.ProcessGroupStatus) GroupDescription {
	in.Only = []v1beta2.ProcessGroupID{g.ProcessGroupID}
	v := GroupDescription{
		Document: inspect.NewDocument("ProcessGroupDescription", m, in.Now, in.Judged().Source), Group: in.Group(g), Kept: in.KeptView(g),
		Processes: processViews(in.Facts, g), Pod: podView(in.Facts, g), Volume: volumeView(in.Facts, g),
		Evict: safety.MayEvict(in.Snapshot, g), Replace: safety.MayReplace(in.Snapshot, g),
		Why: why.NewReport(m, in.Input), Events: objectEvents(in.Events),
	}
	v.Warnings = append(v.Warnings, in.Warnings...)
	if in.EventsHidden != "" {
		v.Events = nil
		v.Warnings = append(v.Warnings, "events could not be read: "+in.EventsHidden)
	}
	if why := in.UnknownReason("processes and roles"); why != "" {
		v.Warnings = append(v.Warnings, why)
	}
	id := string(g.ProcessGroupID)
	v.Commands = append(v.Commands, v.Why.Next...)
	v.Commands = append(v.Commands, in.FDB("can", "delete", m.Cluster, id), in.FDB("can", "replace", m.Cluster, id))
	if v.Pod != nil {
		v.Commands = append(v.Commands, in.Kubectl("logs", v.Pod.Name, "-c", v1beta2.ContainerMain, "--tail=50"))
	}
	return v
}

func processViews(f inspect.Facts, g *v1beta2.ProcessGroupStatus) []DescribedProcess {
	s := f.Database.Status
	if !s.ListsProcesses() {
		return nil
	}
	views := []DescribedProcess{}
	for _, p := range f.ProcessesOf(g) {
		v := DescribedProcess{
			Address: p.Address.String(), Version: p.Version, Class: p.ClassType, Excluded: p.Excluded,
			Coordinator: s.IsCoordinator(p), Roles: []string{}, Messages: []string{},
		}
		if uptime, ok := p.Uptime(); ok {
			seconds := uptime.Seconds()
			v.UptimeSeconds = &seconds
		}
		for _, r := range p.Roles {
			v.Roles = append(v.Roles, r.Role)
		}
		for _, m := range p.Messages {
			v.Messages = append(v.Messages, m.Name)
		}
		views = append(views, v)
	}
	return views
}

func podView(f inspect.Facts, g *v1beta2.ProcessGroupStatus) *PodView {
	pod := f.Pod(g)
	if pod == nil {
		return nil
	}
	v := &PodView{
		Name: pod.Name, Phase: string(pod.Status.Phase), Node: pod.Spec.NodeName, IPs: []string{}, Created: inspect.Known(pod.CreationTimestamp.Time),
		Finalizers: inspect.OrEmpty(pod.Finalizers), Containers: []ContainerView{}, Conditions: []string{},
	}
	if pod.DeletionTimestamp != nil {
		v.Deleted = inspect.Known(pod.DeletionTimestamp.Time)
	}
	for _, ip := range pod.Status.PodIPs {
		v.IPs = append(v.IPs, ip.IP)
	}
	for _, c := range pod.Spec.Containers {
		view := ContainerView{Name: c.Name, Image: c.Image}
		for _, s := range pod.Status.ContainerStatuses {
			if s.Name == c.Name {
				view.Ready, view.Restarts = s.Ready, int(s.RestartCount)
			}
		}
		v.Containers = append(v.Containers, view)
	}
	for _, c := range pod.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			v.Conditions = append(v.Conditions, inspect.Clauses(string(c.Type)+" is "+string(c.Status), c.Reason, inspect.OneLine(c.Message)))
		}
	}
	if t := f.ProblemOf(g); t != nil {
		v.Problem = t.Text()
	}
	return v
}

func volumeView(f inspect.Facts, g *v1beta2.ProcessGroupStatus) *VolumeView {
	claim := f.Volumes[g.PVCName(f.Cluster)]
	if claim == nil {
		return nil
	}
	v := &VolumeView{Name: claim.Name, Phase: string(claim.Status.Phase), Volume: claim.Spec.VolumeName}
	if size, ok := claim.Status.Capacity[corev1.ResourceStorage]; ok {
		v.Capacity = size.String()
	}
	if claim.Spec.StorageClassName != nil {
		v.Class = *claim.Spec.StorageClassName
	}
	return v
}

// objectEvents returns events, the newest last. One that repeats has the last time of its
// series.
func objectEvents(events []corev1.Event) []ObjectEvent {
	views := []ObjectEvent{}
	for _, e := range events {
		last, count := e.LastTimestamp.Time, int(e.Count)
		if last.IsZero() {
			last = e.EventTime.Time
		}
		if e.Series != nil {
			last, count = e.Series.LastObservedTime.Time, int(e.Series.Count)
		}
		views = append(views, ObjectEvent{
			Type: e.Type, Reason: e.Reason, Object: e.InvolvedObject.Kind + "/" + e.InvolvedObject.Name,
			Message: inspect.OneLine(e.Message), Count: max(count, 1), Last: inspect.Known(last),
		})
	}
	stable.Sort(views, func(a, b ObjectEvent) int { return inspect.CompareTimes(a.Last, b.Last) })
	return views
}

// ClusterDescription is the document of `describe`: all facts about a cluster.
type ClusterDescription struct {
	inspect.Document
	Status inspect.StatusView    `json:"status"`
	Groups inspect.GroupListView `json:"groups"`
	// Nodes are the process groups by node.
	Nodes map[string][]string `json:"nodes"`
	Why   why.Report          `json:"why"`
	// Backups are the backups of the cluster and the restores into it; null when not read.
	Backups *inspect.ClusterBackupsView `json:"backups"`
	Events  []ObjectEvent               `json:"events" schema:"nullable"`
	// Commands are whole commands that show or do more.
	Commands []string `json:"commands"`
}

// NewClusterDescription makes the document of a cluster.
func NewClusterDescription(m inspect.Metadata, in Input) ClusterDescription {
	recorded := in.Facts
	recorded.Backups = nil // they are shown as they are now
	v := ClusterDescription{
		Document: inspect.NewDocument("ClusterDescription", m, in.Now, inspect.SourceLive),
		Status:   inspect.NewStatusView(m, recorded), Groups: inspect.NewGroupListView(m, in.Facts), Why: why.NewReport(m, in.Input),
		Nodes: map[string][]string{}, Events: objectEvents(in.Events),
	}
	if in.EventsHidden != "" {
		v.Events = nil
		v.Warnings = append(v.Warnings, "events could not be read: "+in.EventsHidden)
	}
	for _, g := range v.Groups.Items {
		if g.Node != "" {
			v.Nodes[g.Node] = append(v.Nodes[g.Node], g.ID)
		}
	}
	v.Commands = append(v.Commands, v.Why.Next...)
	v.Commands = append(v.Commands, in.FDB("plan", m.Cluster), in.FDB("get", "pg", m.Cluster, "-o", "wide"), in.FDB("can", "reconcile", m.Cluster))
	v.describeBackups(in)
	return v
}

func (v *ClusterDescription) describeBackups(in Input) {
	if in.Backups == nil {
		return
	}
	v.Backups = new(inspect.NewClusterBackupsView(*in.Backups, in.Now, &inspect.BackupHistory{}))
	v.Warnings = append(v.Warnings, in.UnreadBackups()...)
	for _, b := range v.Backups.Backups {
		v.Commands = append(v.Commands, in.FDB("backup", "status", b.Name))
	}
	for _, r := range v.Backups.Restores {
		v.Commands = append(v.Commands, in.FDB("restore", "status", r.Name))
	}
}
