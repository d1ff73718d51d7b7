package objects

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// SpecHash is the hash that the operator stores of the desired spec: the SHA-256,
// in lower-case hex, of Go's JSON encoding with sorted map keys, escaped HTML
// and a final newline. Equal hashes mean byte-identical JSON, so the order of
// every list matters.
func SpecHash(v any) (string, error) {
	text, err := hashedText(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// hashedText is the text behind a hash.
func hashedText(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return b.Bytes(), nil
}
