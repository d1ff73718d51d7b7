package status

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/store"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// How long a status takes beyond reaching the database.
const (
	delayUsual        = 80 * time.Millisecond
	delayNoQuorum     = 2 * time.Second
	delayNoController = 2600 * time.Millisecond
	delayUnreadable   = 12 * time.Second
	delayJustDied     = 4 * time.Second
	delayUnnoticed    = 2 * time.Second
	delayCoordinator  = 1500 * time.Millisecond
	delayTimeout      = 30 * time.Second
	delayDeadline     = 10 * time.Second // an assumption: no recording has one
)

// Client is who reads a status document: a process with a cluster file.
type Client struct {
	Simulation *model.Simulation
	Conn       fdb.ConnectionString
	Version    fdb.Version
	Files      store.Files
	Path       string // of the cluster file
	// Prints is whether fdbcli prints the document. In versions that never complete that of a database that
	// does not exist, it gives up then; a document that is handed over to a forecast is always complete.
	Prints bool
}

// givesUp reports whether fdbcli gives up on the document.
func (c Client) givesUp(db *model.Database) bool {
	return db.Faults.StatusTimeout || c.Prints && !db.Configured() && !c.Version.ReportsMissingDatabase()
}

// Delay is how long a status takes now.
func (c Client) Delay() time.Duration {
	found := c.Simulation.Find(c.Conn, c.Version)
	switch db := found.Db; {
	case !found.Quorum:
		return delayNoQuorum
	case db == nil || !db.Roles.Controller.Taken():
		return delayNoController
	case c.givesUp(db):
		return delayTimeout
	case db.Faults.StatusDeadline:
		return delayDeadline
	case !db.Readable():
		return delayUnreadable
	default:
		return delayUsual + deadDelay(db)
	}
}

// deadDelay is how long a status waits for the dead.
func deadDelay(db *model.Database) time.Duration {
	d := time.Duration(0)
	switch {
	case slices.ContainsFunc(db.Members, func(s *model.Process) bool { return !s.Alive() }):
		d = delayJustDied
	case slices.ContainsFunc(db.Storage, func(ss *model.StorageServer) bool { return !ss.Answers() && !ss.DeathNoticed }):
		d = delayUnnoticed
	}
	if len(db.CoordinatorServers()) < len(db.Connection.Coordinators) {
		d += delayCoordinator
	}
	return d
}

// Minimal is a document in one sentence, and whether the cluster file is
// outdated.
func Minimal(document Object) (text string, outdated bool) {
	client, _ := document["client"].(Object)
	database, _ := client["database_status"].(Object)
	file, _ := client["cluster_file"].(Object)
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

// Document is the whole document of `status json`.
func (c Client) Document() Object {
	return c.document(Cluster)
}

// document is the whole document with the cluster's part of the database that the client finds.
func (c Client) document(clusterOf func(*model.Database) Object) Object {
	found := c.Simulation.Find(c.Conn, c.Version)
	var messages []any
	cluster := Object{"layers": Object{"_valid": false}}
	switch db := found.Db; {
	case !found.Quorum:
		messages = append(messages, message("quorum_not_reachable", "Unable to reach a quorum of coordinators."))
	case db == nil || !db.Roles.Controller.Taken():
		messages = append(messages, message("no_cluster_controller",
			"Unable to locate a cluster controller within 2 seconds.  Check that there are server processes running."))
	case c.givesUp(db):
		messages = append(messages, message("status_incomplete_timeout", "Timed out fetching cluster status."))
	case db.StaleStatus != nil:
		cluster = db.StaleStatus
	default:
		cluster = clusterOf(db)
	}
	file, outdated := c.fileStatus()
	if outdated != nil {
		messages = append(messages, outdated)
	}
	available := found.Quorum && isAvailable(cluster)
	healthy := available && outdated == nil && isHealthy(cluster) && file["up_to_date"] == true
	return Object{
		"client": Object{
			"cluster_file": file,
			"coordinators": c.coordinatorStatus(found),
			"database_status": Object{
				"available": available, "healthy": healthy,
			},
			"messages":  list(messages),
			"timestamp": c.Simulation.Now.Unix(),
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

// texts is a list of a document.
func texts(of []string) []any {
	elements := make([]any, len(of))
	for i, text := range of {
		elements[i] = text
	}
	return elements
}

// textsOf is an object of a document whose values are texts.
func textsOf(values map[string]string) Object {
	o := make(Object, len(values))
	for key, value := range values {
		o[key] = value
	}
	return o
}

func message(name, description string) Object {
	return Object{"name": name, "description": description}
}

func isAvailable(cluster Object) bool {
	recovery, _ := cluster["recovery_state"].(Object)
	name, _ := recovery["name"].(string)
	accepting := slices.Contains([]string{model.StateAccepting, model.StateAllLogsRecruited, "storage_recovered", model.StateFullyRecovered}, name)
	return accepting && cluster["database_available"] == true
}

// isHealthy reports whether the cluster's part has no problem.
func isHealthy(cluster Object) bool {
	messages, _ := cluster["messages"].([]any)
	data, _ := cluster["data"].(Object)
	state, known := data["state"].(Object)
	return len(messages) == 0 && known && state["healthy"] != false
}

// fileStatus is what the client reports about its cluster file, with a message
// when it holds an old connection string that cannot be replaced.
func (c Client) fileStatus() (Object, any) {
	status := Object{"path": c.Path, "up_to_date": true}
	content, err := c.Files.ReadFile(c.Path)
	if err != nil {
		return status, nil
	}
	stored := connectionLine(string(content))
	if stored == c.Conn.String() {
		return status, nil
	}
	status["up_to_date"] = false
	return status, message("incorrect_cluster_file_contents",
		"Cluster file contents do not match current cluster connection string.\n"+
			"The file contains the connection string: "+stored+"\n"+
			"The current connection string is: "+c.Conn.String()+"\n"+
			"Verify the cluster file and its parent directory are writable and that the cluster file has not been overwritten externally. "+
			"To change coordinators without manual intervention, the cluster file and its containing folder must be writable by all servers "+
			"and clients. If a majority of the coordinators referenced by the old connection string are lost, the database will stop "+
			"working until the correct cluster file is distributed to all processes.")
}

// Incompatible reports whether a coordinator uses another protocol than the client.
func (c Client) Incompatible() bool {
	return slices.ContainsFunc(c.Conn.Coordinators, func(a fdb.Address) bool {
		s := c.Simulation.CoordinatorAt(a)
		return s != nil && !s.Version.ProtocolCompatible(c.Version)
	})
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

// coordinatorStatus is what the client found when it queried each coordinator.
// One of another protocol does not answer: recorded between 7.3.79 and 7.4.6.
func (c Client) coordinatorStatus(found model.Contact) Object {
	var each []any
	for _, a := range c.Conn.Coordinators {
		status := Object{"address": a.Coordinator(), "reachable": false}
		if s := c.Simulation.CoordinatorAt(a); s != nil && s.Version.ProtocolCompatible(c.Version) {
			protocol := model.ProtocolText(s.Version)
			status["protocol"] = strings.Repeat("0", max(0, 16-len(protocol))) + protocol
			status["reachable"] = true
		}
		each = append(each, status)
	}
	slices.SortStableFunc(each, func(a, b any) int {
		return model.CompareTargets(a.(Object)["address"].(string), b.(Object)["address"].(string))
	})
	return Object{"coordinators": list(each), "quorum_reachable": found.Quorum}
}
