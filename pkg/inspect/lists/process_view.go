package lists

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// ProcessListView is the document of `get processes`: all that the database reports, including
// those of other control-plane instances.
type ProcessListView struct {
	inspect.Document
	Items []ProcessView `json:"items"`
}

// ProcessView is one process.
type ProcessView struct {
	Address string `json:"address"`
	// Group is the process group; empty for a process that has not reported it yet.
	Group string `json:"processGroup,omitempty"`
	Class string `json:"class,omitempty"`
	// Roles are null when the database does not report them all.
	Roles []string `json:"roles"`
	// Version is that of the fdbserver process.
	Version string `json:"version,omitempty"`
	Zone    string `json:"zone,omitempty"`
	DC      string `json:"dc,omitempty"`
	// Excluded is null when the process has not reported enough yet.
	Excluded      *bool    `json:"excluded"`
	Degraded      *bool    `json:"degraded"`
	UptimeSeconds *float64 `json:"uptimeSeconds"`
	CPUCores      *float64 `json:"cpuCores"`
	MemoryBytes   *int64   `json:"memoryBytes"`
	DiskFreeBytes *int64   `json:"diskFreeBytes"`
	// StoredBytes is what storage roles hold; null for processes without.
	StoredBytes *int64 `json:"storedBytes"`
	// LagSeconds is the worst of the storage roles.
	LagSeconds *float64 `json:"lagSeconds"`
	// Messages are the errors that the process reports.
	Messages []string `json:"messages"`
}

// NewProcessListView makes the document of facts that have a status document.
func NewProcessListView(m inspect.Metadata, f inspect.Facts) ProcessListView {
	v := ProcessListView{Document: inspect.NewDocument("ProcessList", m, f.Database.AsOf, inspect.SourceLive), Items: []ProcessView{}}
	v.Warnings = append(v.Warnings, f.Warnings...)
	for _, p := range f.Database.Status.ProcessList() {
		v.Items = append(v.Items, process(f, p))
	}
	return v
}

func process(f inspect.Facts, p fdb.Process) ProcessView {
	v := ProcessView{
		Address: p.Address.Coordinator(), Group: p.InstanceID(), Class: p.ClassType, Version: p.Version, Zone: p.Zone(), DC: p.DC(),
		Excluded: p.Excluded, Degraded: p.Degraded, Messages: []string{},
	}
	if uptime, known := p.Uptime(); known {
		seconds := uptime.Seconds()
		v.UptimeSeconds = &seconds
	}
	if p.CPU != nil {
		v.CPUCores = p.CPU.UsageCores
	}
	if p.Memory != nil {
		v.MemoryBytes = p.Memory.RSSBytes
	}
	if p.Disk != nil {
		v.DiskFreeBytes = p.Disk.FreeBytes
	}
	for _, m := range p.Messages {
		v.Messages = append(v.Messages, m.Name)
	}
	v.roles(p, f)
	return v
}

func (v *ProcessView) roles(p fdb.Process, f inspect.Facts) {
	var held inspect.GroupView
	roles := []string{}
	for _, r := range p.Roles {
		roles = append(roles, r.Role)
		held.Role(r)
	}
	v.StoredBytes, v.LagSeconds = held.StoredBytes, held.LagSeconds
	if f.Database.Status.RolesKnown() {
		slices.Sort(roles)
		v.Roles = slices.Compact(roles)
	}
}
