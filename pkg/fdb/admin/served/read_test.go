package served_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/served"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// issue is a certificate that becomes valid at a time and has 200 names, so that its response needs more than a pipe writes at once.
func issue(t *testing.T, from time.Time, key any, public any) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fdb"}, NotBefore: from, NotAfter: from.Add(24 * time.Hour)}
	for range 200 {
		template.DNSNames = append(template.DNSNames, "sample-storage-12345.sample.fdb.svc.cluster.local")
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw, raw}, PrivateKey: key}
}

func ecdsaCertificate(t *testing.T, from time.Time) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return issue(t, from, key, &key.PublicKey)
}

func rsaCertificate(t *testing.T, from time.Time) tls.Certificate {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return issue(t, from, key, &key.PublicKey)
}

// process serves TLS on loopback as fdbserver does: it requires a certificate of the client.
func process(t *testing.T, network string, c tls.Certificate, edit func(*tls.Config)) fdb.Address {
	t.Helper()
	config := &tls.Config{Certificates: []tls.Certificate{c}, ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	if edit != nil {
		edit(config)
	}
	listener, err := net.Listen(network, "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, listener, func(conn net.Conn) {
		if err := tls.Server(conn, config).Handshake(); err == nil {
			t.Error("a handshake without a certificate of the client was completed")
		}
	})
}

// serve handles connections, and returns the address with TLS.
func serve(t *testing.T, listener net.Listener, handle func(net.Conn)) fdb.Address {
	t.Helper()
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				handle(conn)
			}()
		}
	}()
	address, err := fdb.ParseAddress(listener.Addr().String() + ":tls")
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// expect is what must be read of a certificate.
func expect(a fdb.Address, c tls.Certificate, from time.Time) fdb.ServedCertificate {
	return fdb.ServedCertificate{Address: a, Fingerprint: fdb.Fingerprint(c.Certificate[0]), NotBefore: from, NotAfter: from.Add(24 * time.Hour)}
}

func TestServedCertificatesAreReadWithoutAClientCertificate(t *testing.T) {
	log.SetOutput(io.Discard)
	old, renewed := ecdsaCertificate(t, noon.Add(-24*time.Hour)), rsaCertificate(t, noon)
	first, second := process(t, "tcp4", old, nil), process(t, "tcp4", renewed, nil)
	got, err := served.Read(t.Context(), admin.LocalExec{}, []fdb.Address{first, second})
	if err != nil {
		t.Fatal(err)
	}
	want := []fdb.ServedCertificate{expect(first, old, noon.Add(-24*time.Hour)), expect(second, renewed, noon)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A process that reloads its files serves the renewed certificate to new connections.
func TestTheServedCertificateIsReadAgainAfterItsRenewal(t *testing.T) {
	old, renewed := ecdsaCertificate(t, noon.Add(-24*time.Hour)), ecdsaCertificate(t, noon)
	current := &old
	address := process(t, "tcp4", old, func(c *tls.Config) {
		c.Certificates = nil
		c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return current, nil }
	})
	for _, c := range []struct {
		serves *tls.Certificate
		from   time.Time
	}{{&old, noon.Add(-24 * time.Hour)}, {&renewed, noon}} {
		current = c.serves
		got, err := served.Read(t.Context(), admin.LocalExec{}, []fdb.Address{address})
		if diff := cmp.Diff([]fdb.ServedCertificate{expect(address, *c.serves, c.from)}, got); diff != "" || err != nil {
			t.Errorf("%v: %s", err, diff)
		}
	}
}

func TestServedCertificatesThatCannotBeReadAreUnknown(t *testing.T) {
	listen := func(handle func(net.Conn)) fdb.Address {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return serve(t, listener, handle)
	}
	closed, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refuses := serve(t, closed, func(net.Conn) {})
	_ = closed.Close()
	addresses := []fdb.Address{
		refuses,
		listen(func(conn net.Conn) { _, _ = io.WriteString(conn, "220 mail.example.com\r\n") }),
		listen(func(conn net.Conn) { time.Sleep(5 * time.Second) }),
		process(t, "tcp4", ecdsaCertificate(t, noon), func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 }),
	}
	got, err := served.Read(t.Context(), admin.LocalExec{}, addresses)
	if err != nil {
		t.Fatal(err)
	}
	var why []string
	for _, c := range got {
		why = append(why, c.Unread)
	}
	want := []string{
		"no response to a TLS handshake", "the response to a TLS handshake has no certificate", "no response to a TLS handshake",
		"the process refuses a TLS 1.2 handshake with alert 70",
	}
	if diff := cmp.Diff(want, why); diff != "" {
		t.Error(diff)
	}
}

// answers is a transport with a fixed result.
type answers struct {
	result admin.Result
	err    error
	runs   *int
}

func (a answers) Run(context.Context, admin.Command) (admin.Result, error) {
	if a.runs != nil {
		*a.runs++
	}
	return a.result, a.err
}

func (a answers) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, errors.New("no program is opened")
}

func TestIncompleteOutputOfServedCertificatesIsAnError(t *testing.T) {
	address := fdb.Address{Host: "10.0.0.1", Port: 4500, TLS: true}
	for what, tc := range map[string]struct {
		given answers
		of    fdb.Address
		want  string
	}{
		"a lost connection":          {answers{err: errors.New("EOF")}, address, "read served certificates: EOF"},
		"a container without bash":   {answers{result: admin.Result{ExitCode: 127}}, address, "read served certificates: the script requires bash: exit code 127"},
		"a container without base64": {answers{result: admin.Result{Stdout: []byte("missing base64\n")}}, address, "read served certificates: the container has no base64"},
		"output without its end":     {answers{result: admin.Result{Stdout: []byte("response \n")}}, address, "read served certificates: the output for 1 process is not complete"},
		"output of another program":  {answers{result: admin.Result{Stdout: []byte("hello\nend\n")}}, address, `read served certificates: unexpected output: "hello"`},
		"a host name":                {answers{}, fdb.Address{Host: "$(id)", Port: 4500, TLS: true}, "must be an IP address with TLS"},
		"a listener without TLS":     {answers{}, fdb.Address{Host: "10.0.0.1", Port: 4500}, "must be an IP address with TLS"},
	} {
		if _, err := served.Read(t.Context(), tc.given, []fdb.Address{tc.of}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", what, err, tc.want)
		}
	}
}

// Arguments of a program are limited, so many processes are read in several runs.
func TestManyProcessesAreReadInSeveralRuns(t *testing.T) {
	runs := 0
	addresses := make([]fdb.Address, 128)
	for i := range addresses {
		addresses[i] = fdb.Address{Host: "10.0.0.1", Port: 4500 + i, TLS: true}
	}
	output := strings.Repeat("response \n", 64) + "end\n"
	got, err := served.Read(t.Context(), answers{result: admin.Result{Stdout: []byte(output)}, runs: &runs}, addresses)
	if err != nil || runs != 2 || len(got) != 128 || got[127].Address != addresses[127] || got[127].Unread == "" {
		t.Errorf("%d runs, %d results: %v", runs, len(got), err)
	}
}
