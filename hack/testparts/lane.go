package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/utils/clock"
)

// part is a make target and its variables.
type part struct {
	target    string
	variables []string
	// prefix is what runs make; nil for nothing.
	prefix []string
}

// lane is what runs one after the other.
type lane []*part

// message is a line of a part, or its end, or that of its lane.
type message struct {
	part      *part
	line      string
	started   bool
	ended     bool
	err       error
	laneEnded bool
}

// parse reads lanes, which are parts separated by commas.
func parse(args []string) ([]lane, error) {
	if len(args) == 0 {
		return nil, errors.New("required: TARGET [VARIABLE=VALUE]...[,TARGET]... for each lane")
	}
	var lanes []lane
	for i, arg := range args {
		var l lane
		var prefix []string
		if i > 0 {
			prefix = beside
		}
		for text := range strings.SplitSeq(arg, ",") {
			words := strings.Fields(text)
			if len(words) == 0 || strings.ContainsAny(words[0], "=-") && strings.HasPrefix(words[0], "-") {
				return nil, fmt.Errorf("invalid lane %q: a part must begin with a make target", arg)
			}
			l = append(l, &part{words[0], words[1:], prefix})
		}
		lanes = append(lanes, l)
	}
	return lanes, nil
}

// beside gives all lanes but the first a lower priority.
var beside = []string{"nice", "-n", "10"}

// stopLimit is how long a part may take to end after an interrupt: end-to-end tests take their sandboxes down.
const stopLimit = time.Minute

// restLimit is how long the rest of the output of a part is read after its end.
const restLimit = 5 * time.Second

// command returns what runs a part, in a process group of its own. An interrupt reaches all of the group, and
// what is left of it after a minute is killed.
func (p *part) command(ctx context.Context) *exec.Cmd {
	args := slices.Concat(p.prefix, []string{"make", "--no-print-directory", p.target, "GO_TEST_FLAGS=-json"}, p.variables)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = stopLimit
	return cmd
}

// run runs the parts of a lane one after the other, also after one that failed.
func (l lane) run(ctx context.Context, said chan<- message) {
	for _, p := range l {
		if ctx.Err() != nil {
			break
		}
		said <- message{part: p, started: true}
		err := p.run(ctx, said)
		said <- message{part: p, ended: true, err: err}
	}
	said <- message{laneEnded: true}
}

func (p *part) run(ctx context.Context, said chan<- message) error {
	cmd := p.command(ctx)
	read, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start %s: %w", p.target, err)
	}
	defer read.Close()
	cmd.Stdout, cmd.Stderr = write, write
	err = cmd.Start()
	_ = write.Close() // the part has its own
	if err != nil {
		return fmt.Errorf("start %s: %w", p.target, err)
	}
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		// Whatever ended the leader of the group, nothing of the group stays, and nothing outside of it is waited for.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = read.SetReadDeadline(clock.RealClock{}.Now().Add(restLimit))
		ended <- err
	}()
	lines := bufio.NewReader(read)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			said <- message{part: p, line: strings.TrimSuffix(line, "\n")}
		}
		if err != nil {
			return <-ended
		}
	}
}
