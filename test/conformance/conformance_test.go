package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	commandsFile = "testdata/commands.txt"
	// settleLimit is how long a database may take to become stable.
	settleLimit = 3 * time.Minute
	// creationPause is how long the processes may take to find each other.
	creationPause = 12 * time.Second
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

// TestTheModelMatchesTheRealDatabase runs every command on both sides. With RECORD the
// answers of the real programs become the recording of their version.
func TestTheModelMatchesTheRealDatabase(t *testing.T) {
	version, bin := programs(t)
	dir := t.TempDir()
	clusterFile := filepath.Join(dir, "fdb.cluster")
	actual, model := startReal(t, bin, dir, clusterFile), startModel(t, version, dir, clusterFile)
	var recording []recorded
	if os.Getenv("RECORD") != "" && os.Getenv("THEMES") != "" {
		t.Fatal("RECORD keeps the answers to all commands, and THEMES runs some of them: set one of the two")
	}
	c := newComparison(t, version)
	for _, one := range []side{actual, model} {
		one.pause(creationPause)
	}
	for _, s := range selected(readScripts(t, commandsFile)) {
		if deadline, ok := t.Deadline(); ok && time.Until(deadline) < settleLimit {
			t.Fatalf("no time is left before %s, after %d commands with %d unexplained differences", s.key(), c.commands, c.unexplained)
		}
		if s.kind != stepRun {
			disturb(t, actual, s)
			disturb(t, model, s)
			continue
		}
		a := answerOf(actual.run(s.argv, s.stdin))
		recording = append(recording, recorded{Key: s.key(), Argv: s.argv, Stdin: s.stdin, Answer: a})
		c.compare(s, a, answerOf(model.run(s.argv, s.stdin)))
	}
	if os.Getenv("RECORD") != "" {
		writeRecording(t, recordingFile(version), recording)
	}
	c.finish()
}

// selected are the steps of the themes that THEMES names, and of the first, which creates the
// database; all without it.
func selected(steps []step) []step {
	names := os.Getenv("THEMES")
	if names == "" {
		return steps
	}
	first := steps[0].theme
	return slices.DeleteFunc(steps, func(s step) bool {
		return s.theme != first && !slices.Contains(strings.Split(names, ","), s.theme)
	})
}

// comparison counts the differences and compares them with those that are explained.
type comparison struct {
	t                     *testing.T
	file                  string // with the explained ones of a version
	known                 map[string]string
	seen                  map[string]bool // the explained ones that occurred
	commands, unexplained int
}

func newComparison(t *testing.T, version string) *comparison {
	t.Helper()
	file := differencesFile(version)
	return &comparison{t: t, file: file, known: readDifferences(t, file), seen: map[string]bool{}}
}

func (c *comparison) compare(s step, actual, model answer) {
	c.t.Helper()
	c.commands++
	all := differences(s, actual, model)
	// A step of which the real document lacks nearly everything is explained as a whole, so that no section is
	// excused in the other steps.
	if document, whole := documentDifferences(s.key(), actual, model), s.key()+" document"; c.known[whole] != "" && len(document) > 0 {
		c.seen[whole] = true
		all = slices.DeleteFunc(all, func(d difference) bool { return slices.Contains(document, d) })
	}
	for _, d := range all {
		if c.known[d.key] != "" {
			c.seen[d.key] = true
			continue
		}
		c.unexplained++
		c.t.Errorf("%s\n  command %q stdin %q\n  real  %s\n  model %s", d.key, s.argv, s.stdin, d.actual, d.model)
	}
}

// finish reports explained differences that no longer occur.
func (c *comparison) finish() {
	c.t.Helper()
	for key, why := range c.known {
		if !c.seen[key] && os.Getenv("THEMES") == "" {
			c.t.Errorf("%s no longer differs, although %s lists it: %s", key, c.file, why)
		}
	}
	c.t.Logf("%d commands, %d differences explained, %d not", c.commands, len(c.seen), c.unexplained)
}

func disturb(t *testing.T, one side, s step) {
	t.Helper()
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

// settle waits until a database is fully recovered, with all its data where it belongs: storage
// processes have a storage role, and excluded ones have none.
func settle(one side) error {
	var waited time.Duration
	for {
		out := one.run([]string{"fdbcli", "-C", clusterFileWord, "--timeout", "20", "--exec", "status json"}, "")
		state := documentFacts(out.stdout)
		if state["recovery"] == "fully_recovered" && state["data"] == "healthy" && storageInPlace(out.stdout) {
			return nil
		}
		if waited > settleLimit {
			return fmt.Errorf("not stable after %s: %v", settleLimit, state)
		}
		one.pause(2 * time.Second)
		waited += 2 * time.Second
	}
}

// storageInPlace reports whether exactly the storage processes that are not excluded have a storage role.
func storageInPlace(text string) bool {
	found, _ := at(document(text), "cluster", "processes").(map[string]any)
	for _, p := range found {
		roles, _ := at(p, "roles").([]any)
		holds := slices.ContainsFunc(roles, func(r any) bool { return at(r, "role") == "storage" })
		if at(p, "class_type") == "storage" && holds == (at(p, "excluded") == true) {
			return false
		}
	}
	return len(found) == len(processes)
}

// TestTheModelMatchesTheRecordedDatabase compares the model with the recorded answers of the real
// programs of each version.
func TestTheModelMatchesTheRecordedDatabase(t *testing.T) {
	for _, version := range recordedVersions(t) {
		t.Run(version, func(t *testing.T) {
			compareWithRecording(t, version)
		})
	}
}

func compareWithRecording(t *testing.T, version string) {
	t.Helper()
	dir := t.TempDir()
	model := startModel(t, version, dir, filepath.Join(dir, "fdb.cluster"))
	model.pause(creationPause)
	c, recording := newComparison(t, version), readRecording(t, recordingFile(version))
	for _, s := range readScripts(t, commandsFile) {
		if s.kind != stepRun {
			disturb(t, model, s)
			continue
		}
		r := recording[s.key()]
		if !slices.Equal(r.Argv, s.argv) || r.Stdin != s.stdin {
			t.Fatalf("%s runs %q %q, but %s has %q %q: record again", s.key(), s.argv, s.stdin, recordingFile(version), r.Argv, r.Stdin)
		}
		c.compare(s, r.Answer, answerOf(model.run(s.argv, s.stdin)))
	}
	c.finish()
}
