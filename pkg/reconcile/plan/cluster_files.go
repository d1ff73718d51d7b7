package plan

import "github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"

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
