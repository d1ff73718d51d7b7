package tui

import (
	"bytes"
	"sync"
)

// screenCapture is what was written to a terminal.
type screenCapture struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (c *screenCapture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.Write(p)
}

func (c *screenCapture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.String()
}
