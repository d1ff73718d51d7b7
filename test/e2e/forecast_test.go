package e2e

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
)

// plannedActions are the parts of `plan -o json` that a forecast has.
type plannedActions struct {
	Forecast struct {
		End    string
		Phases []struct {
			Stage, Kind string
			Actions     int
		}
	}
	Changes []struct{ Setting string }
}

// has reports whether a setting is among the changes.
func (p plannedActions) has(setting string) bool {
	for _, c := range p.Changes {
		if c.Setting == setting {
			return true
		}
	}
	return false
}

// What a plan forecasts is what the passes then do in a live cluster: the same stages carry out the
// same kinds of actions as often. How often labels and annotations are patched depends on when the
// passes come. It runs alone: where pods take minutes to start, passes act in more steps than forecast.
func TestAForecastMatchesTheActionsOfLivePasses(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	storage := storageGroups(t, ns)
	for _, c := range []struct{ spec, setting string }{
		{`{"processes":{"storage":{"customParameters":["knob_max_trace_lines=900001"]}}}`, "configMap.fdbmonitor-conf-storage-json knob_max_trace_lines"},
		{`{"processCounts":{"storage":4}}`, "processCounts.storage"},
		{`{"processGroupsToRemove":["` + storage[0] + `"]}`, ""},
	} {
		kubectl(t, "patch", "fdb", "c", "-n", ns, "--type", "merge", "-p", `{"spec":`+c.spec+`}`)
		r := fdb(t, "plan", "c", "-n", ns, "-o", "json")
		want(t, r, 1)
		var p plannedActions
		if err := json.Unmarshal([]byte(r.stdout), &p); err != nil {
			t.Fatal(err)
		}
		if p.Forecast.End != "complete" {
			t.Fatalf("%s: the forecast ends %q:\n%s", c.spec, p.Forecast.End, r.stdout)
		}
		if c.setting != "" && !p.has(c.setting) {
			t.Errorf("%s: %s is not among the changes %v", c.spec, c.setting, p.Changes)
		}
		forecast := map[string]int{}
		for _, phase := range p.Forecast.Phases {
			forecast[phase.Stage+" "+phase.Kind] = phase.Actions
		}
		happened := actionsOf(t, ns)
		for _, m := range []map[string]int{forecast, happened} {
			maps.DeleteFunc(m, func(key string, _ int) bool {
				return strings.HasSuffix(key, " PatchMetadata") || strings.HasSuffix(key, " WriteStatus")
			})
		}
		if !maps.Equal(forecast, happened) {
			t.Errorf("%s: forecast %v, happened %v", c.spec, forecast, happened)
		}
	}
}

// actionsOf reconciles until nothing is left, and returns how often each stage did what.
func actionsOf(t *testing.T, ns string) map[string]int {
	t.Helper()
	r := fdb(t, "reconcile", "c", "-n", ns, "--wait=all", "--yes", "-o", "json")
	want(t, r, 0)
	done := map[string]int{}
	for line := range strings.Lines(r.stdout) {
		var e struct {
			Event, Stage, Error string
			Action              struct{ Kind string }
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Event == "acted" && e.Error == "" {
			done[e.Stage+" "+e.Action.Kind]++
		}
	}
	return done
}

// plannedKinds returns the kinds of the actions of a plan.
func plannedKinds(t *testing.T, args ...string) (kinds []string) {
	t.Helper()
	r := fdb(t, append(args, "-o", "json")...)
	var plan struct{ Items []struct{ Kind string } }
	if err := json.Unmarshal([]byte(r.stdout), &plan); err != nil || len(plan.Items) == 0 {
		t.Fatalf("no plan (%v): %s%s", err, r.stdout, r.stderr)
	}
	for _, item := range plan.Items {
		kinds = append(kinds, item.Kind)
	}
	return kinds
}
