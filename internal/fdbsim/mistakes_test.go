package fdbsim

import (
	"strings"
	"testing"
)

// Mistakes in commands, as fdbcli 7.3.79 of a real database reported them. Those of coordinators end
// with exit code 0 nevertheless.
func TestSimulatedFdbcliReportsErrorsLikeTheRealOne(t *testing.T) {
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
		"commit x y":                       {"Usage: commit [description]\n", ""},
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
	for line, want := range map[string]result{
		"option on SIZE_LIMIT 10; get a":                 {stderr: "ERROR: Option set with an invalid value (2006)\n", exit: 1},
		"option on TIMEOUT -1; begin":                    {stderr: "ERROR: Option set with an invalid value (2006)\n", exit: 1},
		"coordinators description=":                      {stderr: "ERROR: An internal error occurred (4100)\n", exit: 1},
		"setclass 127.0.99.9:4501 nonsense":              {stdout: "No matching addresses found\n", exit: 1},
		"kill list":                                      {stdout: "\nNo addresses can be killed.\n\n"},
		"configure auto":                                 {stdout: "Unable to provide advice for the current configuration.\n", exit: 1},
		"exclude no_wait 127.0.2.9:99999":                {stderr: "  127.0.2.9:34463  ---- WARNING: Missing from cluster! Be sure that you excluded the correct processes before removing them from the cluster!\n"},
		`get \xff\xff/management/data_distribution/mode`: {stdout: "`\\xff\\xff/management/data_distribution/mode' is `-1'\n"},
		"throttle list":                                  {stdout: "There are no throttled tags\n"},
		"tenant create a":                                {stderr: "ERROR: `tenant create a' is not part of the simulated fdbcli\n", exit: 1},
		"bulkload":                                       {stderr: "ERROR: Unknown command `bulkload'. Try `help'?\n", exit: 1},
	} {
		got := c.exec(line)
		if !strings.HasSuffix(got.stdout, want.stdout) || !strings.HasSuffix(got.stderr, want.stderr) || got.exit != want.exit {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
	if got := c.exec("help nonsense"); got.exit != 0 || got.stdout != "I don't know anything about `nonsense'\n" {
		t.Errorf("help nonsense: %+v", got)
	}
}

// A process that is marked as failed is given up without moving its data, 5.9 s after on 7.3.79, and
// a locked database has setclass wait.
func TestExcludeFailedCompletesWithoutMovingData(t *testing.T) {
	c := configured(t)
	db, _ := c.Database("sample_cluster")
	db.LoadBytes(200_000_000)
	db.SetFaults(Faults{MoveBytesPerSecond: 1}) // data would take years to move
	got := c.exec("exclude failed 127.0.2.1:4501")
	if got.exit != 0 || !strings.Contains(got.stdout, "127.0.2.1:4501  ---- Successfully excluded.") {
		t.Errorf("%+v", got)
	}
	if !db.EveryKeyOnAtLeast(1) || db.EveryKeyOnAtLeast(2) {
		t.Errorf("replicas %v", db.Replicas())
	}
	if got := c.exec("lock"); got.exit != 0 {
		t.Fatalf("%+v", got)
	}
	for _, command := range []string{"setclass", "setclass 127.0.2.1:4501 stateless"} {
		if got := c.execFor(10, command); got.exit != 1 || !strings.Contains(got.stderr, "Specified timeout reached") {
			t.Errorf("%s of a locked database: %+v", command, got)
		}
	}
}
