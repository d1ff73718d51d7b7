package planned

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

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
