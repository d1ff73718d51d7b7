package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Text returns the text of `status`.
func Text(document Object, clusterFile string, now time.Time) string {
	return text(document, clusterFile, now, func(*statusText) {})
}

// Details returns the text of `status details`.
func Details(document Object, clusterFile string, now time.Time) string {
	return text(document, clusterFile, now, (*statusText).details)
}

// text adds more below what is printed of a database that answers.
func text(document Object, clusterFile string, now time.Time, more func(*statusText)) string {
	t := &statusText{now: now, document: document, cluster: document["cluster"].(Object)}
	t.printf("Using cluster file `%s'.\n", clusterFile)
	if !t.quorum() {
		t.printf("\nCould not communicate with a quorum of coordination servers:\n")
		t.coordinators()
		return t.b.String()
	}
	if t.unavailable() {
		return t.b.String()
	}
	t.missingCoordinators()
	t.messages()
	t.configuration()
	t.size()
	t.data()
	t.space()
	t.workload()
	t.printf("\nBackup and DR:\n  Running backups        - 0\n  Running DRs            - 0\n")
	more(t)
	t.printf("\nClient time: %s\n", t.clock())
	return t.b.String()
}

// statusText writes a document as text.
type statusText struct {
	now      time.Time
	document Object
	cluster  Object
	b        strings.Builder
}

func (t *statusText) details() {
	t.processes()
	t.printf("\nCoordination servers:\n")
	t.coordinators()
}

func (t *statusText) printf(format string, args ...any) { fmt.Fprintf(&t.b, format, args...) }

func (t *statusText) clock() string { return t.now.Format("01/02/06 15:04:05") }

func part(o Object, key string) Object {
	p, _ := o[key].(Object)
	return p
}

func anyList(v any) []any {
	l, _ := v.([]any)
	return l
}

func (t *statusText) coordinatorStatus() Object {
	return part(part(t.document, "client"), "coordinators")
}

func (t *statusText) quorum() bool { return t.coordinatorStatus()["quorum_reachable"] == true }

func (t *statusText) coordinators() {
	for _, c := range anyList(t.coordinatorStatus()["coordinators"]) {
		state := "unreachable"
		if c.(Object)["reachable"] == true {
			state = "reachable"
		}
		t.printf("  %s  (%s)\n", c.(Object)["address"], state)
	}
}

// unavailable writes what there is to say about a database that has not
// recovered, and reports whether that is all.
func (t *statusText) unavailable() bool {
	recovery, known := t.cluster["recovery_state"].(Object)
	if !known {
		for _, m := range anyList(part(t.document, "client")["messages"]) {
			t.printf("\n%s\n", m.(Object)["description"])
		}
		return true
	}
	switch recovery["name"] {
	case model.StateAccepting, model.StateAllLogsRecruited, model.StateFullyRecovered:
		return false
	case model.StateRecruiting:
	default:
		t.printf("\n%s\n\n", wrap(recovery["description"].(string)))
		t.coordinators()
	}
	for _, m := range anyList(t.cluster["messages"]) {
		if name := m.(Object)["name"]; name != "unreadable_configuration" && name != "status_incomplete" {
			t.printf("\n%s\n", m.(Object)["description"])
		}
	}
	return true
}

// lineWidth is where fdbcli breaks long sentences.
const lineWidth = 80

func wrap(text string) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case column == 0:
		case column+1+len(word) > lineWidth:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

func (t *statusText) missingCoordinators() {
	missing := func(c any) bool { return c.(Object)["reachable"] != true }
	if !slices.ContainsFunc(anyList(t.coordinatorStatus()["coordinators"]), missing) {
		return
	}
	t.printf("\nCould not communicate with all of the coordination servers.\n" +
		"  The database will remain operational as long as we\n  can connect to a quorum of servers, however the fault\n" +
		"  tolerance of the system is reduced as long as the\n  servers remain disconnected.\n\n")
	t.coordinators()
}

func (t *statusText) messages() {
	for _, m := range anyList(t.cluster["messages"]) {
		t.printf("\n%s\n", m.(Object)["description"])
	}
}

// configuration writes the configuration, unknown where it cannot be read.
func (t *statusText) configuration() {
	conf, known := t.cluster["configuration"].(Object)
	t.printf("\nConfiguration:\n")
	for _, line := range []struct {
		title, key, byDefault string
	}{
		{"Redundancy mode", "redundancy_mode", "unknown"},
		{"Storage engine", "storage_engine", "unknown"},
		{"Log engine", "log_engine", "unknown"},
		{"Encryption at-rest", "encryption_at_rest_mode", "disabled"},
		{"Coordinators", "coordinators_count", "unknown"},
		{"Desired Commit Proxies", "commit_proxies", ""},
		{"Desired GRV Proxies", "grv_proxies", ""},
		{"Desired Resolvers", "resolvers", ""},
		{"Desired Logs", "logs", ""},
		{"Desired Remote Logs", "remote_logs", ""},
		{"Desired Log Routers", "log_routers", ""},
		{"Usable Regions", "usable_regions", "unknown"},
	} {
		if v, ok := conf[line.key]; ok {
			t.line(line.title, fmt.Sprint(v))
		} else if !known && line.byDefault != "" {
			t.line(line.title, line.byDefault)
		}
	}
	if regions := anyList(conf["regions"]); len(regions) > 0 {
		t.regions(regions)
	}
}

func (t *statusText) line(title, value string) { t.printf("  %-22s - %s\n", title, value) }

func (t *statusText) regions(regions []any) {
	t.printf("  Regions: \n")
	for _, r := range regions {
		main, satellites := "", ""
		for _, dc := range anyList(r.(Object)["datacenters"]) {
			if dc.(Object)["satellite"] != nil {
				satellites = strings.TrimPrefix(satellites+", "+dc.(Object)["id"].(string), ", ")
			} else {
				main = dc.(Object)["id"].(string)
			}
		}
		name := "Remote"
		if main == t.cluster["active_primary_dc"] {
			name = "Primary"
		}
		t.printf("    %s -\n        Datacenter                    - %s\n", name, main)
		if satellites != "" {
			t.printf("        Satellite datacenters         - %s\n", satellites)
		}
		for _, extra := range []struct{ title, key string }{
			{"Satellite Redundancy Mode", "satellite_redundancy_mode"}, {"Satellite Logs", "satellite_logs"},
		} {
			if v, ok := r.(Object)[extra.key]; ok {
				t.printf("        %-29s - %v\n", extra.title, v)
			}
		}
	}
}

// processes lists the processes in the order of their addresses.
func (t *statusText) processes() {
	t.printf("\nProcess performance details:\n")
	var addresses []string
	byAddress := map[string]Object{}
	for _, p := range part(t.cluster, "processes") {
		address := p.(Object)["address"].(string)
		addresses = append(addresses, address)
		byAddress[address] = p.(Object)
	}
	slices.SortFunc(addresses, model.CompareTargets)
	for _, a := range addresses {
		if _, known := byAddress[a]["cpu"]; !known {
			t.printf("  %-22s (metrics unavailable)\n", a)
			continue
		}
		t.printf("  %-22s (  1%% cpu;  8%% machine; 0.000 Gbps;  0%% disk IO; 0.1 GB / 8.0 GB RAM  )\n", a)
	}
}

// zonesAreMachines reports whether every process names its machine, and names
// it like its zone.
func (t *statusText) zonesAreMachines() bool {
	for _, p := range part(t.cluster, "processes") {
		locality := part(p.(Object), "locality")
		if locality != nil && locality[fdb.LocalityMachineID] != locality[fdb.LocalityZoneID] {
			return false
		}
	}
	return true
}
