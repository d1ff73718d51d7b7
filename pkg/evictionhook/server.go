package evictionhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
)

// The limits of connections to the server. An answer takes at most as long as the API server waits.
const (
	readTimeout    = 10 * time.Second
	writeTimeout   = longestTimeout + 5*time.Second
	idleTimeout    = 2 * time.Minute
	maxHeader      = 64 << 10
	shutdownLimit  = longestTimeout
	endpointsDelay = 5 * time.Second
)

// Server serves a Hook with TLS.
type Server struct {
	Hook         *Hook
	Certificates *Certificates
	// ClientCAs, if not nil, signed the certificates of the clients that may ask; others are refused.
	ClientCAs *x509.CertPool
	// Probe reports whether evictions can be judged: whether the API server answers. Nil means
	// that they can.
	Probe func(context.Context) error
	// Delay is how long the server still answers once it is to end: the API server uses the address
	// until the Service is updated. Default 5 s; negative is none.
	Delay time.Duration
	// Clock waits for Delay.
	Clock clock.Clock

	ending atomic.Bool
}

// Serve answers on a listener until ctx ends, and for Delay after it. Requests that are under way
// are answered, and what the Actor began is ended, before it returns.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler: s.Hook.Handler(), ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, TLSConfig: s.tlsConfig(),
		ErrorLog: log.New(io.Discard, "", 0), // handshakes of port scanners
	}
	failed := make(chan error, 1)
	go func() { failed <- server.ServeTLS(listener, "", "") }()
	var err error
	select {
	case err = <-failed:
		s.ending.Store(true)
	case <-ctx.Done():
		s.ending.Store(true)
		s.linger()
		err = shutdown(context.WithoutCancel(ctx), server)
	}
	if s.Hook.Actor != nil {
		s.Hook.Actor.Stop()
	}
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the eviction webhook on %s: %w", listener.Addr(), err)
	}
	return nil
}

func (s *Server) tlsConfig() *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.Certificates.Get}
	if s.ClientCAs != nil {
		c.ClientCAs, c.ClientAuth = s.ClientCAs, tls.RequireAndVerifyClientCert
	}
	return c
}

// linger waits until the address is out of use.
func (s *Server) linger() {
	delay := s.Delay
	if delay == 0 {
		delay = endpointsDelay
	}
	if delay > 0 {
		timer := s.Clock.NewTimer(delay)
		defer timer.Stop()
		<-timer.C()
	}
}

// shutdown lets requests end.
func shutdown(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, shutdownLimit)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return errors.Join(err, server.Close())
	}
	return nil
}

// Ready returns why evictions cannot be judged now; nil when they can.
func (s *Server) Ready(ctx context.Context) error {
	if s.ending.Load() {
		return errors.New("the webhook ends")
	}
	if err := s.Certificates.Valid(); err != nil {
		return err
	}
	if s.Probe == nil {
		return nil
	}
	return s.Probe(ctx)
}

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
