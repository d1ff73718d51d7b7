package live_test

import (
	"context"
	"go/parser"
	"go/token"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// podAddress is one that this machine answers at, so that a connection to it is seen.
const podAddress = "127.77.0.2"

// trap listens where a pod's servers and its sidecar would, and notes who comes.
func trap(t *testing.T) func() []string {
	t.Helper()
	var mu sync.Mutex
	var visits []string
	for _, port := range []string{"4500", "4501", "8080", "8081"} {
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(podAddress, port))
		if err != nil {
			t.Skipf("port %s of a pod cannot be watched on this machine: %v", port, err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				mu.Lock()
				visits = append(visits, conn.LocalAddr().String())
				mu.Unlock()
				_ = conn.Close()
			}
		}()
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(visits)
	}
}

// Everything that a pass asks of a pod goes through the API server: a pod's address
// means nothing outside of its cluster, and something else at home.
func TestPassesNeverConnectToPodAddresses(t *testing.T) {
	visits := trap(t)
	for _, image := range []v1beta2.ImageType{v1beta2.ImageTypeUnified, v1beta2.ImageTypeSplit} {
		t.Run(string(image), func(t *testing.T) {
			cluster := sample()
			cluster.Spec.ImageType = new(image)
			cluster.Spec.LockOptions.DisableLocks = new(bool)
			cluster.Spec.ProcessGroupIDPrefix = "dc1"
			cluster.Status.Configured = true
			cluster.Status.ConnectionString = "sample:abc@" + podAddress + ":4501"
			cluster.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{{ProcessGroupID: "dc1-storage-1", ProcessClass: v1beta2.ProcessClassStorage, Addresses: []string{podAddress}}}
			pod := podOf(t, cluster)
			pod.Status.PodIP, pod.Status.PodIPs, pod.Status.HostIP = podAddress, []corev1.PodIP{{IP: podAddress}}, podAddress
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: v1beta2.ContainerMain, Ready: true}}
			f := newField(t, cluster, pod)
			var requested sync.Map
			sidecar := httptest.NewServer(&sidecars{answers: map[string]string{"GET /substitutions": "{}", "POST /copy_files": "OK"}})
			t.Cleanup(sidecar.Close)
			forward := &forwarder{t: t, to: strings.TrimPrefix(sidecar.URL, "http://")}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				call := filepath.Base(r.URL.Path)
				requested.Store(call, true)
				if call == "portforward" {
					forward.ServeHTTP(w, r)
					return
				}
				http.Error(w, "not today", http.StatusForbidden)
			}))
			t.Cleanup(server.CloseClientConnections)
			hosts := &dialed{}
			f.cluster.Config = &rest.Config{Host: server.URL, Dial: hosts.dial}
			f.cluster.Transport = nil // the real one: pods/exec
			f.begin()
			s := f.observe(plan.Everything)
			if s.Database.Unreachable == "" {
				t.Error("a database behind a refusing API server is not unreachable")
			}
			_ = f.cluster.Lock(t.Context())
			for _, a := range everyPodAction(pod.Name) {
				_ = f.cluster.Act(t.Context(), a) // where it connects to counts, not what comes of it
			}
			if image == v1beta2.ImageTypeSplit && s.PodFiles[pod.Name].Variables == nil {
				t.Errorf("the sidecar was not asked: %+v", s.PodFiles[pod.Name])
			}
			if _, ok := requested.Load("exec"); !ok {
				t.Error("the database was not queried through pods/exec")
			}
			if _, ok := requested.Load("portforward"); !ok {
				t.Error("the sidecar was not asked through pods/portforward")
			}
			for _, host := range hosts.all() {
				if host != strings.TrimPrefix(server.URL, "http://") {
					t.Errorf("dialed %s", host)
				}
			}
		})
	}
	if got := visits(); len(got) > 0 {
		t.Errorf("connected to pods at %v", got)
	}
}

func everyPodAction(pod string) []plan.Action {
	return []plan.Action{
		plan.SyncPodFiles{Group: "dc1-storage-1", Pod: pod, Files: []string{"fdb.cluster", "fdbmonitor.conf"}},
		plan.Configure{},
		plan.ChangeCoordinators{},
	}
}

// dialed notes where a client connects to.
type dialed struct {
	mu    sync.Mutex
	hosts []string
}

func (d *dialed) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	d.hosts = append(d.hosts, address)
	d.mu.Unlock()
	return new(net.Dialer).DialContext(ctx, network, address)
}

func (d *dialed) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.hosts)
}

// Who imports a network package could dial. Each file that does is named here with
// its reason, so a new one has to be argued for.
func TestOnlyKnownFilesCanOpenConnections(t *testing.T) {
	allowed := map[string][]string{
		"sidecar.go": {"net/http"},            // talks to the local end of a forwarded port
		"observe.go": {"net", "net/url"},      // the types of errors
		"podexec.go": {"net/http", "net/url"}, // the request that becomes pods/exec
	}
	for _, dir := range []string{".", filepath.Join("..", "..", "fdb", "admin")} {
		for _, name := range sourcesIn(t, dir) {
			for _, imported := range importsOf(t, filepath.Join(dir, name)) {
				if (imported == "net" || strings.HasPrefix(imported, "net/")) && imported != "net/netip" && !slices.Contains(allowed[name], imported) {
					t.Errorf("%s imports %s", filepath.Join(dir, name), imported)
				}
			}
		}
	}
}

func TestTheSidecarIsQueriedOnlyAtTheLoopbackAddress(t *testing.T) {
	text, err := os.ReadFile("sidecar.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, forbidden := range []string{"PodIP", "HostIP", "net.Dial", "0.0.0.0"} {
		if strings.Contains(string(text), forbidden) {
			t.Errorf("sidecar.go mentions %s", forbidden)
		}
	}
	for i, part := range strings.Split(string(text), "http://")[1:] {
		if !strings.HasPrefix(part, "127.0.0.1:") {
			t.Errorf("URL %d of sidecar.go starts http://%.20s", i+1, part)
		}
	}
}

func sourcesIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file.Name(), ".go") && !strings.HasSuffix(file.Name(), "_test.go") {
			names = append(names, file.Name())
		}
	}
	if len(names) == 0 {
		t.Fatalf("no sources in %s", dir)
	}
	return names
}

func importsOf(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	paths := make([]string, len(parsed.Imports))
	for i, spec := range parsed.Imports {
		if paths[i], err = strconv.Unquote(spec.Path.Value); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}
