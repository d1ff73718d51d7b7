package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// difference is one thing that differs between the two sides.
type difference struct{ key, actual, model string }

// normalizations are all that is not compared, with the reason.
var normalizations = []struct {
	why     string
	pattern *regexp.Regexp
	with    string
}{
	{"where the programs are installed", regexp.MustCompile(`(/[\w.-]+)+/(fdbcli|fdbbackup|fdbrestore)\b`), "$2"},
	{"a stack trace has addresses", regexp.MustCompile(`(?m)^ *(Trace: )?addr2line .*\n`), ""},
	{"a test has its own directory", regexp.MustCompile(`/[\w./-]+/TestTheModelMatchesThe[\w.]+/\d+`), "DIR"},
	{"a commit version is a clock of the database", regexp.MustCompile(`Committed \(\d+\)`), "Committed (V)"},
	{"a read version is a clock of the database", regexp.MustCompile(`Current read version is \d+`), "Current read version is V"},
	{"a program runs in some directory", regexp.MustCompile(`must be the absolute path '[^']*/relative'`), "must be the absolute path 'relative'"},
	{"a read version is a clock of the database", regexp.MustCompile(`(?m)^\d{6,}$`), "V"},
	{"coordinators get a random ID when they change", regexp.MustCompile(`(conformance|renamed):[A-Za-z0-9]+@`), "$1:ID@"},
	{"an interface of a process is random", regexp.MustCompile("(worker_interfaces/[0-9.:]+' is `)[^\n]*'"), "${1}INTERFACE'"},
	{"a UID is random", regexp.MustCompile(`\b[0-9a-f]{32}\b`), "UID"},
	{"a passphrase is random", regexp.MustCompile(`(dangerous operation\.\n)[A-Za-z0-9]{10}\n`), "${1}PHRASE\n"},
	{"a container is named by the time of its creation", regexp.MustCompile(`backup-\d{4}-\d\d-\d\d-[\d.-]+`), "backup-TIME"},
	{"times differ", regexp.MustCompile(`(Server time +-|Client time:) \S+ \S+`), "$1 T"},
	{"rates differ", regexp.MustCompile(`(rate|started|committed) +- \d+ Hz`), "$1 - N Hz"},
	{"byte counts differ", regexp.MustCompile(`(Moving data|Sum of key-value sizes|Disk space used) +- [\d.]+ [GM]B`), "$1 - N"},
	{"disks and memory differ", regexp.MustCompile(`- [\d.]+ GB (free|per process)`), "- N GB $1"},
	{"load differs", regexp.MustCompile(`\( +\d+% cpu; .*\)`), "(FIGURES)"},
	{"maintenance ends by a clock", regexp.MustCompile(`continue for \d+ seconds`), "continue for N seconds"},
}

func normalized(text string) string {
	for _, n := range normalizations {
		text = n.pattern.ReplaceAllString(text, n.with)
	}
	return text
}

// differences compares what a command did on both sides. A status document is
// compared by its paths, their types and its facts, everything else by its text.
func differences(s step, actual, model answer) []difference {
	var found []difference
	add := func(key, r, m string) {
		if r != m {
			found = append(found, difference{key, r, m})
		}
	}
	add(s.key()+" exit", fmt.Sprint(actual.Exit), fmt.Sprint(model.Exit))
	add(s.key()+" stderr", fmt.Sprintf("%q", actual.Stderr), fmt.Sprintf("%q", model.Stderr))
	add(s.key()+" stdout", fmt.Sprintf("%q", actual.Stdout), fmt.Sprintf("%q", model.Stdout))
	return append(found, documentDifferences(s.key(), actual, model)...)
}

func documentDifferences(key string, actual, model answer) []difference {
	var found []difference
	r, m := actual.types(), model.types()
	for _, path := range sortedKeys(r, m) {
		parent := path[:max(strings.LastIndex(path, "."), 0)]
		if parent != "" && (r[parent] == "" || m[parent] == "") {
			continue // what is in a missing object is missing with it
		}
		if r[path] != m[path] {
			found = append(found, difference{"document " + path, r[path], m[path] + " at " + key})
		}
	}
	for _, name := range sortedKeys(actual.Facts, model.Facts) {
		if actual.Facts[name] != model.Facts[name] {
			found = append(found, difference{key + " " + name, actual.Facts[name], model.Facts[name]})
		}
	}
	return found
}

func sortedKeys(a, b map[string]string) []string {
	all := map[string]string{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

func document(text string) any {
	var v any
	_, text, _ = strings.Cut(text, "{")
	if err := json.NewDecoder(strings.NewReader("{" + text)).Decode(&v); err != nil {
		return err.Error()
	}
	return v
}

// walk collects the type of every path. Names of processes, machines, roles' IDs
// and elements of lists are left out; roles are kept apart.
func walk(path string, v any, found map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		found[path] = "object"
		for key, value := range v {
			if path == ".cluster.processes" || path == ".cluster.machines" {
				key = "*"
			}
			walk(path+"."+key, value, found)
		}
	case []any:
		found[path] = "list"
		for _, element := range v {
			inner := path + "[]"
			if o, ok := element.(map[string]any); ok && o["role"] != nil {
				inner = fmt.Sprintf("%s[%v]", path, o["role"])
			}
			walk(inner, element, found)
		}
	default:
		found[path] = fmt.Sprintf("%T", v)
	}
}

// at is the value of a path of objects, nil without one.
func at(v any, path ...string) any {
	for _, name := range path {
		o, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = o[name]
	}
	return v
}

// documentFacts are the values of a status document that are compared. Others that decisions depend on are
// not among them: the roles of processes, the generations of logs, bounce_impact and full_replication.
func documentFacts(text string) map[string]string {
	d := document(text)
	facts := map[string]string{
		"available":     fmt.Sprint(at(d, "client", "database_status", "available")),
		"quorum":        fmt.Sprint(at(d, "client", "coordinators", "quorum_reachable")),
		"recovery":      fmt.Sprint(at(d, "cluster", "recovery_state", "name")),
		"data":          fmt.Sprint(at(d, "cluster", "data", "state", "name")),
		"replicas":      fmt.Sprint(at(d, "cluster", "data", "state", "min_replicas_remaining")),
		"tolerance":     fmt.Sprint(at(d, "cluster", "fault_tolerance", "max_zone_failures_without_losing_data")),
		"configuration": fmt.Sprint(at(d, "cluster", "configuration")),
		"lock":          fmt.Sprint(at(d, "cluster", "database_lock_state", "locked")),
		"maintenance":   fmt.Sprint(at(d, "cluster", "maintenance_zone")),
		"messages":      fmt.Sprint(names(at(d, "client", "messages")), names(at(d, "cluster", "messages"))),
	}
	var known []string
	processes, _ := at(d, "cluster", "processes").(map[string]any)
	for _, p := range processes {
		known = append(known, fmt.Sprint(at(p, "address"), at(p, "class_type"), at(p, "excluded")))
	}
	slices.Sort(known)
	facts["processes"] = strings.Join(known, " ")
	return facts
}

func names(list any) []string {
	var found []string
	elements, _ := list.([]any)
	for _, e := range elements {
		found = append(found, fmt.Sprint(at(e, "name")))
	}
	slices.Sort(found)
	return found
}
