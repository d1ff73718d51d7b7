package realdb

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// limit bounds one command. The longest waits of a pass are ten minutes after a recovery,
// and no journey needs one of those.
const limit = 8 * time.Minute

// calibrationLimit is the same for an upgrade in one command.
const calibrationLimit = time.Hour

func limitOf() time.Duration {
	if calibrating() {
		return calibrationLimit
	}
	return limit
}

// result is what a program left behind.
type result struct {
	stdout, stderr string
	code           int
}

// run runs a program of the build, and fails the test if it does not end.
func run(t *test, stdin, program string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), limitOf())
	defer cancel()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(binDir, program), args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = t.sandbox.environment(), strings.NewReader(stdin), &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %s: %v %v\n%s%s", program, strings.Join(args, " "), err, ctx.Err(), out.String(), errOut.String())
	}
	return result{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

// must runs a program that has to succeed, and returns what it prints.
func must(t *test, program string, args ...string) string {
	t.Helper()
	r := run(t, "", program, args...)
	if r.code != 0 {
		t.Fatalf("%s %s: exit code %d\n%s%s", program, strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// eventually repeats a question until its answer is empty, and fails the test with the last
// answer after the given time.
func eventually(t *test, within time.Duration, question func() string) {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(time.Second) {
		answer := question()
		if answer == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after %s: %s", within, answer)
		}
	}
}

// decode reads a JSON document of a program.
func decode[T any](t *test, text string) T { //nolint:ireturn // T is a type of this package
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in\n%.500s", err, text)
	}
	return v
}
