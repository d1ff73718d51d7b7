package fdb

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// ServedCertificate is what a process presented to a new TLS connection.
type ServedCertificate struct {
	// Address is the listener with TLS.
	Address Address
	// Fingerprint is the SHA-256 of the process' own certificate in hexadecimal digits, and NotBefore and NotAfter are
	// its validity.
	Fingerprint         string
	NotBefore, NotAfter time.Time
	// Unread is why it is unknown; empty if it is known.
	Unread string
}

// Fingerprint returns the SHA-256 of a certificate in hexadecimal digits.
func Fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}
