package live_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
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

// oldVersion is a version that ends no status document of a database that was never created.
const oldVersion = "7.3.63"

// blankDir is what the script prints in a pod with one process that stores the name of the database and no state; state is
// what it finds in its coordination file, and more are further lines.
func (f *field) blankDir(pod, state string, more ...string) (admin.Result, error) {
	found := &corev1.Pod{}
	if err := f.api.Get(f.t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: pod}, found); err != nil {
		return admin.Result{}, err
	}
	lines := append([]string{
		"coordination 100 100 " + state + " /var/fdb/data/1/coordination-0.fdq", "process 7",
		"argument 7 --class=" + found.Labels[v1beta2.LabelProcessClass], "argument 7 --datadir=/var/fdb/data/1",
		"argument 7 --public_address=" + found.Status.PodIP + ":4501", "argument 7 --locality_zoneid=" + pod, "argument 7 --locality_dns_name=" + pod + ".sample.fdb.svc.cluster.local",
	}, more...)
	return admin.Result{Stdout: []byte(strings.Join(append(lines, "end"), "\n") + "\n")}, nil
}

// beforeStatus is a field at the creation of a database in a version that ends no status of it.
func beforeStatus(t *testing.T) (*field, plan.Configure) {
	t.Helper()
	return byFiles(t, oldVersion)
}

// byFiles is a field at the creation of a database whose files prove that there is none.
func byFiles(t *testing.T, version string) (*field, plan.Configure) {
	t.Helper()
	c := sample()
	c.Spec.Version = version
	f := newField(t, c)
	f.dirs = func(pod string) (admin.Result, error) { return f.blankDir(pod, "blank") }
	return f, f.untilConfigure(t)
}

// No status is read before the database is created: it would take 15 s, or not end.
func TestADatabaseIsCreatedByTheFilesOfItsPodsWithoutAStatus(t *testing.T) {
	for _, version := range []string{oldVersion, "7.3.79"} {
		t.Run(version, func(t *testing.T) {
			f, create := byFiles(t, version)
			if n := f.sentScripts("status json"); n > 0 {
				t.Errorf("%d statuses were read", n)
			}
			f.begin()
			f.observe(plan.Database)
			f.log.reset()
			if err := f.cluster.Act(t.Context(), create); err != nil {
				t.Fatal(err)
			}
			if n := f.sentScripts("status json"); n != 1 { // it reads the configuration back
				t.Errorf("the command read %d statuses", n)
			}
			f.dirs = func(pod string) (admin.Result, error) { return f.blankDir(pod, "yes") }
			if s := f.observe(plan.Everything); s.Database.Status == nil || !s.Database.Available() {
				t.Errorf("the database does not answer: %s", s.Database.Why())
			}
		})
	}
}

// Where the status of a database that was never created ends, it decides what files do not prove, as without them.
func TestWhatFilesDoNotProveIsDecidedByTheStatus(t *testing.T) {
	f, create := byFiles(t, "7.3.79")
	for name, dirs := range map[string]func(pod string) (admin.Result, error){
		"tools that cannot read files": func(pod string) (admin.Result, error) { return f.blankDir(pod, "unknown") },
		"pods without a volume that cannot be read": func(pod string) (admin.Result, error) {
			return f.blankUnless(pod, func(c v1beta2.ProcessClass) bool { return !c.IsStateful() })
		},
	} {
		f.dirs = dirs
		f.log.reset()
		if s := f.observe(plan.Everything); s.Database.Status == nil || s.Database.DataDirs != nil || f.sentScripts("status json") != 1 || f.sentScripts("kill") > 1 {
			t.Errorf("%s: the status is unknown (%s) after %s", name, s.Database.Why(), f.log.those("exec"))
		}
	}
	f.begin()
	f.observe(plan.Database) // the files prove nothing now
	if err := f.cluster.Act(t.Context(), create); err != nil {
		t.Errorf("by its status: %v", err)
	}
}

// blankUnless is the data directory of a pod before there is a database; an error for pods of some classes.
func (f *field) blankUnless(pod string, unread func(v1beta2.ProcessClass) bool) (admin.Result, error) {
	found := &corev1.Pod{}
	if err := f.api.Get(f.t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: pod}, found); err != nil || unread(v1beta2.ProcessClass(found.Labels[v1beta2.LabelProcessClass])) {
		return admin.Result{}, errors.New("timed out")
	}
	return f.blankDir(pod, "blank")
}

// createsNone fails if passes create a database whose status is that of one that was never configured.
func (f *field) createsNone() {
	f.t.Helper()
	if s := f.observe(plan.Everything); s.Database.Status == nil || !s.Database.Status.NeverConfigured() {
		f.t.Fatalf("the status is not that of a database that was never configured: %s", s.Database.Why())
	}
	for range 3 {
		f.pass()
		f.tick(time.Minute)
	}
	if n := f.sentScripts("configure new"); n > 0 {
		f.t.Errorf("a database was created %d times", n)
	}
}

// A volume that cannot be read may have the data of a database whose coordinators lost their files, which reports that it was
// never created. It is read once its pod answers.
func TestNoDatabaseIsCreatedByItsStatusWhileAVolumeCannotBeRead(t *testing.T) {
	f, _ := byFiles(t, "7.3.79")
	f.dirs = func(pod string) (admin.Result, error) { return f.blankUnless(pod, v1beta2.ProcessClass.IsStateful) }
	f.createsNone()
	f.dirs = func(pod string) (admin.Result, error) { return f.blankDir(pod, "blank") }
	for range 3 {
		f.pass()
		f.tick(time.Minute)
	}
	if f.sentScripts("configure new") == 0 {
		t.Error("no database was created once all volumes were read")
	}
}

// The status of a database whose coordinators lost their files is that of one that was never configured: files of
// storage servers show the difference.
func TestNoDatabaseIsCreatedByItsStatusWhereAPodHasFilesOfOne(t *testing.T) {
	f, _ := byFiles(t, "7.3.79")
	f.dirs = func(pod string) (admin.Result, error) {
		return f.blankDir(pod, "blank", "data /var/fdb/data/1/storage-1.sqlite")
	}
	f.createsNone()
}

// The files are read again right before the command, whatever the decision rests on.
func TestTheFilesOfAllPodsAreReadAgainBeforeADatabaseIsCreated(t *testing.T) {
	for name, tc := range map[string]struct {
		dirs func(f *field, pod string) (admin.Result, error)
		says string
	}{
		"a coordinator has a state now": {func(f *field, pod string) (admin.Result, error) { return f.blankDir(pod, "yes") }, "has the state of the database"},
		"the name is unknown there":     {func(f *field, pod string) (admin.Result, error) { return f.blankDir(pod, "no") }, "has not stored the ID of the connection string yet"},
		"a storage server has written a file": {func(f *field, pod string) (admin.Result, error) {
			return f.blankDir(pod, "blank", "data /var/fdb/data/1/storage-1.sqlite")
		}, "storage-1.sqlite"},
		"a pod cannot be read": {func(*field, string) (admin.Result, error) { return admin.Result{}, errors.New("timed out") }, "timed out"},
		"the script fails in a pod": {func(*field, string) (admin.Result, error) {
			return admin.Result{ExitCode: 1, Stderr: []byte("no sh")}, nil
		}, "no sh"},
		"what a pod printed is cut off":        {func(*field, string) (admin.Result, error) { return admin.Result{Stdout: []byte("process 7\n")}, nil }, "the output is incomplete"},
		"no process is a coordinator any more": {func(*field, string) (admin.Result, error) { return admin.Result{Stdout: []byte("end\n")}, nil }, "runs in none of"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, version := range []string{oldVersion, "7.3.79"} {
				f, create := byFiles(t, version)
				f.begin()
				f.observe(plan.Database)
				f.dirs = func(pod string) (admin.Result, error) { return tc.dirs(f, pod) }
				f.log.reset()
				if err := f.cluster.Act(t.Context(), create); err == nil || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("%s: error %v, want %q", version, err, tc.says)
				}
				refuseConfigure(t, f)
			}
		})
	}
}

// The status of a database that may exist is read in every version.
func TestTheStatusIsReadWhereADatabaseMayExist(t *testing.T) {
	for name, tc := range map[string]struct {
		edit  func(*v1beta2.FoundationDBCluster)
		state string
	}{
		"files of a database":           {nil, "yes"},
		"tools that cannot read files":  {nil, "unknown"},
		"a status that records one":     {func(c *v1beta2.FoundationDBCluster) { c.Status.Configured = true }, "blank"},
		"a spec that names one":         {func(c *v1beta2.FoundationDBCluster) { c.Spec.SeedConnectionString = c.Status.ConnectionString }, "blank"},
		"a version with other files":    {func(c *v1beta2.FoundationDBCluster) { c.Spec.Version, c.Status.RunningVersion = "7.1.61", "7.1.61" }, "blank"},
		"a coordinator in no known pod": {func(c *v1beta2.FoundationDBCluster) { c.Status.ConnectionString += ",10.99.0.1:4501" }, "blank"},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := beforeStatus(t)
			if tc.edit != nil {
				c := f.resource()
				tc.edit(c)
				status := c.Status
				if err := f.api.Update(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				c.Status = status
				if err := f.api.Status().Update(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			f.dirs = func(pod string) (admin.Result, error) { return f.blankDir(pod, tc.state) }
			f.log.reset()
			f.observe(plan.Everything)
			if n := f.sentScripts("status json"); n == 0 {
				t.Error(fmt.Sprint("no status was read: ", f.log.those("exec")))
			}
		})
	}
}

// Whatever a pod shows of a database, or hides, the status may be that of one.
func TestTheStatusIsReadWhereAPodMayHaveFilesOfADatabase(t *testing.T) {
	for name, dirs := range map[string]func(f *field, pod string) (admin.Result, error){
		"a pod has files of a storage server": func(f *field, pod string) (admin.Result, error) {
			return f.blankDir(pod, "blank", "data /var/fdb/data/1/storage-1.sqlite")
		},
		"a pod cannot be read": func(*field, string) (admin.Result, error) { return admin.Result{}, errors.New("timed out") },
		"a pod has another connection string": func(f *field, pod string) (admin.Result, error) {
			return f.blankDir(pod, "blank", "cluster sample:other@10.99.0.1:4501")
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := beforeStatus(t)
			one := f.resource().Status.ProcessGroups[0]
			f.dirs = func(pod string) (admin.Result, error) {
				if pod == one.PodName(f.resource()) {
					return dirs(f, pod)
				}
				return f.blankDir(pod, "blank")
			}
			f.log.reset()
			f.observe(plan.Everything)
			if n := f.sentScripts("status json"); n == 0 {
				t.Error(fmt.Sprint("no status was read: ", f.log.those("exec")))
			}
		})
	}
}

// Missing permission for one pod does not hide what the others show.
func TestOnePodThatMayNotBeReadIsAnUnreadPod(t *testing.T) {
	f, _ := beforeStatus(t)
	one := f.resource().Status.ProcessGroups[0]
	forbidden := apierrors.NewForbidden(corev1.Resource("pods/exec"), one.PodName(f.resource()), errors.New("not this one"))
	f.dirs = func(pod string) (admin.Result, error) {
		if pod == one.PodName(f.resource()) {
			return admin.Result{}, forbidden
		}
		return f.blankDir(pod, "blank")
	}
	s := f.observe(plan.Everything)
	if d := s.Database.DataDirs; d == nil || len(d.Unread) != 1 || s.Database.Forbidden {
		t.Errorf("data directories %+v, forbidden %t", d, s.Database.Forbidden)
	}
	f.dirs = func(string) (admin.Result, error) { return admin.Result{}, forbidden }
	if s := f.observe(plan.Everything); !s.Database.Forbidden {
		t.Errorf("all pods are forbidden, and the database is not: %s", s.Database.Why())
	}
}
