package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A check that was not made is neither a success without a word nor a failure; what was found, and a check
// that ended otherwise, is a failure.
func TestVulnerabilitiesAreFoundNotFoundOrNotLookedFor(t *testing.T) {
	answering := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != index {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer answering.Close()
	without := httptest.NewServer(http.NotFoundHandler())
	defer without.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	files := t.TempDir()
	if err := os.MkdirAll(filepath.Join(files, "index"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(files, index), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	vulnerable := errors.New("exit status 3")
	for name, c := range map[string]struct {
		database string
		found    error
		ran      bool
	}{
		"a database that answers, nothing found":      {answering.URL, nil, true},
		"a database that answers, something found":    {answering.URL, vulnerable, true},
		"a database in files, something found":        {"file://" + filepath.ToSlash(files), vulnerable, true},
		"a database that does not answer":             {closed.URL, vulnerable, false},
		"a server that has no database":               {without.URL, vulnerable, false},
		"files that do not exist":                     {"file:///nowhere/at/all", vulnerable, false},
		"an address that cannot be one of a database": {"://", vulnerable, false},
	} {
		t.Run(name, func(t *testing.T) {
			var scanned []string
			check := func(_ context.Context, dir, database string) error {
				if database != c.database {
					t.Errorf("%s is checked against %s", dir, database)
				}
				scanned = append(scanned, dir)
				return c.found
			}
			var out bytes.Buffer
			err := run(t.Context(), []string{".", "sandbox"}, c.database, check, &out)
			if got := len(scanned) == 2; got != c.ran || !c.ran && len(scanned) > 0 {
				t.Errorf("checked %v", scanned)
			}
			if wantErr := c.ran && c.found != nil; (err != nil) != wantErr {
				t.Errorf("error %v, want one: %t", err, wantErr)
			}
			if said := strings.HasPrefix(out.String(), "NOT RUN: "); said == c.ran {
				t.Errorf("output %q", out.String())
			}
		})
	}
	if err := run(t.Context(), nil, answering.URL, nil, &bytes.Buffer{}); err == nil {
		t.Error("no module, no error")
	}
}
