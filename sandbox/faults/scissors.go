package faults

import (
	"io"
	"sync"
)

// Scissors cut a connection after a number of bytes of output.
type Scissors struct {
	mu   sync.Mutex
	left int
	cut  chan struct{}
}

// NewScissors returns scissors that cut after limit bytes over all writers.
func NewScissors(limit int) *Scissors { return &Scissors{left: limit, cut: make(chan struct{})} }

// Cut is closed when the connection is to be cut.
func (s *Scissors) Cut() <-chan struct{} { return s.cut }

// Writer passes on what is written until the cut.
func (s *Scissors) Writer(w io.Writer) io.Writer { return cutWriter{s, w} }

type cutWriter struct {
	scissors *Scissors
	to       io.Writer
}

// Write passes on at most what is left and cuts when nothing is.
func (c cutWriter) Write(p []byte) (int, error) {
	s := c.scissors
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		return 0, io.ErrClosedPipe
	}
	n, err := c.to.Write(p[:min(len(p), s.left)])
	s.left -= n
	if s.left == 0 {
		close(s.cut)
		return n, io.ErrClosedPipe
	}
	return n, err
}
