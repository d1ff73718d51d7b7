package session

import (
	"fmt"
	"io"
	"os"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// LongestPlan bounds the file of a plan. Parsing takes many times its size in memory.
const LongestPlan = 8 << 20

// ReadSmallFile reads a file of at most this many bytes. A larger one is refused before it is parsed, and
// never read whole.
func ReadSmallFile(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil && int64(len(text)) > limit {
		return nil, fmt.Errorf("%s is larger than %s", path, phrase.Bytes(limit))
	}
	return text, err
}
