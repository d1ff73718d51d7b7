package lists

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// ClientListView is the document of `get clients`: the clients of the database, and which
// of them are incompatible with another version.
type ClientListView struct {
	inspect.Document
	// Target is the version that clients are checked against; empty for none.
	Target string `json:"target,omitempty"`
	// Count is how many clients the database counts; null when it does not report that.
	Count *int         `json:"count"`
	Items []ClientView `json:"items"`
}

// ClientView is one client, or several that the database counts without addresses.
type ClientView struct {
	// Address is empty for clients that are not named.
	Address string `json:"address,omitempty"`
	// Unnamed is how many clients the row stands for that the database does not name.
	Unnamed int `json:"unnamed,omitempty"`
	// Pod is NAMESPACE/NAME of the pod with that IP; empty when none is known.
	Pod string `json:"pod,omitempty"`
	// Owner is KIND/NAME of the owner of the pod.
	Owner string `json:"owner,omitempty"`
	// BesideProcess is true for a client on the machine of an fdbserver process of the database.
	BesideProcess bool `json:"besideProcess"`
	// Ignored is true where the spec ignores its log group.
	Ignored bool `json:"ignored"`
	// Version is the newest that the client can use.
	Version  string `json:"version"`
	Protocol string `json:"protocol"`
	LogGroup string `json:"logGroup,omitempty"`
	// Blocks is whether it blocks an upgrade to the target; null without a target, and for
	// clients that have not reported their versions yet.
	Blocks *bool `json:"blocks"`
}

// PodOwner is a pod, and its owner.
type PodOwner struct{ Pod, Owner string }

// ClientQuestion selects clients.
type ClientQuestion struct {
	// Target is the version to check against; nil for none.
	Target *fdb.Version
	// OnlyBlocking leaves out those that do not block it.
	OnlyBlocking bool
	// Owners are pods by their IPs.
	Owners map[string]PodOwner
}

// clientsReconnect is how long after a recovery the database may count fewer clients than
// there are. Source: what passes wait before they believe the list.
const clientsReconnect = 30 * time.Second

// NewClientListView makes the document of a status document that lists clients.
func NewClientListView(m inspect.Metadata, f inspect.Facts, q ClientQuestion) ClientListView {
	clients := f.Database.Status.Cluster.Clients
	v := ClientListView{Document: inspect.NewDocument("ClientList", m, f.Database.AsOf, inspect.SourceLive), Count: clients.Count, Items: []ClientView{}}
	v.Warnings = append(v.Warnings, f.Warnings...)
	for _, c := range []plan.Check{safety.Available(f.Database), safety.RecoveredFor(f.Database, clientsReconnect)} {
		if !c.OK {
			v.Warnings = append(v.Warnings, "clients may be missing from the list: "+c.Text())
		}
	}
	if q.Target != nil {
		v.Target = q.Target.String()
	}
	machines := safety.MachinesOfServers(f.Snapshot)
	for _, version := range clients.SupportedVersions {
		for _, c := range version.MaxProtocolClients {
			row := newClientView(version, c, q)
			row.BesideProcess, row.Ignored = machines.Has(c), safety.IsIgnoredClient(f.Cluster, c)
			row.judge(version, q.Target)
			v.add(row, q)
		}
		if n := safety.UnnamedClients(version); n > 0 {
			row := ClientView{Unnamed: n, Version: version.ClientVersion, Protocol: version.ProtocolVersion}
			row.judge(version, q.Target)
			v.add(row, q)
		}
	}
	return v
}

func (v *ClientListView) add(row ClientView, q ClientQuestion) {
	if !q.OnlyBlocking || (row.Blocks != nil && *row.Blocks) {
		v.Items = append(v.Items, row)
	}
}

func newClientView(version fdb.SupportedVersion, c fdb.ConnectedClient, q ClientQuestion) ClientView {
	v := ClientView{Address: c.Address, Version: version.ClientVersion, Protocol: version.ProtocolVersion, LogGroup: c.LogGroup}
	if a, err := fdb.ParseAddress(c.Address); err == nil {
		owner := q.Owners[a.Host]
		v.Pod, v.Owner = owner.Pod, owner.Owner
	}
	return v
}

// judge decides whether a pass would wait for the client. Ignored clients and those beside
// processes do not block; one without an address does, since it may be any client.
func (v *ClientView) judge(version fdb.SupportedVersion, target *fdb.Version) {
	if target == nil || !safety.ProtocolReported(version) {
		return
	}
	blocks := !safety.CanTalkTo(version, *target) && !v.BesideProcess && !v.Ignored
	v.Blocks = &blocks
}

// List returns the processes with their columns.
func (v ProcessListView) List() list.Table { return list.Of(ProcessColumns, v.Items) }

// ProcessColumns are the columns of processes.
var ProcessColumns = []list.Column[ProcessView]{
	{Title: "ADDRESS", Meaning: "Address of the process", Min: 24, Cell: func(_ list.At, p ProcessView) list.Cell { return list.Text(p.Address) }},
	{Title: "ID", Meaning: "ID of the process group, as the process reports it", Cell: func(_ list.At, p ProcessView) list.Cell { return list.Known(p.Group) }},
	{Title: "CLASS", Meaning: "Process class", Drop: 2, Cell: func(_ list.At, p ProcessView) list.Cell { return list.Known(p.Class) }},
	{Title: "ROLES", Meaning: "Roles of the process", Drop: 1, Min: 12, Cell: func(_ list.At, p ProcessView) list.Cell { return list.Words(p.Roles) }},
	{Title: "VERSION", Meaning: "Version of the fdbserver process", Drop: 3, Cell: func(_ list.At, p ProcessView) list.Cell { return list.Known(p.Version) }},
	{Title: "ZONE", Meaning: "Fault domain, as the process reports it", Drop: 4, Cell: func(_ list.At, p ProcessView) list.Cell { return list.Known(p.Zone) }},
	{Title: "EXCLUDED", Meaning: "Whether the process is excluded", Cell: func(_ list.At, p ProcessView) list.Cell { return list.YesNo(p.Excluded) }},
	{Title: "UPTIME", Meaning: "Age of the process", Drop: 5, Right: true, Cell: func(at list.At, p ProcessView) list.Cell { return list.Known(at.Lasting(p.UptimeSeconds)) }, Number: func(_ list.At, p ProcessView) *float64 { return p.UptimeSeconds }},
	{Title: "DC", Meaning: "Data center, where processes report one", Drop: 6, Place: list.Wide, Cell: func(_ list.At, p ProcessView) list.Cell { return list.Text(p.DC) }},
	{Title: "CPU", Meaning: "Cores in use", Drop: 7, Right: true, Place: list.Wide, Cell: func(_ list.At, p ProcessView) list.Cell { return coresCell(p.CPUCores) }, Number: func(_ list.At, p ProcessView) *float64 { return p.CPUCores }},
	{Title: "MEMORY", Meaning: "Memory in use", Drop: 8, Right: true, Place: list.Wide, Cell: func(_ list.At, p ProcessView) list.Cell { return list.Known(phrase.BytesOr(p.MemoryBytes, "")) }, Number: func(_ list.At, p ProcessView) *float64 { return list.Quantity(p.MemoryBytes) }},
	{Title: "DISK-FREE", Meaning: "Free space of the disk", Drop: 9, Right: true, Place: list.Wide, Cell: func(_ list.At, p ProcessView) list.Cell { return list.Known(phrase.BytesOr(p.DiskFreeBytes, "")) }, Number: func(_ list.At, p ProcessView) *float64 { return list.Quantity(p.DiskFreeBytes) }},
	{Title: "DATA", Meaning: "Data of its storage roles", Drop: 10, Right: true, Place: list.Wide, Cell: func(_ list.At, p ProcessView) list.Cell { return list.Text(phrase.BytesOr(p.StoredBytes, "")) }, Number: func(_ list.At, p ProcessView) *float64 { return list.Quantity(p.StoredBytes) }},
	{Title: "LAG", Meaning: "Time by which its storage roles are behind", Drop: 11, Right: true, Place: list.Wide, Cell: func(_ list.At, p ProcessView) list.Cell { return list.Lag(p.LagSeconds) }, Number: func(_ list.At, p ProcessView) *float64 { return p.LagSeconds }},
	{Title: "MESSAGES", Meaning: "Errors that the process reports", Drop: 12, Place: list.Wide, Cell: func(_ list.At, p ProcessView) list.Cell { return list.Joined(p.Messages) }},
}

func coresCell(cores *float64) list.Cell {
	if cores == nil {
		return list.Known("")
	}
	return list.Text(strconv.FormatFloat(*cores, 'f', 2, 64))
}

// clientRow is a client, and the version whose upgrade it is judged for.
type clientRow struct {
	ClientView
	target string
}

// List returns the clients with their columns.
func (v ClientListView) List() list.Table {
	rows := make([]clientRow, len(v.Items))
	for i, c := range v.Items {
		rows[i] = clientRow{c, v.Target}
	}
	return list.Of(clientColumns, rows)
}

// clientColumns are the columns of clients.
var clientColumns = []list.Column[clientRow]{
	{Title: "ADDRESS", Meaning: "Address of the client, or the number of those that the database does not name", Cell: func(_ list.At, c clientRow) list.Cell { return c.addressCell() }},
	{Title: "POD/OWNER", Meaning: "Pod with this IP, and its owner", Min: 16, Cell: func(_ list.At, c clientRow) list.Cell { return c.ownerCell() }},
	{Title: "VERSION", Meaning: "Version of the client library", Cell: func(_ list.At, c clientRow) list.Cell { return list.Text(c.Version) }},
	{Title: "PROTOCOL", Meaning: "Protocol version of the client library", Drop: 2, Cell: func(_ list.At, c clientRow) list.Cell { return list.Text(c.Protocol) }},
	{Title: "LOG-GROUP", Meaning: "Trace log group of the client", Drop: 1, Min: 10, Cell: func(_ list.At, c clientRow) list.Cell { return list.Text(c.LogGroup) }},
	{Title: "BLOCKS", Meaning: "Whether the client cannot connect to the version in question", Cell: func(_ list.At, c clientRow) list.Cell { return c.blocksCell() }},
}

func (c clientRow) addressCell() list.Cell {
	if c.Unnamed > 0 {
		return list.Text(fmt.Sprintf("(%d-not-named)", c.Unnamed))
	}
	return list.Text(c.Address)
}

func (c clientRow) ownerCell() list.Cell {
	var words []string
	switch {
	case c.Pod != "" && c.Owner != "":
		words = append(words, c.Pod+"("+c.Owner+")")
	case c.Pod != "":
		words = append(words, c.Pod)
	}
	if c.BesideProcess {
		words = append(words, "beside-fdbserver")
	}
	return list.Known(strings.Join(words, ","))
}

func (c clientRow) blocksCell() list.Cell {
	switch {
	case c.target == "":
		return list.Text("")
	case c.Blocks != nil && !*c.Blocks && c.BesideProcess:
		return list.Text("no(fdbserver)")
	case c.Blocks != nil && !*c.Blocks && c.Ignored:
		return list.Text("no(ignored)")
	default:
		return list.YesNo(c.Blocks)
	}
}

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
