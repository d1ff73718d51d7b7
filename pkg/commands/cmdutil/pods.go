package cmdutil

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
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

// AfterDash splits the arguments of `VERB [CLUSTER] -- WORD…`.
func AfterDash(cmd *cobra.Command, args []string) (cluster, words []string, err error) {
	cluster, words, err = AtDash(cmd, args)
	if err == nil && len(cluster) > 1 {
		err = exit.Usagef("only one cluster is allowed, not %s", strings.Join(cluster, " and "))
	}
	return cluster, words, err
}

// AtDash splits the arguments at --, after which there must be a command.
func AtDash(cmd *cobra.Command, args []string) (before, words []string, err error) {
	at := cmd.ArgsLenAtDash()
	if at < 0 || at == len(args) {
		return nil, nil, exit.Usagef("a command is required after --: %s", cmd.UseLine())
	}
	return args[:at], args[at:], nil
}

// Pods reads the cluster's resource and pods, once the permission to run programs in them is
// verified.
func Pods(ctx context.Context, e *session.Env, cluster *session.Cluster) (plan.Snapshot, error) {
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	e.Run.About = key
	if err := session.MayDo(ctx, e, key.Namespace, session.ToolPermissions()); err != nil {
		return plan.Snapshot{}, err
	}
	conn, err := e.Connect(ctx, key)
	if err != nil {
		return plan.Snapshot{}, err
	}
	s := plan.Snapshot{}
	return s, conn.Observe(ctx, &s, plan.ClusterResource|plan.Pods)
}

// PodChoice selects the pod to run a program in; the zero value selects the best one.
type PodChoice struct{ Pod, Group string }

func (c PodChoice) Check() error {
	if c.Pod != "" && c.Group != "" {
		return exit.Usagef("--pod conflicts with --process-group")
	}
	return nil
}

// In finds the pod. A named one is used if its container runs; of all others the best: not
// marked for removal, and a coordinator.
func (c PodChoice) In(s plan.Snapshot) (*corev1.Pod, error) {
	name := strings.TrimPrefix(c.Pod, session.PodPrefix)
	if c.Group != "" {
		groups, err := session.GroupsNamed(s, []string{c.Group})
		if err != nil {
			return nil, err
		}
		name = groups[0].PodName(s.Cluster)
	}
	if name == "" {
		return Best(s)
	}
	pod := s.Pods[name]
	switch {
	case pod == nil && c.Group != "":
		return nil, &exit.Error{Code: exit.ExitUnreachable, Err: fmt.Errorf("pod %s of process group %s not found", name, c.Group)}
	case pod == nil:
		return nil, exit.Usagef("cluster %s: pod %q not found%s", s.Cluster.Name, name, session.OrMeant(name, slices.Sorted(maps.Keys(s.Pods))))
	case pod.Status.Phase != corev1.PodRunning:
		return nil, &exit.Error{Code: exit.ExitUnreachable, Err: fmt.Errorf("pod %s is not running: its phase is %s", name, pod.Status.Phase)}
	}
	return pod, nil
}

// Best returns the pods that fit a question best, the best first.
func Best(s plan.Snapshot) (*corev1.Pod, error) {
	usable := live.ToolPods(s.Cluster, s.Pods)
	if len(usable) == 0 {
		return nil, &exit.Error{Code: exit.ExitUnreachable, Err: fmt.Errorf("cluster %s has no suitable running pod", s.Cluster.Name)}
	}
	return usable[0], nil
}
