package workload

import "github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"

// ProcessList is the document of `top processes`.
type ProcessList struct {
	inspect.Document
	Items []ProcessLoad `json:"items"`
}

// NewProcessList makes the document out of that of `top`.
func NewProcessList(v View, by SortKey) ProcessList {
	l := ProcessList{Document: v.Document, Items: v.Processes}
	l.Kind = "ProcessLoadList"
	Sort(l.Items, by)
	return l
}
