package limit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatIsLargerThanItsLimitIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for most, fits := range map[int64]bool{4: false, 5: true, 6: true} {
		_, stream := All(strings.NewReader("12345"), most)
		_, file := File(path, most)
		ended := false
		b := NewBuffer(most, func() { ended = true })
		_, first := b.Write([]byte("123"))
		_, second := b.Write([]byte("45"))
		for what, err := range map[string]error{"stream": stream, "file": file, "buffer": errors.Join(first, second), "end of the buffer": b.Err()} {
			if _, exceeded := errors.AsType[*ExceededError](err); exceeded == fits {
				t.Errorf("%s of 5 bytes with a limit of %d: %v", what, most, err)
			}
		}
		if ended == fits {
			t.Errorf("what writes to a buffer of %d bytes: ended %t", most, ended)
		}
	}
}
