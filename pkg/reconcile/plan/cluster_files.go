package plan

import "github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"

// ClusterFiles are the connection strings in use, by where they were read. No stage needs
// them: servers bring their files up to date by themselves.
type ClusterFiles struct {
	// Live is the one in force, as the database's client knows it; zero when nobody told.
	Live fdb.ConnectionString
	// LiveUnknown says why Live is not known; empty when it is.
	LiveUnknown string
	// Pods are the files that servers keep, by the name of the pod. A pod that does not run
	// has none.
	Pods map[string]ClusterFile
}

// ClusterFile is the cluster file of one pod.
type ClusterFile struct {
	// Content is the text of the file.
	Content string
	// Unreadable says why there is no content; empty when there is.
	Unreadable string
}
