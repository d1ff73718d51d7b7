// Package control lets commands of the same user control a running sandbox, over
// a unix socket in the sandbox's private directory.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// requestLimit bounds one command.
const requestLimit = time.Minute

// Handler executes one command. The answer is encoded as JSON.
type Handler func(ctx context.Context, body json.RawMessage) (answer any, err error)

// Serve answers commands by name on listener until the returned function is called.
func Serve(listener net.Listener, handlers map[string]Handler) (stop func()) {
	mux := http.NewServeMux()
	for name, handle := range handlers {
		mux.HandleFunc("POST /"+name, func(w http.ResponseWriter, q *http.Request) {
			body, err := io.ReadAll(q.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			answer, err := handle(q.Context(), body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusUnprocessableEntity)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(answer) // a caller that has ended needs no answer
		})
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: requestLimit}
	go server.Serve(listener) // it ends when it is stopped
	return func() { server.Close() }
}

// Call makes the sandbox that listens on socket execute a command, and decodes
// its answer when answer is not nil.
func Call(ctx context.Context, socket, name string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode the command: %w", err)
	}
	client, done, err := clientOf(socket)
	if err != nil {
		return err
	}
	defer done()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sandbox/"+name, bytes.NewReader(data))
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("reach the sandbox (does it run?): %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("read the sandbox's answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(string(bytes.TrimSpace(text)))
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("read the sandbox's answer: %w", err)
	}
	return nil
}

// clientOf dials the socket through an open directory, because a socket's path
// may have 107 bytes only.
func clientOf(socket string) (*http.Client, func(), error) {
	dir, err := os.Open(filepath.Dir(socket))
	if err != nil {
		return nil, nil, fmt.Errorf("open the sandbox's directory: %w", err)
	}
	short := fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(socket))
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", short)
	}}
	return &http.Client{Transport: transport}, func() { transport.CloseIdleConnections(); dir.Close() }, nil
}
