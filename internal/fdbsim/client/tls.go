package client

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// TLSFiles are the paths of what a program needs for TLS; empty for none.
type TLSFiles struct{ Certificate, Key, Authorities string }

// MissingTLSFileError is a file for TLS that cannot be read.
type MissingTLSFileError struct{ What, Name string }

// Error implements error.
func (e *MissingTLSFileError) Error() string {
	return fmt.Sprintf("read TLS %s %s: file not found", e.What, e.Name)
}

// ErrWithoutTLS means that every coordinator needs TLS.
const ErrWithoutTLS RefusedError = "fdbcli is not configured with TLS, but all of the coordinators have TLS addresses."

// CheckTLS refuses what is configured with files that are not there, and what lacks TLS
// where it is needed.
func (c *Client) CheckTLS() error {
	for _, file := range []struct{ what, name string }{{"Certificate", c.TLS.Certificate}, {"Key", c.TLS.Key}, {"CA", c.TLS.Authorities}} {
		if file.name == "" {
			continue
		}
		if _, err := c.Files.ReadFile(file.name); err != nil {
			return &MissingTLSFileError{file.what, file.name}
		}
	}
	configured := c.TLS.Authorities != "" || c.TLS.Certificate != ""
	plain := func(a fdb.Address) bool { return !a.TLS }
	if !configured && !slices.ContainsFunc(c.Conn.Coordinators, plain) {
		return ErrWithoutTLS
	}
	return nil
}
