package status

import (
	"fmt"
	"math"
)

// size writes how large the cluster is and what it can lose.
func (t *statusText) size() {
	zones := map[any]bool{}
	memory := math.Inf(1)
	for _, p := range part(t.cluster, "processes") {
		if zone, ok := p.(Object)["fault_domain"]; ok {
			zones[zone] = true
		}
		if limit, ok := part(p.(Object), "memory")["limit_bytes"].(int64); ok {
			memory = min(memory, float64(limit))
		}
	}
	t.printf("\nCluster:\n")
	t.line("FoundationDB processes", fmt.Sprint(len(part(t.cluster, "processes"))))
	t.line("Zones", fmt.Sprint(len(zones)))
	t.line("Machines", fmt.Sprint(len(part(t.cluster, "machines"))))
	t.line("Memory availability", fmt.Sprintf("%.1f GB per process on machine with least available", memory/(1<<30)))
	if tolerance, known := t.cluster["fault_tolerance"].(Object); known {
		unit := "zones"
		if t.zonesAreMachines() {
			unit = "machines"
		}
		t.line("Fault Tolerance", fmt.Sprintf("%v %s", tolerance["max_zone_failures_without_losing_availability"], unit))
	}
	t.losingLogs()
	t.line("Server time", t.clock())
}

// losingLogs warns of lost old logs.
func (t *statusText) losingLogs() {
	for _, g := range anyList(t.cluster["logs"]) {
		g := g.(Object)
		if g["possibly_losing_data"] != true {
			continue
		}
		t.printf("\n  Warning: the database may have data loss and availability loss. Please restart following tlog interfaces, " +
			"otherwise storage servers may never be able to catch up.\n")
		t.printf("  Old log epoch: %v begin: %v end: %v, missing log interfaces(id,address): ", g["epoch"], g["begin_version"], g["end_version"])
		for _, l := range anyList(g["log_interfaces"]) {
			if l.(Object)["healthy"] != true {
				t.printf("%s, ", l.(Object)["id"])
			}
		}
		t.printf("\n\n")
	}
}

// data writes how the data is.
func (t *statusText) data() {
	data := part(t.cluster, "data")
	state := part(data, "state")
	moving, sizes, used := "unknown", "unknown", "unknown"
	if state["name"] == "initializing" {
		moving = "unknown (initializing)"
	}
	if m := part(data, "moving_data"); m != nil {
		moving = fmt.Sprintf("%.3f GB", bytesOf(m["in_flight_bytes"])/1e9)
	}
	if n, ok := data["total_kv_size_bytes"]; ok {
		sizes = amount(bytesOf(n))
	}
	if n, ok := data["total_disk_used_bytes"]; ok {
		used = amount(bytesOf(n))
	}
	t.printf("\nData:\n")
	t.line("Replication health", health(state))
	t.line("Moving data", moving)
	t.line("Sum of key-value sizes", sizes)
	t.line("Disk space used", used)
}

func health(state Object) string {
	description, described := state["description"]
	switch {
	case state == nil:
		return "unknown"
	case state["name"] == "initializing":
		return fmt.Sprint(description)
	case state["name"] == "healing":
		return fmt.Sprintf("HEALING: %v", description)
	case state["healthy"] != true:
		return fmt.Sprintf("UNHEALTHY: %v", description)
	case described:
		return fmt.Sprintf("Healthy (%v)", description)
	default:
		return "Healthy"
	}
}

func bytesOf(v any) float64 {
	switch n := v.(type) {
	case int64:
		return float64(n)
	case int:
		return float64(n)
	default:
		return 0
	}
}

// amount is a number of bytes as fdbcli gives it.
func amount(bytes float64) string {
	if bytes >= 1e9 {
		return fmt.Sprintf("%.3f GB", bytes/1e9)
	}
	return fmt.Sprintf("%.0f MB", bytes/1e6)
}

func (t *statusText) space() {
	data := part(t.cluster, "data")
	t.printf("\nOperating space:\n")
	known := false
	for _, line := range []struct{ title, key string }{
		{"Storage server", "least_operating_space_bytes_storage_server"}, {"Log server", "least_operating_space_bytes_log_server"},
	} {
		if n, ok := data[line.key]; ok {
			t.line(line.title, fmt.Sprintf("%.1f GB free on most full server", bytesOf(n)/1e9))
			known = true
		}
	}
	if !known {
		t.printf("  Unable to retrieve operating space status\n")
	}
}

func (t *statusText) workload() {
	t.printf("\nWorkload:\n")
	for _, rate := range []struct{ title, group, name string }{
		{"Read rate", "operations", "reads"},
		{"Write rate", "operations", "writes"},
		{"Transactions started", "transactions", "started"},
		{"Transactions committed", "transactions", "committed"},
		{"Conflict rate", "transactions", "conflicted"},
	} {
		text := "unknown"
		if hz, known := part(part(part(t.cluster, "workload"), rate.group), rate.name)["hz"].(float64); known {
			text = fmt.Sprintf("%.0f Hz", hz)
		}
		t.line(rate.title, text)
	}
}
