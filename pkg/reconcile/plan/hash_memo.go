package plan

import "sync"

// HashMemo remembers the hashes of pod specs for all that compare the same process groups: the
// stages of a pass, and the passes of a forecast. Each hash is remembered by the whole text that it
// is of, so a memo never returns the hash of another spec, whatever changes. It may be
// used by several goroutines at once.
type HashMemo struct {
	mu     sync.Mutex
	byText map[string]*KnownHashes
}

// NewHashMemo returns a memo that knows nothing yet.
func NewHashMemo() *HashMemo { return &HashMemo{byText: map[string]*KnownHashes{}} }

// Of returns the known hashes of a text in which something stands for the numbers. A nil memo
// knows none.
func (m *HashMemo) Of(text []byte) *KnownHashes {
	if m == nil {
		return &KnownHashes{byNumber: map[string]string{}}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.byText[string(text)]
	if known == nil {
		known = &KnownHashes{byNumber: map[string]string{}}
		m.byText[string(text)] = known
	}
	return known
}

// KnownHashes are the known hashes of one text, by the number in it.
type KnownHashes struct {
	mu       sync.Mutex
	byNumber map[string]string
}

// Of returns the hash of the text with a number, computed at most once.
func (k *KnownHashes) Of(number string, hashWith func(number string) string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	hash, known := k.byNumber[number]
	if !known {
		hash = hashWith(number)
		k.byNumber[number] = hash
	}
	return hash
}
