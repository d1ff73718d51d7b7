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
	{"a commit version is a clock of the database", regexp.MustCompile(`Committed \(\d+\)`), "Committed (V)"},
	{"a read version is a clock of the database", regexp.MustCompile(`(?m)^\d{6,}$`), "V"},
	{"coordinators get a random ID when they change", regexp.MustCompile(`(conformance|renamed):[A-Za-z0-9]+@`), "$1:ID@"},
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
func differences(s step, actual, model result) []difference {
	var found []difference
	add := func(key, r, m string) {
		if r != m {
			found = append(found, difference{key, r, m})
		}
	}
	add(s.key()+" exit", fmt.Sprint(actual.exit), fmt.Sprint(model.exit))
	add(s.key()+" stderr", fmt.Sprintf("%q", normalized(actual.stderr)), fmt.Sprintf("%q", normalized(model.stderr)))
	if strings.HasPrefix(actual.stdout, "\n{") || strings.HasPrefix(actual.stdout, "{") {
		return append(found, documentDifferences(s.key(), actual.stdout, model.stdout)...)
	}
	add(s.key()+" stdout", fmt.Sprintf("%q", normalized(actual.stdout)), fmt.Sprintf("%q", normalized(model.stdout)))
	return found
}

func documentDifferences(key, actual, model string) []difference {
	var found []difference
	r, m := map[string]string{}, map[string]string{}
	walk("", document(actual), r)
	walk("", document(model), m)
	for _, path := range sortedKeys(r, m) {
		parent := path[:max(strings.LastIndex(path, "."), 0)]
		if parent != "" && (r[parent] == "" || m[parent] == "") {
			continue // what is in a missing object is missing with it
		}
		if r[path] != m[path] {
			found = append(found, difference{"document " + path, r[path], m[path] + " at " + key})
		}
	}
	rf, mf := documentFacts(actual), documentFacts(model)
	for _, name := range sortedKeys(rf, mf) {
		if rf[name] != mf[name] {
			found = append(found, difference{key + " " + name, rf[name], mf[name]})
		}
	}
	return found
}

func sortedKeys(a, b map[string]string) []string {
	all := maps.Clone(a)
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

// documentFacts are the values that decisions are made on.
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
