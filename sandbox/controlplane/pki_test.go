package controlplane

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"testing"
	"time"
)

func TestCertificatesSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	var keys []string
	for range 2 {
		p, err := OpenPKI(dir, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		key, err := os.ReadFile(p.Path("sa.key"))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, string(key))
	}
	if keys[0] != keys[1] {
		t.Error("the service account key was replaced")
	}
}

func TestOnlyTheFrontProxyCertificateIsSignedByTheFrontProxyCA(t *testing.T) {
	p, err := OpenPKI(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(p.Path("front-proxy-ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	for name, want := range map[string]bool{"front-proxy": true, "admin": false, "kubelet-client": false} {
		pair, err := tls.LoadX509KeyPair(p.Path(name+".crt"), p.Path(name+".key"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		if got := err == nil; got != want {
			t.Errorf("%s may name users: %v, want %v (%v)", name, got, want, err)
		}
	}
}
