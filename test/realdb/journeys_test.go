package realdb

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"text/tabwriter"
	"time"
)

// journey is one story on the real programs.
type journey struct {
	name string
	// versions is how many versions of the programs it needs.
	versions int
	run      func(*testing.T)
}

// journeys are all journeys in the order of a run.
func journeys() []journey {
	return []journey{
		{"create", 1, createUnified},
		{"grow", 1, grow},
		{"shrink", 1, shrink},
		{"replace", 1, replace},
		{"kill", 1, killEachClass},
		{"exclude", 1, excludeAndInclude},
		{"maintenance", 1, maintain},
		{"deny", 1, deny},
		{"node", 1, loseANode},
		{"quorum", 1, loseTheQuorum},
		{"coordinators", 1, moveCoordinators},
		{"knobs", 1, changeKnobs},
		{"race", 1, race},
		{"volume", 1, loseAVolume},
		{"repair", 1, repairCoordinators},
		{"coordinators-moved", 1, moveAllAddresses},
		{"coordinators-lost", 1, loseCoordinators},
		{"coordinators-recreated", 1, loseCoordinatorsAndRecreate},
		{"resource-orphans", 1, rebuildTheResource},
		{"resource-volumes", 1, recoverFromVolumes},
		{"engine", 1, migrateEngine},
		{"pods", 1, changePods},
		{"create-split", 1, createSplit},
		{"create-triple", 1, createTriple},
		{"redundancy", 1, changeRedundancy},
		{"tls", 1, convertToTLSAndBack},
		{"backup", 1, backUpAndRestore},
		{"freeze", 1, freezeEachClass},
		{"deadline", 1, exceedTheDeadline},
		{"full-disks", 1, fillTheDisks},
		{"regions", 1, twoRegions},
		{"upgrade", 2, upgrade},
	}
}

// missing is what a journey needs and FDB_BIN lacks; empty if it can run.
func (j journey) missing() string {
	if len(given) < j.versions {
		return fmt.Sprintf("NOT RUN: needs %d versions in FDB_BIN, has %d", j.versions, len(given))
	}
	if j.name != "backup" {
		return ""
	}
	newest := given[len(given)-1]
	for _, program := range []string{"fdbbackup", "fdbrestore", "backup_agent"} {
		if _, err := os.Stat(filepath.Join(newest.Dir, program)); err != nil {
			return fmt.Sprintf("NOT RUN: needs %s in the directory of %s", program, newest.Version)
		}
	}
	return ""
}

func names() []string {
	var all []string
	for _, j := range journeys() {
		all = append(all, j.name)
	}
	return all
}

// outcome is how a journey ended.
type outcome struct {
	name, result string
	took         time.Duration
}

var outcomes []outcome

func TestJourneys(t *testing.T) {
	for _, j := range journeys() {
		if !slices.Contains(chosen, j.name) {
			continue
		}
		if missing := j.missing(); missing != "" {
			outcomes = append(outcomes, outcome{name: j.name, result: missing})
			if os.Getenv("RUN") != "" {
				t.Errorf("%s: %s", j.name, missing)
			}
			continue
		}
		began := time.Now()
		result := "failed"
		if t.Run(j.name, j.run) {
			result = "passed"
		}
		ended := outcome{j.name, result, time.Since(began)}
		outcomes = append(outcomes, ended)
		// An interrupted run has no table at its end.
		t.Logf("%s: %s after %s", ended.name, ended.result, ended.took.Round(time.Second))
	}
}

// report prints how each journey ended and how long it took.
func report() {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	var total time.Duration
	fmt.Fprintln(w, "JOURNEY\tTIME\tRESULT")
	for _, o := range outcomes {
		total += o.took
		fmt.Fprintf(w, "%s\t%s\t%s\n", o.name, o.took.Round(time.Second), o.result)
	}
	fmt.Fprintf(w, "all\t%s\t%d of %d journeys were chosen\n", total.Round(time.Second), len(chosen), len(names()))
	if err := w.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
