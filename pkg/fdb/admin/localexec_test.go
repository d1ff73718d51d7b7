package admin_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
)

func shell(script string) admin.Command {
	return admin.Command{Argv: []string{"/bin/sh", "-c", script}, Limit: 10 * time.Second}
}

func TestLocalExecPassesStdinAndEnvironment(t *testing.T) {
	t.Setenv("FDB_NETWORK_OPTION_TRACE_ENABLE", "/var/log")
	c := shell(`cat; printf "%s" "$FDB_NETWORK_OPTION_TRACE_ENABLE"; echo err >&2; exit 3`)
	c.Stdin = strings.NewReader("in")
	got, err := admin.LocalExec{}.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	want := admin.Result{Stdout: []byte("in"), Stderr: []byte("err\n"), ExitCode: 3}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLocalExecReportsExitCodesAndTimeouts(t *testing.T) {
	unrunnable := filepath.Join(t.TempDir(), "fdbcli")
	if err := os.WriteFile(unrunnable, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	limited := shell("exec sleep 20")
	limited.Limit = 500 * time.Millisecond
	cases := map[string]struct {
		command  admin.Command
		exitCode int
		lost     bool
	}{
		"a program that is not there":     {admin.Command{Argv: []string{"/nowhere/fdbcli"}, Limit: time.Second}, 127, false},
		"a program that cannot be run":    {admin.Command{Argv: []string{unrunnable}, Limit: time.Second}, 126, false},
		"a program that takes too long":   {limited, 0, true},
		"a program that a signal ended":   {shell("kill -SEGV $$"), 128, false},
		"a program that ends as it likes": {shell("exit 7"), 7, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := admin.LocalExec{}.Run(t.Context(), c.command)
			failure, lost := errors.AsType[*admin.TransportError](err)
			if got.ExitCode != c.exitCode || lost != c.lost || (lost && !failure.Started) {
				t.Errorf("ran: got %+v (%v)", got, err)
			}
			s, err := admin.LocalExec{}.Open(t.Context(), c.command)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := io.ReadAll(s.Stdout); err != nil {
				t.Error(err)
			}
			exitCode, err := s.Wait()
			_, lost = errors.AsType[*admin.TransportError](err)
			if exitCode != c.exitCode || lost != c.lost {
				t.Errorf("opened: got %d (%v)", exitCode, err)
			}
		})
	}
}

func TestLocalExecStreamsStdinAndStdout(t *testing.T) {
	s, err := admin.LocalExec{}.Open(t.Context(), shell(`read word; echo "read $word"; cat >/dev/null; exit 4`))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fmt.Fprintln(s.Stdin, "hello")
	received := make([]byte, len("read hello\n"))
	if _, err := io.ReadFull(s.Stdout, received); err != nil || string(received) != "read hello\n" {
		t.Errorf("got %q (%v)", received, err)
	}
	if err := s.Stdin.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(s.Stdout); err != nil {
		t.Error(err)
	}
	if exitCode, err := s.Wait(); err != nil || exitCode != 4 {
		t.Errorf("got %d (%v)", exitCode, err)
	}
}

// One hostile tool must not fill the memory.
func TestAToolThatPrintsWithoutEndIsEnded(t *testing.T) {
	_, err := admin.LocalExec{}.Run(t.Context(), admin.Command{Argv: []string{"cat", "/dev/zero"}, Limit: time.Minute})
	if _, exceeded := errors.AsType[*limit.ExceededError](err); !exceeded {
		t.Errorf("got %v", err)
	}
}
