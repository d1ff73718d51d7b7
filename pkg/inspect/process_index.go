package inspect

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// processIndex is the processes of a status document by process group, so that a view of many groups does
// not search the document for each of them.
type processIndex struct {
	of     *fdb.Status
	groups map[string][]fdb.Process
}

// IndexProcesses returns the facts with such an index of their status document. The document must not
// be changed any more; facts with another document do not use the index.
func (f Facts) IndexProcesses() Facts {
	status := f.Database.Status
	if status == nil {
		return f
	}
	f.processes = &processIndex{of: status, groups: map[string][]fdb.Process{}}
	for _, p := range status.ProcessList() {
		if id := p.InstanceID(); id != "" {
			f.processes.groups[id] = append(f.processes.groups[id], p)
		}
	}
	return f
}
