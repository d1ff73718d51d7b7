package ui

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteProcesses prints a row per process.
func WriteProcesses(w io.Writer, v lists.ProcessListView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "ADDRESS", Min: 24},
		{Name: "ID"},
		{Name: "CLASS", Drop: 2},
		{Name: "ROLES", Drop: 1, Min: 12},
		{Name: "VERSION", Drop: 3},
		{Name: "ZONE", Drop: 4},
		{Name: "EXCLUDED"},
		{Name: "UPTIME", Drop: 5},
	},
		"DC", "CPU", "MEMORY", "DISK-FREE", "DATA", "LAG", "MESSAGES")
	for _, p := range v.Items {
		row := processRow(p, o)
		if o.Wide {
			row = append(row, processWide(p)...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t.Write(w)
}

func processRow(v lists.ProcessView, o ListOptions) []string {
	roles := phrase.UnknownCell
	if v.Roles != nil {
		roles = phrase.Or(strings.Join(v.Roles, ","), phrase.Nothing)
	}
	uptime := phrase.UnknownCell
	if v.UptimeSeconds != nil {
		since := o.Now.Add(-time.Duration(*v.UptimeSeconds * float64(time.Second))).UTC()
		uptime = o.time(&since)
	}
	return []string{v.Address, phrase.Or(v.Group, phrase.UnknownCell), phrase.Or(v.Class, phrase.UnknownCell), roles, phrase.Or(v.Version, phrase.UnknownCell), phrase.Or(v.Zone, phrase.UnknownCell), phrase.YesNo(v.Excluded, phrase.UnknownCell), uptime}
}

func processWide(v lists.ProcessView) []string {
	cpu := phrase.UnknownCell
	if v.CPUCores != nil {
		cpu = fmt.Sprintf("%.2f", *v.CPUCores)
	}
	lag := phrase.Nothing
	if v.LagSeconds != nil {
		lag = fmt.Sprintf("%.1fs", *v.LagSeconds)
	}
	return []string{
		phrase.Or(v.DC, phrase.Nothing), cpu, phrase.BytesOr(v.MemoryBytes, phrase.UnknownCell), phrase.BytesOr(v.DiskFreeBytes, phrase.UnknownCell), phrase.BytesOr(v.StoredBytes, phrase.Nothing), lag,
		phrase.Or(strings.Join(v.Messages, ","), phrase.Nothing),
	}
}
