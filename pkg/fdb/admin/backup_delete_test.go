package admin_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// answering is a transport that returns the results of a test.
type answering func(ctx context.Context, c admin.Command) (admin.Result, error)

func (a answering) Run(ctx context.Context, c admin.Command) (admin.Result, error) { return a(ctx, c) }

func (answering) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, errors.New("backup tools have no session")
}

func (a answering) delete(ctx context.Context) error {
	_, err := admin.NewBackups(a, nil).DeleteData(ctx, nightly, 56*time.Minute)
	return err
}

func (a answering) expire(ctx context.Context) error {
	return admin.NewBackups(a, nil).Expire(ctx, admin.Expiry{URL: nightly, Before: 5, Limit: 56 * time.Minute})
}

// A deletion that was cut off has done part of its work, whatever cut it off. It is no store
// that does not answer.
func TestAnInterruptedBackupDeleteOrExpireIsUnfinished(t *testing.T) {
	lost := &admin.TransportError{Started: true, Where: "pod fdb/agent", Err: errors.New("broken pipe")}
	unreached := &admin.TransportError{Where: "pod fdb/agent", Err: errors.New("no such pod")}
	tests := map[string]struct {
		result admin.Result
		err    error
		ended  error // the context's cause; nil while it goes on
		want   admin.Kind
		says   string
	}{
		"its limit was over":            {result: admin.Result{ExitCode: 124}, want: admin.KindUnfinished, says: "not finished (it takes longer than 56m0s): part of it may be deleted; run the same command again to delete the rest"},
		"it did not end at its limit":   {result: admin.Result{ExitCode: 137}, want: admin.KindUnfinished, says: "it takes longer than 56m0s"},
		"the connection was lost":       {err: lost, want: admin.KindUnfinished, says: "losing the command in pod fdb/agent: broken pipe): part of it may be deleted"},
		"a user ended the command":      {ended: errors.New("Ctrl-C"), want: admin.KindUnfinished, says: "not finished (Ctrl-C): part of it may be deleted"},
		"it was never begun":            {err: unreached, want: admin.KindTransport, says: "no such pod"},
		"the tools say what went wrong": {result: fails("ERROR: URL invalid"), want: admin.KindRefused, says: "URL invalid"},
	}
	for name, tt := range tests {
		for operation, run := range map[string]func(answering, context.Context) error{"delete": answering.delete, "expire": answering.expire} {
			t.Run(operation+": "+name, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				err := run(func(ctx context.Context, c admin.Command) (admin.Result, error) {
					switch {
					case c.Argv[1] == "describe":
						return admin.Result{Stdout: []byte(`{"SchemaVersion":"1.0.0","URL":"` + nightly + `","Restorable":false,"Snapshots":[]}`)}, ctx.Err()
					case tt.ended != nil:
						cancel(tt.ended)
						return admin.Result{}, ctx.Err()
					}
					return tt.result, tt.err
				}, ctx)
				if admin.KindOf(err) != tt.want || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("got %s: %v", admin.KindOf(err), err)
				}
				if tt.want == admin.KindUnfinished && (strings.Contains(err.Error(), "no answer") || errors.Is(err, context.Canceled)) {
					t.Errorf("it reads as silence: %v", err)
				}
			})
		}
	}
}

// The tools record the deletion once it is complete: what was cut off after that
// is done.
func TestAnExpiryRecordedInTheBackupCountsAsComplete(t *testing.T) {
	err := answering(func(_ context.Context, c admin.Command) (admin.Result, error) {
		if c.Argv[1] == "describe" {
			return admin.Result{Stdout: []byte(`{"SchemaVersion":"1.0.0","URL":"` + nightly + `","Restorable":false,"Snapshots":[],"ExpiredEnd":{"Version":5}}`)}, nil
		}
		return admin.Result{ExitCode: 124}, nil
	}).expire(t.Context())
	if err != nil {
		t.Error(err)
	}
}

func TestBackupDeletionsHaveATimeLimitAndEndWithTheirClient(t *testing.T) {
	deletions := 0
	a := answering(func(_ context.Context, c admin.Command) (admin.Result, error) {
		if deletes := c.Argv[1] != "describe"; deletes {
			deletions++
			if c.Limit != 56*time.Minute || !c.Tied {
				t.Errorf("ran %+v", c)
			}
		} else if c.Tied {
			t.Errorf("a read needs no shell: %+v", c)
		}
		return fails("ERROR: URL invalid"), nil
	})
	_ = a.delete(t.Context()) // what becomes of it is another test's
	_ = a.expire(t.Context()) // as above
	if deletions != 2 {
		t.Errorf("%d deletions", deletions)
	}
}

// An unresponsive store is detected before an hour is spent on it.
func TestAnUnresponsiveStoreIsDetectedBeforeADeletion(t *testing.T) {
	for name, tt := range map[string]struct {
		result admin.Result
		want   admin.Kind
	}{
		"it answers":                {want: ""},
		"it has words of its own":   {result: fails("ERROR: forbidden"), want: ""},
		"it does not answer at all": {result: admin.Result{ExitCode: 124}, want: admin.KindStoreUnresponsive},
	} {
		requested := ""
		err := admin.NewBackups(answering(func(_ context.Context, c admin.Command) (admin.Result, error) {
			requested = strings.Join(c.Argv[1:], " ")
			return tt.result, nil
		}), nil).StoreAnswers(t.Context(), nightly)
		if admin.KindOf(err) != tt.want || !strings.HasPrefix(requested, "list -b ") {
			t.Errorf("%s: asked %q, got %v", name, requested, err)
		}
	}
}

// tied runs a shell script as a tool that is tied to who waits for it.
func tied(t *testing.T, script string) (cmd *exec.Cmd, input io.Closer) {
	t.Helper()
	argv := admin.Wrapped(admin.Command{Argv: []string{"sh", "-c", script}, Limit: time.Minute, Tied: true})
	cmd = exec.CommandContext(t.Context(), argv[0], argv[1:]...) // #nosec G204 -- that it runs is the test
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	return cmd, stdin
}

func TestATiedToolEndsWhenItsClientDisconnects(t *testing.T) {
	reported := filepath.Join(t.TempDir(), "terminated")
	begun := filepath.Join(t.TempDir(), "begun")
	cmd, input := tied(t, `trap 'echo ended > `+reported+`; exit 0' TERM; echo > `+begun+`; while :; do sleep 0.1; done`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, begun)
	if err := input.Close(); err != nil {
		t.Fatal(err)
	}
	await(t, reported)
	_ = cmd.Wait() // its client has disconnected
}

// A connection can be lost without an end: a laptop that sleeps sends
// nothing.
func TestATiedToolEndsWithoutHeartbeatsFromItsClient(t *testing.T) {
	for !heartbeatsKeepATool(t) {
		t.Log("this machine was too busy for the heartbeats of the test: they begin again")
	}
}

// heartbeatsKeepATool fails the test where a tool ends in spite of heartbeats, or goes on without them. It reports
// whether the heartbeats came in time.
func heartbeatsKeepATool(t *testing.T) (inTime bool) {
	t.Helper()
	const silence = 4 * time.Second
	argv := admin.Wrapped(admin.Command{Argv: []string{"sh", "-c", "while :; do sleep 0.1; done"}, Limit: time.Minute, Tied: true})
	at := slices.Index(argv, "30")
	if at < 0 {
		t.Fatalf("no limit of a silence in %q", argv)
	}
	argv[at] = strconv.Itoa(int(silence.Seconds()))
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...) // #nosec G204 -- that it runs is the test
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for begin, last := time.Now(), time.Now(); time.Since(begin) < 2*silence; last = time.Now() {
		_, err := stdin.Write([]byte("x"))
		if late := time.Since(last) > silence/2; late {
			_ = cmd.Cancel() // it may have ended already
			<-ended
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			t.Fatalf("it ended while a client waited: %v", err)
		case <-time.After(250 * time.Millisecond):
		}
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Minute):
		t.Error("it goes on without a client")
	}
	return true
}

// await waits until a file is there.
func await(t *testing.T, path string) {
	t.Helper()
	for range 6000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s never came to be", path)
}

func TestATiedToolKeepsItsExitCodeAndOutput(t *testing.T) {
	cmd, input := tied(t, "echo out; echo err >&2; cat; exit 3")
	defer func() { _ = input.Close() }()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != 3 || stdout.String() != "out\n" || stderr.String() != "err\n" {
		t.Errorf("%v, stdout %q, stderr %q", err, &stdout, &stderr)
	}
}

func TestATiedToolInAPodEndsWhenTheClientDisconnects(t *testing.T) {
	for name, webSocket := range protocols {
		t.Run(name, func(t *testing.T) {
			ended := make(chan error, 1)
			begun := make(chan struct{})
			p := podExec(t, &execServer{webSocket: webSocket, run: func(_ context.Context, _ []string, stdin io.Reader, _, _ io.Writer) int {
				close(begun)
				_, err := io.ReadAll(stdin)
				ended <- err
				return hangUp
			}}, "a")
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				defer cancel()
				<-begun
				select {
				case <-ended:
					t.Error("its input ended before the client disconnected")
				case <-time.After(200 * time.Millisecond):
				}
			}()
			if _, err := p.Run(ctx, admin.Command{Argv: []string{"x"}, Limit: time.Minute, Tied: true}); err == nil {
				t.Error("it ended well")
			}
			select {
			case <-ended:
			case <-time.After(10 * time.Minute):
				t.Error("its input never ended")
			}
		})
	}
}
