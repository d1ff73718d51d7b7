package fdb

import (
	"encoding/json"
	"fmt"
	"time"
)

// Denial is who put an instance on the deny list, when and why. The list itself has no
// room for it, since the operator takes an entry's value for the instance.
type Denial struct {
	// By is a person, "user@host", or whose spec it was.
	By string `json:"by"`
	// At is when, by the clock of whoever did it.
	At time.Time `json:"at"`
	// Reason is empty where nobody gave one.
	Reason string `json:"reason,omitempty"`
}

// DenialNote is the key that has the Denial of an owner. It is beside the deny list, where
// the operator does not look.
func (k LockKeys) DenialNote(owner string) []byte {
	begin, _ := k.DenialNotes()
	return append(begin, owner...)
}

// DenialNotes is the range of all notes about who is on the deny list; end is exclusive.
func (k LockKeys) DenialNotes() (begin, end []byte) { return k.within("kubectl-fdb", "denied") }

// Encode is the value of a note.
func (d Denial) Encode() ([]byte, error) {
	d.At = d.At.UTC().Truncate(time.Second)
	value, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encoding who is denied: %w", err)
	}
	return value, nil
}

// DecodeDenial reads the value of a note; ok is false for what is none.
func DecodeDenial(value []byte) (d Denial, ok bool) {
	err := json.Unmarshal(value, &d)
	return d, err == nil && d.By != "" && !d.At.IsZero()
}
