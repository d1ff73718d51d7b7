package fdbsim

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

func mustConn(t *testing.T, text string) fdb.ConnectionString {
	t.Helper()
	c, err := fdb.ParseConnectionString(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
