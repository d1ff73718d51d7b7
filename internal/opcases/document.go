package opcases

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Document is a status document as the operator's tests make it: from values in which zero
// and absent are the same. What such a value leaves out of its JSON, and FoundationDB always
// writes, is filled in with the zero that the operator saw.
type Document struct{ fdb.Status }

// UnmarshalJSON reads a document and fills it in.
func (d *Document) UnmarshalJSON(text []byte) error {
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	addresses(document)
	fillIn(object(document, "cluster"))
	object(document, "client")
	full, err := json.Marshal(document)
	if err != nil {
		return err
	}
	status, err := fdb.ParseStatus(full)
	if err != nil {
		return fmt.Errorf("parse a recorded status document: %w", err)
	}
	d.Status = *status
	return nil
}

func fillIn(cluster map[string]any) {
	recovery := object(cluster, "recovery_state")
	zero(recovery, 0, "active_generations", "seconds_since_last_recovered")
	data := object(object(cluster, "data"), "state")
	zero(data, false, "healthy")
	for _, tracker := range objects(object(cluster, "data"), "team_trackers") {
		state := object(tracker, "state")
		zero(state, 0, "min_replicas_remaining")
		zero(state, false, "healthy")
	}
	for _, generation := range objects(cluster, "logs") {
		zero(generation, 0, "log_replication_factor", "log_fault_tolerance", "remote_log_replication_factor",
			"remote_log_fault_tolerance", "satellite_log_replication_factor", "satellite_log_fault_tolerance")
	}
	qos := object(cluster, "qos")
	zero(qos, 0, "worst_queue_bytes_log_server", "worst_queue_bytes_storage_server")
	zero(object(qos, "worst_data_lag_storage_server"), 0, "seconds")
	zero(object(qos, "worst_durability_lag_storage_server"), 0, "seconds")
	processes, _ := cluster["processes"].(map[string]any)
	for _, p := range processes {
		if process, ok := p.(map[string]any); ok {
			zero(process, 0, "uptime_seconds")
		}
	}
}

// addresses gives every address the port that FoundationDB always writes, and removes those
// that a test left empty.
func addresses(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, part := range v {
			text, isText := part.(string)
			switch {
			case key == "excluded_servers": // targets of exclusions have no port
			case key == "address" && isText && (text == "<nil>" || text == ""):
				delete(v, key)
			case key == "address" && isText:
				v[key] = withPort(text)
			default:
				addresses(part)
			}
		}
	case []any:
		for _, part := range v {
			addresses(part)
		}
	}
}

func withPort(address string) string {
	if _, err := fdb.ParseAddress(address); err == nil {
		return address
	}
	if strings.Contains(address, ":") && !strings.HasPrefix(address, "[") {
		address = "[" + address + "]"
	}
	if _, err := fdb.ParseAddress(address + ":4501"); err == nil {
		return address + ":4501"
	}
	return address // ParseStatus reports what is wrong with it
}

// object is the object at a key, which is made where there is none.
func object(parent map[string]any, key string) map[string]any {
	if child, ok := parent[key].(map[string]any); ok {
		return child
	}
	child := map[string]any{}
	parent[key] = child
	return child
}

// objects are the objects of the list at a key.
func objects(parent map[string]any, key string) []map[string]any {
	list, _ := parent[key].([]any)
	var all []map[string]any
	for _, entry := range list {
		if o, ok := entry.(map[string]any); ok {
			all = append(all, o)
		}
	}
	return all
}

func zero(into map[string]any, value any, keys ...string) {
	for _, key := range keys {
		if into[key] == nil {
			into[key] = value
		}
	}
}

// Filler is the ID of the process that Complete adds.
const Filler = "filler-1"

// AnyVersion is the version of processes where it decides nothing.
const AnyVersion = "7.3.79"

// Complete adds the master of a database of that version, up for an hour, where the document
// lists no process: a document without processes is one that FoundationDB could not complete,
// which the operator's tests of other questions do not mean.
func (d *Document) Complete(version string) *fdb.Status {
	if version == "" {
		version = AnyVersion
	}
	if len(d.Cluster.Processes) == 0 {
		d.Cluster.Processes = map[string]fdb.Process{Filler: {
			ID: Filler, ClassType: "stateless", Version: version, UptimeSeconds: new(3600.0), Roles: []fdb.Role{{Role: fdb.RoleMaster}},
			Locality: map[string]string{fdb.LocalityInstanceID: Filler, fdb.LocalityZoneID: Filler},
		}}
	}
	return d.Reporting()
}

// Reporting gives every process that has a locality the command line and the version that a
// process which reports always has, where the test left them out.
func (d *Document) Reporting() *fdb.Status {
	for id, p := range d.Cluster.Processes {
		if len(p.Locality) > 0 && p.CommandLine == "" {
			p.CommandLine = "/usr/bin/fdbserver"
			d.Cluster.Processes[id] = p
		}
	}
	return d.WithVersions()
}

// WithVersions is the same for versions only.
func (d *Document) WithVersions() *fdb.Status {
	for id, p := range d.Cluster.Processes {
		if len(p.Locality) > 0 && p.Version == "" {
			p.Version = AnyVersion
			d.Cluster.Processes[id] = p
		}
	}
	return &d.Status
}
