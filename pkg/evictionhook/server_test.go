package evictionhook

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// authority signs certificates.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	text []byte // PEM
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.key = newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotBefore: noon.Add(-time.Hour), NotAfter: noon.AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.text = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue writes a key pair that is valid until an end.
func (a *authority) issue(dir, name string, ends time.Time) (certFile, keyFile string) {
	a.t.Helper()
	key := newKey(a.t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(ends.Unix()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: noon.Add(-time.Hour), NotAfter: ends,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	write(a.t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	write(a.t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}))
	return certFile, keyFile
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

const serverName = "webhook.fdb.svc"

// running is a server on a port of its own.
type running struct {
	t       *testing.T
	server  *Server
	address string
	ca      *authority
	clock   *clocktesting.FakeClock
	dir     string
	stop    context.CancelFunc
	ended   chan error
}

func run(t *testing.T, g *given, edit func(*running)) *running {
	t.Helper()
	r := &running{t: t, ca: newAuthority(t), clock: g.clock, dir: t.TempDir(), ended: make(chan error, 1)}
	certFile, keyFile := r.ca.issue(r.dir, serverName, noon.Add(24*time.Hour))
	certificates, err := LoadCertificates(certFile, keyFile, g.clock)
	if err != nil {
		t.Fatal(err)
	}
	r.server = &Server{Hook: g.hook, Certificates: certificates, Delay: -1, Clock: clock.RealClock{}}
	if edit != nil {
		edit(r)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.address = listener.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	go func() { r.ended <- r.server.Serve(ctx, listener) }()
	t.Cleanup(stop)
	return r
}

// ask posts a review; the client shows a certificate if there is one.
func (r *running) ask(body string, shown ...tls.Certificate) (serial int64, text string, err error) {
	roots := x509.NewCertPool()
	roots.AddCert(r.ca.cert)
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		RootCAs: roots, ServerName: serverName, Certificates: shown, MinVersion: tls.VersionTLS12, Time: r.clock.Now,
	}}
	answer, err := (&http.Client{Transport: transport}).Post("https://"+r.address+Path, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	return answer.TLS.PeerCertificates[0].SerialNumber.Int64(), string(read), err
}

func TestARenewedCertificateIsUsedWithoutARestart(t *testing.T) {
	g := newGiven(t)
	r := run(t, g, nil)
	body := reviewOf(t, request("sample-storage-1"))
	for i, ends := range []time.Time{noon.Add(24 * time.Hour), noon.Add(48 * time.Hour)} {
		if i > 0 {
			r.ca.issue(r.dir, serverName, ends)
			g.clock.Step(reloadInterval)
		}
		serial, text, err := r.ask(body)
		if err != nil || serial != ends.Unix() || !strings.Contains(text, `"allowed":true`) {
			t.Fatalf("serial %d, want %d: %s, %v", serial, ends.Unix(), text, err)
		}
	}
}

func TestAFailedCertificateRenewalKeepsTheOldCertificate(t *testing.T) {
	g := newGiven(t)
	r := run(t, g, nil)
	other := newAuthority(t)
	otherCert, _ := other.issue(t.TempDir(), serverName, noon.Add(time.Hour))
	mixed, err := os.ReadFile(otherCert)
	if err != nil {
		t.Fatal(err)
	}
	certFile := filepath.Join(r.dir, serverName+".crt")
	for name, breaks := range map[string]func(){
		"no PEM":         func() { write(t, certFile, []byte("x")) },
		"of another key": func() { write(t, certFile, mixed) },
		"a deleted file": func() { _ = os.Remove(certFile) },
	} {
		t.Run(name, func(t *testing.T) {
			breaks()
			g.clock.Step(reloadInterval)
			serial, _, err := r.ask(reviewOf(t, request("sample-storage-1")))
			if err != nil || serial != noon.Add(24*time.Hour).Unix() {
				t.Errorf("serial %d: %v", serial, err)
			}
			if ends, problem := r.server.Certificates.Expiry(); problem == nil || !ends.Equal(noon.Add(24*time.Hour)) {
				t.Errorf("ends %s, problem %v", ends, problem)
			}
			if err := r.server.Ready(t.Context()); err != nil {
				t.Errorf("not ready with a valid certificate: %v", err)
			}
		})
	}
}

func TestTheEvictionWebhookIsReadyOnlyWhileItCanDecide(t *testing.T) {
	g := newGiven(t)
	var probe error
	r := run(t, g, func(r *running) { r.server.Probe = func(context.Context) error { return probe } })
	if err := r.server.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	probe = errors.New("no API server")
	if err := r.server.Ready(t.Context()); !errors.Is(err, probe) {
		t.Errorf("%v", err)
	}
	probe = nil
	g.clock.Step(25 * time.Hour)
	if err := r.server.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "has expired") {
		t.Errorf("%v", err)
	}
	g.clock.SetTime(noon.Add(-2 * time.Hour))
	if err := r.server.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "not valid before") {
		t.Errorf("%v", err)
	}
	g.clock.SetTime(noon)
	r.stop()
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
	if err := r.server.Ready(t.Context()); err == nil {
		t.Error("ready after its end")
	}
}

func TestClientsWithoutATrustedCertificateAreRefused(t *testing.T) {
	g := newGiven(t)
	clients := newAuthority(t)
	pool := x509.NewCertPool()
	pool.AddCert(clients.cert)
	r := run(t, g, func(r *running) { r.server.ClientCAs = pool })
	body := reviewOf(t, request("sample-storage-1"))
	if _, _, err := r.ask(body); err == nil {
		t.Error("answers without a certificate")
	}
	for of, want := range map[*authority]bool{clients: true, newAuthority(t): false} {
		pair, err := tls.LoadX509KeyPair(of.issue(t.TempDir(), "api-server", time.Now().Add(24*time.Hour)))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.ask(body, pair); (err == nil) != want {
			t.Errorf("answers %t, want %t: %v", err == nil, want, err)
		}
	}
}

// A request that is under way is answered, and what was begun ends, before the server ends.
func TestWebhookShutdownAnswersPendingRequestsFirst(t *testing.T) {
	g := newGiven(t)
	decided, goOn := make(chan struct{}), make(chan struct{})
	g.decider.decide = says(refuses)
	actor := &counting{began: make(chan struct{}, 1), goOn: make(chan struct{})}
	g.hook.Actor = NewActs(actor, g.clock, nil)
	r := run(t, g, nil)
	if _, _, err := r.ask(reviewOf(t, request("sample-storage-1"))); err != nil {
		t.Fatal(err)
	}
	<-actor.began
	g.decider.mu.Lock()
	g.decider.decide = func(context.Context, Eviction, Epoch) ([]plan.Check, error) {
		close(decided)
		<-goOn
		return []plan.Check{holds}, nil
	}
	g.decider.mu.Unlock()
	answered := make(chan string, 1)
	go func() {
		_, text, err := r.ask(reviewOf(t, request("sample-storage-2")))
		answered <- text + errorText(err)
	}()
	<-decided
	r.stop()
	select {
	case err := <-r.ended:
		t.Fatalf("ended with a request under way: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(goOn)
	if text := <-answered; !strings.Contains(text, `"allowed":true`) {
		t.Errorf("answered %s", text)
	}
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
	if len(actor.ended) != 1 {
		t.Error("ended before what it had begun")
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestTheEvictionWebhookAnswersDuringItsShutdownDelay(t *testing.T) {
	g := newGiven(t)
	r := run(t, g, func(r *running) { r.server.Delay, r.server.Clock = time.Hour, g.clock })
	if _, _, err := r.ask(reviewOf(t, request("sample-storage-1"))); err != nil {
		t.Fatal(err)
	}
	r.stop()
	for !g.clock.HasWaiters() {
		time.Sleep(time.Millisecond)
	}
	if r.server.Ready(t.Context()) == nil {
		t.Error("ready although it ends")
	}
	if _, text, err := r.ask(reviewOf(t, request("sample-storage-1"))); err != nil || !strings.Contains(text, `"allowed":true`) {
		t.Errorf("%s, %v", text, err)
	}
	g.clock.Step(time.Hour)
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
}

func TestTheEvictionWebhookServerReportsAListenerFailure(t *testing.T) {
	g := newGiven(t)
	r := run(t, g, nil)
	r.stop()
	<-r.ended
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	if err := r.server.Serve(t.Context(), closed); err == nil || !strings.Contains(err.Error(), "serve the eviction webhook") {
		t.Errorf("%v", err)
	}
}

func TestInvalidWebhookCertificateFilesFailAtStartup(t *testing.T) {
	dir := t.TempDir()
	ca := newAuthority(t)
	certFile, keyFile := ca.issue(dir, "a", noon.Add(time.Hour))
	_, otherKey := ca.issue(dir, "b", noon.Add(time.Hour))
	for name, files := range map[string][2]string{
		"no certificate": {filepath.Join(dir, "none"), keyFile}, "no key": {certFile, filepath.Join(dir, "none")}, "another key": {certFile, otherKey},
	} {
		if _, err := LoadCertificates(files[0], files[1], clocktesting.NewFakeClock(noon)); err == nil {
			t.Error(name)
		}
	}
	if _, err := ClientAuthorities([]byte("x")); err == nil {
		t.Error("no certificate in the text")
	}
	if pool, err := ClientAuthorities(ca.text); err != nil || pool == nil {
		t.Error(err)
	}
}
