package fdbsim

import (
	"slices"
	"strings"
	"time"
)

// How long a status takes beyond reaching the database.
const (
	statusUsual        = 80 * time.Millisecond
	statusNoQuorum     = 2 * time.Second
	statusNoController = 2600 * time.Millisecond
	statusUnreadable   = 12 * time.Second
	statusJustDied     = 4 * time.Second
	statusUnnoticed    = 2 * time.Second
	statusCoordinator  = 1500 * time.Millisecond
	statusTimeout      = 30 * time.Second
)

// statusDelay is how long a status takes now.
func (c *cli) statusDelay() time.Duration {
	found := c.w.find(c.conn, c.version)
	switch db := found.db; {
	case !found.quorum:
		return statusNoQuorum
	case db == nil || !db.crew.controller.taken():
		return statusNoController
	case db.faults.StatusTimeout:
		return statusTimeout
	case !db.readable():
		return statusUnreadable
	default:
		return statusUsual + db.deadDelay()
	}
}

// deadDelay is how long a status waits for the dead.
func (db *database) deadDelay() time.Duration {
	d := time.Duration(0)
	switch {
	case slices.ContainsFunc(db.members, func(s *server) bool { return !s.alive() }):
		d = statusJustDied
	case slices.ContainsFunc(db.storage, func(ss *storageServer) bool { return !ss.answers() && !ss.deathNoticed }):
		d = statusUnnoticed
	}
	if len(db.coordinatorServers()) < len(db.conn.Coordinators) {
		d += statusCoordinator
	}
	return d
}

// status shows the state of the cluster.
func (c *cli) status(args []string) error {
	level := "normal"
	if len(args) > 0 {
		level = args[0]
	}
	if len(args) > 1 || !slices.Contains([]string{"normal", "minimal", "details", "json"}, level) {
		return c.usage("status [minimal|details|json]")
	}
	document, delay := c.statusDocument(), c.statusDelay()
	if err := c.pause(delay); err != nil {
		return err
	}
	switch level {
	case "json":
		c.print(prettyJSON(document))
	case "minimal":
		text, outdated := minimalOf(document)
		c.print(text + "\n")
		if outdated {
			c.errorf("WARNING: The cluster file is not up to date. Type 'status' for more information.")
		}
	default:
		c.print(c.humanStatus(document, level == "details"))
	}
	return nil
}

// minimalOf is a document in one sentence, and whether the cluster file is
// outdated.
func minimalOf(document object) (text string, outdated bool) {
	client, _ := document["client"].(object)
	database, _ := client["database_status"].(object)
	file, _ := client["cluster_file"].(object)
	outdated = file["up_to_date"] != true
	switch {
	case database["available"] != true:
		return "The database is unavailable; type `status' for more information.", outdated
	case database["healthy"] != true:
		return "The database is available, but has issues (type 'status' for more information).", outdated
	default:
		return "The database is available.", outdated
	}
}

// statusSnapshot is the cluster's part of a status document that is shown
// instead of the current one.
type statusSnapshot struct{ cluster object }

func (db *database) takeSnapshot() *statusSnapshot {
	return &statusSnapshot{cluster: db.clusterStatus()}
}

// statusDocument is the whole document of `status json`.
func (c *cli) statusDocument() object {
	c.locate()
	found := c.w.find(c.conn, c.version)
	var messages []any
	cluster := object{"layers": object{"_valid": false}}
	switch db := found.db; {
	case !found.quorum:
		messages = append(messages, message("quorum_not_reachable", "Unable to reach a quorum of coordinators."))
	case db == nil || !db.crew.controller.taken():
		messages = append(messages, message("no_cluster_controller",
			"Unable to locate a cluster controller within 2 seconds.  Check that there are server processes running."))
	case db.faults.StatusTimeout:
		messages = append(messages, message("status_incomplete_timeout", "Timed out fetching cluster status."))
	case db.snapshot != nil:
		cluster = db.snapshot.cluster
	default:
		cluster = db.clusterStatus()
	}
	file, outdated := c.fileStatus()
	if outdated != nil {
		messages = append(messages, outdated)
	}
	available := found.quorum && isAvailable(cluster)
	healthy := available && outdated == nil && isHealthy(cluster) && file["up_to_date"] == true
	return object{
		"client": object{
			"cluster_file": file,
			"coordinators": c.coordinatorStatus(found),
			"database_status": object{
				"available": available, "healthy": healthy,
			},
			"messages":  list(messages),
			"timestamp": c.w.now.Unix(),
		},
		"cluster": cluster,
	}
}

// list is never null, as an absent list would be.
func list(elements []any) []any {
	if elements == nil {
		return []any{}
	}
	return elements
}

func message(name, description string) object {
	return object{"name": name, "description": description}
}

func isAvailable(cluster object) bool {
	recovery, _ := cluster["recovery_state"].(object)
	name, _ := recovery["name"].(string)
	accepting := slices.Contains([]string{stateAccepting, stateAllLogsRecruited, "storage_recovered", stateFullyRecovered}, name)
	return accepting && cluster["database_available"] == true
}

// isHealthy reports whether nothing in the cluster's part is worth a look.
func isHealthy(cluster object) bool {
	messages, _ := cluster["messages"].([]any)
	data, _ := cluster["data"].(object)
	state, known := data["state"].(object)
	return len(messages) == 0 && known && state["healthy"] != false
}

// fileStatus is what the client says about its cluster file, with a message when
// it holds an old connection string that cannot be replaced.
func (c *cli) fileStatus() (object, any) {
	status := object{"path": c.opts.clusterFile, "up_to_date": true}
	content, err := c.tool.Files.ReadFile(c.opts.clusterFile)
	if err != nil {
		return status, nil
	}
	stored := connectionLine(string(content))
	if stored == c.conn.String() {
		return status, nil
	}
	status["up_to_date"] = false
	return status, message("incorrect_cluster_file_contents",
		"Cluster file contents do not match current cluster connection string.\n"+
			"The file contains the connection string: "+stored+"\n"+
			"The current connection string is: "+c.conn.String()+"\n"+
			"Verify the cluster file and its parent directory are writable and that the cluster file has not been overwritten externally. "+
			"To change coordinators without manual intervention, the cluster file and its containing folder must be writable by all servers "+
			"and clients. If a majority of the coordinators referenced by the old connection string are lost, the database will stop "+
			"working until the correct cluster file is distributed to all processes.")
}

// connectionLine is the connection string in a cluster file.
func connectionLine(content string) string {
	var text strings.Builder
	for line := range strings.Lines(content) {
		line, _, _ = strings.Cut(line, "#")
		text.WriteString(strings.TrimSpace(line))
	}
	return text.String()
}

// coordinatorStatus is what the client found when it asked each coordinator.
// The protocol is known even of one that it cannot talk to.
func (c *cli) coordinatorStatus(found contact) object {
	var each []any
	for _, a := range c.conn.Coordinators {
		status := object{"address": a.Coordinator(), "reachable": false}
		if s := c.w.coordinatorAt(a); s != nil {
			protocol := protocolText(s.version)
			status["protocol"] = strings.Repeat("0", max(0, 16-len(protocol))) + protocol
			status["reachable"] = s.version.ProtocolCompatible(c.version)
		}
		each = append(each, status)
	}
	slices.SortStableFunc(each, func(a, b any) int {
		return compareTargets(a.(object)["address"].(string), b.(object)["address"].(string))
	})
	return object{"coordinators": list(each), "quorum_reachable": found.quorum}
}
