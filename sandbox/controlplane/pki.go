package controlplane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// NodeAgentCaller is the common name of the only client certificate the node
// agent's port accepts: the API server's.
const NodeAgentCaller = "kube-apiserver-kubelet-client"

// frontProxyName is the common name of the certificate with which the fault
// proxy vouches for the user of a request it passes on.
const frontProxyName = "sandbox-front-proxy"

// PKI is the directory of a sandbox's keys and certificates. It survives a
// restart, so that kubeconfigs and service account tokens stay valid.
type PKI struct{ dir string }

// Path is the file of one key or certificate, such as "ca.crt".
func (p PKI) Path(name string) string { return filepath.Join(p.dir, name) }

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// identity is one certificate to be issued.
type identity struct {
	file, commonName string
	organizations    []string
	addresses        []net.IP
	names            []string
}

// OpenPKI finds the keys and certificates in dir, and creates them when dir is empty.
func OpenPKI(dir string, now time.Time) (PKI, error) {
	p := PKI{dir: dir}
	_, err := os.Stat(p.Path("complete"))
	if err == nil {
		return p, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("find the sandbox's certificates: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return p, fmt.Errorf("create the certificate directory: %w", err)
	}
	if err := p.fill(now); err != nil {
		return p, fmt.Errorf("create certificates: %w", err)
	}
	return p, os.WriteFile(p.Path("complete"), nil, 0o600)
}

func (p PKI) fill(now time.Time) error {
	ca, err := p.newAuthority("ca", "sandbox-ca", now)
	if err != nil {
		return err
	}
	loopback := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	for _, id := range []identity{
		{"apiserver", "kube-apiserver", nil, append(loopback, net.IPv4(10, 96, 0, 1)), []string{"localhost", "kubernetes.default.svc"}},
		{"kubelet-client", NodeAgentCaller, []string{"system:masters"}, nil, nil},
		{"kubelet", "system:node:sandbox", []string{"system:nodes"}, loopback, []string{"localhost"}},
		{"admin", "sandbox-admin", []string{"system:masters"}, nil, nil},
	} {
		if err := p.issue(ca, id, now); err != nil {
			return err
		}
	}
	front, err := p.newAuthority("front-proxy-ca", "sandbox-front-proxy-ca", now)
	if err != nil {
		return err
	}
	if err := p.issue(front, identity{file: "front-proxy", commonName: frontProxyName}, now); err != nil {
		return err
	}
	_, sa, err := newKey()
	if err != nil {
		return err
	}
	return os.WriteFile(p.Path("sa.key"), sa, 0o600)
}

func (p PKI) newAuthority(file, commonName string, now time.Time) (authority, error) {
	key, _, err := newKey()
	if err != nil {
		return authority{}, err
	}
	t, err := template(commonName, now)
	if err != nil {
		return authority{}, err
	}
	t.IsCA, t.BasicConstraintsValid = true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return authority{}, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return authority{}, err
	}
	return authority{cert, key}, os.WriteFile(p.Path(file+".crt"), certPEM(der), 0o600)
}

func (p PKI) issue(ca authority, id identity, now time.Time) error {
	key, keyPEM, err := newKey()
	if err != nil {
		return err
	}
	t, err := template(id.commonName, now)
	if err != nil {
		return err
	}
	t.Subject.Organization = id.organizations
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	t.IPAddresses, t.DNSNames = id.addresses, id.names
	der, err := x509.CreateCertificate(rand.Reader, t, ca.cert, key.Public(), ca.key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.Path(id.file+".crt"), certPEM(der), 0o600); err != nil {
		return err
	}
	return os.WriteFile(p.Path(id.file+".key"), keyPEM, 0o600)
}

// lifetime is how long a sandbox's certificates are valid.
const lifetime = 10 * 365 * 24 * time.Hour

func template(commonName string, now time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: commonName},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(lifetime),
	}, nil
}

func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

func certPEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
