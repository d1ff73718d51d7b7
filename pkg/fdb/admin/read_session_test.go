package admin_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/admintest"
)

// statusPod is a pod in which fdbcli prints status documents: those of single runs have generation 1, and those of
// sessions generations from 101.
type statusPod struct {
	// sessions are what fdbcli does in each session, in order; the ones after them answer.
	sessions []func(o *statusOutput, asked int) (alive bool)
	refuses  error
	opened   int
	ran      int
	answered int
	ended    int // sessions
}

type statusOutput struct {
	pod            *statusPod
	stdout, stderr io.Writer
	ctx            context.Context //nolint:containedctx // that of the program
	marker         string
}

const pageOfHelp = admintest.OptionsHelp + "\n  {braces} in the help\n"

func document(generation int) string {
	return fmt.Sprintf("{\n    \"client\" : {\n        \"database_status\" : {\n            \"available\" : true\n        }\n    },\n    \"cluster\" : {\n        \"generation\" : %d,\n        \"processes\" : {\n            \"a\" : {}\n        }\n    }\n}\n", generation)
}

func answers(o *statusOutput, _ int) bool {
	o.pod.answered++
	return o.print("\n" + document(100+o.pod.answered) + "\n" + pageOfHelp)
}

// print prints what a request gets, after the error about its marker.
func (o *statusOutput) print(text string) bool {
	_, _ = io.WriteString(o.stderr, complaint(o.marker))
	_, err := io.WriteString(o.stdout, text)
	return err == nil
}

func (p *statusPod) Run(context.Context, admin.Command) (admin.Result, error) {
	p.ran++
	return admin.Result{Stdout: []byte(document(1))}, nil
}

func (p *statusPod) Open(ctx context.Context, _ admin.Command) (*admin.Session, error) {
	if p.refuses != nil {
		return nil, &admin.TransportError{Where: "the pod", Err: p.refuses}
	}
	answer := answers
	if p.opened < len(p.sessions) {
		answer = p.sessions[p.opened]
	}
	p.opened++
	return admintest.Serve(ctx, func(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) int {
		defer func() { p.ended++ }()
		_, _ = io.WriteString(stdout, "Using cluster file `x'.\n\nWelcome to the fdbcli. For help, type `help'.\n")
		o, script, asked := &statusOutput{pod: p, stdout: stdout, stderr: stderr, ctx: ctx}, false, 0
		for lines := bufio.NewScanner(stdin); lines.Scan(); {
			switch line := lines.Text(); {
			case strings.HasPrefix(line, "sync_"):
				o.marker = line
			case line != "help options":
				script = true
			case !script:
				o.print(pageOfHelp)
			default:
				asked, script = asked+1, false
				if !answer(o, asked) {
					return 0
				}
			}
		}
		return 0
	}), nil
}

// asking is a client whose status documents are requested from a session in one of the pods.
func asking(pods ...*statusPod) (*admin.FDBCLI, *admin.ReadSession) {
	session := admin.NewReadSession(clock.RealClock{})
	var places []admin.Transport
	for i, p := range pods {
		places = append(places, session.At(fmt.Sprint("pod-", i), p))
	}
	return admin.NewFDBCLI(admin.NewFailover(places...), admin.FDBCLIOptions{}), session
}

func generation(t *testing.T, cli *admin.FDBCLI) int64 {
	t.Helper()
	s, err := cli.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return *s.Cluster.Generation
}

func TestOneFdbcliPrintsManyStatusDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pod := &statusPod{}
		cli, session := asking(pod)
		for want := int64(101); want < 105; want++ {
			if got := generation(t, cli); got != want {
				t.Errorf("got document %d, want %d", got, want)
			}
		}
		if s, ok := session.Status(t.Context()); !ok || *s.Cluster.Generation != 105 {
			t.Errorf("another one: %v, %v", s, ok)
		}
		session.Close()
		synctest.Wait()
		if pod.opened != 1 || pod.ran != 0 || pod.ended != 1 {
			t.Errorf("%d sessions, of which %d ended, and %d runs", pod.opened, pod.ended, pod.ran)
		}
		if _, ok := session.Status(t.Context()); ok {
			t.Error("a closed session has another document")
		}
	})
}

// TestASessionThatFailsIsEndedAndTheDocumentReadByASingleRun breaks the second document of the first session: it is
// read by a single run, and the third one from another session.
func TestASessionThatFailsIsEndedAndTheDocumentReadByASingleRun(t *testing.T) {
	whole := "\n" + document(666) + "\n" + pageOfHelp
	for name, second := range map[string]func(o *statusOutput) (alive bool){
		"the pod is killed in the middle of a document": func(o *statusOutput) bool {
			_, _ = io.WriteString(o.stdout, whole[:40])
			return false
		},
		"fdbcli hangs": func(o *statusOutput) bool {
			<-o.ctx.Done()
			return false
		},
		"fdbcli stops within a document": func(o *statusOutput) bool {
			_, _ = io.WriteString(o.stdout, whole[:40])
			<-o.ctx.Done()
			return false
		},
		"it prints something else":            func(o *statusOutput) bool { return o.print("\nnonsense\n" + pageOfHelp) },
		"it prints nothing":                   func(o *statusOutput) bool { return o.print(pageOfHelp) },
		"it prints a document without an end": func(o *statusOutput) bool { return o.print(whole[:60] + "\n" + pageOfHelp) },
		"it prints a document with a gap":     func(o *statusOutput) bool { return o.print(whole[:30] + whole[50:]) },
		"it answers another request":          func(o *statusOutput) bool { o.marker = "sync_1"; return o.print(whole) },
		"it reports an error": func(o *statusOutput) bool {
			_, _ = io.WriteString(o.stderr, "ERROR: Specified timeout reached (1031)\n")
			return o.print(whole)
		},
		"it prints without an end": func(o *statusOutput) bool {
			for block := []byte(strings.Repeat("x", 1<<20)); ; {
				if _, err := o.stdout.Write(block); err != nil {
					return false
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pod := &statusPod{sessions: []func(*statusOutput, int) bool{func(o *statusOutput, asked int) bool {
					if asked == 2 {
						return second(o)
					}
					return answers(o, asked)
				}}}
				cli, session := asking(pod)
				defer session.Close()
				got := []int64{generation(t, cli), generation(t, cli), generation(t, cli)}
				if got[0] != 101 || got[1] != 1 || got[2] != 102 {
					t.Errorf("got documents %v, want 101, the one of a single run, and 102", got)
				}
				synctest.Wait()
				if pod.opened != 2 || pod.ended != 1 || pod.ran != 1 {
					t.Errorf("%d sessions, of which %d ended, and %d runs", pod.opened, pod.ended, pod.ran)
				}
			})
		})
	}
}

func TestAPodWhoseSessionHangsIsLeftForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := func(o *statusOutput, _ int) bool { <-o.ctx.Done(); return false }
		first, second := &statusPod{sessions: []func(*statusOutput, int) bool{hangs}}, &statusPod{}
		cli, session := asking(first, second)
		defer session.Close()
		began := time.Now()
		if got := generation(t, cli); got != 1 || time.Since(began) > 7*time.Second {
			t.Errorf("got document %d after %s, want that of the second pod", got, time.Since(began))
		}
		synctest.Wait()
		if got := generation(t, cli); got != 101 || second.opened != 1 || first.opened != 1 || first.ended != 1 {
			t.Errorf("got document %d, want one of a session in the second pod", got)
		}
	})
}

func TestWhereSessionsAreRefusedStatusesAreReadBySingleRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pod := &statusPod{refuses: errors.New("stdin is not allowed")}
		cli, session := asking(pod)
		defer session.Close()
		for range 5 {
			if got := generation(t, cli); got != 1 {
				t.Errorf("got document %d", got)
			}
		}
		pod.refuses = nil
		if got := generation(t, cli); got != 1 {
			t.Errorf("a session was opened right after three failures: document %d", got)
		}
		time.Sleep(time.Minute)
		if got := generation(t, cli); got != 101 {
			t.Errorf("no session was opened a minute later: document %d", got)
		}
	})
}

func TestAnOldSessionIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pod := &statusPod{}
		cli, session := asking(pod)
		defer session.Close()
		generation(t, cli)
		time.Sleep(10 * time.Minute)
		if got := generation(t, cli); got != 102 || pod.opened != 2 || pod.ended != 1 || pod.ran != 0 {
			t.Errorf("document %d; %d sessions, of which %d ended", got, pod.opened, pod.ended)
		}
	})
}

// TestOnlyOneRequestIsOutstanding reads two documents at once: the second one waits for the first, for a short time.
func TestOnlyOneRequestIsOutstanding(t *testing.T) {
	for name, tc := range map[string]struct {
		takes  time.Duration
		second int64
	}{
		"the first takes a second":  {time.Second, 102},
		"the first takes 5 seconds": {5 * time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slow := func(o *statusOutput, asked int) bool {
					time.Sleep(tc.takes)
					return answers(o, asked)
				}
				pod := &statusPod{sessions: []func(*statusOutput, int) bool{slow}}
				cli, session := asking(pod)
				defer session.Close()
				first := make(chan int64)
				go func() { first <- generation(t, cli) }()
				synctest.Wait()
				if got := generation(t, cli); got != tc.second {
					t.Errorf("the second document is %d, want %d", got, tc.second)
				}
				if got := <-first; got != 101 {
					t.Errorf("the first document is %d", got)
				}
			})
		})
	}
}

// TestReadsOfTheSimulatedDatabaseComeFromOneSession reads through the model's fdbcli, which holds output back in
// blocks as fdbcli does.
func TestReadsOfTheSimulatedDatabaseComeFromOneSession(t *testing.T) {
	cluster, files := newSimulation(t)
	single := newSimulatedCLI(cluster, simulated{cluster, files})
	if err := single.Configure(t.Context(), ordinary(), admin.NewDatabase); err != nil {
		t.Fatal(err)
	}
	if err := single.Exclude(t.Context(), []string{"locality_instance_id:storage-6"}); err != nil {
		t.Fatal(err)
	}
	cluster.Advance(5 * time.Minute)
	pod := &countedPod{Transport: simulated{cluster, files}}
	session := admin.NewReadSession(simulatedClock{clock.RealClock{}, cluster})
	defer session.Close()
	cli := newSimulatedCLI(cluster, session.At("pod", pod))
	for range 3 {
		want, err := single.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := cli.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got.ChangedSince(want) {
			t.Error("a session's document differs from that of a single run")
		}
		alone, err := single.ExclusionLists(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lists, err := cli.ExclusionLists(t.Context())
		if diff := cmp.Diff(alone, lists); err != nil || diff != "" {
			t.Errorf("exclusions: %v %s", err, diff)
		}
	}
	if pod.opened != 1 || pod.ran != 0 {
		t.Errorf("%d sessions and %d runs, want 1 and none", pod.opened, pod.ran)
	}
}

// countedPod counts what runs in a pod.
type countedPod struct {
	admin.Transport
	opened, ran int
}

func (p *countedPod) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	p.ran++
	return p.Transport.Run(ctx, c)
}

func (p *countedPod) Open(ctx context.Context, c admin.Command) (*admin.Session, error) {
	p.opened++
	return p.Transport.Open(ctx, c)
}
