package cmdutil

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

const (
	// TracesDirectory is where processes write their trace files.
	TracesDirectory = "/var/log/fdb-trace-logs"
	// PodLimit bounds the reads of logs and trace files of one pod.
	PodLimit = time.Minute
)

// End keeps the end of what is written to it.
type End struct {
	// Max is how many bytes are kept.
	Max int64
	// Kept are the last bytes, and Omitted is how many were written before them.
	Kept    []byte
	Omitted int64
}

// Write implements io.Writer.
func (e *End) Write(p []byte) (int, error) {
	e.Kept = append(e.Kept, p...)
	if over := int64(len(e.Kept)) - e.Max; over > 0 {
		e.Omitted += over
		e.Kept = append(e.Kept[:0], e.Kept[over:]...)
	}
	return len(p), nil
}

// Printed runs a program that changes nothing in a container and returns what it printed.
func Printed(ctx context.Context, t admin.Transport, argv ...string) ([]byte, error) {
	r, err := t.Run(ctx, admin.Command{Argv: argv, Limit: PodLimit, Reads: true})
	if err != nil {
		return nil, err
	}
	if r.ExitCode != 0 {
		return nil, fmt.Errorf("%s: exit code %d: %s", argv[0], r.ExitCode, strings.TrimSpace(string(r.Stderr)))
	}
	return r.Stdout, nil
}

// TraceNames returns the names of the trace files of a pod, the newest first, also those of processes
// that ran before.
func TraceNames(ctx context.Context, t admin.Transport) ([]string, error) {
	listed, err := Printed(ctx, t, "ls", "-1t", TracesDirectory)
	return strings.Fields(string(listed)), err
}
