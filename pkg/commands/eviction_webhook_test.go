package commands

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/evictionhook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// keyPair writes the certificate of a test server for 127.0.0.1, and returns a client that trusts it.
func keyPair(t *testing.T) (certFile, keyFile string, trusting *http.Client) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	t.Cleanup(server.Close)
	pair := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, keyFile: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trusting = server.Client()
	trusting.Transport.(*http.Transport).DisableKeepAlives = true
	return certFile, keyFile, trusting
}

// clientPair gives a client a certificate, and returns the file with its authority.
func clientPair(t *testing.T, c *http.Client) (authority string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	c.Transport.(*http.Transport).TLSClientConfig.Certificates = []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}
	authority = filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return authority
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// evictions runs the webhook, asks it about pods, ends it once its metrics have a line, and returns
// the answers and the exit code.
func (g *given) evictions(t *testing.T, pods []string, line string, flags ...string) (answers []*admissionv1.AdmissionResponse, code int) {
	t.Helper()
	certFile, keyFile, trusting := keyPair(t)
	authority := clientPair(t, trusting)
	address, metricsAddr := freeAddress(t), freeAddress(t)
	for _, pod := range g.cluster.Pods {
		g.objects = append(g.objects, pod.DeepCopy())
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- g.runIn(ctx, append([]string{"eviction-webhook", "--listen-addr", address, "--metrics-addr", metricsAddr, "--tls-cert-file", certFile, "--tls-private-key-file", keyFile, "--client-ca-file", authority}, flags...)...)
	}()
	for _, pod := range pods {
		answers = append(answers, askWebhook(t, trusting, address, g.evictor, pod))
	}
	waitForMetric(t, metricsAddr, line)
	stop()
	return answers, <-ended
}

func waitForMetric(t *testing.T, address, line string) {
	t.Helper()
	var text []byte
	for range 1000 {
		answer, err := http.Get("http://" + address + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		text, _ = io.ReadAll(answer.Body)
		answer.Body.Close()
		if strings.Contains(string(text), line+"\n") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("no line %s in\n%s", line, text)
}

func askWebhook(t *testing.T, trusting *http.Client, address, user, pod string) *admissionv1.AdmissionResponse {
	t.Helper()
	text, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "1", Operation: admissionv1.Create, Namespace: "fdb", Name: pod, SubResource: "eviction", UserInfo: authenticationv1.UserInfo{Username: user}, Resource: metav1.GroupVersionResource{Version: "v1", Resource: "pods"},
			Object: runtime.RawExtension{Raw: []byte(`{"apiVersion":"policy/v1","kind":"Eviction"}`)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var answer *http.Response
	for range 3000 { // until it listens
		if answer, err = trusting.Post("https://"+address+evictionhook.Path, "application/json", bytes.NewReader(text)); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(read, &review); err != nil || review.Response == nil {
		t.Fatalf("%s: %v", read, err)
	}
	return review.Response
}

// The webhook answers as can drain does, and changes nothing unless it may.
func TestTheEvictionWebhookDecidesAsCanDrainAndChangesNothing(t *testing.T) {
	g := healthy(t)
	log := g.groupOf(v1beta2.ProcessClassLog)
	acted := len(g.cluster.Acted)
	answers, code := g.evictions(t, []string{log.PodName(g.cluster.Resource), g.groupOf(v1beta2.ProcessClassStateless).PodName(g.cluster.Resource)}, `kubectl_fdb_eviction_answers_total{outcome="denied"} 1`)
	if code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.err)
	}
	if answers[0].Allowed || answers[0].Result.Code != http.StatusTooManyRequests {
		t.Errorf("a log: %+v", answers[0])
	}
	if !answers[1].Allowed {
		t.Errorf("a stateless pod: %+v", answers[1].Result)
	}
	if len(g.cluster.Acted) != acted || log.IsMarkedForRemoval() {
		t.Errorf("changed something: %v", g.cluster.Acted[acted:])
	}
}

// With --act the process group that must not be evicted is replaced.
func TestTheEvictionWebhookWithActReplacesTheDeniedGroup(t *testing.T) {
	g := healthy(t)
	id := g.groupOf(v1beta2.ProcessClassLog).ProcessGroupID
	answers, code := g.evictions(t, []string{g.cluster.Resource.ProcessGroup(id).PodName(g.cluster.Resource)}, `kubectl_fdb_eviction_acts_total{result="done"} 1`, "--act", "--yes")
	if code != exit.ExitDone || answers[0].Allowed {
		t.Fatalf("exit code %d, %+v: %s", code, answers[0], &g.err)
	}
	if !strings.HasSuffix(answers[0].Result.Message, "; the eviction webhook works on it") {
		t.Errorf("answers %q", answers[0].Result.Message)
	}
	if !g.cluster.Resource.ProcessGroup(id).IsMarkedForRemoval() {
		t.Errorf("%s is not marked for removal: %s%s", id, &g.out, &g.err)
	}
}

// A pod that only its coordinator protects keeps its process group: the coordinator moves.
func TestTheEvictionWebhookWithActMovesOnlyTheCoordinator(t *testing.T) {
	g := healthy(t)
	away := strings.Join(g.coordinating(), ",") // logs, which are replaced whether they coordinate or not
	if code := g.run("coordinators", "change", "sample", "--away-from", away, "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.err)
	}
	g.cluster.Tick(20 * time.Minute)
	group := g.cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(g.coordinating()[0]))
	if group.ProcessClass != v1beta2.ProcessClassStorage {
		t.Fatalf("no storage process group is a coordinator: %v", g.coordinating())
	}
	answers, code := g.evictions(t, []string{group.PodName(g.cluster.Resource)}, `kubectl_fdb_eviction_acts_total{result="done"} 1`, "--act", "--yes")
	if code != exit.ExitDone || answers[0].Allowed {
		t.Fatalf("exit code %d, %+v: %s", code, answers[0], &g.err)
	}
	if after := g.coordinating(); slices.Contains(after, string(group.ProcessGroupID)) || len(after) == 0 {
		t.Errorf("%s is still a coordinator, or there is none: %v: %s", group.ProcessGroupID, after, &g.err)
	}
	if g.cluster.Resource.ProcessGroup(group.ProcessGroupID).IsMarkedForRemoval() {
		t.Errorf("%s is marked for removal", group.ProcessGroupID)
	}
}

// A storage pod that waits only for another one to return keeps its process group: its data would
// move for nothing.
func TestTheEvictionWebhookWithActWaitsForOtherPodsToReturn(t *testing.T) {
	g := healthy(t)
	coordinators := g.coordinating()
	var storage []*v1beta2.ProcessGroupStatus
	for _, group := range g.cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == v1beta2.ProcessClassStorage && !slices.Contains(coordinators, string(group.ProcessGroupID)) {
			storage = append(storage, group)
		}
	}
	leaves, missing := storage[0], storage[1]
	delete(g.cluster.Pods, missing.PodName(g.cluster.Resource))
	answers, code := g.evictions(t, []string{leaves.PodName(g.cluster.Resource)}, `kubectl_fdb_eviction_acts_total{result="done"} 1`, "--act", "--yes")
	if code != exit.ExitDone || answers[0].Allowed {
		t.Fatalf("exit code %d, %+v: %s", code, answers[0], &g.err)
	}
	if g.cluster.Resource.ProcessGroup(leaves.ProcessGroupID).IsMarkedForRemoval() {
		t.Errorf("%s is marked for removal: %s", leaves.ProcessGroupID, &g.err)
	}
	if g.cluster.Pods[missing.PodName(g.cluster.Resource)] == nil {
		t.Errorf("the pod of %s was not recreated: %s", missing.ProcessGroupID, &g.err)
	}
}

// No other run recreates the pod that a drain has evicted before, and the next one stays denied.
func TestTheEvictionWebhookWithActRecreatesEvictedStatelessPods(t *testing.T) {
	g := healthy(t)
	var stateless []*v1beta2.ProcessGroupStatus
	for _, group := range g.cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == v1beta2.ProcessClassStateless {
			stateless = append(stateless, group)
		}
	}
	evicted, next := stateless[0].PodName(g.cluster.Resource), stateless[1].PodName(g.cluster.Resource)
	delete(g.cluster.Pods, evicted)
	answers, code := g.evictions(t, []string{next}, `kubectl_fdb_eviction_acts_total{result="done"} 1`, "--act", "--yes")
	if code != exit.ExitDone || answers[0].Allowed {
		t.Fatalf("exit code %d, %+v: %s", code, answers[0], &g.err)
	}
	if g.cluster.Pods[evicted] == nil || stateless[1].IsMarkedForRemoval() {
		t.Fatalf("%s was not recreated, or %s is marked for removal: %s", evicted, next, &g.err)
	}
	g.cluster.Tick(10 * time.Minute)
	g.objects = nil
	if answers, _ := g.evictions(t, []string{next}, `kubectl_fdb_eviction_answers_total{outcome="allowed"} 1`, "--act", "--yes"); !answers[0].Allowed {
		t.Errorf("the drain does not end: %+v", answers[0].Result)
	}
}

func TestNamesOfAnEvictionRequestCannotForgeLogLines(t *testing.T) {
	g := newGiven(t)
	certFile, keyFile, trusting := keyPair(t)
	address := freeAddress(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- g.runIn(ctx, "eviction-webhook", "-v", "1", "--listen-addr", address, "--tls-cert-file", certFile, "--tls-private-key-file", keyFile)
	}()
	askWebhook(t, trusting, address, "", "pod\nallowed: eviction of pod fdb/forged")
	stop()
	<-ended
	if strings.Contains(g.err.String(), "\nallowed: eviction of pod fdb/forged") {
		t.Errorf("forged: %s", &g.err)
	}
}

// A run that a gate refuses is a failed one: the eviction would stay denied, and nothing showed why.
func TestTheEvictionWebhookReportsAGateRefusalAsAFailure(t *testing.T) {
	g := healthy(t)
	g.gates = operatorLives
	id := g.groupOf(v1beta2.ProcessClassLog).ProcessGroupID
	answers, code := g.evictions(t, []string{g.cluster.Resource.ProcessGroup(id).PodName(g.cluster.Resource)}, `kubectl_fdb_eviction_acts_total{result="failed"} 1`, "--act", "--yes")
	if code != exit.ExitDone || answers[0].Allowed {
		t.Fatalf("exit code %d, %+v: %s", code, answers[0], &g.err)
	}
	if g.cluster.Resource.ProcessGroup(id).IsMarkedForRemoval() || !strings.Contains(g.err.String(), "handle the eviction of pod") {
		t.Errorf("marked, or no reason on stderr: %s", &g.err)
	}
}

// groupOf is the first process group of a class.
func (g *given) groupOf(class v1beta2.ProcessClass) *v1beta2.ProcessGroupStatus {
	for _, group := range g.cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == class {
			return group
		}
	}
	g.t.Fatalf("there is no group of class %s", class)
	return nil
}

func TestEvictionWebhookValidatesItsFlags(t *testing.T) {
	certFile, keyFile, _ := keyPair(t)
	files := []string{"--tls-cert-file", certFile, "--tls-private-key-file", keyFile}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, tc := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no certificate":             {nil, exit.ExitUsage, "--tls-cert-file and --tls-private-key-file are required"},
		"no key":                     {files[:2], exit.ExitUsage, "are required"},
		"files of nothing":           {[]string{"--tls-cert-file", "none", "--tls-private-key-file", "none"}, exit.ExitUsage, "read the certificate"},
		"acts without approval":      {append([]string{"--act"}, files...), exit.ExitUnconfirmed, "--act requires --yes"},
		"acts for any client":        {append([]string{"--act", "--yes"}, files...), exit.ExitUsage, "--act requires --client-ca-file"},
		"approval of nothing":        {append([]string{"--yes"}, files...), exit.ExitUsage, "--yes requires --act"},
		"coexists with nothing":      {append([]string{"--coexist"}, files...), exit.ExitUsage, "--coexist requires --act"},
		"no address":                 {append([]string{"--listen-addr", ""}, files...), exit.ExitUsage, "--listen-addr must not be empty"},
		"a wrong address":            {append([]string{"--listen-addr", "8443"}, files...), exit.ExitUsage, "--listen-addr must be HOST:PORT"},
		"a wrong metrics address":    {append([]string{"--metrics-addr", "8080"}, files...), exit.ExitUsage, "--metrics-addr must be HOST:PORT"},
		"no authority":               {append([]string{"--client-ca-file", keyFile}, files...), exit.ExitUsage, "no certificate in PEM"},
		"no file of authorities":     {append([]string{"--client-ca-file", "none"}, files...), exit.ExitUsage, "read --client-ca-file"},
		"an argument":                {append([]string{"sample"}, files...), exit.ExitUsage, "invalid arguments"},
		"a taken address":            {append([]string{"--listen-addr", taken.Addr().String()}, files...), exit.ExitUsage, "set another address with --listen-addr"},
		"a taken address of metrics": {append([]string{"--listen-addr", "127.0.0.1:0", "--metrics-addr", taken.Addr().String()}, files...), exit.ExitUsage, "set another address with --metrics-addr"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGiven(t)
			if code := g.run(append([]string{"eviction-webhook"}, tc.args...)...); code != tc.code || !strings.Contains(fmt.Sprint(&g.out, &g.err), tc.says) {
				t.Errorf("exit code %d, want %d with %q: %s%s", code, tc.code, tc.says, &g.out, &g.err)
			}
		})
	}
}
