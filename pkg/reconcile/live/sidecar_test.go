package live_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// sidecars answers as the sidecar of every split pod does.
type sidecars struct {
	mu    sync.Mutex
	calls []string
	// answers by method and path; what is not there is answered with 404.
	answers map[string]string
	// broken makes the sidecar fail at these.
	broken string
}

func (s *sidecars) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := r.Method + " " + r.URL.Path
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
	text, found := s.answers[call]
	switch {
	case s.broken != "" && strings.HasPrefix(call, s.broken):
		http.Error(w, "no space left", http.StatusInternalServerError)
	case !found:
		http.NotFound(w, r)
	default:
		fmt.Fprint(w, text)
	}
}

func (s *sidecars) requested() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := slices.Clone(s.calls)
	slices.Sort(calls)
	return calls
}

// forwarder is an API server that knows nothing but pods/portforward, and that only
// over SPDY, as old ones and some proxies do.
type forwarder struct {
	t  *testing.T
	to string // where connections to the sidecars' port go

	mu       sync.Mutex
	paths    []string
	upgrades []string
}

func (f *forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.paths = append(f.paths, r.URL.Path)
	f.upgrades = append(f.upgrades, strings.ToLower(r.Header.Get("Upgrade")))
	f.mu.Unlock()
	switch {
	case strings.Contains(r.URL.Path, "/pods/gone/"):
		http.NotFound(w, r)
	case strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		http.Error(w, "what is a WebSocket?", http.StatusBadRequest)
	default:
		f.forward(w, r)
	}
}

func (f *forwarder) forward(w http.ResponseWriter, r *http.Request) {
	if _, err := httpstream.Handshake(r, w, []string{portforward.PortForwardProtocolV1Name}); err != nil {
		f.t.Errorf("shaking hands: %v", err)
		return
	}
	var mu sync.Mutex
	complaints := map[string]httpstream.Stream{}
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, replySent <-chan struct{}) error {
		id := stream.Headers().Get(corev1.PortForwardRequestIDHeader)
		mu.Lock()
		defer mu.Unlock()
		if stream.Headers().Get(corev1.StreamType) == corev1.StreamTypeError {
			complaints[id] = stream
			return nil
		}
		if port := stream.Headers().Get(corev1.PortHeader); port != "8080" {
			f.t.Errorf("asked for port %s", port)
		}
		complaint := complaints[id]
		go func() {
			<-replySent
			f.copy(stream, complaint)
		}()
		return nil
	})
	if conn == nil {
		f.t.Error("no SPDY connection")
		return
	}
	<-conn.CloseChan()
}

func (f *forwarder) copy(stream, complaint httpstream.Stream) {
	defer func() { _ = complaint.Close() }()
	defer func() { _ = stream.Close() }()
	conn, err := net.Dial("tcp", f.to)
	if err != nil {
		_, _ = io.WriteString(complaint, err.Error())
		return
	}
	defer func() { _ = conn.Close() }()
	go func() { _, _ = io.Copy(conn, stream) }()
	_, _ = io.Copy(stream, conn)
}

const (
	theConnectionString = "sample:abc@10.1.0.1:4501"
	hashOfClusterFile   = "0123"
	hashOfConf          = "4567"
)

// splitCluster is a cluster with the split image and one running storage pod.
func splitCluster(t *testing.T, edit func(*corev1.Pod)) (*field, *sidecars, *forwarder) {
	t.Helper()
	cluster := sample()
	cluster.Spec.ImageType = new(v1beta2.ImageTypeSplit)
	cluster.Status.ConnectionString = theConnectionString
	cluster.Status.RunningVersion = "7.3.79"
	cluster.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{{ProcessGroupID: "storage-1", ProcessClass: v1beta2.ProcessClassStorage}}
	pod := podOf(t, cluster)
	if edit != nil {
		edit(pod)
	}
	f := newField(t, cluster, pod)
	answers := &sidecars{answers: map[string]string{
		"GET /substitutions":              `{"FDB_ZONE_ID":"node-1","BINARY_DIR":"/usr/bin"}`,
		"GET /check_hash/fdb.cluster":     hashOfClusterFile,
		"GET /check_hash/fdbmonitor.conf": hashOfConf + "\n",
		"POST /copy_files":                "OK\n",
		"POST /copy_monitor_conf":         "OK\n",
	}}
	pods := httptest.NewServer(answers)
	api := &forwarder{t: t, to: strings.TrimPrefix(pods.URL, "http://")}
	server := httptest.NewServer(api)
	t.Cleanup(pods.Close)
	t.Cleanup(server.CloseClientConnections)
	f.cluster.Config = &rest.Config{Host: server.URL}
	return f, answers, api
}

// podOf is the one pod of the resource, running and without a confirmed configuration.
func podOf(t *testing.T, cluster *v1beta2.FoundationDBCluster) *corev1.Pod {
	t.Helper()
	normalized, err := cluster.Normalized()
	if err != nil {
		t.Fatal(err)
	}
	pod, err := objects.Pod(normalized, normalized.Status.ProcessGroups[0])
	if err != nil {
		t.Fatal(err)
	}
	pod.Spec.NodeName = "node-1"
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.1.0.1", PodIPs: []corev1.PodIP{{IP: "10.1.0.1"}}}
	return pod
}

const splitPod = "sample-storage-1"

func TestASidecarIsQueriedThroughTheAPIServer(t *testing.T) {
	f, sidecar, api := splitCluster(t, nil)
	s := f.observe(plan.Everything &^ plan.Database)
	want := plan.PodReport{
		Variables: map[string]string{"FDB_ZONE_ID": "node-1", "BINARY_DIR": "/usr/bin"},
		Hashes:    map[string]string{"fdb.cluster": hashOfClusterFile, "fdbmonitor.conf": hashOfConf},
	}
	if diff := cmp.Diff(want, s.PodFiles[splitPod]); diff != "" {
		t.Errorf("the pod reports (-want +got):\n%s", diff)
	}
	calls := []string{"GET /check_hash/fdb.cluster", "GET /check_hash/fdbmonitor.conf", "GET /substitutions"}
	if diff := cmp.Diff(calls, sidecar.requested()); diff != "" {
		t.Errorf("the sidecar received (-want +got):\n%s", diff)
	}
	path := "/api/v1/namespaces/fdb/pods/" + splitPod + "/portforward"
	if diff := cmp.Diff([]string{path, path}, api.paths); diff != "" {
		t.Errorf("the API server received (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"websocket", "spdy/3.1"}, api.upgrades); diff != "" {
		t.Errorf("upgrades (-want +got):\n%s", diff)
	}
}

func TestDuringAnUpgradeEverySidecarIsCheckedForTheNewBinary(t *testing.T) {
	for name, there := range map[string]bool{"it is there": true, "it is not": false} {
		t.Run(name, func(t *testing.T) {
			f, sidecar, _ := splitCluster(t, nil)
			f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) { s.Version = "7.4.6" })
			if there {
				sidecar.answers["GET /is_present/bin/7.4.6/fdbserver"] = "OK\n"
			}
			s := f.observe(plan.Everything &^ plan.Database)
			if diff := cmp.Diff(map[string]bool{"bin/7.4.6/fdbserver": there}, s.PodFiles[splitPod].Present); diff != "" {
				t.Errorf("present (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFileThatIsNotInThePodHasNoHash(t *testing.T) {
	f, sidecar, _ := splitCluster(t, nil)
	delete(sidecar.answers, "GET /check_hash/fdbmonitor.conf")
	s := f.observe(plan.Everything &^ plan.Database)
	if diff := cmp.Diff(map[string]string{"fdb.cluster": hashOfClusterFile}, s.PodFiles[splitPod].Hashes); diff != "" {
		t.Errorf("hashes (-want +got):\n%s", diff)
	}
}

func TestASidecarThatCannotBeQueriedIsUnreachable(t *testing.T) {
	tests := map[string]struct {
		edit  func(*corev1.Pod)
		given func(*field, *sidecars, *forwarder)
		why   string
	}{
		"when it wants a client certificate": {
			edit: func(pod *corev1.Pod) {
				for i := range pod.Spec.Containers {
					if pod.Spec.Containers[i].Name == v1beta2.ContainerSidecar {
						pod.Spec.Containers[i].Args = append(pod.Spec.Containers[i].Args, "--tls")
					}
				}
			}, why: "client certificate",
		},
		"when its pod has just gone": {edit: func(pod *corev1.Pod) { pod.Name = "gone" }, why: "forward a port to gone"},
		"when nothing listens in the pod": {
			given: func(_ *field, _ *sidecars, api *forwarder) { api.to = "127.0.0.1:1" }, why: "from the sidecar of " + splitPod,
		},
		"when it fails": {
			given: func(_ *field, s *sidecars, _ *forwarder) { s.broken = "GET /check_hash" }, why: "500 Internal Server Error to /check_hash/fdb.cluster: no space left",
		},
		"when its answer makes no sense": {
			given: func(_ *field, s *sidecars, _ *forwarder) { s.answers["GET /substitutions"] = "<html>" }, why: "read the variables",
		},
		"when the API server cannot be reached": {
			given: func(f *field, _ *sidecars, _ *forwarder) { f.cluster.Config = &rest.Config{Host: "http://127.0.0.1:1"} }, why: "connection refused",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f, s, api := splitCluster(t, tc.edit)
			if tc.given != nil {
				tc.given(f, s, api)
			}
			snapshot := f.observe(plan.Everything &^ plan.Database)
			if len(snapshot.PodFiles) != 1 {
				t.Fatalf("reports %v", snapshot.PodFiles)
			}
			for _, report := range snapshot.PodFiles {
				if !strings.Contains(report.Unreachable, tc.why) || report.Hashes != nil || report.Variables != nil {
					t.Errorf("the pod reports %+v, want unreachable: %s", report, tc.why)
				}
			}
		})
	}
}

func TestASidecarIsNotQueriedOnceItsPodConfirmedItsConfiguration(t *testing.T) {
	f, sidecar, api := splitCluster(t, nil)
	f.confirm(splitPod)
	s := f.observe(plan.Everything &^ plan.Database)
	got := s.PodFiles[splitPod].Variables
	want := map[string]string{
		"FDB_PUBLIC_IP": "10.1.0.1", "FDB_MACHINE_ID": "node-1", "FDB_ZONE_ID": "node-1", "FDB_INSTANCE_ID": "storage-1", "BINARY_DIR": "/usr/bin",
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %q, want %q", name, got[name], value)
		}
	}
	if len(sidecar.requested())+len(api.paths) > 0 {
		t.Errorf("asked %v through %v", sidecar.requested(), api.paths)
	}
}

// During an upgrade the sidecar has the new version and copies its binaries.
func TestBinaryDirectoryDependsOnSidecarAndMainVersions(t *testing.T) {
	tests := map[string]struct {
		image string
		main  []string
		dir   string
		found bool
	}{
		"equal versions use the image's own":        {"foundationdb/fdb-kubernetes-sidecar:7.3.79-1", []string{"--main-container-version", "7.3.79"}, "/usr/bin", true},
		"a newer sidecar's binaries are copies":     {"foundationdb/fdb-kubernetes-sidecar:7.4.6-1", []string{"--main-container-version", "7.3.79"}, "/var/dynamic-conf/bin/7.4.6", true},
		"a sidecar without a tag proves nothing":    {"foundationdb/fdb-kubernetes-sidecar@sha256:01", []string{"--main-container-version", "7.3.79"}, "", false},
		"a sidecar without the argument is unknown": {"foundationdb/fdb-kubernetes-sidecar:7.3.79-1", nil, "", false},
		"an argument without a value is unknown":    {"foundationdb/fdb-kubernetes-sidecar:7.3.79-1", []string{"--main-container-version"}, "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: v1beta2.ContainerSidecar, Image: tc.image, Args: tc.main}}}}
			dir, found := declaredBinaryDir(t, pod)
			if dir != tc.dir || found != tc.found {
				t.Errorf("got %q, %t, want %q, %t", dir, found, tc.dir, tc.found)
			}
		})
	}
}

// declaredBinaryDir observes a confirmed pod with the containers of another.
func declaredBinaryDir(t *testing.T, like *corev1.Pod) (string, bool) {
	t.Helper()
	f, _, _ := splitCluster(t, func(pod *corev1.Pod) {
		for i := range pod.Spec.Containers {
			if pod.Spec.Containers[i].Name == v1beta2.ContainerSidecar {
				pod.Spec.Containers[i].Image, pod.Spec.Containers[i].Args = like.Spec.Containers[0].Image, like.Spec.Containers[0].Args
			}
		}
	})
	f.confirm(splitPod)
	dir, found := f.observe(plan.Everything &^ plan.Database).PodFiles[splitPod].Variables[v1beta2.EnvBinaryDir]
	return dir, found
}

// confirm writes down on a storage pod that it uses the current configuration.
func (f *field) confirm(name string) {
	f.t.Helper()
	s := f.observe(plan.ClusterResource)
	hash, err := objects.ConfigMapHash(s.Cluster, objects.DesiredLaunch(s.Cluster, v1beta2.ProcessClassStorage))
	if err != nil {
		f.t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if err := f.api.Get(f.t.Context(), named(name), pod); err != nil {
		f.t.Fatal(err)
	}
	objects.RecordConfigMap(pod, hash)
	if err := f.api.Update(f.t.Context(), pod); err != nil {
		f.t.Fatal(err)
	}
}

func TestSidecarsAreQueriedOnlyInRunningPods(t *testing.T) {
	tests := map[string]func(*corev1.Pod){
		"not one that is pending": func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodPending },
		"not one that failed":     func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed },
		"not one that is going away": func(pod *corev1.Pod) {
			pod.Finalizers, pod.DeletionTimestamp = []string{"foregroundDeletion"}, new(metav1.Now())
		},
	}
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			f, sidecar, _ := splitCluster(t, edit)
			if s := f.observe(plan.Everything &^ plan.Database); len(s.PodFiles) > 0 || len(sidecar.requested()) > 0 {
				t.Errorf("reports %v, asked %v", s.PodFiles, sidecar.requested())
			}
		})
	}
}

func TestASidecarCopiesTheRequestedFiles(t *testing.T) {
	f, sidecar, _ := splitCluster(t, nil)
	f.begin()
	sidecar.calls = nil
	sync := plan.SyncPodFiles{Group: "storage-1", Pod: splitPod, Files: []string{"fdb.cluster", "fdbmonitor.conf"}}
	if err := f.cluster.Act(t.Context(), sync); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"POST /copy_files", "POST /copy_monitor_conf"}, sidecar.requested()); diff != "" {
		t.Errorf("the sidecar received (-want +got):\n%s", diff)
	}
	delete(sidecar.answers, "POST /copy_monitor_conf")
	if err := f.cluster.Act(t.Context(), sync); err == nil || !strings.Contains(err.Error(), "does not support /copy_monitor_conf") {
		t.Errorf("an old sidecar: got %v", err)
	}
	sync.Pod = "unheard-of"
	if err := f.cluster.Act(t.Context(), sync); err == nil || !strings.Contains(err.Error(), "was not read") {
		t.Errorf("an unknown pod: got %v", err)
	}
}
