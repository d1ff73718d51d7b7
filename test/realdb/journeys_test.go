package realdb

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/test/realdb/programs"
)

// journey is one story on the real programs.
type journey struct {
	name string
	// versions is how many versions of the programs it needs.
	versions int
	run      func(*test)
}

// journeys are all journeys in the order of a run. The longest begin first, so that the
// sandboxes end at about the same time.
func journeys() []journey {
	return []journey{
		{"regions", 1, twoRegions},
		{"tls", 1, convertToTLSAndBack},
		{"redundancy", 1, changeRedundancy},
		{"upgrade", 2, upgrade},
		{"replace", 1, replace},
		{"redundancy-triple", 1, tripleAndBack},
		{"full-disks", 1, fillTheDisks},
		{"deny", 1, deny},
		{"coordinators-moved", 1, moveAllAddresses},
		{"coordinators", 1, moveCoordinators},
		{"coordinators-lost", 1, loseCoordinators},
		{"repair", 1, repairCoordinators},
		{"engine", 1, migrateEngine},
		{"shrink", 1, shrink},
		{"backup", 1, backUpAndRestore},
		{"deadline", 1, exceedTheDeadline},
		{"race-resources", 1, raceForTheLock},
		{"knobs", 1, changeKnobs},
		{"resource-volumes", 1, recoverFromVolumes},
		{"resource-volumes-addresses", 1, recoverFromVolumesByAddress},
		{"pods", 1, changePods},
		{"freeze", 1, freezeEachClass},
		{"exclude", 1, excludeAndInclude},
		{"coordinators-recreated", 1, loseCoordinatorsAndRecreate},
		{"resource-orphans", 1, rebuildTheResource},
		{"quorum", 1, loseTheQuorum},
		{"create-split", 1, createSplit},
		{"kill", 1, killEachClass},
		{"maintenance", 1, maintain},
		{"create-triple", 1, createTriple},
		{"volume", 1, loseAVolume},
		{"names", 1, loseTheNames},
		{"node", 1, loseANode},
		{"race", 1, race},
		{"create", 1, createUnified},
		{"grow", 1, grow},
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
	name, result   string
	passed, notRun bool
	took           time.Duration
}

// outcomes are how the journeys ended, and began is when the first did.
var (
	outcomes []outcome
	began    = time.Now()
)

func TestJourneys(t *testing.T) {
	if calibrating() {
		t.Skip("CALIBRATE runs no journeys")
	}
	var queue []journey
	for _, j := range journeys() {
		if !slices.Contains(chosen, j.name) {
			continue
		}
		if missing := j.missing(); missing != "" {
			outcomes = append(outcomes, outcome{name: j.name, result: missing, notRun: true})
			if os.Getenv("RUN") != "" {
				t.Errorf("%s: %s", j.name, missing)
			}
			continue
		}
		queue = append(queue, j)
	}
	next := make(chan journey, len(queue))
	for _, j := range queue {
		next <- j
	}
	close(next)
	ended := make(chan outcome)
	var sandboxes sync.WaitGroup
	for range min(jobs, len(queue)) {
		sandboxes.Go(func() { runInSandbox(t, next, ended) })
	}
	go func() {
		sandboxes.Wait()
		close(ended)
	}()
	for o := range ended {
		outcomes = append(outcomes, o)
		// An interrupted run has no table at its end.
		t.Logf("%s: %s after %s", o.name, o.result, o.took.Round(time.Second))
	}
	// A sandbox that did not start has run nothing, and the others may all have failed to start.
	for j := range next {
		outcomes = append(outcomes, outcome{name: j.name, result: "NOT RUN: no sandbox", notRun: true})
	}
}

// runInSandbox runs journeys, one after the other, in a sandbox of their own, until there are none left.
func runInSandbox(t *testing.T, next <-chan journey, ended chan<- outcome) {
	s, err := startSandbox()
	if s != nil {
		defer s.stop(t)
	}
	if err != nil {
		t.Error(err)
		return
	}
	for j := range next {
		began := time.Now()
		result := "failed"
		passed := t.Run(j.name, func(t *testing.T) { j.run(&test{T: t, sandbox: s}) })
		if passed {
			result = "passed"
		}
		s.failed = s.failed || !passed
		ended <- outcome{name: j.name, result: result, passed: passed, took: time.Since(began)}
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
	fmt.Fprintf(w, "one after the other\t%s\t%d of %d journeys were chosen\n", total.Round(time.Second), len(chosen), len(names()))
	fmt.Fprintf(w, "elapsed\t%s\t%d sandboxes\n", time.Since(began).Round(time.Second), min(jobs, len(chosen)))
	if err := w.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	var failed, notRun []string
	for _, name := range chosen {
		switch i := slices.IndexFunc(outcomes, func(o outcome) bool { return o.name == name }); {
		case i < 0 || outcomes[i].notRun:
			notRun = append(notRun, name)
		case !outcomes[i].passed:
			failed = append(failed, name)
		}
	}
	fmt.Println(programs.Outcome(len(chosen), failed, notRun))
}
