package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// makefile writes a Makefile into a directory of its own, and goes there.
func makefile(t *testing.T, text string) {
	t.Helper()
	t.Chdir(t.TempDir())
	// What runs this test may be a make with variables and limits of its own.
	for _, name := range []string{"MAKEFLAGS", "MAKELEVEL", "MFLAGS"} {
		t.Setenv(name, "")
	}
	if err := os.WriteFile("Makefile", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAPartThatFailsEndsNoOtherPart(t *testing.T) {
	makefile(t, "fails:\n\t@echo its cause; exit 3\nlast:\n\t@touch $(FILE)\nbeside:\n\t@touch beside\n")
	var out bytes.Buffer
	failed, err := run(t.Context(), []string{"fails,last FILE=last", "beside"}, &out)
	if err != nil || !failed {
		t.Errorf("failed %v, want true: %v\n%s", failed, err, out.String())
	}
	for _, name := range []string{"last", "beside"} {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("part %s did not run: %v\n%s", name, err, out.String())
		}
	}
	if !strings.Contains(out.String(), "its cause\n") || !strings.Contains(out.String(), "    alone: make fails\n") {
		t.Errorf("the failure has no cause or command:\n%s", out.String())
	}
}

func TestAnInterruptEndsAllProcessesOfAllParts(t *testing.T) {
	makefile(t, "sleeps:\n\t@sleep 1000 & echo $$! > pid; sleep 1000\nnever:\n\t@touch never\n")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if text, err := os.ReadFile("pid"); err == nil && len(text) > 0 {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	var out bytes.Buffer
	if _, err := run(ctx, []string{"sleeps,never"}, &out); err == nil {
		t.Errorf("an interrupted run has no error:\n%s", out.String())
	}
	text, err := os.ReadFile("pid")
	if err != nil {
		t.Fatal(err)
	}
	process := "/proc/" + strings.TrimSpace(string(text)) + "/exe"
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Readlink(process); err != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%s still exists", process)
		}
	}
	if _, err := os.Stat("never"); err == nil {
		t.Error("a part began after the interrupt")
	}
}

func TestInvalidLanesAreRefused(t *testing.T) {
	for _, args := range [][]string{nil, {""}, {"test,"}, {"-j8"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
