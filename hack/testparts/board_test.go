package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// feed has a board take lines of one part, in a directory of its own, and returns what it printed.
func feed(t *testing.T, end error, lines ...string) (string, *board) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(logs, 0o750); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := &part{target: "test-unit-built"}
	b := newBoard([]lane{{p}}, &out, clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
	b.take(message{part: p, started: true})
	for _, line := range lines {
		b.take(message{part: p, line: line})
	}
	b.take(message{part: p, ended: true, err: end})
	return out.String(), b
}

const failing = `{"Action":"run","Package":"github.com/kubectl-fdb/kubectl-fdb/pkg/a","Test":"TestX"}
{"Action":"run","Package":"github.com/kubectl-fdb/kubectl-fdb/pkg/a","Test":"TestX/a_row"}
{"Action":"output","Package":"github.com/kubectl-fdb/kubectl-fdb/pkg/a","Test":"TestX/a_row","Output":"    a_test.go:1: 1 is not 2\n"}
{"Action":"fail","Package":"github.com/kubectl-fdb/kubectl-fdb/pkg/a","Test":"TestX/a_row","Elapsed":1}
{"Action":"fail","Package":"github.com/kubectl-fdb/kubectl-fdb/pkg/a","Test":"TestX","Elapsed":1}`

func TestATestThatFailsIsPrintedAtOnceWithTheCommandThatRunsItAlone(t *testing.T) {
	out, b := feed(t, errors.New("exit status 1"), strings.Split(failing, "\n")...)
	failure, _, _ := strings.Cut(out, "exit status 1")
	for _, want := range []string{
		"FAILED pkg/a TestX/a_row\n", "    a_test.go:1: 1 is not 2\n",
		"    alone: make test-unit PACKAGE=github.com/kubectl-fdb/kubectl-fdb/pkg/a RUN='^TestX$/^a_row$'\n",
	} {
		if !strings.Contains(failure, want) {
			t.Errorf("it does not print %q:\n%s", want, out)
		}
	}
	if n := strings.Count(out, "FAILED pkg/a"); n != 1 {
		t.Errorf("the failure is printed %d times, want once:\n%s", n, out)
	}
	if !b.failed() {
		t.Error("all of it passed")
	}
}

func TestFailuresWithoutAFailedTestArePrintedWithTheirOutput(t *testing.T) {
	for name, lines := range map[string][]string{
		"a package that ends in a panic of a test": {
			`{"Action":"run","Package":"p","Test":"TestX"}`,
			`{"Action":"output","Package":"p","Test":"TestX","Output":"the cause\n"}`,
			`{"Action":"fail","Package":"p","Elapsed":1}`,
		},
		"a package that does not compile": {
			`{"Action":"build-output","ImportPath":"p [p.test]","Output":"the cause\n"}`,
			`{"Action":"build-fail","ImportPath":"p [p.test]"}`,
			`{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`,
		},
		"a part that runs no tests": {"the cause"},
	} {
		t.Run(name, func(t *testing.T) {
			out, b := feed(t, errors.New("exit status 2"), lines...)
			if strings.Count(out, "    the cause\n") != 1 || !strings.Contains(out, "    alone: make test-unit") || !b.failed() {
				t.Errorf("failed %v, want true, with the cause once and a command:\n%s", b.failed(), out)
			}
		})
	}
}

func TestPassedTestsLeaveNoOutput(t *testing.T) {
	out, b := feed(t, nil,
		`{"Action":"run","Package":"p","Test":"TestX"}`,
		`{"Action":"output","Package":"p","Test":"TestX","Output":"a line\n"}`,
		`{"Action":"pass","Package":"p","Test":"TestX","Elapsed":7}`,
		`{"Action":"pass","Package":"p","Elapsed":8}`)
	if strings.Contains(out, "a line") || !strings.Contains(out, "ok     p TestX 7s") || b.failed() {
		t.Errorf("failed %v, want false, with a line for the long test:\n%s", b.failed(), out)
	}
	log, err := os.ReadFile(logs + "/test-unit.txt")
	if err != nil || string(log) != "a line\n" {
		t.Errorf("the log of the part has %q, want all of its output: %v", log, err)
	}
}

// Minutes without a line look like a hang.
func TestAQuarterOfAMinuteWithoutALineNamesWhatRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	c := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	var out bytes.Buffer
	p := &part{target: "test-e2e"}
	b := newBoard([]lane{{p}}, &out, c)
	b.start(b.of[p])
	for _, test := range []string{"TestPages", "TestPages/tls", "TestX"} {
		b.line(b.of[p], `{"Action":"run","Package":"p","Test":"`+test+`"}`)
	}
	c.SetTime(time.Unix(10, 0))
	b.tick()
	c.SetTime(time.Unix(20, 0))
	b.tick()
	if got := out.String(); strings.Count(got, "runs") != 1 || !strings.Contains(got, "TestPages/tls for 20s, TestX for 20s") && !strings.Contains(got, "TestX for 20s, TestPages/tls for 20s") {
		t.Errorf("after 20 s it prints:\n%s", got)
	}
}
