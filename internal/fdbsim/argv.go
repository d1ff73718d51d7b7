package fdbsim

import (
	"context"
	"maps"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/tools"
)

// exitNotFound is the exit code of a command line without a program.
const exitNotFound = 127

// runCommandLine runs an argument vector as a container would: env and timeout in
// front of a tool do what they do there, the latter on the model's clock, and a
// shell runs the arguments of its script. Name and Args of t are taken from argv.
func runCommandLine(ctx context.Context, w *model.Simulation, argv []string, t Tool) (exit int) {
	t.Env = maps.Clone(t.Env)
	for len(argv) > 0 {
		switch path.Base(argv[0]) {
		case "env":
			argv = applyEnv(argv[1:], &t)
		case "timeout":
			limit, rest := timeoutOf(argv[1:])
			if limit > 0 {
				return runLimited(ctx, w, limit, rest, t)
			}
			argv = rest
		case "sh": // sh -c SCRIPT sh ARGUMENT...
			argv = argv[min(len(argv), 4):]
		case "stdbuf":
			argv = argv[1:]
			for len(argv) > 0 && strings.HasPrefix(argv[0], "-") {
				argv = argv[1:]
			}
		default:
			t.Name, t.Args = path.Base(argv[0]), argv[1:]
			return tools.Run(ctx, w, t)
		}
	}
	return exitNotFound
}

func applyEnv(argv []string, t *Tool) []string {
	if t.Env == nil {
		t.Env = map[string]string{}
	}
	for len(argv) > 0 {
		name, value, assigned := strings.Cut(argv[0], "=")
		switch {
		case argv[0] == "-u" && len(argv) > 1:
			delete(t.Env, argv[1])
			argv = argv[2:]
		case argv[0] == "-i":
			t.Env = map[string]string{}
			argv = argv[1:]
		case assigned && !strings.HasPrefix(name, "-"):
			t.Env[name] = value
			argv = argv[1:]
		default:
			return argv
		}
	}
	return argv
}

// timeoutOf reads the arguments of timeout(1).
func timeoutOf(argv []string) (time.Duration, []string) {
	for len(argv) > 1 && strings.HasPrefix(argv[0], "-") {
		if argv[0] == "-k" || argv[0] == "-s" {
			argv = argv[1:]
		}
		argv = argv[1:]
	}
	if len(argv) == 0 {
		return 0, nil
	}
	seconds, err := strconv.ParseFloat(strings.TrimSuffix(argv[0], "s"), 64)
	if err != nil {
		return 0, argv[1:]
	}
	return time.Duration(seconds * float64(time.Second)), argv[1:]
}

// runLimited kills the tool when the model's clock has gone on by limit.
func runLimited(ctx context.Context, w *model.Simulation, limit time.Duration, argv []string, t Tool) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	expired := false
	w.Lock()
	w.After(limit, func() {
		expired = true
		cancel()
	})
	w.Unlock()
	exit := runCommandLine(ctx, w, argv, t)
	w.Lock()
	defer w.Unlock()
	if expired && exit == model.ExitKilled {
		return ExitTimeout
	}
	return exit
}
