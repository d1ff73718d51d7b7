// Package limit reads what others wrote, such as files, responses and output of tools, up to a size. Nothing that the
// program reads may fill its memory.
package limit

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Sizes of what is read, in bytes.
const (
	// Output is that of each stream of a tool in a pod. A status document of 1,000 processes has 12 MB.
	Output = 64 << 20
	// Document is that of other documents: responses, manifests of dumps, the state of a runbook.
	Document = 16 << 20
	// Plan is that of a saved plan. Parsing takes many times its size in memory; one of 500 process groups has 3 MB.
	Plan = 8 << 20
	// Small is that of files that users write: certificates, keys, cluster files, state.
	Small = 1 << 20
)

// ExceededError means that something is larger than what is read of it.
type ExceededError struct{ Most int64 }

func (e *ExceededError) Error() string {
	return fmt.Sprintf("more than %s, which is the limit", phrase.Bytes(e.Most))
}

// All reads a stream to its end. A stream of more than most bytes is an ExceededError.
func All(r io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, &ExceededError{most}
	}
	return text, err
}

// File reads a file. One of more than most bytes is an ExceededError, found before anything is parsed.
func File(path string, most int64) ([]byte, error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := All(file, most)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return text, nil
}

// Buffer keeps what is written to it, up to most bytes. It is safe for concurrent use.
type Buffer struct {
	most     int64
	exceeded func()

	mu   sync.Mutex
	text bytes.Buffer
	full bool
}

// NewBuffer returns a buffer. The function is called when more is written, which ends what writes: the
// write itself fails.
func NewBuffer(most int64, exceeded func()) *Buffer { return &Buffer{most: most, exceeded: exceeded} }

// Write keeps text. It fails with an ExceededError once there is more than the limit.
func (b *Buffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full || int64(b.text.Len()+len(text)) > b.most {
		b.full = true
		b.exceeded()
		return 0, &ExceededError{b.most}
	}
	return b.text.Write(text)
}

// Bytes returns what was written.
func (b *Buffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Bytes()
}

// Err returns an ExceededError if more was written than is kept.
func (b *Buffer) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full {
		return &ExceededError{b.most}
	}
	return nil
}
