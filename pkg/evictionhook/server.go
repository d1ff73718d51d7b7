package evictionhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
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
