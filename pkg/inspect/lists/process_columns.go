package lists

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

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
	{Title: "UPTIME", Meaning: "Age of the process", Drop: 5, Right: true, Cell: func(at list.At, p ProcessView) list.Cell { return list.Text(at.Lasting(p.UptimeSeconds)) }, Number: func(_ list.At, p ProcessView) *float64 { return p.UptimeSeconds }},
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
