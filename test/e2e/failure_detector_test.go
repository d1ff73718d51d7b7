package e2e

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// detecting adds a failure detector to a cluster.
const detecting = counts + `
automationOptions:
  replacements:
    failureDetectionCronJob:
      enabled: true
      image: registry.example.com/kubectl-fdb:placeholder
      template:
        jobTemplate:
          spec:
            template:
              spec:
                containers:
                - name: kubectl-fdb
                  env:
                  - {name: LANG, value: C}
`

// grantDetection gives the ServiceAccount of a watch the permissions of the jobs of a failure
// detector as well.
func grantDetection(t *testing.T, ns string) {
	t.Helper()
	kubectl(t, "apply", "-n", ns, "-f", "../../manifests/rbac/detect-failures.yaml")
	kubectl(t, "create", "rolebinding", "kubectl-fdb-detect-failures", "-n", ns, "--role=kubectl-fdb-detect-failures", "--serviceaccount="+ns+":kubectl-fdb")
}

// detect runs what a job runs, as its ServiceAccount.
func detect(t *testing.T, ns string, args ...string) result {
	t.Helper()
	return fdb(t, append([]string{"detect-failures", "c", "-n", ns, "--as", "system:serviceaccount:" + ns + ":kubectl-fdb"}, args...)...)
}

func get(t *testing.T, ns, path string, object ...string) string {
	t.Helper()
	return kubectl(t, append([]string{"get", "-n", ns, "-o", "jsonpath=" + path, "--ignore-not-found"}, object...)...)
}

const failuresSeen = `{.metadata.annotations.kubectl-fdb/failures-seen}`

// TestAFailureDetectorWakesAWatch has a sandbox of its own: its operator counts for all namespaces.
func TestAFailureDetectorWakesAWatch(t *testing.T) {
	t.Parallel()
	alone(t)
	ns := namespace(t)
	grantWatch(t, ns)
	grantDetection(t, ns)
	apply(t, ns, cluster("c", detecting))
	w := startWatchOf(t, ns, "c", "--resync", "20m")
	w.until("a cluster that is up", settled)

	const job = "c-failure-detector"
	if owner := get(t, ns, "{.metadata.ownerReferences[0].kind}", "cronjob", job); owner != "FoundationDBCluster" {
		t.Errorf("the CronJob belongs to %q", owner)
	}
	if variables := get(t, ns, "{.spec.jobTemplate.spec.template.spec.containers[0].env[*].name}", "cronjob", job); !strings.Contains(variables, "LANG") || !strings.Contains(variables, "NAMESPACE") {
		t.Errorf("the container has the variables %q", variables)
	}
	if schedule := get(t, ns, "{.spec.schedule}", "cronjob", job); !strings.HasSuffix(schedule, " */2 * * *") {
		t.Errorf("the schedule is %q", schedule)
	}
	if generation := get(t, ns, "{.metadata.generation}", "cronjob", job); generation != "1" {
		t.Errorf("the CronJob was updated: generation %s", generation)
	}
	want(t, detect(t, ns), 0)
	if seen := get(t, ns, failuresSeen, "fdb", "c"); seen != "" {
		t.Errorf("failures were seen at %s in a healthy cluster", seen)
	}

	kubectl(t, "annotate", "fdb", "c", "-n", ns, "kubectl-fdb/failures-seen="+time.Now().UTC().Format(time.RFC3339))
	changed := time.Now()
	const resync = 20 * time.Minute
	woken := w.until("a pass after the annotation", func(l watchLine) bool { return l.Event == "wait-ended" && l.Changed })
	if took := time.Since(changed); took > resync/2 {
		t.Errorf("the annotation was seen after %s: %+v", took, woken)
	}
	w.until("a reconciled cluster again", settled)
	w.end(t, syscall.SIGTERM, 0)
	detectsWithoutAWatch(t, ns)
	livesWithItsCluster(t, ns, job)
}

// detectsWithoutAWatch lets a pod fail while nothing else runs.
func detectsWithoutAWatch(t *testing.T, ns string) {
	t.Helper()
	pod := kubectl(t, "get", "pods", "-n", ns, "-l", "foundationdb.org/fdb-process-class=storage", "-o", "jsonpath={.items[0].metadata.name}")
	kubectl(t, "delete", "pod", pod, "-n", ns)
	status := get(t, ns, "{.status}", "fdb", "c")
	before := get(t, ns, failuresSeen, "fdb", "c")

	kubectl(t, "create", "-n", ns, "-f", leaseOf(t, "fdb-kubernetes-operator", "operator-7d9f"))
	time.Sleep(time.Second) // the annotation has seconds
	beside := detect(t, ns)
	kubectl(t, "delete", "lease", "fdb-kubernetes-operator", "-n", ns) // gates look at all namespaces
	want(t, beside, 1)
	annotated := get(t, ns, failuresSeen, "fdb", "c")
	if after := get(t, ns, "{.status}", "fdb", "c"); after != status || annotated == before || !strings.Contains(beside.stderr, "the status is not written") {
		t.Errorf("beside an operator: annotated %s after %s, stderr %s, status\n%s\nbefore\n%s", annotated, before, beside.stderr, after, status)
	}

	want(t, detect(t, ns, "--exit-zero"), 0)
	if after := get(t, ns, "{.status.processGroups[*].processGroupConditions[*].type}", "fdb", "c"); !strings.Contains(after, "MissingPod") {
		t.Errorf("the status has the conditions %q", after)
	}
	if missing := get(t, ns, "{.metadata.name}", "pod", pod); missing != "" {
		t.Errorf("detecting created pod %s", missing)
	}
	status = fdb(t, "status", "c", "-n", ns).stdout
	if !strings.Contains(status, "Detector") || !strings.Contains(status, "last saw a failure") {
		t.Errorf("the status shows no failure:\n%s", status)
	}
}

// livesWithItsCluster disables and enables the failure detector, then deletes the cluster.
func livesWithItsCluster(t *testing.T, ns, job string) {
	t.Helper()
	patch := func(enabled string) {
		kubectl(t, "patch", "fdb", "c", "-n", ns, "--type=merge", "-p", `{"spec":{"automationOptions":{"replacements":{"enabled":`+enabled+`}}}}`)
		want(t, fdb(t, "reconcile", "c", "-n", ns, "--yes", "--wait"), 0)
	}
	patch("false")
	if name := get(t, ns, "{.metadata.name}", "cronjob", job); name != "" {
		t.Error("the CronJob exists without replacements")
	}
	patch("true")
	if name := get(t, ns, "{.metadata.name}", "cronjob", job); name != job {
		t.Errorf("with replacements the CronJob is %q", name)
	}
	kubectl(t, "delete", "fdb", "c", "-n", ns)
	kubectl(t, "wait", "--for=delete", "cronjob/"+job, "-n", ns, "--timeout="+patience)
}
