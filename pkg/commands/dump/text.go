package dump

import (
	"bytes"
	"sync"
)

// text is what a command prints. Progress is printed concurrently with results.
type text struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

// Write implements io.Writer.
func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept.Write(p)
}

func (t *text) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.kept.Bytes())
}
