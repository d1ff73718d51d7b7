package live_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

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
	c := sample()
	c.Spec.Version = oldVersion
	f := newField(t, c)
	f.dirs = func(pod string) (admin.Result, error) { return f.blankDir(pod, "blank") }
	return f, f.untilConfigure(t)
}

// No status is read before the database is created: it would not end.
func TestWhereNoStatusEndsADatabaseIsCreatedByTheFilesOfItsPods(t *testing.T) {
	f, create := beforeStatus(t)
	if n := f.sentScripts("status json"); n > 0 {
		t.Errorf("%d statuses were read", n)
	}
	f.begin()
	if err := f.cluster.Act(t.Context(), create); err != nil {
		t.Fatal(err)
	}
	f.dirs = func(pod string) (admin.Result, error) { return f.blankDir(pod, "yes") }
	if s := f.observe(plan.Everything); s.Database.Status == nil || !s.Database.Available() {
		t.Errorf("the database does not answer: %s", s.Database.Why())
	}
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
			f, create := beforeStatus(t)
			f.begin()
			f.dirs = func(pod string) (admin.Result, error) { return tc.dirs(f, pod) }
			f.log.reset()
			if err := f.cluster.Act(t.Context(), create); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error %v, want %q", err, tc.says)
			}
			refuseConfigure(t, f)
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
		"a version that ends a status":  {func(c *v1beta2.FoundationDBCluster) { c.Spec.Version, c.Status.RunningVersion = "7.3.79", "7.3.79" }, "blank"},
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
