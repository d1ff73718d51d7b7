package metrics

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// The limits of the server. Slow clients must not slow down the loop.
const (
	headerTimeout   = 5 * time.Second
	requestTimeout  = 10 * time.Second
	idleTimeout     = time.Minute
	shutdownTimeout = 2 * time.Second
)

// Serve answers at an address, such as ":8080" or "127.0.0.1:0", until stop is called.
// It returns the address that was taken.
func Serve(ctx context.Context, address string, h http.Handler) (taken net.Addr, stop func(), err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, nil, fmt.Errorf("listen for metrics: %w", err)
	}
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: requestTimeout, IdleTimeout: idleTimeout,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // always ends with an error; stop is the only way to end it
	}()
	return listener.Addr(), func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close() // connections that did not end in time are cut
		}
		<-ended
	}, nil
}
