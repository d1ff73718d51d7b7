package live_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// sentScripts counts the commands of fdbcli that contain a text.
func (f *field) sentScripts(text string) int {
	n := 0
	for _, request := range f.log.those("exec") {
		if strings.Contains(request, text) {
			n++
		}
	}
	return n
}

// The status of a database that was never configured takes 15 s. One that was read under the Lease a
// moment ago is the last read before the database is created; any other one is read again.
func TestDatabaseCreationReusesOnlyAFreshStatusReadUnderTheLease(t *testing.T) {
	for name, tc := range map[string]struct {
		given func(*field)
		reads int
	}{
		"one of a moment ago":              {func(f *field) { f.begin(); f.observe(plan.Database) }, 0},
		"one of 6 s ago":                   {func(f *field) { f.begin(); f.observe(plan.Database); f.tick(6 * time.Second) }, 1},
		"one from before the Lease":        {func(f *field) { f.observe(plan.Database); f.begin() }, 1},
		"one that an earlier command used": {func(f *field) { f.begin(); f.observe(plan.Database); f.failOnce(t) }, 1},
		"none":                             {func(f *field) { f.begin() }, 1},
		"one from an earlier Lease only":   {func(f *field) { f.begin(); f.observe(plan.Database); f.endAndBegin(t) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f, create := atConfigure(t)
			tc.given(f)
			f.log.reset()
			if err := f.cluster.Act(t.Context(), create); err != nil {
				t.Fatal(err)
			}
			read := f.sentScripts("status json")
			if before := read - 1; before != tc.reads { // one reads the configuration back
				t.Errorf("read %d times before the command, want %d: %s", before, tc.reads, f.log.those("exec"))
			}
		})
	}
}

// failOnce lets the creation fail before it does anything.
func (f *field) failOnce(t *testing.T) {
	t.Helper()
	_, create := f, plan.Configure{}
	for _, stage := range clusterStages() {
		for _, a := range stage.Decide(f.observe(plan.Everything)).Actions {
			if c, ok := a.(plan.Configure); ok {
				create = c
			}
		}
	}
	f.program = func(admin.Command) (admin.Result, error) { return admin.Result{ExitCode: 1}, nil }
	if err := f.cluster.Act(t.Context(), create); err == nil {
		t.Fatal("it did not fail")
	}
	f.program = nil
}

func (f *field) endAndBegin(t *testing.T) {
	t.Helper()
	if err := f.cluster.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.begin()
}

// A database in any other state is not created, however recent the document is.
func TestARecentStatusInAnotherRecoveryStatePreventsCreation(t *testing.T) {
	f, create := atConfigure(t)
	f.begin()
	document := `{"client":{"coordinators":{"quorum_reachable":true},"database_status":{"available":false}},"cluster":{"recovery_state":{"name":"reading_transaction_system_state"}}}`
	f.program = func(admin.Command) (admin.Result, error) { return admin.Result{Stdout: []byte(document)}, nil }
	f.observe(plan.Database)
	f.log.reset()
	if err := f.cluster.Act(t.Context(), create); err == nil {
		t.Error("a database was created")
	}
	refuseConfigure(t, f)
}

// The last document before a database is created is complete: absence in any other proves nothing.
func TestAnIncompleteStatusPreventsCreation(t *testing.T) {
	f, create := atConfigure(t)
	f.begin()
	never := `{"client":{"coordinators":{"quorum_reachable":true},"database_status":{"available":false}%s},"cluster":{"recovery_state":{"name":"configuration_never_created"}}}`
	f.program = func(admin.Command) (admin.Result, error) {
		return admin.Result{Stdout: fmt.Appendf(nil, never, `,"messages":[{"name":"status_incomplete_timeout"}]`)}, nil
	}
	f.log.reset()
	if err := f.cluster.Act(t.Context(), create); err == nil || !strings.Contains(err.Error(), "the status document is incomplete") {
		t.Errorf("a database was created: %v", err)
	}
	refuseConfigure(t, f)
	f.program = func(admin.Command) (admin.Result, error) {
		return admin.Result{Stdout: fmt.Appendf(nil, never, "")}, nil
	}
	if err := f.cluster.Act(t.Context(), create); err == nil || strings.Contains(err.Error(), "is incomplete") {
		t.Errorf("the same document without the message counts as incomplete: %v", err)
	}
}

// The status of a new database is requested once its processes have registered, or no further one
// does; of a configured one at once.
func TestTheStatusOfANewDatabaseWaitsForItsProcesses(t *testing.T) {
	list := func(n int) string {
		if n == 0 {
			return "\nNo addresses can be killed.\n"
		}
		text := fmt.Sprintf("\nThe following %d addresses can be killed:\n", n)
		if n == 1 {
			text = "\nThe following address can be killed:\n"
		}
		for i := range n {
			text += fmt.Sprintf("10.1.0.%d:4501\n", i+1)
		}
		return text
	}
	for name, tc := range map[string]struct {
		registered []int // in each list; the last one stays
		lists      int
	}{
		"all at once":           {[]int{99}, 1},
		"one after the other":   {[]int{1, 3, 99}, 3},
		"some never":            {[]int{1, 3, 3}, 3},
		"none, and not forever": {[]int{0}, 16},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := atConfigure(t)
			requested := 0
			f.program = func(c admin.Command) (admin.Result, error) {
				if !strings.Contains(strings.Join(c.Argv, " "), "kill") {
					return admin.Result{Stdout: []byte(`{"client":{"database_status":{"available":true}},"cluster":{}}`)}, nil
				}
				n := tc.registered[min(requested, len(tc.registered)-1)]
				requested++
				return admin.Result{Stdout: []byte(list(n))}, nil
			}
			f.observe(plan.Database)
			if requested != tc.lists {
				t.Errorf("%d lists, want %d", requested, tc.lists)
			}
		})
	}
}

func TestTheStatusOfAConfiguredDatabaseIsReadWithoutWaiting(t *testing.T) {
	f := settled(t)
	f.log.reset()
	f.observe(plan.Database)
	if n := f.sentScripts("kill"); n > 0 {
		t.Errorf("processes were listed %d times", n)
	}
}
