package docs

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// The page about evictions has the rules of the code.
func TestTheEvictionPageTableMatchesTheEvictionRules(t *testing.T) {
	text, err := os.ReadFile("eviction.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| ") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	want := []string{"| kind | holds | may be evicted when | may be replaced when | waits for its node |"}
	for _, r := range safety.EvictionRules() {
		want = append(want, fmt.Sprintf("| %s | %s | %s | %s | %s |", r.Kind, r.Holds, r.Evict, r.Replace, toleration(r)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func toleration(r safety.EvictionRule) string {
	switch {
	case r.AddsToClass:
		return "as its class"
	case r.Tolerate == nil:
		return "forever"
	case *r.Tolerate < time.Minute:
		return fmt.Sprintf("%.0f s", r.Tolerate.Seconds())
	default:
		return fmt.Sprintf("%.0f min", r.Tolerate.Minutes())
	}
}
