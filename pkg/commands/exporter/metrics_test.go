package exporter_test

import (
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestMetricsArePrintedWithoutPasses(t *testing.T) {
	g := commandstest.Up(t)
	if code := g.Run("metrics", "sample"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	for _, line := range []string{`kubectl_fdb_database_available{fdb_cluster="sample",fdb_namespace="fdb"} 1`, `kubectl_fdb_generation{`, `kubectl_fdb_process_groups{`, `kubectl_fdb_operation_known{`} {
		if !strings.Contains(g.Out.String(), line) {
			t.Errorf("no %s in\n%s", line, &g.Out)
		}
	}
	for _, name := range []string{"kubectl_fdb_passes_total", "kubectl_fdb_retry_after_seconds"} {
		if strings.Contains(g.Out.String(), name) {
			t.Errorf("%s although no pass runs:\n%s", name, &g.Out)
		}
	}
}

func TestUnknownMetricsAreNotPrinted(t *testing.T) {
	g := commandstest.Up(t)
	commandstest.WithSilentStorage(g)
	if code := g.Run("metrics", "sample"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	if text := g.Out.String(); !strings.Contains(text, `kubectl_fdb_database_answered{fdb_cluster="sample",fdb_namespace="fdb"} 0`) || strings.Contains(text, "kubectl_fdb_database_available") {
		t.Error(text)
	}
}

func TestMetricsRejectsInvalidFlags(t *testing.T) {
	for _, args := range []string{"metrics sample --metrics-addr 8080", "metrics sample --interval 10ms", "metrics a b"} {
		g := commandstest.NewGiven(t)
		if code := g.Run(strings.Fields(args)...); code != exit.ExitUsage {
			t.Errorf("%s: exit code %d: %s", args, code, &g.Err)
		}
	}
}

var servingMetrics = []string{"metrics", "sample", "--metrics-addr", "127.0.0.1:0"}

func TestMetricsAreServedWithoutPasses(t *testing.T) {
	g := commandstest.Up(t)
	paused := `kubectl_fdb_paused{fdb_cluster="sample",fdb_namespace="fdb"} `
	code := g.ServedMetrics(syscall.SIGTERM, servingMetrics, func(code int, page string) {
		if code != http.StatusOK || !strings.Contains(page, paused+"0") {
			t.Errorf("%d %s", code, page)
		}
		g.Cluster.Resource.Spec.Skip = true
	}, func(code int, page string) {
		if code != http.StatusOK || !strings.Contains(page, paused+"1") {
			t.Errorf("after a change: %d %s", code, page)
		}
	})
	if code != exit.ExitDone {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
	if code := commandstest.Up(t).ServedMetrics(os.Interrupt, servingMetrics); code == exit.ExitDone {
		t.Error("Ctrl-C ends with 0")
	}
}

// Old values would be taken for current ones.
func TestMetricsAreRefusedWhileTheClusterCannotBeRead(t *testing.T) {
	g := commandstest.Up(t)
	g.ServedMetrics(syscall.SIGTERM, servingMetrics, func(code int, page string) {
		if code != http.StatusOK {
			t.Errorf("%d %s", code, page)
		}
		g.Connect = func() (session.Session, error) { return nil, errors.New("no route to the API server") }
	}, func(code int, page string) {
		if code != http.StatusServiceUnavailable || !strings.Contains(page, "no route to the API server") {
			t.Errorf("after a failed read: %d %s", code, page)
		}
		g.Connect = nil
	}, func(code int, page string) {
		if code != http.StatusOK {
			t.Errorf("after the next read: %d %s", code, page)
		}
	})
	if !strings.Contains(g.Err.String(), "will retry every 30s: no route to the API server") {
		t.Errorf("not reported: %s", &g.Err)
	}
}

func TestTheMetricsServerEndsWithItsCluster(t *testing.T) {
	g := commandstest.Up(t)
	code := g.ServedMetrics(syscall.SIGTERM, servingMetrics, func(int, string) {
		g.Connect = func() (session.Session, error) {
			return nil, &live.NotFoundError{Key: types.NamespacedName{Namespace: "fdb", Name: "sample"}}
		}
	})
	if code != exit.ExitDone || !strings.Contains(g.Err.String(), "sample was deleted") {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
}

func TestTheExporterManifestRunsWithReadPermissionsOnly(t *testing.T) {
	objects := commandstest.Manifests(t, "../../../manifests/observe/exporter.yaml")
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
	g := commandstest.Up(t)
	g.ServedMetrics(syscall.SIGTERM, args, func(code int, page string) {
		if code != http.StatusOK || !strings.Contains(page, "kubectl_fdb_database_available") {
			t.Errorf("%d %s", code, page)
		}
	})
}
