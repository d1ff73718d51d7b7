package planned

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// SettingChange is a setting that differs from the spec.
type SettingChange struct {
	// Setting is "version", "processCounts.CLASS", "database.NAME", "configMap.KEY ARGUMENT" or
	// "pods.CLASS FIELD".
	Setting string `json:"setting"`
	// From is null for a setting that is not there now, and To for one that ends.
	From *string `json:"from"`
	To   *string `json:"to"`
}

// SettingChanges returns what of the observed cluster differs from its spec, as far as the
// snapshot shows it; none for a cluster that does not exist yet. Of the pods of a class it compares
// the first one that was created from another spec.
func SettingChanges(s plan.Snapshot) []SettingChange {
	if s.Cluster == nil || len(s.Groups()) == 0 {
		return nil
	}
	var all []SettingChange
	add := func(setting, from, to string) {
		if from != to {
			all = append(all, SettingChange{setting, present(from), present(to)})
		}
	}
	add("version", s.Cluster.RunningVersion(), s.Cluster.Spec.Version)
	addCounts(s, add)
	addDatabase(s, add)
	addConfigMap(s, add)
	addPods(s, add)
	return all
}

// present returns a value, null for an empty one.
func present(value string) *string {
	if value == "" {
		return nil
	}
	return &value
}

type addChange func(setting, from, to string)

func addCounts(s plan.Snapshot, add addChange) {
	have, want := map[v1beta2.ProcessClass]int{}, s.Cluster.DesiredProcessCounts()
	for _, g := range s.Remaining() {
		have[g.ProcessClass]++
	}
	classes := map[v1beta2.ProcessClass]bool{}
	for class := range have {
		classes[class] = true
	}
	for class := range want {
		classes[class] = true
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		add("processCounts."+string(class), strconv.Itoa(have[class]), strconv.Itoa(max(want[class], 0)))
	}
}

func addDatabase(s plan.Snapshot, add addChange) {
	if s.Database.Status == nil || s.Database.Status.Cluster.Configuration == nil {
		return
	}
	version, err := fdb.ParseVersion(s.Cluster.RunningVersion())
	if err != nil {
		return
	}
	for _, d := range s.Database.Status.Cluster.Configuration.Differences(objects.DesiredConfiguration(s.Cluster), version) {
		add("database."+d.Setting, d.Current, d.Desired)
	}
}

// addConfigMap compares what pods mount, argument by argument. The connection string is not shown:
// it grants access to the database.
func addConfigMap(s plan.Snapshot, add addChange) {
	want, err := objects.ConfigMap(s.Cluster)
	if err != nil || s.ConfigMap == nil {
		return
	}
	keys := map[string]bool{}
	for key := range want.Data {
		keys[key] = true
	}
	for key := range s.ConfigMap.Data {
		keys[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if key == objects.KeyClusterFile || key == objects.KeyRunningVersion || s.ConfigMap.Data[key] == want.Data[key] {
			continue
		}
		have, desired := argumentsIn(s.ConfigMap.Data[key]), argumentsIn(want.Data[key])
		if have == nil || desired == nil {
			continue // the monitor configuration of a class comes or goes with its process groups
		}
		for _, name := range union(have, desired) {
			add("configMap."+key+" "+name, have[name], desired[name])
		}
	}
}

func union(a, b map[string]string) []string {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return slices.Sorted(maps.Keys(both))
}

// argumentsIn returns the arguments of fdbserver in a monitor configuration by name; those of the
// unified image as JSON, those of the split image as lines. Nil for other text.
func argumentsIn(text string) map[string]string {
	if text == "" {
		return nil
	}
	m, err := fdb.ParseMonitorConfiguration([]byte(text))
	if err != nil {
		return linesIn(text)
	}
	found := map[string]string{}
	for _, a := range m.Arguments {
		name, value, _ := strings.Cut(strings.TrimPrefix(argumentText(a), "--"), "=")
		found[name] = cmp.Or(value, "set")
	}
	return found
}

func linesIn(text string) map[string]string {
	if json.Valid([]byte(text)) {
		return nil
	}
	found := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, isSetting := strings.Cut(line, "=")
		if isSetting {
			found[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return found
}

// argumentText returns an argument with what is substituted in pods as "$NAME".
func argumentText(a fdb.Argument) string {
	var text strings.Builder
	text.WriteString(a.Value)
	for _, part := range a.Values {
		text.WriteString(argumentText(part))
	}
	if a.Source != "" {
		text.WriteString("$" + a.Source)
	}
	return text.String()
}

// hidden returns what is shown of values that may be secrets: that they were set, changed or removed.
func hidden(from, to string) (shownFrom, shownTo string) {
	switch {
	case from == "":
		return "", redact.Hidden
	case to == "":
		return redact.Hidden, ""
	default:
		return redact.Hidden, redact.Changed
	}
}

func addPods(s plan.Snapshot, add addChange) {
	hashes, compared := objects.RememberedSpecHashes(s.Cluster, s.Hashes), map[v1beta2.ProcessClass]bool{}
	for _, g := range s.Remaining() {
		pod := s.Pod(g)
		hash, err := hashes.Of(g)
		if compared[g.ProcessClass] || pod == nil || err != nil || pod.Annotations[v1beta2.AnnotationLastAppliedSpec] == hash {
			continue
		}
		want, err := objects.PodSpec(s.Cluster, g)
		if err != nil {
			continue
		}
		differences, err := objects.FieldDifferences(want, pod.Spec)
		if err != nil {
			continue
		}
		compared[g.ProcessClass] = true
		for _, d := range differences {
			if d.Missing {
				d.Want = "present"
			} else if !redact.Field(d.Path) {
				d.Have, d.Want = hidden(d.Have, d.Want)
			}
			add("pods."+string(g.ProcessClass)+" "+d.Path, d.Have, d.Want)
		}
	}
}

// settingScopes are the beginnings of settings that exist once for each class or key, and what these are.
var settingScopes = map[string]string{"pods.": "class", "configMap.": "key"}

// longestScope is how many cells the names of classes or keys of one setting have at most.
const longestScope = 12

// MergedSettings returns changes of settings in few rows: one that is the same for several classes or keys as
// "pods.{log,storage} FIELD", values that are not shown as their number, and an image without the name that stays.
func MergedSettings(all []SettingChange) []SettingChange {
	var merged []SettingChange
	of, secrets := map[settingScope][]string{}, map[string]bool{}
	for _, c := range all {
		key, one := scopeOf(c)
		switch {
		case c.To != nil && *c.To == redact.Changed:
			secrets[key.field] = true
		case key.prefix == "":
			merged = append(merged, c)
		default:
			if of[key] = append(of[key], one); len(of[key]) == 1 {
				merged = append(merged, c)
			}
		}
	}
	for i, c := range merged {
		if key, _ := scopeOf(c); len(of[key]) > 1 {
			merged[i].Setting = key.prefix + "{" + scopeNames(key.prefix, of[key]) + "} " + key.field
		}
		merged[i].To = newTag(c)
	}
	if n := len(secrets); n > 0 {
		merged = append(merged, SettingChange{phrase.Count(n, "field") + " of pods", present(redact.Hidden), present(redact.Changed)})
	}
	return merged
}

// newTag returns the new value; of an image only its tag, if only that differs.
func newTag(c SettingChange) *string {
	if c.From == nil || c.To == nil || !strings.HasSuffix(c.Setting, ".image") {
		return c.To
	}
	before, now := strings.LastIndexByte(*c.From, ':'), strings.LastIndexByte(*c.To, ':')
	if before <= 0 || before != now || (*c.From)[:before] != (*c.To)[:now] {
		return c.To
	}
	return present("…" + (*c.To)[now:])
}

func scopeNames(prefix string, names []string) string {
	if text := strings.Join(names, ","); len(text) <= longestScope {
		return text
	}
	return phrase.Count(len(names), settingScopes[prefix])
}

// settingScope identifies the change of a setting for all classes or keys.
type settingScope struct{ prefix, field, from, to string }

// scopeOf returns what identifies a change for all classes or keys, and which of these it is about; a scope without a
// prefix for a setting that exists once.
func scopeOf(c SettingChange) (key settingScope, one string) {
	for _, prefix := range []string{"pods.", "configMap."} {
		rest, found := strings.CutPrefix(c.Setting, prefix)
		one, field, named := strings.Cut(rest, " ")
		if found && named {
			return settingScope{prefix, field, valueOf(c.From), valueOf(c.To)}, one
		}
	}
	return key, ""
}

// valueOf returns a value such that none is not an empty one.
func valueOf(v *string) string {
	if v == nil {
		return ""
	}
	return "=" + *v
}
