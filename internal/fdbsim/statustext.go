package fdbsim

import (
	"fmt"
	"strings"
)

// humanStatus is the text of `status` for people: shorter than the real one,
// with the same figures.
func (c *cli) humanStatus(document object, details bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Using cluster file `%s'.\n", c.opts.clusterFile)
	cluster, _ := document["cluster"].(object)
	found := c.w.find(c.conn, c.version)
	if !found.quorum {
		b.WriteString("\nCould not communicate with a quorum of coordination servers:\n")
		c.writeCoordinators(&b)
		return b.String()
	}
	for _, m := range anyList(cluster["messages"]) {
		fmt.Fprintf(&b, "\n%s\n", m.(object)["description"])
	}
	if conf, ok := cluster["configuration"].(object); ok {
		writeConfiguration(&b, conf)
		writeData(&b, cluster)
	}
	if details {
		b.WriteString("\nProcess performance details:\n")
		if found.db != nil {
			for _, a := range found.db.workerAddresses() {
				fmt.Fprintf(&b, "  %s\n", a)
			}
		}
	}
	fmt.Fprintf(&b, "\nClient time: %s\n", c.w.now.Format("01/02/06 15:04:05"))
	return b.String()
}

func anyList(v any) []any {
	l, _ := v.([]any)
	return l
}

func (c *cli) writeCoordinators(b *strings.Builder) {
	for _, a := range c.conn.Coordinators {
		state := "unreachable"
		if s := c.w.coordinatorAt(a); s != nil && s.version.ProtocolCompatible(c.version) {
			state = "reachable"
		}
		fmt.Fprintf(b, "  %s  (%s)\n", a.Coordinator(), state)
	}
}

func writeConfiguration(b *strings.Builder, conf object) {
	b.WriteString("\nConfiguration:\n")
	for _, line := range []struct{ title, key string }{
		{"Redundancy mode", "redundancy_mode"},
		{"Storage engine", "storage_engine"},
		{"Log engine", "log_engine"},
		{"Encryption at-rest", "encryption_at_rest_mode"},
		{"Coordinators", "coordinators_count"},
		{"Desired Commit Proxies", "commit_proxies"},
		{"Desired GRV Proxies", "grv_proxies"},
		{"Desired Resolvers", "resolvers"},
		{"Desired Logs", "logs"},
		{"Desired Remote Logs", "remote_logs"},
		{"Desired Log Routers", "log_routers"},
		{"Usable Regions", "usable_regions"},
	} {
		if v, ok := conf[line.key]; ok {
			fmt.Fprintf(b, "  %-22s - %v\n", line.title, v)
		}
	}
}

func writeData(b *strings.Builder, cluster object) {
	processes, _ := cluster["processes"].(object)
	tolerance, _ := cluster["fault_tolerance"].(object)
	data, _ := cluster["data"].(object)
	state, _ := data["state"].(object)
	fmt.Fprintf(b, "\nCluster:\n  FoundationDB processes - %d\n  Fault Tolerance        - %v machines\n",
		len(processes), tolerance["max_zone_failures_without_losing_availability"])
	fmt.Fprintf(b, "\nData:\n  Replication health     - %v\n", state["name"])
}
