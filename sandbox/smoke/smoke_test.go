// Package smoke starts a built sandbox and looks at it as a user would.
package smoke

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"
)

// limit bounds every wait of this test.
const limit = 10 * time.Minute

// sandbox is one started for this test.
type sandbox struct {
	program, dir string
	config       *rest.Config
	client       *kubernetes.Clientset
}

// up starts a sandbox from the built program, which `make build-sandbox`
// leaves in bin/; FDB_SANDBOX_BIN names another one.
func up(t *testing.T) *sandbox {
	t.Helper()
	program := os.Getenv("FDB_SANDBOX_BIN")
	if program == "" {
		program = filepath.Join("..", "..", "bin", "fdb-sandbox")
	}
	if _, err := os.Stat(program); err != nil {
		t.Skipf("SKIPPED: there is no built sandbox (run make build-sandbox, or set FDB_SANDBOX_BIN): %v", err)
	}
	s := &sandbox{program: program, dir: t.TempDir()}
	t.Cleanup(func() { s.run(t, "down") })
	s.start(t)
	return s
}

func (s *sandbox) start(t *testing.T) {
	t.Helper()
	out := s.run(t, "up", "--detach", "--nodes", "3", "--speed", "20", "--node-grace", "5s")
	if want := "export KUBECONFIG=" + s.dir + "/kubeconfig\n"; !strings.HasSuffix(out, want) {
		t.Fatalf("the last line is not %q:\n%s", want, out)
	}
	var err error
	if s.config, err = clientcmd.BuildConfigFromFlags("", s.dir+"/kubeconfig"); err != nil {
		t.Fatal(err)
	}
	s.client = kubernetes.NewForConfigOrDie(s.config)
}

// run runs a command of the sandbox's program.
func (s *sandbox) run(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.program, append(args, "--dir", s.dir)...)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("fdb-sandbox %s: %v\n%s%s", strings.Join(args, " "), err, out, errOut.String())
	}
	return string(out)
}

func (s *sandbox) apply(t *testing.T, manifest string) {
	t.Helper()
	for document := range strings.SplitSeq(manifest, "\n---\n") {
		raw, err := yaml.ToJSON([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, in := t.Context(), metav1.CreateOptions{}
		switch o := object.(type) {
		case *corev1.ConfigMap:
			_, err = s.client.CoreV1().ConfigMaps("default").Create(ctx, o, in)
		case *corev1.Service:
			_, err = s.client.CoreV1().Services("default").Create(ctx, o, in)
		case *corev1.PersistentVolumeClaim:
			_, err = s.client.CoreV1().PersistentVolumeClaims("default").Create(ctx, o, in)
		case *corev1.Pod:
			_, err = s.client.CoreV1().Pods("default").Create(ctx, o, in)
		default:
			t.Fatalf("unexpected %T", o)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// eventually waits until a claim is true.
func eventually(t *testing.T, claim string, is func() bool) {
	t.Helper()
	end := time.Now().Add(limit)
	for !is() {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", limit, claim)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (s *sandbox) pod(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	p, err := s.client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (s *sandbox) ready(t *testing.T, name string) func() bool {
	t.Helper()
	return func() bool {
		for _, c := range s.pod(t, name).Status.Conditions {
			if c.Type == corev1.PodReady {
				return c.Status == corev1.ConditionTrue
			}
		}
		return false
	}
}

// exec runs a command in the pod's main container.
func (s *sandbox) exec(t *testing.T, protocol, pod, stdin string, argv ...string) (out string, code int, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	q := s.client.CoreV1().RESTClient().Post().Resource("pods").Namespace("default").Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: "foundationdb", Command: argv, Stdin: stdin != "", Stdout: true, Stderr: true}, scheme.ParameterCodec)
	var e remotecommand.Executor
	if protocol == "SPDY" {
		e, err = remotecommand.NewSPDYExecutor(s.config, "POST", q.URL())
	} else {
		e, err = remotecommand.NewWebSocketExecutor(s.config, "GET", q.URL().String())
	}
	if err != nil {
		t.Fatal(err)
	}
	var o, errOut bytes.Buffer // one each: they are written at the same time
	streams := remotecommand.StreamOptions{Stdout: &o, Stderr: &errOut}
	if stdin != "" {
		streams.Stdin = strings.NewReader(stdin)
	}
	err = e.StreamWithContext(ctx, streams)
	if exit, ok := errors.AsType[utilexec.CodeExitError](err); ok {
		return o.String() + errOut.String(), exit.Code, nil
	}
	return o.String() + errOut.String(), 0, err
}

const manifest = `
apiVersion: v1
kind: ConfigMap
metadata: {name: fdb-config}
data:
  cluster-file: "smoke:one@s1.fdb.default.svc.cluster.local:4501"
  config: |
    {"version":"7.3.79","arguments":[
     {"value":"--cluster_file=/var/fdb/data/fdb.cluster"},{"value":"--seed_cluster_file=/var/dynamic-conf/fdb.cluster"},
     {"type":"Concatenate","values":[{"value":"--public_address=["},{"type":"Environment","source":"FDB_PUBLIC_IP"},{"value":"]:"},{"type":"ProcessNumber","offset":4499,"multiplier":2}]},
     {"value":"--class=storage"},{"value":"--datadir=/var/fdb/data/1"},
     {"type":"Concatenate","values":[{"value":"--locality_dns_name="},{"type":"Environment","source":"FDB_DNS_NAME"}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: fdb}
spec: {clusterIP: None, selector: {app: fdb}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: s1-data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 16Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: s1, labels: {app: fdb}}
spec:
  hostname: s1
  subdomain: fdb
  containers:
  - name: foundationdb
    image: foundationdb/fdb-kubernetes-monitor:7.3.79
    args: [--input-dir, /var/dynamic-conf, --log-path, /var/log/fdb-trace-logs/monitor.log]
    env:
    - {name: FDB_PUBLIC_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
    - {name: FDB_DNS_NAME, value: s1.fdb.default.svc.cluster.local}
    securityContext: {readOnlyRootFilesystem: true}
    volumeMounts:
    - {name: data, mountPath: /var/fdb/data}
    - {name: config-map, mountPath: /var/dynamic-conf}
    - {name: fdb-trace-logs, mountPath: /var/log/fdb-trace-logs}
  volumes:
  - {name: data, persistentVolumeClaim: {claimName: s1-data}}
  - {name: config-map, configMap: {name: fdb-config, items: [{key: config, path: config.json}, {key: cluster-file, path: fdb.cluster}]}}
  - {name: fdb-trace-logs, emptyDir: {}}
`

func TestSandboxRunsADatabase(t *testing.T) {
	s := up(t)
	s.apply(t, manifest)
	eventually(t, "the pod is ready", s.ready(t, "s1"))
	eventually(t, "the pod has a name", func() bool {
		_, code, err := s.exec(t, "WebSocket", "s1", "", "getent", "hosts", "s1.fdb.default.svc.cluster.local")
		return err == nil && code == 0
	})
	eventually(t, "a database is created", func() bool {
		out, _, err := s.exec(t, "WebSocket", "s1", "", "fdbcli", "-C", "/var/fdb/data/fdb.cluster", "--exec", "configure new single ssd")
		return err == nil && strings.Contains(out, "Database created")
	})
	eventually(t, "the database is available", func() bool {
		out, _, err := s.exec(t, "SPDY", "s1", "", "fdbcli", "-C", "/var/fdb/data/fdb.cluster", "--exec", "status json")
		return err == nil && strings.Contains(out, `"available" : true`)
	})
	t.Run("streams carry input, its end and exit codes", func(t *testing.T) { streams(t, s) })
	t.Run("a changed config map reaches the monitor", func(t *testing.T) { configMapReaches(t, s) })
	t.Run("faults come and go", func(t *testing.T) { faultsComeAndGo(t, s) })
	t.Run("a restart keeps the pod's address and files", func(t *testing.T) { restartKeeps(t, s) })
	t.Run("a claim that is deleted takes its volume along", func(t *testing.T) { claimGoes(t, s) })
	t.Run("nothing is left when it is down", func(t *testing.T) { nothingIsLeft(t, s) })
}

func streams(t *testing.T, s *sandbox) {
	t.Helper()
	for _, protocol := range []string{"WebSocket", "SPDY"} {
		out, code, err := s.exec(t, protocol, "s1", "hello", "sh", "-c", "cat; exit 7")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("hello", out); diff != "" || code != 7 {
			t.Errorf("%s: exit code %d, output (-want +got):\n%s", protocol, code, diff)
		}
	}
}

func configMapReaches(t *testing.T, s *sandbox) {
	t.Helper()
	m, err := s.client.CoreV1().ConfigMaps("default").Get(t.Context(), "fdb-config", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m.Data["config"] = strings.ReplaceAll(m.Data["config"], "--class=storage", "--class=stateless")
	if _, err := s.client.CoreV1().ConfigMaps("default").Update(t.Context(), m, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the monitor has accepted it", func() bool {
		return strings.Contains(s.pod(t, "s1").Annotations["foundationdb.org/launcher-current-configuration"], "--class=stateless")
	})
}

func faultsComeAndGo(t *testing.T, s *sandbox) {
	t.Helper()
	s.run(t, "pod", "fail", "s1", "NotReady")
	eventually(t, "the pod is not ready", func() bool { return !s.ready(t, "s1")() })
	s.run(t, "pod", "heal", "s1")
	eventually(t, "the pod is ready", s.ready(t, "s1"))

	s.run(t, "api", "conflict", "--verb", "GET", "--resource", "pods", "--times", "1")
	_, err := s.client.CoreV1().Pods("default").Get(t.Context(), "s1", metav1.GetOptions{})
	if !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict", err)
	}
	s.pod(t, "s1")

	s.run(t, "pod", "fail", "s1", "ExecCut=3")
	eventually(t, "a command's connection breaks", func() bool {
		_, code, err := s.exec(t, "WebSocket", "s1", "", "sh", "-c", "echo 123456; sleep 1")
		return err != nil && code == 0
	})
	s.run(t, "pod", "heal", "s1")
}

func restartKeeps(t *testing.T, s *sandbox) {
	t.Helper()
	before := s.pod(t, "s1")
	if _, code, err := s.exec(t, "WebSocket", "s1", "", "touch", "/var/fdb/data/mark"); code != 0 || err != nil {
		t.Fatalf("exit code %d, error %v", code, err)
	}
	s.run(t, "down")
	s.start(t)
	eventually(t, "the container was restarted", func() bool {
		c := s.pod(t, "s1").Status.ContainerStatuses[0]
		return c.RestartCount > before.Status.ContainerStatuses[0].RestartCount && c.Ready
	})
	if got := s.pod(t, "s1").Status.PodIP; got != before.Status.PodIP {
		t.Errorf("address %s became %s", before.Status.PodIP, got)
	}
	if _, code, err := s.exec(t, "WebSocket", "s1", "", "ls", "/var/fdb/data/mark"); code != 0 || err != nil {
		t.Errorf("the volume is another one: exit code %d, error %v", code, err)
	}
}

func claimGoes(t *testing.T, s *sandbox) {
	t.Helper()
	ctx := t.Context()
	if err := s.client.CoreV1().PersistentVolumeClaims("default").Delete(ctx, "s1-data", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	grace := int64(1)
	if err := s.client.CoreV1().Pods("default").Delete(ctx, "s1", metav1.DeleteOptions{GracePeriodSeconds: &grace}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the volume is removed", func() bool {
		left, err := s.client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
		files, _ := filepath.Glob(s.dir + "/volumes/*")
		return err == nil && len(left.Items) == 0 && len(files) == 0
	})
}

func nothingIsLeft(t *testing.T, s *sandbox) {
	t.Helper()
	s.run(t, "down")
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range processes {
		line, err := os.ReadFile(file)
		if err == nil && bytes.Contains(line, []byte(s.dir)) {
			t.Errorf("still there: %s", bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
		}
	}
}
