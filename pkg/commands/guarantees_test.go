package commands

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// eachChanging calls visit for every command that may change a cluster.
func eachChanging(t *testing.T, visit func(path string, cmd *cobra.Command, d session.Declaration)) {
	t.Helper()
	eachPath(t, func(path string, cmd *cobra.Command) {
		d, declared := session.Declared(cmd)
		if declared && d.Effect != session.EffectReads && d.Effect != session.EffectSaves {
			visit(path, cmd, d)
		}
	})
}

// A change that could not be previewed, approved from a file or attributed would be one of its own kind.
func TestEveryCommandThatChangesGivesTheGuaranteesOrDeclaresWhyNot(t *testing.T) {
	eachChanging(t, func(path string, cmd *cobra.Command, d session.Declaration) {
		for _, g := range session.Guarantees() {
			why, lacks := d.Lacks[g]
			switch gives := session.HasGuarantee(cmd, g); {
			case gives && lacks:
				t.Errorf("%s has --%s, and declares that it cannot: %s", path, g, why)
			case !gives && why == "":
				t.Errorf("%s has no --%s, and declares no reason: Lacks of session.Declare", path, g)
			}
		}
		if dry := cmd.Flags().Lookup("dry-run"); session.HasGuarantee(cmd, session.DryRuns) && dry.NoOptDefVal != "client" {
			t.Errorf("%s --dry-run means %q", path, dry.NoOptDefVal)
		}
	})
	eachPath(t, func(path string, cmd *cobra.Command) {
		if d, _ := session.Declared(cmd); len(d.Lacks) > 0 && (d.Effect == session.EffectReads || d.Effect == session.EffectSaves) {
			t.Errorf("%s changes nothing, and declares what it lacks", path)
		}
	})
}

// attendance is who else acts on all clusters, backups and restores, and how often a command began to change one.
type attendance struct {
	other   *reconcile.Operation
	refuses bool
	begun   int
	ended   int
	own     []reconcile.Operation
}

// attended is a session with others around.
type attended struct {
	session.Session
	of *attendance
}

func (a attended) Begin(ctx context.Context) error {
	a.of.begun++
	return a.Session.Begin(ctx)
}

func (a attended) Gates(_ context.Context, o live.GateOptions) ([]plan.Check, error) {
	return []plan.Check{{ID: plan.CheckNoOperator, Gate: plan.GateOperator, OK: !a.of.refuses || o.Coexist}}, nil
}

func (a attended) Operations() reconcile.OperationKeeper { return a.of }

func (a *attendance) OtherOperation(context.Context) (*reconcile.Operation, error) {
	return a.other, nil
}
func (*attendance) RefuseBesideOthers()                  {}
func (a *attendance) SetOperation(o reconcile.Operation) { a.own = append(a.own, o) }
func (*attendance) KeepOperation(context.Context) error  { return nil }
func (a *attendance) EndOperation(context.Context) error { a.ended++; return nil }

func (*attendance) AbortRequest(context.Context) (*reconcile.OperationAbort, error)   { return nil, nil }
func (*attendance) RenewOperation(context.Context, reconcile.OperationProgress) error { return nil }

// attend has all commands of a vault meet others.
func (v *vault) attend() *attendance {
	of := &attendance{}
	v.connect = func() (session.Session, error) { return attended{simulated{v.cluster, v.given}, of}, nil }
	v.record = func(e *session.Env, key types.NamespacedName) (session.Session, error) {
		s, err := v.open(e, key)
		return attended{s, of}, err
	}
	return of
}

// scene is what a command has to change, where an example on a cluster without faults begins nothing.
type scene struct {
	// given is the cluster with its backup and restore; nil for one without faults.
	given func(t *testing.T) *vault
	// prepare changes it.
	prepare func(v *vault)
	// line is the command line; empty for the examples. What is typed approves it on a terminal.
	line, typed string
}

// elsewhere are the commands that begin nothing in any scene here, with the tests in which they do.
var elsewhere = map[string]string{"recover apply": "TestARecoveryBeginsOnlyWhileItMay"}

var scenes = map[string]scene{
	"backup delete":          {given: stopped, line: "backup delete nightly", typed: "nightly\n"},
	"backup expire":          {given: backedUp, line: "backup expire nightly --older-than 5m", typed: "nightly\n"},
	"connection-string sync": {prepare: func(v *vault) { staleBoth(v.given) }},
	"coordinators repair": {given: func(t *testing.T) *vault {
		t.Helper()
		v := &vault{given: coordinated(t, true)}
		v.record = v.open
		v.lose(1, false)
		return v
	}},
	"failover": {prepare: func(v *vault) { v.inRegions("dc1", "dc2") }, line: "failover sample --to dc1 --yes"},
	"gc":       {prepare: func(v *vault) { v.exclude("10.99.0.9") }},
	"include": {prepare: func(v *vault) {
		v.run("exclude", "sample", string(v.groupOf(v1beta2.ProcessClassStorage).ProcessGroupID), "--yes")
	}},
	"locks allow":   {prepare: func(v *vault) { v.locked(); v.run("locks", "deny", "sample", "dc2") }},
	"locks deny":    {prepare: func(v *vault) { v.locked() }},
	"locks release": {prepare: func(v *vault) { v.locked(); lockOf("dc1", "me@here", time.Hour)(v.given) }},
	"locks take":    {prepare: func(v *vault) { v.locked() }},
	"maintenance off": {prepare: func(v *vault) {
		v.run("maintenance", "on", "sample", string(v.groupOf(v1beta2.ProcessClassStorage).FaultDomain), "--for", "2h")
	}},
	"restore abort": {given: restoring, line: "restore abort again", typed: "again\n"},
	"restore start": {given: restorable, line: "restore start again --yes"},
	"uncordon":      {prepare: func(v *vault) { v.cluster.Cordoned = map[string]bool{"node-3": true} }},
}

// open returns the scene of a command.
func (s scene) open(t *testing.T) *vault {
	t.Helper()
	given := s.given
	if given == nil {
		given = newVault
	}
	v := given(t)
	v.cluster.Tick(20 * time.Minute) // since the last recovery
	if s.prepare != nil {
		s.prepare(v)
		v.cluster.Tick(20 * time.Minute)
	}
	if s.typed != "" {
		v.input = &s.typed
	}
	return v
}

// inRegions has the spec name regions that the database does not have yet.
func (v *vault) inRegions(database, primary string) {
	region := func(dc string, priority int) v1beta2.Region {
		return v1beta2.Region{Datacenters: []v1beta2.DataCenter{{ID: dc, Priority: priority}}}
	}
	spec := &v.cluster.Resource.Spec
	spec.DataCenter, spec.LockOptions.DisableLocks = database, new(true)
	spec.DatabaseConfiguration.UsableRegions = 2
	spec.DatabaseConfiguration.Regions = []v1beta2.Region{region(database, 0), region(primary, 1)}
}

// locked makes the cluster one of several control-plane instances of its database.
func (v *vault) locked() {
	v.cluster.Resource.Spec.ProcessGroupIDPrefix, v.cluster.Resource.Spec.LockOptions.DisableLocks = "dc1", new(bool)
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
	eachChanging(t, func(path string, cmd *cobra.Command, d session.Declaration) {
		listed = slices.DeleteFunc(listed, func(known string) bool { return known == path })
		_, alone := d.Lacks[session.OneOperation]
		_, ungated := d.Lacks[session.GatedByOperators]
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
func beginsOnlyIfItMay(t *testing.T, cmd *cobra.Command, line string, d session.Declaration) bool {
	t.Helper()
	v := scenes[session.PathOf(cmd)].open(t)
	of := v.attend()
	words, to := v.exampleWords(line, t.TempDir())
	passes := slices.ContainsFunc(words, func(w string) bool {
		return strings.HasPrefix(w, "--dry-run") || slices.Contains([]string{"--watch", "--plan", "--coexist", "--join"}, w)
	})
	if words == nil || to != "" || passes {
		return false
	}
	if v.input == nil && cmd.Flags().Lookup("yes") != nil && !slices.Contains(words, "--yes") {
		words = append(words, "--yes")
	}
	run := func() int {
		of.begun = 0
		ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Second, &exit.InterruptedError{Signal: os.Interrupt})
		defer cancel()
		v.runIn(ctx, words...)
		return of.begun
	}
	of.other = &reconcile.Operation{ID: "run7", Command: "replace sample storage-1 --wait", User: "ann@laptop"}
	if _, alone := d.Lacks[session.OneOperation]; !alone && run() > 0 {
		t.Errorf("%s acts beside the operation of another run: %s%s", line, &v.out, &v.err)
	}
	of.other, of.refuses = nil, true
	if _, ungated := d.Lacks[session.GatedByOperators]; !ungated && run() > 0 {
		t.Errorf("%s acts although an operator runs: %s%s", line, &v.out, &v.err)
	}
	of.refuses = false
	return run() > 0
}
