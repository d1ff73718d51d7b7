package cmdutil

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestADashArgumentIsReplacedByTheWordsOfStdin(t *testing.T) {
	got, err := ExpandArgs([]string{"a-1", "-", "a-4"}, strings.NewReader("processgroup/a-2\n\na-3 a-5\n"))
	if diff := cmp.Diff([]string{"a-1", "processgroup/a-2", "a-3", "a-5", "a-4"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := ExpandArgs([]string{"-"}, strings.NewReader("\n")); exit.Code(err) != exit.ExitUsage {
		t.Errorf("an empty stdin selects nothing, and returns %v", err)
	}
}
