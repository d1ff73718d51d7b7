package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hook is an eviction webhook beside the sandbox, which its API server calls.
type hook struct {
	address, certFile, keyFile string
	authority                  string // base64 of PEM
	process                    *exec.Cmd
}

// newHook makes a certificate for 127.0.0.1.
func newHook(t *testing.T) *hook {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "eviction-webhook"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return &hook{
		address: listener.Addr().String(), authority: base64.StdEncoding.EncodeToString(cert),
		certFile: file(t, "tls.crt", string(cert)), keyFile: file(t, "tls.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))),
	}
}

// behind starts a server for the API server that passes its requests on with a client certificate, which the API
// server of the sandbox has none of.
func (h *hook) behind(t *testing.T) (front string, flags []string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "kube-apiserver"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	served, err := tls.LoadX509KeyPair(h.certFile, h.keyFile)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "https", Host: h.address})
	pass.Transport = &http.Transport{TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
	}}
	server := httptest.NewUnstartedServer(pass)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{served}}
	server.StartTLS()
	t.Cleanup(server.Close)
	authority := file(t, "client-ca.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	return server.Listener.Addr().String(), []string{"--client-ca-file", authority}
}

// start runs the webhook until the test ends, or until it is killed.
func (h *hook) start(t *testing.T, flags ...string) {
	t.Helper()
	args := append([]string{"eviction-webhook", "--listen-addr", h.address, "--tls-cert-file", h.certFile, "--tls-private-key-file", h.keyFile}, flags...)
	h.process = exec.Command(filepath.Join(binDir, "kubectl-fdb"), args...)
	h.process.Env = environment(t)
	log, err := os.Create(filepath.Join(t.TempDir(), "webhook.log"))
	if err != nil {
		t.Fatal(err)
	}
	h.process.Stdout, h.process.Stderr = log, log
	if err := h.process.Start(); err != nil {
		t.Fatal(err)
	}
	started := h.process
	t.Cleanup(func() {
		_ = started.Process.Signal(syscall.SIGKILL)
		_, _ = started.Process.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("webhook:\n%s", text)
		}
	})
	for range 300 {
		if conn, err := net.Dial("tcp", h.address); err == nil {
			conn.Close()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the webhook does not listen")
}

// configuration makes the API server ask the webhook in one namespace.
func (h *hook) configuration(ns, policy string) string {
	return fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
  - name: evictions.webhook.kubectl-fdb
    admissionReviewVersions: [v1]
    failurePolicy: %[2]s
    sideEffects: NoneOnDryRun
    timeoutSeconds: 15
    rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods/eviction], scope: Namespaced}]
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    clientConfig: {url: "https://%[3]s/evictions", caBundle: %[4]s}
`, ns, policy, h.address, h.authority)
}

// drained runs kubectl drain for the pods of one namespace.
func drained(t *testing.T, ns, node, timeout string, more ...string) result {
	t.Helper()
	return run(t, "kubectl", append([]string{"drain", node, "--pod-selector", "foundationdb.org/fdb-cluster-name=c", "--force", "--delete-emptydir-data", "--ignore-daemonsets", "--timeout", timeout, "-n", ns}, more...)...)
}

// A plain kubectl drain follows the rules: it waits for what must not be evicted, and ends once
// --act has replaced it. A webhook that is killed denies or allows everything, as configured.
func TestKubectlDrainFollowsTheEvictionWebhook(t *testing.T) {
	t.Parallel()
	alone(t)
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	pod := strings.Fields(kubectl(t, "get", "pods", "-n", ns, "-l", "foundationdb.org/fdb-process-class=log", "-o", "name"))[0]
	node := kubectl(t, "get", "-n", ns, pod, "-o", "jsonpath={.spec.nodeName}")
	atTheEnd(t, "kubectl", "uncordon", node)
	atTheEnd(t, "kubectl", "delete", "validatingwebhookconfiguration", ns, "--ignore-not-found")

	h := newHook(t)
	h.start(t)
	apply(t, ns, h.configuration(ns, "Fail"))
	// On a busy machine it may find no answer in its time, and reports that instead. Asking changes nothing.
	var r result
	for range attempts {
		if r = drained(t, ns, node, "20s"); r.code == 0 || strings.Contains(r.stderr, "must not be evicted now") {
			break
		}
	}
	if r.code == 0 || !strings.Contains(r.stderr, "must not be evicted now") || !strings.Contains(r.stderr, "will retry after 5s") {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}

	// Killed in the middle, with both policies. Only a dry run is certain to change nothing.
	if err := h.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = h.process.Process.Wait()
	if r := drained(t, ns, node, "20s"); r.code == 0 || !strings.Contains(r.stderr, "failed calling webhook") {
		t.Errorf("without the webhook: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	apply(t, ns, h.configuration(ns, "Ignore"))
	allowed := func() bool { return drained(t, ns, node, "20s", "--dry-run=server").code == 0 }
	for tries := 0; !allowed(); tries++ { // the API server reads its configuration now and then
		if tries == 10 {
			t.Fatal("a webhook that may be ignored, and does not answer, denies evictions")
		}
		time.Sleep(time.Second)
	}
	kubectl(t, "get", "-n", ns, pod) // it is still there

	front, flags := h.behind(t)
	h.start(t, append(flags, "--act", "--yes")...)
	h.address = front
	apply(t, ns, h.configuration(ns, "Ignore"))
	if r := drained(t, ns, node, "20s", "--dry-run=server"); r.code == 0 || !strings.Contains(r.stderr, "must not be evicted now") {
		t.Errorf("a dry run: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if marked := get(t, ns, "{.status.processGroups[?(@.removalTimestamp)].processGroupID}", "fdb", "c"); marked != "" {
		t.Errorf("a dry run marked %s for removal", marked)
	}
	want(t, drained(t, ns, node, "10m"), 0)
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	want(t, fdb(t, "status", "c", "-n", ns), 0)
}
