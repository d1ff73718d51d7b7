package live_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/admintest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestReadsComeFromOneFdbcliWhileItIsKeptOpen(t *testing.T) {
	f := settled(t)
	if _, ok := f.cluster.PollDatabase(t.Context()); ok {
		t.Error("the database is polled through nothing")
	}
	end := f.cluster.KeepOpen()
	if _, ok := f.cluster.PollDatabase(t.Context()); ok {
		t.Error("the database is polled before anything was read")
	}
	for range 3 {
		if s := f.observe(plan.ClusterResource | plan.Pods | plan.Database); s.Database.Status == nil {
			t.Fatal(s.Database.Unreachable)
		}
		if facts, err := f.cluster.ReadExclusions(t.Context()); err != nil || !facts.ExclusionsRead {
			t.Fatalf("%v, %+v", err, facts)
		}
	}
	if s, ok := f.cluster.PollDatabase(t.Context()); !ok || !s.Available() {
		t.Errorf("polled %v, %v", s, ok)
	}
	if opened, ran := f.sentScripts("--no-status"), f.sentScripts("--exec"); opened != 1 || ran != 0 {
		t.Errorf("%d sessions and %d runs, want 1 and none", opened, ran)
	}
	end()
	if _, ok := f.cluster.PollDatabase(t.Context()); ok {
		t.Error("the database is polled through what has ended")
	}
	if f.observe(plan.ClusterResource | plan.Pods | plan.Database); f.sentScripts("status json") != 1 {
		t.Error("after the end, a status is not read by a run of its own")
	}
}

// misled is a pod whose fdbcli reaches another database.
type misled struct{ admin.Transport }

func (misled) Run(context.Context, admin.Command) (admin.Result, error) {
	return admin.Result{Stdout: []byte(ofAnother("other:abcdefgh@10.9.9.9:4501"))}, nil
}

func (misled) Open(ctx context.Context, _ admin.Command) (*admin.Session, error) {
	return admintest.Serve(ctx, func(_ context.Context, stdin io.Reader, stdout, stderr io.Writer) int {
		answer := ""
		for lines := bufio.NewScanner(stdin); lines.Scan(); {
			switch line := lines.Text(); {
			case strings.HasPrefix(line, "sync_"):
				fmt.Fprintf(stderr, "ERROR: Unknown command `%s'. Try `help'?\n", line)
			case line == "help options":
				_, _ = io.WriteString(stdout, answer+admintest.OptionsHelp)
				answer = ""
			default:
				answer = "\n" + ofAnother("other:abcdefgh@10.9.9.9:4501") + "\n"
			}
		}
		return 0
	}), nil
}

// TestAPodInWhichFdbcliReachesAnotherDatabaseIsLeft reads no status from there, and the next one elsewhere.
func TestAPodInWhichFdbcliReachesAnotherDatabaseIsLeft(t *testing.T) {
	for name, open := range map[string]bool{"by an fdbcli that is kept open": true, "by single runs": false} {
		t.Run(name, func(t *testing.T) {
			f := settled(t)
			if open {
				defer f.cluster.KeepOpen()()
			}
			s := f.observe(plan.ClusterResource | plan.Pods)
			wrong, reach := live.ToolPods(s.Cluster, s.Pods)[0].Name, f.cluster.Transport
			f.cluster.Transport = func(pod *corev1.Pod) admin.Transport {
				if pod.Name == wrong {
					return misled{reach(pod)}
				}
				return reach(pod)
			}
			if s := f.observe(plan.ClusterResource | plan.Pods | plan.Database); s.Database.Unreachable != "the status document is of another database" {
				t.Errorf("unreachable: %q", s.Database.Unreachable)
			}
			if _, ok := f.cluster.PollDatabase(t.Context()); ok {
				t.Error("the other database is polled")
			}
			if s := f.observe(plan.ClusterResource | plan.Pods | plan.Database); s.Database.Status == nil {
				t.Errorf("unreachable: %q", s.Database.Unreachable)
			}
			if _, ok := f.cluster.PollDatabase(t.Context()); ok != open {
				t.Errorf("polled: %t", ok)
			}
		})
	}
}
