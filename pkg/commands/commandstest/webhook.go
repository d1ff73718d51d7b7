package commandstest

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
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/evictionhook"
)

// KeyPair writes the certificate of a test server for 127.0.0.1, and returns a client that trusts it.
func KeyPair(t *testing.T) (certFile, keyFile string, trusting *http.Client) {
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

// FreeAddress returns an address that no program listens on.
func FreeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// Evictions runs the webhook, asks it about pods, ends it once its metrics have a line, and returns
// the answers and the exit code.
func (g *Given) Evictions(t *testing.T, pods []string, line string, flags ...string) (answers []*admissionv1.AdmissionResponse, code int) {
	t.Helper()
	certFile, keyFile, trusting := KeyPair(t)
	authority := clientPair(t, trusting)
	address, metricsAddr := FreeAddress(t), FreeAddress(t)
	for _, pod := range g.Cluster.Pods {
		g.Objects = append(g.Objects, pod.DeepCopy())
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- g.RunIn(ctx, append([]string{"eviction-webhook", "--listen-addr", address, "--metrics-addr", metricsAddr, "--tls-cert-file", certFile, "--tls-private-key-file", keyFile, "--client-ca-file", authority}, flags...)...)
	}()
	for _, pod := range pods {
		answers = append(answers, AskWebhook(t, trusting, address, g.Evictor, pod))
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

// AskWebhook sends the review of the eviction of a pod to a webhook.
func AskWebhook(t *testing.T, trusting *http.Client, address, user, pod string) *admissionv1.AdmissionResponse {
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

// GroupOf is the first process group of a class.
func (g *Given) GroupOf(class v1beta2.ProcessClass) *v1beta2.ProcessGroupStatus {
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == class {
			return group
		}
	}
	g.T.Fatalf("there is no group of class %s", class)
	return nil
}
