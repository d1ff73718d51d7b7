package commands_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// eachChanging calls visit for every command that may change a cluster.
func eachChanging(t *testing.T, visit func(path string, cmd *cobra.Command, d declare.Declaration)) {
	t.Helper()
	eachPath(t, func(path string, cmd *cobra.Command) {
		d, declared := declare.Of(cmd)
		if declared && d.Effect != declare.Reads && d.Effect != declare.Saves {
			visit(path, cmd, d)
		}
	})
}

// A change that could not be previewed, approved from a file or attributed would be one of its own kind.
func TestEveryCommandThatChangesGivesTheGuaranteesOrDeclaresWhyNot(t *testing.T) {
	eachChanging(t, func(path string, cmd *cobra.Command, d declare.Declaration) {
		for _, g := range declare.Guarantees() {
			why, lacks := d.Lacks[g]
			switch gives := declare.HasGuarantee(cmd, g); {
			case gives && lacks:
				t.Errorf("%s has --%s, and declares that it cannot: %s", path, g, why)
			case !gives && why == "":
				t.Errorf("%s has no --%s, and declares no reason: Lacks of declare.Command", path, g)
			}
		}
		if dry := cmd.Flags().Lookup("dry-run"); declare.HasGuarantee(cmd, declare.DryRuns) && dry.NoOptDefVal != "client" {
			t.Errorf("%s --dry-run means %q", path, dry.NoOptDefVal)
		}
	})
	eachPath(t, func(path string, cmd *cobra.Command) {
		if d, _ := declare.Of(cmd); len(d.Lacks) > 0 && (d.Effect == declare.Reads || d.Effect == declare.Saves) {
			t.Errorf("%s changes nothing, and declares what it lacks", path)
		}
	})
}

// scene is what a command has to change, where an example on a cluster without faults begins nothing.
type scene struct {
	// given is the cluster with its backup and restore; nil for one without faults.
	given func(t *testing.T) *commandstest.Vault
	// prepare changes it.
	prepare func(v *commandstest.Vault)
	// line is the command line; empty for the examples. What is typed approves it on a terminal.
	line, typed string
}

// elsewhere are the commands that begin nothing in any scene here, with the tests in which they do.
var elsewhere = map[string]string{"recover apply": "TestARecoveryBeginsOnlyWhileItMay"}

var scenes = map[string]scene{
	"backup delete":          {given: commandstest.Stopped, line: "backup delete nightly", typed: "nightly\n"},
	"backup expire":          {given: commandstest.BackedUp, line: "backup expire nightly --older-than 5m", typed: "nightly\n"},
	"connection-string sync": {prepare: func(v *commandstest.Vault) { commandstest.StaleBoth(v.Given) }},
	"coordinators repair": {given: func(t *testing.T) *commandstest.Vault {
		t.Helper()
		v := &commandstest.Vault{Given: commandstest.Coordinated(t, true)}
		v.Record = v.Open
		v.Lose(1, false)
		return v
	}},
	"failover": {prepare: func(v *commandstest.Vault) { v.InRegions("dc1", "dc2") }, line: "failover sample --to dc1 --yes"},
	"gc":       {prepare: func(v *commandstest.Vault) { v.Exclude("10.99.0.9") }},
	"include": {prepare: func(v *commandstest.Vault) {
		v.Run("exclude", "sample", string(v.GroupOf(v1beta2.ProcessClassStorage).ProcessGroupID), "--yes")
	}},
	"locks allow":   {prepare: func(v *commandstest.Vault) { v.Locked(); v.Run("locks", "deny", "sample", "dc2") }},
	"locks deny":    {prepare: func(v *commandstest.Vault) { v.Locked() }},
	"locks release": {prepare: func(v *commandstest.Vault) { v.Locked(); commandstest.LockOf("dc1", "me@here", time.Hour)(v.Given) }},
	"locks take":    {prepare: func(v *commandstest.Vault) { v.Locked() }},
	"maintenance off": {prepare: func(v *commandstest.Vault) {
		v.Run("maintenance", "on", "sample", string(v.GroupOf(v1beta2.ProcessClassStorage).FaultDomain), "--for", "2h")
	}},
	"restore abort": {given: commandstest.Restoring, line: "restore abort again", typed: "again\n"},
	"restore start": {given: commandstest.Restorable, line: "restore start again --yes"},
	"uncordon":      {prepare: func(v *commandstest.Vault) { v.Cluster.Cordoned = map[string]bool{"node-3": true} }},
}

// open returns the scene of a command.
func (s scene) open(t *testing.T) *commandstest.Vault {
	t.Helper()
	given := s.given
	if given == nil {
		given = commandstest.NewVault
	}
	v := given(t)
	v.Cluster.Tick(20 * time.Minute) // since the last recovery
	if s.prepare != nil {
		s.prepare(v)
		v.Cluster.Tick(20 * time.Minute)
	}
	if s.typed != "" {
		v.Input = &s.typed
	}
	return v
}

// An unknown value of --dry-run must not be taken for one that changes something.
func TestEveryDryRunHasTheSameThreeValues(t *testing.T) {
	eachChanging(t, func(path string, cmd *cobra.Command, _ declare.Declaration) {
		if !declare.HasGuarantee(cmd, declare.DryRuns) {
			return
		}
		t.Run(path, func(t *testing.T) {
			v := scenes[path].open(t)
			words, _ := v.ExampleWords(exampleOf(t, cmd), t.TempDir())
			words = slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "--dry-run") || w == "--print" })
			of := v.Attend()
			if code := v.Run(append(words, "--dry-run=maybe")...); code != exit.ExitUsage || !strings.Contains(v.Err.String(), "--dry-run must be none, client or server") {
				t.Errorf("%v: exit code %d: %s%s", words, code, &v.Out, &v.Err)
			}
			if of.Begun > 0 {
				t.Errorf("%v began to change something", words)
			}
		})
	})
}

// exampleOf returns an example of a command.
func exampleOf(t *testing.T, cmd *cobra.Command) string {
	t.Helper()
	for line := range strings.Lines(cmd.Example) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "kubectl fdb") && !strings.ContainsAny(line, "|>") {
			return line
		}
	}
	t.Fatal("it has no example")
	return ""
}

// The gates are evaluated immediately before the first change, and an operation of another run is respected, whatever
// command it is: no example begins to change anything where one of the two refuses.
func TestNoCommandBeginsToChangeWhatItMayNot(t *testing.T) {
	listed := append(slices.Collect(maps.Keys(elsewhere)), slices.Collect(maps.Keys(scenes))...)
	defer func() {
		if len(listed) > 0 {
			t.Errorf("%q are no commands that change something", listed)
		}
	}()
	eachChanging(t, func(path string, cmd *cobra.Command, d declare.Declaration) {
		listed = slices.DeleteFunc(listed, func(known string) bool { return known == path })
		_, alone := d.Lacks[declare.OneOperation]
		_, ungated := d.Lacks[declare.GatedByOperators]
		if alone && ungated || d.Endless || elsewhere[path] != "" {
			return
		}
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			lines := cmd.Example
			if line := scenes[path].line; line != "" {
				lines = "  kubectl fdb " + line
			}
			for line := range strings.Lines(lines) {
				if beginsOnlyIfItMay(t, cmd, strings.TrimSpace(line), d) {
					return
				}
			}
			t.Error("none of its examples begins to change anything, so that this tests nothing")
		})
	})
}

// beginsOnlyIfItMay runs an example while it may not act, and then while it may. It reports whether it began then.
func beginsOnlyIfItMay(t *testing.T, cmd *cobra.Command, line string, d declare.Declaration) bool {
	t.Helper()
	v := scenes[declare.PathOf(cmd)].open(t)
	of := v.Attend()
	words, to := v.ExampleWords(line, t.TempDir())
	passes := slices.ContainsFunc(words, func(w string) bool {
		return strings.HasPrefix(w, "--dry-run") || slices.Contains([]string{"--watch", "--plan", "--coexist", "--join"}, w)
	})
	if words == nil || to != "" || passes {
		return false
	}
	if v.Input == nil && cmd.Flags().Lookup("yes") != nil && !slices.Contains(words, "--yes") {
		words = append(words, "--yes")
	}
	if cmd.Flags().Lookup("reason") != nil && !slices.Contains(words, "--reason") {
		words = append(words, "--reason", reasonOfTests)
	}
	run := func() int {
		of.Begun, of.Own, of.Ended = 0, nil, 0
		ctx, stop := v.Following(t.Context(), 200, 5*time.Second)
		defer stop()
		v.RunIn(ctx, words...)
		return of.Begun
	}
	of.Other = &reconcile.Operation{ID: "run7", Command: "replace sample storage-1 --wait", User: "ann@laptop"}
	if _, alone := d.Lacks[declare.OneOperation]; !alone && run() > 0 {
		t.Errorf("%s acts beside the operation of another run: %s%s", line, &v.Out, &v.Err)
	}
	of.Other, of.Refuses = nil, true
	if _, ungated := d.Lacks[declare.GatedByOperators]; !ungated && run() > 0 {
		t.Errorf("%s acts although an operator runs: %s%s", line, &v.Out, &v.Err)
	}
	of.Refuses = false
	if run() == 0 {
		return false
	}
	isRecorded(t, cmd, v, of, words)
	return true
}

// reasonOfTests is the reason of changes here.
const reasonOfTests = "CHG-42"

// isRecorded reports an error unless what a command has begun can be found later: in the history, and while it lasts in
// the operations, both with the reason.
func isRecorded(t *testing.T, cmd *cobra.Command, v *commandstest.Vault, of *commandstest.Attendance, words []string) {
	t.Helper()
	reason := ""
	if at := slices.Index(words, "--reason"); at >= 0 {
		reason = words[at+1]
	}
	if !slices.ContainsFunc(v.Audited(), func(e audit.Entry) bool { return e.Reason == reason && strings.Contains(e.Typed, declare.PathOf(cmd)) }) {
		t.Errorf("%q has no entry in the history with its reason: %v", words, v.Audited())
	}
	waits := cmd.Flags().Lookup("wait") == nil || slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "--wait") })
	switch _, alone := operationOf(cmd); {
	case alone || !waits:
	case len(of.Own) == 0 || of.Own[0].ID != "run1" || of.Own[0].Reason != reason || of.Ended != len(of.Own):
		t.Errorf("%q was no operation with its reason, or has not ended it: %+v, ended %d", words, of.Own, of.Ended)
	}
}

// operationOf returns why a command is no operation; false if it is one.
func operationOf(cmd *cobra.Command) (why string, none bool) {
	d, _ := declare.Of(cmd)
	why, none = d.Lacks[declare.OneOperation]
	return why, none
}
