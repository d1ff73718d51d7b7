package monitor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
)

func TestARecorderReportsAFailedWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "full")
	keep, done, err := NewRecorder(path)
	if err != nil {
		t.Fatal(err)
	}
	keep(tui.Entry{Cluster: "c", Pass: json.RawMessage("{}")})
	if err := done(); err != nil {
		t.Error(err)
	}
	keep(tui.Entry{Cluster: "late", Pass: json.RawMessage("{}")}) // from a sender that has not ended yet
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "\n") != 1 {
		t.Errorf("%v: %s", err, text)
	}
	closed, err := os.Open(path) // for reading alone
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{file: closed, out: closed}
	r.keep(tui.Entry{Cluster: "c", Pass: json.RawMessage("{}")})
	if err := r.close(); err == nil || !strings.Contains(err.Error(), "write the recording") {
		t.Errorf("%v", err)
	}
}
