package evictionhook

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
)

// Certificates is a key pair in files, read again when they change: a certificate expires
// while the server runs.
type Certificates struct {
	certFile, keyFile string
	clock             clock.PassiveClock

	mu        sync.Mutex
	cert, key []byte // as read last
	pair      *tls.Certificate
	read      time.Time
	problem   error // of the last read; nil when it succeeded
}

// reloadInterval bounds how often the files are read.
const reloadInterval = time.Second

// LoadCertificates reads a key pair in PEM. Files that cannot be read or do not fit together are an
// error.
func LoadCertificates(certFile, keyFile string, c clock.PassiveClock) (*Certificates, error) {
	cs := &Certificates{certFile: certFile, keyFile: keyFile, clock: c, read: c.Now()}
	if err := cs.reload(); err != nil {
		return nil, err
	}
	return cs, nil
}

// Get returns the pair in the files, for tls.Config. While they cannot be used, as in the middle of
// a renewal, the previous pair stays in use.
func (c *Certificates) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refresh()
	return c.pair, nil
}

// Expiry returns when the certificate ends, and what was wrong with the files when they were read
// last; nil for nothing.
func (c *Certificates) Expiry() (ends time.Time, problem error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refresh()
	return c.pair.Leaf.NotAfter, c.problem
}

// Valid returns an error once the certificate has expired or before it is valid.
func (c *Certificates) Valid() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refresh()
	switch now, leaf := c.clock.Now(), c.pair.Leaf; {
	case now.After(leaf.NotAfter):
		return fmt.Errorf("the certificate in %s has expired at %s", c.certFile, leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("the certificate in %s is not valid before %s", c.certFile, leaf.NotBefore.UTC().Format(time.RFC3339))
	default:
		return nil
	}
}

// refresh reads the files again if the last read is long enough ago.
func (c *Certificates) refresh() {
	if now := c.clock.Now(); now.Sub(c.read) >= reloadInterval {
		c.read = now
		c.problem = c.reload()
	}
}

func (c *Certificates) reload() error {
	cert, err := limit.File(c.certFile, limit.Small)
	if err != nil {
		return fmt.Errorf("read the certificate: %w", err)
	}
	key, err := limit.File(c.keyFile, limit.Small)
	if err != nil {
		return fmt.Errorf("read the key of the certificate: %w", err)
	}
	if c.pair != nil && bytes.Equal(cert, c.cert) && bytes.Equal(key, c.key) {
		return nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("load %s and %s: %w", c.certFile, c.keyFile, err)
	}
	c.cert, c.key, c.pair = cert, key, &pair
	return nil
}

// ClientAuthorities parses the certificates, in PEM, of the authorities for Server.ClientCAs.
func ClientAuthorities(text []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("parse the client CA: no certificate in PEM found")
	}
	return pool, nil
}
