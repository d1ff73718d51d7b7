package commands

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestMetricsArePrintedWithoutPasses(t *testing.T) {
	g := up(t)
	if code := g.run("metrics", "sample"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.err)
	}
	for _, line := range []string{`kubectl_fdb_database_available{fdb_cluster="sample",fdb_namespace="fdb"} 1`, `kubectl_fdb_generation{`, `kubectl_fdb_process_groups{`, `kubectl_fdb_operation_known{`} {
		if !strings.Contains(g.out.String(), line) {
			t.Errorf("no %s in\n%s", line, &g.out)
		}
	}
	for _, name := range []string{"kubectl_fdb_passes_total", "kubectl_fdb_retry_after_seconds"} {
		if strings.Contains(g.out.String(), name) {
			t.Errorf("%s although no pass runs:\n%s", name, &g.out)
		}
	}
}

func TestUnknownMetricsAreNotPrinted(t *testing.T) {
	g := up(t)
	withSilentStorage(g)
	if code := g.run("metrics", "sample"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.err)
	}
	if text := g.out.String(); !strings.Contains(text, `kubectl_fdb_database_answered{fdb_cluster="sample",fdb_namespace="fdb"} 0`) || strings.Contains(text, "kubectl_fdb_database_available") {
		t.Error(text)
	}
}

func TestMetricsRejectsInvalidFlags(t *testing.T) {
	for _, args := range []string{"metrics sample --metrics-addr 8080", "metrics sample --interval 10ms", "metrics a b"} {
		g := newGiven(t)
		if code := g.run(strings.Fields(args)...); code != exit.ExitUsage {
			t.Errorf("%s: exit code %d: %s", args, code, &g.err)
		}
	}
}

// servedMetrics runs `metrics --metrics-addr`. At each pause it takes the next step, with what the page has then; the
// signal comes after the last one.
func (g *given) servedMetrics(signal os.Signal, args []string, steps ...func(code int, page string)) int {
	g.t.Helper()
	defer goleak.VerifyNone(g.t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancelCause(g.t.Context())
	defer cancel(nil)
	address, next := regexp.MustCompile(`metrics on (http://\S+/metrics)`), 0
	g.clock.onTimer = func(d time.Duration) bool {
		if d != 30*time.Second {
			return false
		}
		if next == len(steps) {
			cancel(&exit.InterruptedError{Signal: signal})
			return true
		}
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		answer, err := client.Get(address.FindStringSubmatch(g.err.String())[1])
		if err != nil {
			g.t.Error(err)
			return false
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		next++
		steps[next-1](answer.StatusCode, string(text))
		return false
	}
	code := g.runIn(ctx, args...)
	if next < len(steps) {
		g.t.Errorf("ended after %d of %d steps: %s", next, len(steps), &g.err)
	}
	return code
}

var servingMetrics = []string{"metrics", "sample", "--metrics-addr", "127.0.0.1:0"}

func TestMetricsAreServedWithoutPasses(t *testing.T) {
	g := up(t)
	paused := `kubectl_fdb_paused{fdb_cluster="sample",fdb_namespace="fdb"} `
	code := g.servedMetrics(syscall.SIGTERM, servingMetrics, func(code int, page string) {
		if code != http.StatusOK || !strings.Contains(page, paused+"0") {
			t.Errorf("%d %s", code, page)
		}
		g.cluster.Resource.Spec.Skip = true
	}, func(code int, page string) {
		if code != http.StatusOK || !strings.Contains(page, paused+"1") {
			t.Errorf("after a change: %d %s", code, page)
		}
	})
	if code != exit.ExitDone {
		t.Errorf("exit code %d: %s", code, &g.err)
	}
	if code := up(t).servedMetrics(os.Interrupt, servingMetrics); code == exit.ExitDone {
		t.Error("Ctrl-C ends with 0")
	}
}

// Old values would be taken for current ones.
func TestMetricsAreRefusedWhileTheClusterCannotBeRead(t *testing.T) {
	g := up(t)
	g.servedMetrics(syscall.SIGTERM, servingMetrics, func(code int, page string) {
		if code != http.StatusOK {
			t.Errorf("%d %s", code, page)
		}
		g.connect = func() (session.Session, error) { return nil, errors.New("no route to the API server") }
	}, func(code int, page string) {
		if code != http.StatusServiceUnavailable || !strings.Contains(page, "no route to the API server") {
			t.Errorf("after a failed read: %d %s", code, page)
		}
		g.connect = nil
	}, func(code int, page string) {
		if code != http.StatusOK {
			t.Errorf("after the next read: %d %s", code, page)
		}
	})
	if !strings.Contains(g.err.String(), "will retry every 30s: no route to the API server") {
		t.Errorf("not reported: %s", &g.err)
	}
}

func TestTheMetricsServerEndsWithItsCluster(t *testing.T) {
	g := up(t)
	code := g.servedMetrics(syscall.SIGTERM, servingMetrics, func(int, string) {
		g.connect = func() (session.Session, error) {
			return nil, &live.NotFoundError{Key: types.NamespacedName{Namespace: "fdb", Name: "sample"}}
		}
	})
	if code != exit.ExitDone || !strings.Contains(g.err.String(), "sample was deleted") {
		t.Errorf("exit code %d: %s", code, &g.err)
	}
}

func TestTheExporterManifestRunsWithReadPermissionsOnly(t *testing.T) {
	objects := manifests(t, "../../manifests/observe/exporter.yaml")
	account, binding, deployment := objects[0].(*corev1.ServiceAccount), objects[1].(*rbacv1.RoleBinding), objects[2].(*appsv1.Deployment)
	spec := deployment.Spec.Template.Spec
	if spec.ServiceAccountName != account.Name || binding.Subjects[0].Name != account.Name || binding.RoleRef.Name != "kubectl-fdb-read" {
		t.Errorf("the pods have the account %s, %v is bound to %s", spec.ServiceAccountName, binding.Subjects, binding.RoleRef.Name)
	}
	if s := spec.Containers[0].SecurityContext; *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || !*spec.SecurityContext.RunAsNonRoot {
		t.Errorf("%+v, %+v", s, spec.SecurityContext)
	}
	args := slices.Clone(spec.Containers[0].Args)
	for i := range args {
		args[i] = strings.NewReplacer("$(NAMESPACE)", "fdb", "sample-cluster", "sample", "=:8080", "=127.0.0.1:0").Replace(args[i])
	}
	g := up(t)
	g.servedMetrics(syscall.SIGTERM, args, func(code int, page string) {
		if code != http.StatusOK || !strings.Contains(page, "kubectl_fdb_database_available") {
			t.Errorf("%d %s", code, page)
		}
	})
}
