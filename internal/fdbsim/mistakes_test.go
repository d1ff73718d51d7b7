package fdbsim

import (
	"strings"
	"testing"
)

// Mistakes in commands, as fdbcli 7.3.79 of a real database reported them. Those of coordinators end
// with exit code 0 nevertheless.
func TestMistakesAreReportedAsByTheRealTool(t *testing.T) {
	c := configured(t)
	const (
		readOnly = "ERROR: writemode must be enabled to set or clear keys in the database.\n"
		noModule = "ERROR: Special key space range read does not intersect a module. Refer to the `special_key_space_relaxed' transaction option for more details. (2113)\n"
		idle     = "ERROR: No active transaction\n"
	)
	for line, want := range map[string]struct{ stdout, stderr string }{
		"set":                              {"", readOnly},
		"set a b c":                        {"", readOnly},
		"clear":                            {"", readOnly},
		"clearrange a":                     {"", readOnly},
		"commit x":                         {"", idle},
		"commit x y":                       {"Usage: commit\n", ""},
		"rollback x":                       {"Usage: rollback\n", ""},
		"reset x":                          {"Usage: reset\n", ""},
		`get \xff\xff/nonsense`:            {"", noModule},
		`get \xff\xff/status/json/x`:       {"", noModule},
		"option on TIMEOUT":                {"", "ERROR: option expected a parameter\n"},
		"option on LOCK_AWARE x":           {"", "ERROR: option did not expect a parameter\n"},
		"fileconfigure":                    {"Usage: fileconfigure [new] <FILENAME>\n", ""},
		"coordinators auto extra":          {"", "ERROR: 'auto' is not a valid network endpoint address\n"},
		"maintenance on zone-1 -5":         {"", "(2117)\n"},
		"writemode on; set":                {"Usage: set <KEY> <VALUE>\n", ""},
		"writemode on; clear":              {"Usage: clear <KEY>\n", ""},
		"writemode on; clearrange a":       {"Usage: clearrange <BEGINKEY> <ENDKEY>\n", ""},
		"writemode on; begin; rollback x":  {"Usage: rollback\n", ""},
		"option on LOCK_AWARE; get a":      {"`a': not found\n", ""},
		`get \xff\xff/management/nonsense`: {"not found\n", ""},
	} {
		got := c.exec(line)
		if !strings.HasSuffix(got.stdout, want.stdout) || !strings.HasSuffix(got.stderr, want.stderr) || (want.stderr != "" && got.exit != 1 && !strings.HasPrefix(line, "coordinators")) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want %q and %q", line, got.exit, got.stdout, got.stderr, want.stdout, want.stderr)
		}
	}
	if got := c.exec("help nonsense"); got.exit != 0 || got.stdout != "I don't know anything about `nonsense'\n" {
		t.Errorf("help nonsense: %+v", got)
	}
}
