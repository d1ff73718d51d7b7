package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// FirstObjectFacts are whether the API server accepts the objects of a cluster that has none yet, by a dry run of one
// of each kind and class, and whether the storage classes of its PVCs exist.
type FirstObjectFacts struct {
	// Read is false when nothing was tried: the cluster has process groups.
	Read bool
	// Refused are the objects that are not accepted.
	Refused []Refusal
	// Unknown is why the dry run of an object did not show it.
	Unknown []string
	// NoClass are the storage classes that the PVCs name, if neither such a class nor a PersistentVolume of it exists.
	// PVCs that name none bind to the volumes that there are.
	NoClass []string
	// ClassesHidden is why that cannot be determined. Missing permission is a fact: both belong to no namespace.
	ClassesHidden string
}

// NamespaceFacts are the rules of a namespace that decide which objects the API server accepts there. Missing
// permission is a fact.
type NamespaceFacts struct {
	// Quotas are the ResourceQuotas, with what they count; QuotasHidden is why they cannot be read.
	Quotas       []corev1.ResourceQuota
	QuotasHidden string
	// Limits are the LimitRanges; LimitsHidden is why they cannot be read.
	Limits       []corev1.LimitRange
	LimitsHidden string
	// PodSecurity is the level that pods must have; empty for none. PodSecurityHidden is why it cannot be read.
	PodSecurity       string
	PodSecurityHidden string
}

// SuccessorFacts are whether the API server accepts the objects of one more process group of each class, by a dry run.
type SuccessorFacts struct {
	// Read is false when nothing was tried: nothing is about to be replaced.
	Read bool
	// Refused are the classes whose objects are not accepted.
	Refused map[v1beta2.ProcessClass]Refusal
	// Unknown is why the dry run of a class did not show it.
	Unknown map[v1beta2.ProcessClass]string
	// Namespace are the quotas and ranges that decide about more than one object, and about larger ones.
	Namespace NamespaceFacts
}

// TargetFacts report whether the key ranges that a restore writes hold data. They are read
// only where a restore is about to be started.
type TargetFacts struct {
	// Read is false when it is unknown whether the ranges hold data.
	Read bool
	// Occupied are the ranges that hold at least one key, as fdbcli takes them; none when
	// the restore finds no data.
	Occupied [][2]string
	// NotQueried is the reason why no tool was run; empty when one was.
	NotQueried string
	// Unreachable is the error of the read; empty when it succeeded.
	Unreachable string
	// Locked is true where the read failed because the database is locked.
	Locked bool
	// AsOf is the time of the read.
	AsOf time.Time
}

// Why returns the reason why it is unknown whether the ranges hold data; empty when it is
// known.
func (f TargetFacts) Why() string {
	if f.Read {
		return ""
	}
	return whyNot(f.NotQueried, f.Unreachable)
}

// ClusterFiles are the connection strings in use, by where they were read. No stage needs
// them: processes update their files by themselves.
type ClusterFiles struct {
	// Live is the one in force, as the database's client knows it; zero when unknown.
	Live fdb.ConnectionString
	// LiveUnknown is why Live is unknown; empty when it is known.
	LiveUnknown string
	// Pods are the files of the processes, by the name of the pod. A pod that does not run
	// has none.
	Pods map[string]ClusterFile
}

// ClusterFile is the cluster file of one pod.
type ClusterFile struct {
	// Content is the text of the file.
	Content string
	// Unreadable is why there is no content; empty when there is.
	Unreadable string
}
