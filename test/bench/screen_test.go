package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

const (
	// idleShare is the share of one processor that an idle dashboard may use.
	idleShare = 0.02
	// settling is how long a screen takes until it only polls.
	settling = 10 * time.Second
	// idling is how long it is measured then: in that time each source is read.
	idling = 60 * time.Second
)

// A screen that is left open over a cluster of the demo's size, in which nothing happens.
func BenchmarkIdleScreen(b *testing.B) {
	sandbox, _ := ready(b, 16)
	for b.Loop() {
		share := sandbox.idle(b).Seconds() / idling.Seconds()
		b.ReportMetric(share*100, "percent")
		b.ReportMetric(share/idleShare, "of-2%")
	}
}

// idle is the time of a processor that a screen takes while it is left alone.
func (b *box) idle(tb testing.TB) time.Duration {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 5*time.Minute)
	defer cancel()
	cmd := b.command(ctx, "kubectl-fdb", "watch", clusterName, "-n", namespace)
	cmd.Stdout, cmd.Stderr = nil, nil
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		tb.Fatal(err)
	}
	defer terminal.Close()
	seen := make(chan int64, 1)
	go func() {
		n, _ := io.Copy(io.Discard, terminal) // ends with an error once the terminal is closed
		seen <- n
	}()
	time.Sleep(settling)
	before := processorTime(tb, cmd.Process.Pid)
	time.Sleep(idling)
	took := processorTime(tb, cmd.Process.Pid) - before
	if _, err := terminal.WriteString("q"); err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		tb.Fatalf("the dashboard: %v", err)
	}
	terminal.Close()
	if <-seen == 0 {
		tb.Fatal("the dashboard showed nothing")
	}
	return took
}

// processorTime is what a process has taken of processors, for itself and in the kernel.
func processorTime(tb testing.TB, pid int) time.Duration {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name may have blanks in it
	const user, system, tick = 11, 12, 10 * time.Millisecond
	fields, sum := strings.Fields(rest), 0
	for _, i := range []int{user, system} {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			tb.Fatal(err)
		}
		sum += n
	}
	return time.Duration(sum) * tick
}
