package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	commandsFile    = "testdata/commands.txt"
	differencesFile = "testdata/differences.txt"
	// settleLimit is how long a database may take to become stable.
	settleLimit = 3 * time.Minute
)

// programs are the version and the directory that FDB_BIN names.
func programs(t *testing.T) (version, dir string) {
	t.Helper()
	version, dir, ok := strings.Cut(os.Getenv("FDB_BIN"), "=")
	if !ok {
		t.Fatal("FDB_BIN=VERSION=DIR must name the directory with fdbserver, fdbcli, fdbbackup and fdbrestore of this version")
	}
	for _, name := range []string{"fdbserver", "fdbcli", "fdbbackup", "fdbrestore"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Fatalf("FDB_BIN: %v", err)
		}
	}
	return version, dir
}

// TestTheModelIsTheRealDatabase runs every command on both sides.
func TestTheModelIsTheRealDatabase(t *testing.T) {
	version, bin := programs(t)
	dir := t.TempDir()
	clusterFile := filepath.Join(dir, "fdb.cluster")
	sides := [2]side{startReal(t, bin, dir, clusterFile), startModel(t, version, dir, clusterFile)}
	pauseBoth(sides, 12*time.Second)
	known, seen := readDifferences(t, differencesFile), map[string]bool{}
	commands, unexplained := 0, 0
	for _, s := range readScripts(t, commandsFile) {
		if deadline, ok := t.Deadline(); ok && time.Until(deadline) < commandLimit {
			t.Fatalf("no time is left before %s, after %d commands with %d unexplained differences", s.key(), commands, unexplained)
		}
		if s.kind != stepRun {
			disturb(t, sides, s)
			continue
		}
		commands++
		got := [2]result{sides[0].run(s.argv, s.stdin), sides[1].run(s.argv, s.stdin)}
		for _, d := range differences(s, got[0], got[1]) {
			seen[d.key] = true
			if known[d.key] == "" {
				unexplained++
				t.Errorf("%s\n  command %q stdin %q\n  real  %s\n  model %s", d.key, s.argv, s.stdin, d.actual, d.model)
			}
		}
	}
	for key, why := range known {
		if !seen[key] {
			t.Errorf("%s no longer differs, although %s lists it: %s", key, differencesFile, why)
		}
	}
	t.Logf("%d commands, %d differences explained, %d not", commands, len(seen)-unexplained, unexplained)
}

func pauseBoth(sides [2]side, d time.Duration) {
	for _, s := range sides {
		s.pause(d)
	}
}

func disturb(t *testing.T, sides [2]side, s step) {
	t.Helper()
	for _, one := range sides {
		var err error
		switch s.kind {
		case stepPause:
			one.pause(s.pause)
		case stepFreeze:
			err = one.freeze(s.argv[0])
		case stepThaw:
			err = one.thaw(s.argv[0])
		case stepSettle:
			err = settle(one)
		case stepRun:
			err = fmt.Errorf("%s is a command", s.key())
		}
		if err != nil {
			t.Fatalf("%s after %s: %T: %v", s.kind, s.key(), one, err)
		}
	}
}

// settle waits until a database is fully recovered, with all its data where it belongs.
func settle(one side) error {
	var waited time.Duration
	for {
		out := one.run([]string{"fdbcli", "-C", clusterFileWord, "--timeout", "10", "--exec", "status json"}, "")
		state := documentFacts(out.stdout)
		if state["recovery"] == "fully_recovered" && state["data"] == "healthy" {
			return nil
		}
		if waited > settleLimit {
			return fmt.Errorf("not stable after %s: %v", settleLimit, state)
		}
		one.pause(2 * time.Second)
		waited += 2 * time.Second
	}
}
