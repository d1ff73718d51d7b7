// Package orphans finds objects and exclusions without an owner, with the proof; pure.
package orphans

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// kindCluster is the kind of the resource of a cluster.
const kindCluster = "FoundationDBCluster"

// leaseMargin is for how long a Lease must have expired: the clocks of machines differ.
const leaseMargin = 10 * time.Minute

// judge decides on an object; false for one that has an owner.
func (f Facts) judge(o Object) (Item, bool) {
	if f.isOwned(o) {
		return Item{}, false
	}
	item := Item{Kind: o.Kind, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion, Proof: f.proof(o), Verdict: Remove}
	if !o.Created.IsZero() {
		item.Since = new(o.Created.UTC())
	}
	if o.Terminating {
		return item.kept(CodeTerminating, "it is being deleted"), true
	}
	if f.Stored == nil {
		return f.judgeLeftover(o, item), true
	}
	return f.judgeOfCluster(o, item), true
}

// isOwned reports whether a process group in the stored status, the cluster, or an object that is no
// cluster owns an object.
func (f Facts) isOwned(o Object) bool {
	if c := o.Controller; c != nil && c.Kind != kindCluster {
		return true
	}
	if f.Stored == nil {
		return false
	}
	if o.Kind == ConfigMap && o.Name == f.Stored.ConfigMapName() || o.Kind == Service && o.Name == f.Stored.HeadlessServiceName() || o.Kind == Lease {
		return true
	}
	return f.groupOf(o, f.Stored.Status.ProcessGroups) != nil
}

// groupOf returns the process group to which an object belongs by its name; nil for none.
func (f Facts) groupOf(o Object, groups []*v1beta2.ProcessGroupStatus) *v1beta2.ProcessGroupStatus {
	i := slices.IndexFunc(groups, func(g *v1beta2.ProcessGroupStatus) bool {
		switch o.Kind {
		case Pod:
			return g.PodName(f.Stored) == o.Name
		case PVC:
			return g.PVCName(f.Stored) == o.Name
		case Service:
			return g.ServiceName(f.Stored) == o.Name
		default:
			return false
		}
	})
	if i < 0 {
		return nil
	}
	return groups[i]
}

func (f Facts) proof(o Object) []string {
	all := []string{}
	switch {
	case f.Stored == nil:
		all = append(all, fmt.Sprintf("FoundationDBCluster %s does not exist, and no other one selects the object", f.Name))
	case o.Group != "":
		all = append(all, fmt.Sprintf("it is no object of any of %s in the status; its label names %s", phrase.Count(len(f.Stored.Status.ProcessGroups), "process group"), o.Group))
	default:
		all = append(all, fmt.Sprintf("it is no object of any of %s in the status, and its labels name none", phrase.Count(len(f.Stored.Status.ProcessGroups), "process group")))
	}
	if c := o.Controller; c != nil && (f.Stored == nil || c.UID != string(f.Stored.UID)) {
		all = append(all, fmt.Sprintf("its owner is FoundationDBCluster %s with UID %s, which does not exist", c.Name, c.UID))
	}
	if o.Kind == Lease && o.Holder == "" {
		all = append(all, "no run holds it")
	}
	return all
}

func (i Item) kept(code Code, reason string) Item {
	i.Verdict, i.Code, i.Reason = Keep, code, reason
	return i
}

func (i Item) unknown(code Code, reason string) Item {
	i.Verdict, i.Code, i.Reason = Unknown, code, reason
	return i
}

// judgeOfCluster decides on an object of a cluster that exists.
func (f Facts) judgeOfCluster(o Object, item Item) Item {
	if len(f.Stored.Status.ProcessGroups) == 0 {
		return item.unknown(CodeUnknownOwner, "the status has no process groups: a pass restores it from such objects")
	}
	if id := f.adoptedAs(o); id != "" {
		return item.kept(CodeAdopted, fmt.Sprintf("the next pass adopts it as process group %s; to remove that, replace it then", id))
	}
	switch o.Kind {
	case Pod, Service:
		return f.judgeReachable(o, item)
	case PVC:
		return f.judgePVC(o, item)
	default: // a ConfigMap: what created it is unknown
		if o.Controller == nil || o.Controller.UID == string(f.Stored.UID) {
			return item.unknown(CodeUnknownOwner, "what created it is unknown")
		}
		return item
	}
}

// adoptedAs returns the process group of which an object is part once the next pass has written the status.
func (f Facts) adoptedAs(o Object) v1beta2.ProcessGroupID {
	if g := f.groupOf(o, f.Seen.Groups()); g != nil {
		return g.ProcessGroupID
	}
	return ""
}

// judgeReachable decides on a pod or a service, which processes may use.
func (f Facts) judgeReachable(o Object, item Item) Item {
	if !f.Seen.Database.Status.ListsProcesses() {
		return item.unknown(CodeNotRead, "whether its processes report is unknown: "+phrase.Or(f.Seen.Database.Why(), "the status document is incomplete"))
	}
	for _, p := range f.Seen.Database.Status.ProcessList() {
		if o.Group != "" && p.InstanceID() == string(o.Group) || slices.ContainsFunc(o.Addresses, func(a string) bool { return fdb.SameHost(a, p.Address.Host) }) {
			return item.kept(CodeInUse, "a process at "+p.Address.HostPort()+" reports to the database")
		}
	}
	item.Proof = append(item.Proof, "none of its processes reports to the database")
	return item
}

// judgePVC decides on a PVC: only one that was named, that no pod mounts, and while all data has all of its
// copies elsewhere.
func (f Facts) judgePVC(o Object, item Item) Item {
	if users := f.Users[o.Name]; len(users) > 0 {
		return item.kept(CodeInUse, phrase.Count(len(users), "pod")+" of it: "+phrase.List(users))
	}
	if why, unread := f.Unread[SubjectUsers]; unread {
		return item.unknown(CodeNotRead, "which pods mount it is unknown: "+why)
	}
	for _, c := range f.dataChecks() {
		if c != "" {
			return item.unknown(CodeMayHoldData, "its volume may have the last copy of some data: "+c)
		}
	}
	item.Proof = append(item.Proof, "no pod mounts it, and all data has all of its copies in processes that report")
	if !slices.Contains(f.Chosen, o.Name) {
		return item.kept(CodeNotNamed, "a PVC is removed only if --pvc names it")
	}
	return item
}

// dataChecks are why a volume may have the last copy of something.
func (f Facts) dataChecks() []string {
	if !f.Stored.Status.Configured {
		return []string{"the status does not have the database as configured"}
	}
	tolerant, own := safety.FullFaultTolerance(f.Seen), safety.OwnDatabase(f.Seen)
	var all []string
	if !own.OK {
		all = append(all, own.Evidence)
	}
	if !tolerant.OK {
		all = append(all, tolerant.Evidence)
	}
	return all
}

// judgeLeftover decides on an object of a cluster without a resource. Its database cannot be queried.
func (f Facts) judgeLeftover(o Object, item Item) Item {
	switch o.Kind {
	case Pod:
		if !o.Ended {
			return item.unknown(CodeInUse, "it runs, and whether a database needs its processes is unknown without the resource")
		}
		return item
	case PVC:
		return item.unknown(CodeMayHoldData, "its volume may have the last copy of some data, and no database can be queried without the resource")
	case Lease:
		if o.Holder != "" && (o.Until.IsZero() || f.Now.Before(o.Until.Add(leaseMargin))) {
			return item.kept(CodeHeld, "run "+o.Holder+" holds it, or did until less than "+phrase.Duration(leaseMargin)+" ago")
		}
		if o.Holder != "" {
			item.Proof = append(item.Proof, fmt.Sprintf("run %s held it until %s", o.Holder, o.Until.UTC().Format(time.RFC3339)))
		}
		return item
	default:
		return f.judgeRecoverable(item)
	}
}

// judgeRecoverable decides on a service or a ConfigMap of a cluster without a resource: both serve to recover
// a database as long as pods or volumes of it are left.
func (f Facts) judgeRecoverable(item Item) Item {
	for _, subject := range []Subject{Subject(Pod), Subject(PVC), SubjectVolumes} {
		if why, unread := f.Unread[subject]; unread {
			return item.unknown(CodeNotRead, fmt.Sprintf("whether the cluster has objects of kind %s is unknown: %s", subject, why))
		}
	}
	pods, pvcs := f.count(Pod), f.count(PVC)
	if pods+pvcs+len(f.Volumes) > 0 {
		return item.kept(CodeInUse, fmt.Sprintf("a recovery of what is left needs it: %s, %s, %s",
			phrase.Count(pods, "pod"), phrase.Count(pvcs, "PVC"), phrase.Count(len(f.Volumes), "volume")))
	}
	item.Proof = append(item.Proof, "no pod, PVC and volume of the cluster is left")
	return item
}

func (f Facts) count(kind Kind) (n int) {
	for _, o := range f.Objects {
		if o.Kind == kind {
			n++
		}
	}
	return n
}

// Kind is a kind of what can have no owner.
type Kind string

// The kinds.
const (
	Pod       Kind = "Pod"
	PVC       Kind = "PersistentVolumeClaim"
	Service   Kind = "Service"
	ConfigMap Kind = "ConfigMap"
	Lease     Kind = "Lease"
	Exclusion Kind = "Exclusion"
)

// Object is a Kubernetes object with the labels of a cluster, or its Lease.
type Object struct {
	Kind            Kind
	Name            string
	UID             string
	ResourceVersion string
	Created         time.Time
	// Group is the process group ID of its labels; empty without one.
	Group       v1beta2.ProcessGroupID
	Terminating bool
	// Controller is the object that owns it; nil for none.
	Controller *Controller
	// Addresses are those at which processes could be reached by it.
	Addresses []string
	// Ended is whether a pod runs nothing: it has ended, or is on no node.
	Ended bool
	// Holder is the run that holds a Lease, Until when it expires; empty and zero for none.
	Holder string
	Until  time.Time
}

// Controller is the owner of an object, as its owner references have it.
type Controller struct{ Kind, Name, UID string }

// Facts are what is known of a cluster, or of one whose resource does not exist.
type Facts struct {
	Name string
	// Now is when the facts were read.
	Now time.Time
	// Stored is the resource as it is stored; nil if it does not exist.
	Stored *v1beta2.FoundationDBCluster
	// Seen is the snapshot of an existing cluster, with the status that a pass would write.
	Seen plan.Snapshot
	// Objects have the labels of the cluster, and of no other one.
	Objects []Object
	// Users are pods that mount a PVC and have not ended, by its name.
	Users map[string][]string
	// Volumes are PersistentVolumes that belong or belonged to a PVC of the cluster.
	Volumes []string
	// Unread is why a kind, or which pods mount PVCs (Users), could not be read; absent where it was.
	Unread map[Subject]string
	// Chosen are the PVCs that the user named.
	Chosen []string
}

// Subject is what was read, or could not be.
type Subject string

// The subjects, besides kinds.
const (
	SubjectUsers   Subject = "users"
	SubjectVolumes Subject = "volumes"
)
