package faults

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Credentials are what the proxy needs: its own certificate towards clients,
// and one with which it vouches for their names towards the API server.
type Credentials struct {
	Server  *tls.Config // asks clients for certificates and verifies them
	Backend *tls.Config // trusts the API server and is trusted by it to name users
	Target  *url.URL
}

// Proxy stands between clients and the API server and can fail requests. The
// sandbox's own parts do not go through it.
type Proxy struct {
	rules  Rules
	server *http.Server

	mu    sync.Mutex
	execs map[net.Conn]string // client connections that run commands, by path
}

// NewProxy returns a proxy; Serve makes it serve.
func NewProxy(c Credentials, err error) (*Proxy, error) {
	if err != nil {
		return nil, err
	}
	p := &Proxy{execs: map[net.Conn]string{}}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(c.Target)
			r.Out.Host = r.In.Host
			vouch(r.In, r.Out.Header)
		},
		Transport: &http.Transport{
			TLSClientConfig: c.Backend, MaxIdleConnsPerHost: 100, IdleConnTimeout: time.Minute, // HTTP/1.1, which exec needs
		},
		FlushInterval: -1, // watches are streams
		ErrorLog:      log.New(discard{}, "", 0),
	}
	p.server = &http.Server{
		Handler: p.rules.apply(p.noticeExecs(forward)), ConnContext: rememberConn, TLSConfig: c.Server, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(discard{}, "", 0),
	}
	return p, nil
}

// connKey is where a request's context holds its connection.
type connKey struct{}

func rememberConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// noticeExecs remembers the connections that run commands while they do.
func (p *Proxy) noticeExecs(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		conn, ok := q.Context().Value(connKey{}).(net.Conn)
		if !ok || !strings.HasSuffix(q.URL.Path, "/exec") {
			next.ServeHTTP(w, q)
			return
		}
		p.mu.Lock()
		p.execs[conn] = q.URL.Path
		p.mu.Unlock()
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.execs, conn)
		}()
		next.ServeHTTP(w, q)
	})
}

// CutExec breaks the connections of clients that run commands in a pod. They
// see a connection that broke, not a command that ended.
func (p *Proxy) CutExec(namespace, pod string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn, path := range p.execs {
		if path != "/api/v1/namespaces/"+namespace+"/pods/"+pod+"/exec" {
			continue
		}
		if secure, ok := conn.(*tls.Conn); ok {
			conn = secure.NetConn() // without the close notification of TLS
		}
		conn.Close()
	}
}

// discard drops what HTTP servers log about clients that disconnected.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// vouch authenticates the client to the API server by its certificate. A
// client with a token authenticates itself.
func vouch(in *http.Request, out http.Header) {
	for name := range out {
		if strings.HasPrefix(name, "X-Remote-") {
			delete(out, name)
		}
	}
	if in.TLS == nil || len(in.TLS.VerifiedChains) == 0 || in.Header.Get("Authorization") != "" {
		return
	}
	subject := in.TLS.PeerCertificates[0].Subject
	out.Set("X-Remote-User", subject.CommonName)
	for _, group := range subject.Organization {
		out.Add("X-Remote-Group", group)
	}
}

// Rules are the faults in force; they can be changed at any time.
func (p *Proxy) Rules() *Rules { return &p.rules }

// stopLimit bounds the wait for requests in flight at the end.
const stopLimit = 2 * time.Second

// Serve serves clients on listener until the returned function is called.
func (p *Proxy) Serve(listener net.Listener) (stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := p.server.ServeTLS(listener, "", "")
		if !errors.Is(err, http.ErrServerClosed) {
			log.Printf("API proxy: %v", err)
		}
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		if p.server.Shutdown(ctx) != nil {
			p.server.Close() // streams that do not end are cut
		}
		<-done
	}
}
