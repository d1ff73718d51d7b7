package admin

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFdbcliOutputIsClassifiedByErrorKind has outputs as FoundationDB 7.3.79 printed them.
func TestFdbcliOutputIsClassifiedByErrorKind(t *testing.T) {
	cases := map[string]struct {
		result Result
		want   Kind
	}{
		"silence":                         {Result{}, ""},
		"a value":                         {Result{Stdout: []byte("`a' is `b'\n")}, ""},
		"slow, with injected remarks":     {Result{Stdout: []byte("\nThe database is available.\n\n"), Stderr: []byte("\nWARNING: Long delay (Ctrl-C to interrupt)\n")}, ""},
		"trace files cannot be written":   {Result{Stderr: []byte("ERROR: could not create trace log file `/x' (2: No such file or directory)\n")}, ""},
		"a bad address with exit code 0":  {Result{Stderr: []byte("ERROR: 'garbage' is neither a valid network endpoint address nor a locality\n")}, KindBadInput},
		"a bad coordinator, exit code 0":  {Result{Stderr: []byte("ERROR: 'garbage' is not a valid network endpoint address\n")}, KindBadInput},
		"the same coordinator twice":      {Result{Stderr: []byte("ERROR: passed redundant coordinators: `127.0.2.12:4501'\n")}, KindBadInput},
		"usage instead of an error":       {Result{Stdout: []byte("Usage: maintenance [on|off] [ZONEID] [SECONDS]\n"), ExitCode: 1}, KindBadInput},
		"fdbcli gave up":                  {Result{Stderr: []byte("\nWARNING: Long delay (Ctrl-C to interrupt)\nSpecified timeout reached -- exiting...\n"), ExitCode: 1}, KindTimeout},
		"the wrapper gave up":             {Result{ExitCode: 124}, KindTimeout},
		"no fdbcli":                       {Result{ExitCode: 127}, KindBinaryMissing},
		"fdbcli cannot be run":            {Result{ExitCode: 126}, KindBinaryMissing},
		"no cluster file":                 {Result{Stderr: []byte("Unable to read cluster file `F': 1515 No cluster file found in current directory or default location\n"), ExitCode: 1}, KindBadClusterFile},
		"a broken cluster file":           {Result{Stderr: []byte("Invalid cluster file `F': 2104 Connection string invalid\n"), ExitCode: 1}, KindBadClusterFile},
		"no certificates":                 {Result{Stderr: []byte("ERROR: fdbcli is not configured with TLS, but all of the coordinators have TLS addresses.\n"), ExitCode: 1}, KindTLS},
		"an unreadable CA aborts it":      {Result{Stderr: []byte("Warning: Error reading TLS CA [/nonexistent]: File not found\nterminate called after throwing an instance of 'Error'\n"), ExitCode: 134}, KindTLS},
		"a conflict":                      {Result{Stderr: []byte("ERROR: Transaction not committed due to conflict with another transaction (1020)\n"), ExitCode: 1}, KindConflict},
		"too old":                         {Result{Stderr: []byte("ERROR: Transaction is too old to perform reads or be committed (1007)\n"), ExitCode: 1}, KindConflict},
		"commit unknown":                  {Result{Stderr: []byte("ERROR: Transaction may or may not have committed (1021)\n"), ExitCode: 1}, KindUnknownResult},
		"locked":                          {Result{Stderr: []byte("ERROR: Database is locked (1038)\n"), ExitCode: 1}, KindLocked},
		"a configuration that is refused": {Result{Stderr: []byte("ERROR: These changes would make the configuration invalid\n"), ExitCode: 1}, KindRefused},
		"the database is lost":            {Result{Stderr: []byte("ERROR: The database is unavailable\nType `configure FORCE <TOKEN...>' to configure without this check\n"), ExitCode: 1}, KindUnavailable},
		"a crash":                         {Result{Stderr: []byte("SIGNAL: Segmentation fault (11)\n"), ExitCode: 139}, KindUnparsed},
		"an unknown word":                 {Result{Stderr: []byte("ERROR: Unknown command `frobnicate'. Try `help'?\n"), ExitCode: 1}, KindBadInput},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got Kind
			if e := failureOf("testing", c.result); e != nil {
				got = e.Kind
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestFdbcliForceHintsAreRemovedFromErrors(t *testing.T) {
	e := failureOf("excluding", Result{ExitCode: 1, Stderr: []byte(
		"ERROR: This exclude may cause the total available space in the cluster to drop below 10%.\n" +
			"Type `exclude FORCE failed <ADDRESS...>' to exclude without performing safety checks.\n")})
	const want = "excluding: This exclude may cause the total available space in the cluster to drop below 10%."
	if e == nil || e.Error() != want || e.Kind != KindRefused {
		t.Errorf("got %v, want %q", e, want)
	}
}

func TestKeyValueOutputOfFdbcliIsParsed(t *testing.T) {
	key := []byte("\xff\x02/org.foundationdb.kubernetes-operator/global")
	value, found, err := parseValue(key, "`\\xff\\x02/org.foundationdb.kubernetes-operator/global' is `\\x02dc1\\x00\\x18h\\x90~`\\x18h\\x90\\x80\\xb8'")
	if err != nil || !found || string(value) != "\x02dc1\x00\x18h\x90~`\x18h\x90\x80\xb8" {
		t.Errorf("got %q %v %v", value, found, err)
	}
	if _, found, err := parseValue([]byte("a"), "`a': not found"); found || err != nil {
		t.Errorf("got %v %v, want absent", found, err)
	}
	if got, _, err := parseValue([]byte("a"), "`b' is `c'"); err == nil {
		t.Errorf("another key's value: got %q, want an error", got)
	}
	if got, err := parseRow("`rec/k' is `v' is `x'"); err == nil {
		t.Errorf("an ambiguous row: got %q, want an error", got)
	}
}

func TestRangeOutputOfFdbcliIsParsed(t *testing.T) {
	lines := []string{"Range limited to 3 keys", "`a' is `1'", "`b' is `'", "Range limited to 3 keys"}
	rows, rest, err := parseRange(3, lines)
	if err != nil {
		t.Fatal(err)
	}
	want := []Pair{{Key: []byte("a"), Value: []byte("1")}, {Key: []byte("b"), Value: []byte{}}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(lines[3:], rest); diff != "" {
		t.Error(diff)
	}
	for name, lines := range map[string][]string{
		"no header":                  {"`a' is `1'"},
		"nothing":                    nil,
		"as many as requested":       {"Range limited to 3 keys", "`a' is `1'", "`b' is `1'", "`c' is `1'"},
		"in another order than keys": {"Range limited to 3 keys", "`b' is `1'", "`a' is `1'"},
	} {
		t.Run(name, func(t *testing.T) {
			if rows, _, err := parseRange(3, lines); err == nil {
				t.Errorf("got %q, want an error", rows)
			}
		})
	}
}

func TestFdbcliMaintenanceOutputIsParsed(t *testing.T) {
	cases := map[string]struct {
		text string
		zone string
		ok   bool
	}{
		"none":           {"No ongoing maintenance.", "", true},
		"a zone":         {"Maintenance for zone zone-5 will continue for 59 seconds.", "zone-5", true},
		"disabled":       {maintenanceDisabled, "", true},
		"something else": {"Maintenance is complicated.", "", false},
		"for a century":  {"Maintenance for zone z will continue for 3599996399 seconds.", "z", true},
		"forever":        {"Maintenance for zone z will continue for 99999999999999999999 seconds.", "z", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m, ok := parseMaintenance([]string{c.text})
			if m.Zone != c.zone || ok != c.ok || m.Disabled != (c.text == maintenanceDisabled) || (c.zone != "") != (m.Remaining > 0) {
				t.Errorf("got %+v %v", m, ok)
			}
		})
	}
}

func TestFdbcliKillListsAreParsed(t *testing.T) {
	cases := map[string]struct {
		lines []string
		want  []string
		ok    bool
	}{
		"none":      {[]string{"No addresses can be killed."}, nil, true},
		"one":       {[]string{"The following address can be killed:", "10.1.0.1:4501"}, []string{"10.1.0.1:4501"}, true},
		"two":       {[]string{"The following 2 addresses can be killed:", "10.1.0.1:4501", "[fd00::1]:4501"}, []string{"10.1.0.1:4501", "[fd00::1]:4501"}, true},
		"a text":    {[]string{"The following 2 addresses can be killed:", "the end"}, nil, false},
		"no header": {[]string{"10.1.0.1:4501"}, nil, false},
		"no output": {nil, nil, false},
		"cut short": {[]string{"The following 2 addresses can be killed:", "10.1.0.1:4501"}, nil, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := parseKillable(c.lines)
			if ok != c.ok {
				t.Errorf("got %v %v", got, ok)
			}
			if diff := cmp.Diff(c.want, got); ok && diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add("\nRange limited to 3 keys\n`a' is `1'\n\n", "ERROR: x (1020)\n", 1)
	f.Add("Maintenance for zone zone-5 will continue for 59 seconds.\n", "", 0)
	f.Add("\nThe following 2 addresses can be killed:\n127.0.2.11:4501\n", "Specified timeout reached -- exiting...\n", 1)
	f.Add("Cluster description: x\n", "ERROR: y\n", 0)
	f.Fuzz(func(t *testing.T, stdout, stderr string, exitCode int) {
		r := Result{Stdout: []byte(stdout), Stderr: []byte(stderr), ExitCode: exitCode}
		e := failureOf("testing", r)
		if e != nil && (e.Kind == "" || e.Error() == "") {
			t.Errorf("an error without a kind or a text: %+v", e)
		}
		if e == nil && exitCode != 0 {
			t.Errorf("exit code %d is no failure", exitCode)
		}
		lines := answerLines(r.Stdout)
		if rows, _, err := parseRange(3, lines); err == nil && len(rows) >= 3 {
			t.Errorf("%d rows of 3", len(rows))
		}
		parseMaintenance(lines)
		parseKillable(lines)
		if len(lines) > 0 {
			if _, found, err := parseValue([]byte("a"), lines[0]); found && err != nil {
				t.Error("found, and yet an error")
			}
		}
		view, err := parseReads([]Read{ReadKey([]byte("a")), ReadRange([]byte("b"), []byte("c"))}, lines)
		if err != nil && len(view.pairs) > 0 {
			t.Error("a view, and yet an error")
		}
	})
}
