package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// afterDash splits the arguments of `VERB [CLUSTER] -- WORD…`.
func afterDash(cmd *cobra.Command, args []string) (cluster, words []string, err error) {
	at := cmd.ArgsLenAtDash()
	if at < 0 || at == len(args) {
		return nil, nil, usagef("a command is required after --: %s", cmd.UseLine())
	}
	if at > 1 {
		return nil, nil, usagef("only one cluster is allowed, not %s", strings.Join(args[:at], " and "))
	}
	return args[:at], args[at:], nil
}

// pods reads the cluster's resource and pods, once the permission to run programs in them is
// verified.
func (e *Env) pods(ctx context.Context, record *cluster) (plan.Snapshot, error) {
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	e.about = key
	if err := e.mayDo(ctx, key.Namespace, toolPermissions()); err != nil {
		return plan.Snapshot{}, err
	}
	session, err := e.Connect(ctx, key)
	if err != nil {
		return plan.Snapshot{}, err
	}
	s := plan.Snapshot{}
	return s, session.Observe(ctx, &s, plan.Record|plan.Pods)
}

// podChoice selects the pod to run a program in; the zero value selects the best one.
type podChoice struct{ pod, group string }

func (c podChoice) check() error {
	if c.pod != "" && c.group != "" {
		return usagef("--pod conflicts with --process-group")
	}
	return nil
}

// in finds the pod. A named one is used if its container runs; of all others the best: not
// marked for removal, and a coordinator.
func (c podChoice) in(s plan.Snapshot) (*corev1.Pod, error) {
	name := strings.TrimPrefix(c.pod, podPrefix)
	if c.group != "" {
		groups, err := groupsNamed(s, []string{c.group})
		if err != nil {
			return nil, err
		}
		name = groups[0].PodName(s.Cluster)
	}
	if name == "" {
		return best(s)
	}
	pod := s.Pods[name]
	switch {
	case pod == nil && c.group != "":
		return nil, &failure{code: ExitUnreachable, err: fmt.Errorf("pod %s of process group %s not found", name, c.group)}
	case pod == nil:
		return nil, usagef("cluster %s: pod %q not found", s.Cluster.Name, name)
	case pod.Status.Phase != corev1.PodRunning:
		return nil, &failure{code: ExitUnreachable, err: fmt.Errorf("pod %s is not running: its phase is %s", name, pod.Status.Phase)}
	}
	return pod, nil
}

func best(s plan.Snapshot) (*corev1.Pod, error) {
	usable := live.ToolPods(s.Cluster, s.Pods)
	if len(usable) == 0 {
		return nil, &failure{code: ExitUnreachable, err: fmt.Errorf("cluster %s has no suitable running pod", s.Cluster.Name)}
	}
	return usable[0], nil
}
