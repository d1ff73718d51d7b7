package split

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"time"
)

// errRestart means that a request made the sidecar end and be started again.
var errRestart = errors.New("asked to restart")

// server is the sidecar's HTTP API.
type server struct {
	sidecar Sidecar
	restart chan struct{}
}

// Serve answers until ctx ends. It returns an error on a request to restart,
// so that its container is started again.
func (s Sidecar) Serve(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(s.Address, s.Port))
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	if s.TLS {
		config, err := s.tlsConfig()
		if err != nil {
			return err
		}
		listener = tls.NewListener(listener, config)
	}
	h := &server{sidecar: s, restart: make(chan struct{}, 1)}
	web := &http.Server{Handler: h.authenticated(h.routes()), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(listener) }()
	defer web.Close()
	select {
	case <-ctx.Done():
		return nil
	case <-h.restart:
		return errRestart
	case err := <-ended:
		return fmt.Errorf("serving: %w", err)
	}
}

func (h *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "OK") })
	mux.HandleFunc("GET /substitutions", h.substitutions)
	mux.HandleFunc("GET /check_hash/{file...}", h.checkHash)
	if h.sidecar.atLeast(7, 1, 4) {
		mux.HandleFunc("GET /is_present/{file...}", h.isPresent)
	}
	for name, do := range map[string]func() error{
		"copy_files": h.sidecar.CopyConfigFiles, "copy_binaries": h.sidecar.CopyPrograms, "copy_monitor_conf": h.sidecar.CopyMonitorConf,
		"copy_libraries": func() error { return nil }, // there are none to copy, by Sidecar.check
		"refresh_certs":  func() error { return nil }, // every connection reads them again
		"restart":        h.requestRestart,
	} {
		mux.HandleFunc("POST /"+name, func(w http.ResponseWriter, _ *http.Request) { finish(w, do()) })
	}
	return mux
}

func (h *server) requestRestart() error {
	select {
	case h.restart <- struct{}{}:
	default: // a restart is already requested
	}
	return nil
}

func finish(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintln(w, "OK")
}

func (h *server) substitutions(w http.ResponseWriter, _ *http.Request) {
	values, err := h.sidecar.substitutionMap()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(values) // a caller that has ended needs no answer
}

// read is a file of the output directory, or the status with the reason why
// not.
func (h *server) read(name string) ([]byte, int) {
	full, ok := inside(h.sidecar.OutputDir, name)
	if !ok && h.sidecar.atLeast(7, 1, 67) {
		return nil, http.StatusForbidden
	}
	content, err := os.ReadFile(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, http.StatusNotFound
	case err != nil:
		return nil, http.StatusInternalServerError
	}
	return content, http.StatusOK
}

func (h *server) isPresent(w http.ResponseWriter, q *http.Request) {
	_, status := h.read(q.PathValue("file"))
	if status != http.StatusOK {
		http.Error(w, http.StatusText(status), status)
		return
	}
	fmt.Fprintln(w, "OK")
}

func (h *server) checkHash(w http.ResponseWriter, q *http.Request) {
	content, status := h.read(q.PathValue("file"))
	if status != http.StatusOK {
		http.Error(w, http.StatusText(status), status)
		return
	}
	sum := sha256.Sum256(content)
	text := hex.EncodeToString(sum[:])
	if !h.sidecar.atLeast(7, 3, 0) {
		fmt.Fprint(w, text)
		return
	}
	h.answerTwice(w, text)
}

// answerTwice has the defect of the sidecar since 7.3: a 404 follows the answer on
// the same connection, so that a reader must stop at the content's length.
func (h *server) answerTwice(w http.ResponseWriter, text string) {
	conn, out, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	fmt.Fprintf(out, "HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
	fmt.Fprint(out, "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n")
	_ = out.Flush()
}

// authenticated requires a client certificate when TLS is on, except for /ready.
func (h *server) authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if h.sidecar.TLS && q.URL.Path != "/ready" && (q.TLS == nil || len(q.TLS.VerifiedChains) == 0) {
			http.Error(w, "a client certificate is needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, q)
	})
}

func (s Sidecar) tlsConfig() (*tls.Config, error) {
	if rules := s.Env["FDB_TLS_VERIFY_PEERS"]; rules != "" && rules != "Check.Valid=1" {
		return nil, fmt.Errorf("the sandbox's sidecar cannot check peers by %q", rules)
	}
	ca, err := os.ReadFile(s.Env["FDB_TLS_CA_FILE"])
	if err != nil {
		return nil, fmt.Errorf("read FDB_TLS_CA_FILE: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("FDB_TLS_CA_FILE holds no certificate")
	}
	if _, err := s.certificate(nil); err != nil {
		return nil, err
	}
	return &tls.Config{ClientCAs: pool, ClientAuth: tls.VerifyClientCertIfGiven, GetCertificate: s.certificate, MinVersion: tls.VersionTLS12}, nil
}

func (s Sidecar) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c, err := tls.LoadX509KeyPair(s.Env["FDB_TLS_CERTIFICATE_FILE"], s.Env["FDB_TLS_KEY_FILE"])
	if err != nil {
		return nil, fmt.Errorf("load the sidecar's certificate: %w", err)
	}
	return &c, nil
}
