package fdb

import (
	"encoding/json"
	"fmt"
	"time"
)

// Denial is the user who added a control-plane instance to the deny list, with time
// and reason. The list itself cannot store it, since the operator reads an entry's
// value as the owner ID.
type Denial struct {
	// By is a user, "user@host", or the resource whose spec has the entry.
	By string `json:"by"`
	// At is the time, by the clock of the writer.
	At time.Time `json:"at"`
	// Reason is empty if none was given.
	Reason string `json:"reason,omitempty"`
}

// DenialNote returns the key of the Denial of an owner. It is outside of the deny list,
// where the operator does not read.
func (k LockKeys) DenialNote(owner string) []byte {
	begin, _ := k.DenialNotes()
	return append(begin, owner...)
}

// DenialNotes returns the range of all Denials; end is exclusive.
func (k LockKeys) DenialNotes() (begin, end []byte) { return k.within("kubectl-fdb", "denied") }

// Encode returns the value of a Denial.
func (d Denial) Encode() ([]byte, error) {
	d.At = d.At.UTC().Truncate(time.Second)
	value, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode denial: %w", err)
	}
	return value, nil
}

// DecodeDenial decodes a Denial; ok is false for an invalid value.
func DecodeDenial(value []byte) (d Denial, ok bool) {
	err := json.Unmarshal(value, &d)
	return d, err == nil && d.By != "" && !d.At.IsZero()
}
