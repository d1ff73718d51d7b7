package realdb

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// certified mounts the certificate in each pod, as the page about TLS describes.
const certified = `          volumes:
          - name: certificate
            secret: {secretName: fdb-certificate}
          containers:
          - name: foundationdb
            env:
            - {name: FDB_TLS_CERTIFICATE_FILE, value: /var/certificate/tls.crt}
            - {name: FDB_TLS_KEY_FILE, value: /var/certificate/tls.key}
            - {name: FDB_TLS_CA_FILE, value: /var/certificate/ca.crt}
            volumeMounts:
            - {name: certificate, mountPath: /var/certificate, readOnly: true}
`

// convertToTLSAndBack has all processes listen with TLS only, and then with plaintext only.
func convertToTLSAndBack(t *test) {
	c := inNamespace(t, "tls")
	dir := certificate(t)
	must(t, "kubectl", "create", "secret", "generic", "fdb-certificate", "-n", c.ns,
		"--from-file="+filepath.Join(dir, "tls.crt"), "--from-file="+filepath.Join(dir, "tls.key"), "--from-file="+filepath.Join(dir, "ca.crt"))
	c.apply(t, strings.Replace(manifest(c.name, newest(), doubled), "          containers:\n          - name: foundationdb\n", certified, 1))
	c.reconcile(t)
	c.mark(t, t.Name())
	for _, tls := range []bool{true, false} {
		c.patch(t, map[bool]string{true: `{"mainContainer":{"enableTls":true}}`, false: `{"mainContainer":{"enableTls":false}}`}[tls])
		// Two restarts, and coordinators move only 5 min after the first.
		c.reconcileWithin(t, 10*time.Minute)
		actual := c.status(t)
		for _, p := range actual.Cluster.Processes {
			if strings.HasSuffix(p.Address, ":tls") != tls {
				t.Errorf("reconciled with TLS %t, and %s is at %s", tls, p.group(), p.Address)
			}
		}
		for _, one := range actual.Client.Coordinators.Coordinators {
			if strings.HasSuffix(one.Address, ":tls") != tls {
				t.Errorf("reconciled with TLS %t, and a coordinator is at %s", tls, one.Address)
			}
		}
		c.settled(t)
	}
	c.discard(t)
}

// certificate returns a directory with a certificate of its own authority.
func certificate(t *test) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, block := range map[string]*pem.Block{
		"tls.crt": {Type: "CERTIFICATE", Bytes: signed}, "ca.crt": {Type: "CERTIFICATE", Bytes: signed}, "tls.key": {Type: "EC PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
