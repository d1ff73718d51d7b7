package admin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/admintest"
)

// impatient is a clock without waiting.
type impatient struct{ *clocktesting.FakeClock }

func (c impatient) NewTimer(d time.Duration) clock.Timer {
	timer := c.FakeClock.NewTimer(d)
	c.Step(d)
	return timer
}

func newCLI(transport admin.Transport) *admin.FDBCLI {
	start := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	return admin.NewFDBCLI(transport, admin.FDBCLIOptions{
		Clock:  impatient{clocktesting.NewFakeClock(start)},
		Jitter: func(d time.Duration) time.Duration { return d },
	})
}

const (
	exclusionScript = `getrange \xff\xff/management/excluded/ \xff\xff/management/excluded0 100000; ` +
		`getrange \xff\xff/management/excluded_locality/ \xff\xff/management/excluded_locality0 100000; ` +
		`getrange \xff\xff/management/failed/ \xff\xff/management/failed0 100000; ` +
		`getrange \xff\xff/management/failed_locality/ \xff\xff/management/failed_locality0 100000`
	inProgressScript       = `getrange \xff\xff/management/in_progress_exclusion/ \xff\xff/management/in_progress_exclusion0 100000`
	connectionStringScript = `get \xff\xff/connection_string`
	longDelay              = "\nWARNING: Long delay (Ctrl-C to interrupt)\n"
	gaveUp                 = "Specified timeout reached -- exiting...\n"
)

// excluded is fdbcli's answer to exclusionScript.
func excluded(addresses, localities []string) admintest.Step {
	const header = "\nRange limited to 100000 keys\n"
	var out strings.Builder
	out.WriteString(">>> getrange …" + header)
	for _, a := range addresses {
		fmt.Fprintf(&out, "`\\xff\\xff/management/excluded/%s' is `'\n", a)
	}
	out.WriteString("\n>>> getrange …" + header)
	for _, l := range localities {
		fmt.Fprintf(&out, "`\\xff\\xff/management/excluded_locality/%s' is `'\n", l)
	}
	out.WriteString("\n>>> getrange …" + header + "\n>>> getrange …" + header + "\n")
	return admintest.Step{Script: exclusionScript, Stdout: out.String()}
}

func statusStep(t *testing.T, name string) admintest.Step {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "status", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return admintest.Step{Script: "status json", Stdout: string(text)}
}

func TestFdbcliCommandLine(t *testing.T) {
	transcript := admintest.NewTranscript(t, excluded(nil, nil))
	if _, err := newCLI(transcript).Exclusions(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"/usr/bin/fdbcli", "-C", "/var/fdb/data/fdb.cluster", "--timeout", "15", "--exec", exclusionScript}
	if diff := cmp.Diff([][]string{want}, transcript.Argv()); diff != "" {
		t.Error(diff)
	}
}

func TestLongFdbcliScriptsArePassedOnStdin(t *testing.T) {
	var targets []string
	for i := range 300 {
		targets = append(targets, fmt.Sprintf("10.1.%d.%d:4501", i/200, i%200+1))
	}
	slices.Sort(targets)
	transcript := admintest.NewTranscript(t,
		admintest.Step{Script: "exclude no_wait " + strings.Join(targets, " ")}, excluded(targets, nil))
	if err := newCLI(transcript).Exclude(t.Context(), targets); err != nil {
		t.Fatal(err)
	}
	want := []string{"sh", "-c", `exec "$0" "$@" --exec "$(cat)"`, "/usr/bin/fdbcli", "-C", "/var/fdb/data/fdb.cluster", "--timeout", "40"}
	if diff := cmp.Diff(want, transcript.Argv()[0]); diff != "" {
		t.Error(diff)
	}
}

func TestOtherPathsAreTriedIfFdbcliOrItsClusterFileIsMissing(t *testing.T) {
	noFile := "Unable to read cluster file `/var/fdb/data/fdb.cluster': 1515 No cluster file found in current directory or default location\n"
	transcript := admintest.NewTranscript(t,
		admintest.Step{Script: inProgressScript, ExitCode: 127},
		admintest.Step{Script: inProgressScript, Stderr: noFile, ExitCode: 1},
		admintest.Step{Script: inProgressScript, ExitCode: 127},
		admintest.Step{Script: inProgressScript, Stdout: "\nRange limited to 100000 keys\n`\\xff\\xff/management/in_progress_exclusion/0.0.0.0:0' is `'\n\n"},
		admintest.Step{Script: inProgressScript, Stdout: "\nRange limited to 100000 keys\n\n"},
	)
	cli := admin.NewFDBCLI(transcript, admin.FDBCLIOptions{Binaries: []string{"/a/fdbcli", "/b/fdbcli"}})
	got, err := cli.InProgressExclusions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{fdb.UnknownLogAddress}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := cli.InProgressExclusions(t.Context()); err != nil {
		t.Fatal(err)
	}
	var places [][2]string
	for _, argv := range transcript.Argv() {
		places = append(places, [2]string{argv[0], argv[2]})
	}
	want := [][2]string{
		{"/a/fdbcli", admin.LiveClusterFile},
		{"/b/fdbcli", admin.LiveClusterFile},
		{"/a/fdbcli", admin.SeedClusterFile},
		{"/b/fdbcli", admin.SeedClusterFile},
		{"/b/fdbcli", admin.SeedClusterFile}, // what worked is remembered
	}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Error(diff)
	}
}

// TestTruncatedFdbcliOutputIsAnError: a connection that is lost looks like exit code 0.
func TestTruncatedFdbcliOutputIsAnError(t *testing.T) {
	whole := map[string]string{
		inProgressScript:       "\nRange limited to 100000 keys\n`\\xff\\xff/management/in_progress_exclusion/10.1.0.1:4501' is `'\n`\\xff\\xff/management/in_progress_exclusion/10.1.0.2:4501' is `'\n\n",
		connectionStringScript: "`\\xff\\xff/connection_string' is `d:id@10.1.0.1:4501,10.1.0.2:4501'\n",
		"maintenance":          "Maintenance for zone zone-5 will continue for 59 seconds.\n",
		"status json":          `{"client":{"database_status":{"available":true}},"cluster":{"generation":12}}`,
		exclusionScript:        excluded([]string{"10.1.0.1", "10.1.0.2"}, []string{"locality_instance_id:a"}).Stdout,
	}
	calls := map[string]func(*admin.FDBCLI) error{
		inProgressScript:       func(c *admin.FDBCLI) error { _, err := c.InProgressExclusions(t.Context()); return err },
		connectionStringScript: func(c *admin.FDBCLI) error { _, err := c.ConnectionString(t.Context()); return err },
		"maintenance":          func(c *admin.FDBCLI) error { _, err := c.Maintenance(t.Context()); return err },
		"status json":          func(c *admin.FDBCLI) error { _, err := c.Status(t.Context()); return err },
		exclusionScript:        func(c *admin.FDBCLI) error { _, err := c.Exclusions(t.Context()); return err },
	}
	for script, stdout := range whole {
		for n := range len(stdout) + 1 {
			cli := newCLI(admintest.NewTranscript(t, admintest.Step{Script: script, Stdout: stdout[:n]}))
			err := calls[script](cli)
			if (err == nil) != (n == len(stdout)) {
				t.Errorf("%s: %d bytes of %d: got %v", script, n, len(stdout), err)
			}
		}
	}
}

func TestExcludeIsVerifiedByReadingTheExclusions(t *testing.T) {
	const target = "locality_instance_id:storage-5"
	const script = "exclude no_wait " + target
	cases := map[string]struct {
		steps []admintest.Step
		want  admin.Kind
	}{
		"in progress": {
			[]admintest.Step{
				{Script: script, Stderr: "  127.0.2.5:4501  ---- WARNING: Exclusion in progress! It is not safe to remove this process from the cluster\n"},
				excluded(nil, []string{target}),
			}, "",
		},
		"accepted without effect": {
			[]admintest.Step{{Script: script}, excluded([]string{"127.0.2.5"}, nil)}, admin.KindNotInForce,
		},
		"refused": {
			[]admintest.Step{
				{Script: script, ExitCode: 1, Stderr: "ERROR: This exclude may cause the total available space in the cluster to drop below 10%.\n"},
				excluded(nil, nil),
			}, admin.KindRefused,
		},
		"an error, and yet in force": {
			[]admintest.Step{
				{Script: script, ExitCode: 1, Stderr: "ERROR: Could not calculate the impact of this exclude on the total available space in the cluster.\n"},
				excluded(nil, []string{target}),
			}, "",
		},
		"timed out, but in force": {
			[]admintest.Step{{Script: script, ExitCode: 1, Stderr: longDelay + gaveUp}, excluded(nil, []string{target})}, "",
		},
		"timed out, not in force yet": {
			[]admintest.Step{{Script: script, ExitCode: 1, Stderr: longDelay + gaveUp}, excluded(nil, nil)}, admin.KindUnknownResult,
		},
		"accepted, but the list cannot be read": {
			[]admintest.Step{{Script: script}, {Script: exclusionScript, ExitCode: 1, Stderr: gaveUp}}, admin.KindUnknownResult,
		},
		"never sent": {
			[]admintest.Step{{Script: script, Err: &admin.TransportError{Where: "pod a", Err: errors.New("gone")}}}, admin.KindTransport,
		},
		"lost on the way": {
			[]admintest.Step{
				{Script: script, Err: &admin.TransportError{Started: true, Where: "pod a", Err: errors.New("gone")}},
				excluded(nil, nil),
			}, admin.KindUnknownResult,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := newCLI(admintest.NewTranscript(t, c.steps...)).Exclude(t.Context(), []string{target})
			if got := admin.KindOf(err); got != c.want || (err == nil) != (c.want == "") {
				t.Errorf("got %q (%v), want %q", got, err, c.want)
			}
		})
	}
}

func TestInvalidExclusionTargetsAreNeverSent(t *testing.T) {
	for name, target := range map[string]string{
		"garbage":               "garbage",
		"everything":            "all",
		"failed ones":           "failed",
		"a TLS flag":            "10.1.0.1:4500:tls",
		"a host name":           "a.example:4501",
		"a locality by half":    "instance_id:storage-1",
		"an injection":          "locality_instance_id:a;kill",
		"an unknown log's":      fdb.UnknownLogAddress,
		"an IP written long":    "fd00:0:0::1",
		"nothing":               "",
		"brackets without port": "[fd00::1]",
	} {
		t.Run(name, func(t *testing.T) {
			cli := newCLI(admintest.NewTranscript(t))
			for _, err := range []error{
				cli.Exclude(t.Context(), []string{"10.1.0.1", target}),
				cli.Include(t.Context(), []string{target}),
			} {
				if admin.KindOf(err) != admin.KindBadInput {
					t.Errorf("got %v", err)
				}
			}
		})
	}
	if err := newCLI(admintest.NewTranscript(t)).Include(t.Context(), nil); admin.KindOf(err) != admin.KindBadInput {
		t.Errorf("no targets: got %v", err)
	}
}

func TestIncludeIsVerifiedByReadingTheExclusions(t *testing.T) {
	cases := map[string]struct {
		stdout string
		left   []string
		want   admin.Kind
	}{
		"gone":                   {"", nil, ""},
		"still there":            {"", []string{"10.1.0.1"}, admin.KindNotInForce},
		"something was printed":  {"Well.\n", []string{"10.1.0.1"}, admin.KindUnknownResult},
		"slow, which is no word": {"\nThe database is available.\n\n", nil, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			transcript := admintest.NewTranscript(t,
				admintest.Step{Script: "include 10.1.0.1", Stdout: c.stdout}, excluded(c.left, nil))
			err := newCLI(transcript).Include(t.Context(), []string{"10.1.0.1"})
			if got := admin.KindOf(err); got != c.want {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func ordinary() fdb.Configuration {
	return fdb.Configuration{
		RedundancyMode: "double", StorageEngine: "ssd", UsableRegions: 1,
		Logs: 3, CommitProxies: 2, GrvProxies: 1, Resolvers: 1, LogRouters: -1, RemoteLogs: -1,
	}
}

const (
	ordinaryTokens = `double ssd usable_regions=1 logs=3 resolvers=1 log_routers=-1 remote_logs=-1 commit_proxies=2 grv_proxies=1 regions=\x5b\x5d`
	withRegions    = `double ssd usable_regions=1 logs=3 resolvers=1 log_routers=-1 remote_logs=-1 commit_proxies=2 grv_proxies=1 ` +
		`regions=\x5b\x7b\x22datacenters\x22:\x5b\x7b\x22id\x22:\x22dc1\x22,\x22priority\x22:1\x7d\x5d\x7d\x5d`
	versionText = "FoundationDB CLI 7.3 (v7.3.79)\nsource version 0074653ee0113fc39da0fa088b056c7210ab3191\nprotocol fdb00b073000000\n"
)

func TestConfigureIsVerifiedByReadingTheConfiguration(t *testing.T) {
	version := admintest.Step{Script: "--version", Stdout: versionText}
	down := statusStep(t, "63-all-logs-down")
	cases := map[string]struct {
		kind    admin.ConfigureKind
		regions []fdb.Region
		edit    func(*fdb.Configuration)
		steps   []admintest.Step
		want    admin.Kind
	}{
		"a new database": {
			kind: admin.NewDatabase,
			steps: []admintest.Step{
				{Script: "configure new " + ordinaryTokens, Stdout: "Database created\n"},
				statusStep(t, "63-all-logs-down"), // no configuration to be seen yet
				version,
				statusStep(t, "05-healthy"),
			},
		},
		"a new database that takes too long but is there": {
			kind: admin.NewDatabase,
			steps: []admintest.Step{
				{Script: "configure new " + ordinaryTokens, ExitCode: 1, Stderr: longDelay + gaveUp},
				statusStep(t, "05-healthy"),
			},
		},
		"a new database that takes too long": {
			kind: admin.NewDatabase,
			want: admin.KindUnknownResult,
			steps: []admintest.Step{
				{Script: "configure new " + ordinaryTokens, ExitCode: 1, Stderr: longDelay + gaveUp},
				down, version, down, down, down,
			},
		},
		"a change with warnings": {
			kind: admin.ChangeDatabase,
			steps: []admintest.Step{
				{Script: "configure " + ordinaryTokens, Stdout: "Configuration changed, with warnings\n", Stderr: "WARN: something\n"},
				statusStep(t, "05-healthy"),
			},
		},
		"regions that are accepted and dropped": {
			kind:    admin.ChangeDatabase,
			regions: []fdb.Region{{DataCenters: []fdb.DataCenter{{ID: "dc1", Priority: 1}}}},
			want:    admin.KindNotInForce,
			steps: []admintest.Step{
				{Script: "configure " + withRegions, Stdout: "Configuration changed\n"},
				statusStep(t, "05-healthy"), version,
			},
		},
		"refused": {
			kind:    admin.ChangeDatabase,
			regions: []fdb.Region{{DataCenters: []fdb.DataCenter{{ID: "dc1", Priority: 1}}}},
			want:    admin.KindRefused,
			steps: []admintest.Step{
				{
					Script: "configure " + withRegions, ExitCode: 1,
					Stderr: "ERROR: Not enough processes exist to support the specified configuration\nType `configure FORCE <TOKEN...>' to configure without this check\n",
				},
				statusStep(t, "05-healthy"), version,
			},
		},
		"refused for now": {
			kind:    admin.ChangeDatabase,
			regions: []fdb.Region{{DataCenters: []fdb.DataCenter{{ID: "dc1", Priority: 1}}}},
			want:    admin.KindNotYet,
			steps: []admintest.Step{
				{
					Script: "configure " + withRegions, ExitCode: 1,
					Stderr: "ERROR: All storage servers must be in one of the known regions\nType `configure FORCE <TOKEN...>' to configure without this check\n",
				},
				statusStep(t, "05-healthy"), version,
			},
		},
		"only regions are sent, and nothing else is read back": {
			kind:    admin.ChangeRegions,
			regions: []fdb.Region{{DataCenters: []fdb.DataCenter{{ID: "dc1", Priority: 1}}}},
			want:    admin.KindNotInForce,
			steps: []admintest.Step{
				{
					Script: `configure regions=\x5b\x7b\x22datacenters\x22:\x5b\x7b\x22id\x22:\x22dc1\x22,\x22priority\x22:1\x7d\x5d\x7d\x5d`,
					Stdout: "Configuration changed\n",
				},
				statusStep(t, "05-healthy"), version,
			},
		},
		"only usable regions are sent, and nothing else is read back": {
			kind:  admin.ChangeUsableRegions,
			edit:  func(c *fdb.Configuration) { c.Logs = 99 },
			steps: []admintest.Step{{Script: "configure usable_regions=1", Stdout: "Configuration changed\n"}, statusStep(t, "05-healthy")},
		},
		"an error, and yet in force": {
			kind: admin.ChangeDatabase,
			steps: []admintest.Step{
				{Script: "configure " + ordinaryTokens, ExitCode: 1, Stderr: "ERROR: Not enough processes exist to support the specified configuration\n"},
				statusStep(t, "05-healthy"),
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			desired := ordinary()
			desired.Regions = c.regions
			if c.edit != nil {
				c.edit(&desired)
			}
			err := newCLI(admintest.NewTranscript(t, c.steps...)).Configure(t.Context(), desired, c.kind)
			if got := admin.KindOf(err); got != c.want || (err == nil) != (c.want == "") {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "FORCE") {
				t.Errorf("the error recommends force: %v", err)
			}
			if c.want == admin.KindNotYet && !strings.Contains(err.Error(), "try again later") {
				t.Errorf("the error does not say that it passes: %v", err)
			}
		})
	}
}

func TestInvalidConfigurationsAreNeverSentToFdbcli(t *testing.T) {
	desired := ordinary()
	desired.StorageEngine = "ssd; kill all"
	err := newCLI(admintest.NewTranscript(t)).Configure(t.Context(), desired, admin.ChangeDatabase)
	if admin.KindOf(err) != admin.KindBadInput {
		t.Errorf("got %v", err)
	}
}

func TestFdbcliCoordinatorChangesAreVerifiedByReadingBack(t *testing.T) {
	coordinators := []fdb.Address{{Host: "127.0.2.14", Port: 4501}, {Host: "127.0.2.1", Port: 4501, TLS: true}}
	const script = "coordinators 127.0.2.14:4501 127.0.2.1:4501:tls"
	readBack := admintest.Step{
		Script: connectionStringScript,
		Stdout: "`\\xff\\xff/connection_string' is `sample_cluster:uQIYS6431W3WBcDYdTtfhtO8hmjR8dm8@127.0.2.1:4501:tls,127.0.2.14:4501'\n",
	}
	old := admintest.Step{
		Script: connectionStringScript,
		Stdout: "`\\xff\\xff/connection_string' is `sample_cluster:abcdefgh@127.0.2.11:4501'\n",
	}
	cases := map[string]struct {
		steps []admintest.Step
		want  admin.Kind
	}{
		"changed":         {[]admintest.Step{{Script: script, Stdout: "Coordination state changed\n"}, readBack}, ""},
		"changed, slowly": {[]admintest.Step{{Script: script, Stderr: longDelay, Stdout: "\nThe database is available, but has issues (type 'status' for more information).\n\nCoordination state changed\n"}, readBack}, ""},
		"as they were":    {[]admintest.Step{{Script: script, Stdout: "No change (existing configuration satisfies request)\n"}, readBack}, ""},
		"unreachable":     {[]admintest.Step{{Script: script, ExitCode: 1, Stderr: longDelay + "ERROR: One of the specified coordinators is unreachable\n"}, old}, admin.KindNotYet},
		"a locked database hangs": {
			[]admintest.Step{{Script: script, ExitCode: 1, Stderr: longDelay + gaveUp}, old}, admin.KindUnknownResult,
		},
		"timed out and done": {[]admintest.Step{{Script: script, ExitCode: 1, Stderr: gaveUp}, readBack}, ""},
		"text without effect": {
			[]admintest.Step{{Script: script, Stdout: "Coordination state changed\n"}, old}, admin.KindNotInForce,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := newCLI(admintest.NewTranscript(t, c.steps...)).ChangeCoordinators(t.Context(), coordinators)
			if kind := admin.KindOf(err); kind != c.want || (err == nil) != (c.want == "") {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if (err == nil) != got.SameCoordinators(coordinators) {
				t.Errorf("got %s and error %v", got, err)
			}
		})
	}
	for name, bad := range map[string][]fdb.Address{
		"no targets": nil,
		"twice":      {coordinators[0], coordinators[0]},
	} {
		if _, err := newCLI(admintest.NewTranscript(t)).ChangeCoordinators(t.Context(), bad); admin.KindOf(err) != admin.KindBadInput {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

const killList = "\nThe following 2 addresses can be killed:\n127.0.2.11:4501\n127.0.2.5:4501\n\n"

func TestFdbcliKillIsVerifiedByProcessUptime(t *testing.T) {
	five, removed := fdb.Address{Host: "127.0.2.5", Port: 4501, TLS: true}, fdb.Address{Host: "127.0.2.99", Port: 4501}
	const script = "kill; kill 127.0.2.5:4501; sleep 5"
	killed := admintest.Step{
		Script: script, Stderr: longDelay,
		Stdout: ">>> kill\n" + killList + ">>> kill 127.0.2.5:4501\nAttempted to kill 1 processes\n>>> sleep 5\n\nThe database is available.\n\n",
	}
	uptime := func(seconds string) admintest.Step {
		return admintest.Step{
			Script: "status json",
			Stdout: `{"client":{"database_status":{"available":true}},"cluster":{"processes":{` +
				`"a":{"address":"127.0.2.5:4501:tls"` + seconds + `},"b":{"address":"127.0.2.11:4501","uptime_seconds":600}}}}`,
		}
	}
	list := admintest.Step{Script: "kill", Stdout: killList}
	old := uptime(`,"uptime_seconds":600`)
	absent := admintest.Step{Script: "status json", Stdout: `{"client":{"database_status":{"available":true}},"cluster":{}}`}
	late := admintest.Step{Script: "status json", Stdout: `{"client":{"database_status":{"available":true}},"cluster":{
		"messages":[{"name":"status_incomplete","reasons":[{"description":"Status collection deadline exceeded."}]}],
		"processes":{"b":{"address":"127.0.2.11:4501","uptime_seconds":600}}}}`}
	cases := map[string]struct {
		addresses []fdb.Address
		steps     []admintest.Step
		want      admin.Kind
	}{
		"restarted": {[]fdb.Address{five}, []admintest.Step{list, old, killed, uptime(`,"uptime_seconds":5`)}, ""},
		"not restarted by a document without processes": {[]fdb.Address{five}, []admintest.Step{list, old, killed, absent, absent, absent, absent, absent}, admin.KindNotInForce},
		"not restarted by a document that was late":     {[]fdb.Address{five}, []admintest.Step{list, old, killed, late, late, late, late, late}, admin.KindNotInForce},
		"restarted once a later document is complete":   {[]fdb.Address{five}, []admintest.Step{list, old, killed, late, absent, uptime("")}, ""},
		"restarted a moment later":                      {[]fdb.Address{five}, []admintest.Step{list, old, killed, old, uptime("")}, ""},
		"one cannot be reached":                         {[]fdb.Address{five, removed}, []admintest.Step{list, old, killed, uptime("")}, admin.KindPartial},
		"none can be reached":                           {[]fdb.Address{removed}, []admintest.Step{list}, admin.KindRefused},
		"attempted is not killed":                       {[]fdb.Address{five}, []admintest.Step{list, old, killed, old, old, old, old, old}, admin.KindNotInForce},
		"no targets":                                    {nil, nil, admin.KindBadInput},
		"refused as a whole": {
			[]fdb.Address{five},
			[]admintest.Step{
				list, old,
				{Script: script, ExitCode: 1, Stdout: ">>> kill\n" + killList, Stderr: "ERROR: process `127.0.2.5:4501' not recognized.\n"},
				old, old, old, old, old,
			},
			admin.KindRefused,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := newCLI(admintest.NewTranscript(t, c.steps...)).Kill(t.Context(), c.addresses)
			if got := admin.KindOf(err); got != c.want || (err == nil) != (c.want == "") {
				t.Errorf("got %v, want %q", err, c.want)
			}
			var partial *admin.Error
			if errors.As(err, &partial) && partial.Kind == admin.KindPartial {
				if diff := cmp.Diff([]string{"127.0.2.99:4501"}, partial.Targets); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestMaintenance(t *testing.T) {
	none := admintest.Step{Script: "maintenance", Stdout: "No ongoing maintenance.\n"}
	zone := func(name string) admintest.Step {
		return admintest.Step{Script: "maintenance", Stdout: "Maintenance for zone " + name + " will continue for 59 seconds.\n"}
	}
	const script = "maintenance on zone-5 60"
	cases := map[string]struct {
		steps []admintest.Step
		want  admin.Kind
	}{
		"switched on":            {[]admintest.Step{none, {Script: script}, zone("zone-5")}, ""},
		"extended":               {[]admintest.Step{zone("zone-5"), {Script: script}, zone("zone-5")}, ""},
		"another zone has it":    {[]admintest.Step{zone("zone-4")}, admin.KindRefused},
		"silent without effect":  {[]admintest.Step{none, {Script: script}, none}, admin.KindNotInForce},
		"not understood":         {[]admintest.Step{{Script: "maintenance", Stdout: "Perhaps.\n"}}, admin.KindUnparsed},
		"usage is no silence":    {[]admintest.Step{none, {Script: script, ExitCode: 1, Stdout: "Usage: maintenance [on|off] [ZONEID] [SECONDS]\n"}}, admin.KindBadInput},
		"distribution is broken": {[]admintest.Step{none, {Script: script, ExitCode: 1, Stderr: "ERROR: Maintenance mode cannot be used while data distribution is disabled for storage server failures.\n"}, none}, admin.KindRefused},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := newCLI(admintest.NewTranscript(t, c.steps...)).MaintenanceOn(t.Context(), "zone-5", time.Minute)
			if got := admin.KindOf(err); got != c.want || (err == nil) != (c.want == "") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	t.Run("zero seconds would switch it off", func(t *testing.T) {
		err := newCLI(admintest.NewTranscript(t)).MaintenanceOn(t.Context(), "zone-5", 0)
		if admin.KindOf(err) != admin.KindBadInput {
			t.Errorf("got %v", err)
		}
	})
}

func TestFdbcliStatusDistinguishesUnavailableFromErrors(t *testing.T) {
	t.Run("an unavailable database is described, not an error", func(t *testing.T) {
		cli := newCLI(admintest.NewTranscript(t, statusStep(t, "28-quorum-lost"), admintest.Step{Script: "--version", Stdout: versionText}))
		s, err := cli.Status(t.Context())
		if err != nil || s.Available() {
			t.Errorf("got %v (%v)", s, err)
		}
	})
	t.Run("another protocol differs from a dead database", func(t *testing.T) {
		other := statusStep(t, "28-quorum-lost")
		other.Stdout = strings.ReplaceAll(other.Stdout, "0fdb00b073000000", "0fdb00b071010000")
		cli := newCLI(admintest.NewTranscript(t, other, admintest.Step{Script: "--version", Stdout: versionText}))
		if _, err := cli.Status(t.Context()); admin.KindOf(err) != admin.KindWrongProtocol {
			t.Errorf("got %v", err)
		}
	})
	t.Run("another protocol, as fdbcli 7.3.79 prints it of 7.4.6", func(t *testing.T) {
		other := admintest.Step{
			Script: "status json", Stderr: "WARNING: One or more of the processes in the cluster is incompatible with this version of fdbcli.\n\n",
			Stdout: `{"client": {"coordinators": {"coordinators": [{"address": "127.0.91.1:4501", "reachable": false}], "quorum_reachable": false},
				"database_status": {"available": false, "healthy": false},
				"messages": [{"description": "Unable to reach a quorum of coordinators.", "name": "quorum_not_reachable"}]}, "cluster": {"layers": {"_valid": false}}}`,
		}
		if _, err := newCLI(admintest.NewTranscript(t, other)).Status(t.Context()); admin.KindOf(err) != admin.KindWrongProtocol {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a document that is cut short", func(t *testing.T) {
		cli := newCLI(admintest.NewTranscript(t, admintest.Step{Script: "status json", Stdout: `{"client":{`}))
		if _, err := cli.Status(t.Context()); admin.KindOf(err) != admin.KindUnparsed {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no document", func(t *testing.T) {
		cli := newCLI(admintest.NewTranscript(t, admintest.Step{Script: "status json", Stdout: "Could not retrieve status json.\n"}))
		if _, err := cli.Status(t.Context()); admin.KindOf(err) != admin.KindUnparsed {
			t.Errorf("got %v", err)
		}
	})
}

// canceling cancels the context of the command it runs.
type canceling struct {
	admin.Transport
	cancel context.CancelFunc
}

func (c canceling) Run(ctx context.Context, _ admin.Command) (admin.Result, error) {
	c.cancel()
	return admin.Result{}, &admin.TransportError{Started: true, Where: "pod a", Err: ctx.Err()}
}

func TestACanceledMutationHasAnUnknownResult(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := newCLI(canceling{cancel: cancel}).Include(ctx, []string{"10.1.0.1"})
	if admin.KindOf(err) != admin.KindUnknownResult || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
