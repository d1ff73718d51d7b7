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
		return nil, nil, usagef("what to run follows two dashes: %s", cmd.UseLine())
	}
	if at > 1 {
		return nil, nil, usagef("one cluster at a time: %s are given", strings.Join(args[:at], " and "))
	}
	return args[:at], args[at:], nil
}

// pods reads the cluster's record and its pods, once it is known that we may run
// something in them.
func (e *Env) pods(ctx context.Context, record *cluster) (plan.Snapshot, error) {
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	e.about = key
	if err := e.mayDo(ctx, key.Namespace, toolPowers()); err != nil {
		return plan.Snapshot{}, err
	}
	session, err := e.Connect(ctx, key)
	if err != nil {
		return plan.Snapshot{}, err
	}
	s := plan.Snapshot{}
	return s, session.Observe(ctx, &s, plan.Record|plan.Pods)
}

// podChoice says in which pod to run something; the zero value leaves the choice to us.
type podChoice struct{ pod, group string }

func (c podChoice) check() error {
	if c.pod != "" && c.group != "" {
		return usagef("--pod and --process-group both name a pod: choose one")
	}
	return nil
}

// in finds the pod. One that was named is taken if its container runs; of all others the
// best one: here to stay, and a coordinator.
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
		return nil, &failure{code: ExitUnreachable, err: fmt.Errorf("pod %s of process group %s is not there", name, c.group)}
	case pod == nil:
		return nil, usagef("cluster %s has no pod %q", s.Cluster.Name, name)
	case pod.Status.Phase != corev1.PodRunning:
		return nil, &failure{code: ExitUnreachable, err: fmt.Errorf("pod %s does not run: its phase is %s", name, pod.Status.Phase)}
	}
	return pod, nil
}

func best(s plan.Snapshot) (*corev1.Pod, error) {
	usable := live.ToolPods(s.Cluster, s.Pods)
	if len(usable) == 0 {
		return nil, &failure{code: ExitUnreachable, err: fmt.Errorf("no pod of cluster %s runs that something could be run in", s.Cluster.Name)}
	}
	return usable[0], nil
}
