// Package execute executes plans of package recovery. Every step is read back before the next one
// begins, and a run that was interrupted can be repeated.
package execute

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

const (
	// parallelPods bounds how many pods are changed at once.
	parallelPods = 8
	// fileLimit bounds a change in one pod.
	fileLimit = 30 * time.Second
	// pollInterval is the interval between two reads while processes start.
	pollInterval = 2 * time.Second
	// dataDir is where the volume of a pod is mounted.
	dataDir = "/var/fdb/data"
	// digestLength is how much of the digest names the copy of a cluster file.
	digestLength = 12
)

// Cluster is what a run needs of a session.
type Cluster interface {
	reconcile.Observer
	reconcile.Actor
}

// Run carries out one plan.
type Run struct {
	Cluster Cluster
	// Tool opens a runner of programs in a container of a pod.
	Tool func(pod *corev1.Pod, container string) (admin.Transport, error)
	// Read reads all facts again, and the snapshot from which they were read.
	Read func(ctx context.Context) (recovery.Facts, plan.Snapshot, error)
	// Client reads and reserves PersistentVolumes, which no pass changes.
	Client client.Client
	// Held returns an error once the Lease was lost.
	Held func(ctx context.Context) error
	// Report is called at the end of each step.
	Report func(step recovery.Step, began time.Time, err error)
	Clock  clock.WithTicker

	// parallel bounds how many pods are changed at once; 0 for parallelPods.
	parallel int
}

// MovedError means that the cluster state changed since the plan was made. Nothing was changed.
type MovedError struct {
	// Differences are one sentence each.
	Differences []string
}

func (e *MovedError) Error() string {
	return "the cluster state changed since the plan was made: " + strings.Join(e.Differences, "; ")
}

// Apply carries out the plan. It holds the Lease of the cluster meanwhile, so that no pass runs. The
// error of a step ends it; it then can be called again.
func (r Run) Apply(ctx context.Context, p recovery.Plan) error {
	run := r.inOrder()
	run.Actor = r.Cluster
	run.Prepare = func(ctx context.Context) ([]reconcile.Step, error) {
		facts, s, err := r.Read(ctx)
		if err != nil {
			return nil, err
		}
		if moved := p.Moved(facts); len(moved) > 0 {
			return nil, &MovedError{Differences: moved}
		}
		return r.present(p).steps(p, p.Present(facts), s)
	}
	return run.Run(ctx)
}

// inOrder carries out steps, without a Lease of its own.
func (r Run) inOrder() reconcile.Steps {
	return reconcile.Steps{Held: r.Held, Now: r.Clock.Now, Report: func(s reconcile.Step, began time.Time, err error) {
		r.Report(recovery.Step(s.Kind), began, err)
	}}
}

// steps returns the steps of a plan, in order.
func (r Run) steps(p recovery.Plan, facts recovery.Facts, s plan.Snapshot) ([]reconcile.Step, error) {
	known := r.podSteps(&p)
	maps.Copy(known, map[recovery.Step]func(context.Context) error{
		recovery.StepKeepCoordination: func(ctx context.Context) error { return r.keepCoordination(ctx, p, facts, s) },
		recovery.StepCopyCoordination: func(ctx context.Context) error { return r.copyCoordination(ctx, p, facts, s) },
		recovery.StepClusterFiles:     func(ctx context.Context) error { return r.writeFiles(ctx, p, facts, s) },
		recovery.StepConfigMap:        func(ctx context.Context) error { return r.writeConfigMap(ctx, p) },
		recovery.StepStatus:           func(ctx context.Context) error { return r.writeStatus(ctx, p) },
		recovery.StepRestart:          func(ctx context.Context) error { return r.restart(ctx, p) },
		recovery.StepAvailable:        func(ctx context.Context) error { return r.available(ctx, p) },
	})
	steps := make([]reconcile.Step, len(p.Steps))
	for i, step := range p.Steps {
		if known[step] == nil {
			return nil, fmt.Errorf("unknown step %q: the plan was made by another version", step)
		}
		steps[i] = reconcile.Step{Kind: string(step), Subject: p.Cluster, Do: known[step]}
	}
	return steps, nil
}

// writeScript keeps a copy of a cluster file, once, replaces the file atomically and prints it. A process
// that has reached no quorum since its pod was created has written none. Its arguments are the data
// directory, the name of the copy and the new content.
const writeScript = `set -e
f="$1/fdb.cluster"
if [ -e "$f" ] && ! [ -e "$f.$2" ]; then cp "$f" "$f.$2.new"; mv "$f.$2.new" "$f.$2"; fi
printf '%s\n' "$3" >"$f.new"
sync "$f.new"
mv "$f.new" "$f"
cat "$f"`

// writeFiles writes the cluster file of each pod that has another connection string.
func (r Run) writeFiles(ctx context.Context, p recovery.Plan, f recovery.Facts, s plan.Snapshot) error {
	return r.inPods(ctx, f, func(ctx context.Context, g recovery.Group) error {
		if recovery.SameConnectionString(g.Files.ClusterFile, p.To) {
			return nil
		}
		text, err := r.run(ctx, s.Pods[g.Pod], writeScript, dataDir, "before-recovery-"+p.Digest[:digestLength], p.To)
		if err != nil {
			return err
		}
		found, err := fdb.ParseClusterFile(text)
		if err != nil {
			return err
		}
		if !recovery.SameConnectionString(found.String(), p.To) {
			return fmt.Errorf("the cluster file has %s after it was written", found)
		}
		return nil
	})
}

// inPods does something in the pod of each process group at the same time.
func (r Run) inPods(ctx context.Context, f recovery.Facts, do func(context.Context, recovery.Group) error) error {
	var mu sync.Mutex
	var all []error
	var group errgroup.Group
	group.SetLimit(cmp.Or(r.parallel, parallelPods))
	for _, g := range f.Groups {
		group.Go(func() error {
			if err := do(ctx, g); err != nil {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, fmt.Errorf("pod %s: %w", g.Pod, err))
			}
			return nil
		})
	}
	_ = group.Wait() // no function returns an error
	return errors.Join(all...)
}

func (r Run) run(ctx context.Context, pod *corev1.Pod, script string, args ...string) (string, error) {
	tool, err := r.Tool(pod, v1beta2.ContainerMain)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, fileLimit)
	defer cancel()
	result, err := tool.Run(ctx, admin.Command{Argv: append([]string{"sh", "-c", script, "sh"}, args...), Limit: fileLimit})
	switch {
	case err != nil:
		return "", err
	case result.ExitCode != 0:
		return "", fmt.Errorf("exit code %d: %s", result.ExitCode, strings.TrimSpace(string(result.Stderr)))
	}
	return string(result.Stdout), nil
}

// writeConfigMap writes the connection string to the ConfigMap and reads it back.
func (r Run) writeConfigMap(ctx context.Context, p recovery.Plan) error {
	var s plan.Snapshot
	if err := r.Cluster.Observe(ctx, &s, plan.ClusterResource|plan.ConfigMap); err != nil {
		return err
	}
	change := configMapOf(p, s)
	if change == nil {
		return nil
	}
	if err := r.Cluster.Act(ctx, *change); err != nil {
		return err
	}
	if err := r.Cluster.Observe(ctx, &s, plan.ClusterResource|plan.ConfigMap); err != nil {
		return err
	}
	if s.ConfigMap == nil || !recovery.SameConnectionString(s.ConfigMap.Data[objects.KeyClusterFile], p.To) {
		return errors.New("the ConfigMap has another connection string after it was written")
	}
	return nil
}

// configMapOf returns the change of the ConfigMap; nil where it has the connection string, or does not exist: the next
// pass then creates it, from the status.
func configMapOf(p recovery.Plan, s plan.Snapshot) *plan.ApplyConfigMap {
	if s.ConfigMap == nil || recovery.SameConnectionString(s.ConfigMap.Data[objects.KeyClusterFile], p.To) {
		return nil
	}
	changed := s.ConfigMap.DeepCopy()
	if changed.Data == nil {
		changed.Data = map[string]string{}
	}
	changed.Data[objects.KeyClusterFile] = p.To
	return &plan.ApplyConfigMap{Name: changed.Name, Keys: []string{objects.KeyClusterFile}, Object: changed}
}

// writeStatus writes the connection string to the status and reads it back. It fails if the Lease
// was lost.
func (r Run) writeStatus(ctx context.Context, p recovery.Plan) error {
	var s plan.Snapshot
	if err := r.Cluster.Observe(ctx, &s, plan.ClusterResource); err != nil {
		return err
	}
	if err := r.Cluster.Act(ctx, plan.SetConnectionString{ConnectionString: p.To}); err != nil {
		return err
	}
	if err := r.Cluster.Observe(ctx, &s, plan.ClusterResource); err != nil {
		return err
	}
	if !recovery.SameConnectionString(s.Cluster.Status.ConnectionString, p.To) {
		return errors.New("the status has another connection string after it was written")
	}
	return nil
}

// Answer is what the API server answers to a dry run of a write, or that it is not asked about a step.
type Answer struct {
	Step  recovery.Step
	Asked bool
	Err   error
}

// asking submits an action as a server dry run, and reports whether that was possible.
type asking func(context.Context, plan.Action) (asked bool, err error)

// Try submits what the steps of a plan write now to the API server, by ask and a Client that makes dry runs. What exists
// only after earlier steps, and what is no object, is not asked about.
func (r Run) Try(ctx context.Context, p recovery.Plan, ask asking) ([]Answer, error) {
	var all []Answer
	for _, step := range p.Steps {
		answers, err := r.try(ctx, p, step, ask)
		if err != nil {
			return all, fmt.Errorf("%s: %w", step, err)
		}
		for _, err := range answers {
			all = append(all, Answer{Step: step, Asked: true, Err: err})
		}
		if len(answers) == 0 {
			all = append(all, Answer{Step: step})
		}
	}
	return all, nil
}

// try returns the answers to the writes of a step.
func (r Run) try(ctx context.Context, p recovery.Plan, step recovery.Step, ask asking) (answers []error, err error) {
	var actions []plan.Action
	switch step {
	case recovery.StepReserveVolumes:
		return r.tryVolumes(ctx, p)
	case recovery.StepConfigMap:
		actions, err = r.configMapWrites(ctx, p)
	case recovery.StepPVCs:
		actions, err = r.pvcWrites(ctx, p)
	case recovery.StepPods:
		actions, err = r.podWrites(ctx, p)
	default:
	}
	for _, a := range actions {
		if asked, err := ask(ctx, a); asked {
			answers = append(answers, err)
		}
	}
	return answers, err
}

func (r Run) configMapWrites(ctx context.Context, p recovery.Plan) ([]plan.Action, error) {
	var s plan.Snapshot
	if err := r.Cluster.Observe(ctx, &s, plan.ClusterResource|plan.ConfigMap); err != nil {
		return nil, err
	}
	if change := configMapOf(p, s); change != nil {
		return []plan.Action{*change}, nil
	}
	return nil, nil
}

func (r Run) pvcWrites(ctx context.Context, p recovery.Plan) (actions []plan.Action, err error) {
	var s plan.Snapshot
	if err := r.Cluster.Observe(ctx, &s, clusterstages.AddPVCs.Reads); err != nil {
		return nil, err
	}
	missing, err := clusterstages.MissingPVCs(s)
	for _, create := range missing {
		bound, err := r.bound(ctx, p.Bind, create)
		if err != nil {
			return nil, err
		}
		if bound != nil {
			actions = append(actions, *bound)
		}
	}
	return actions, err
}

func (r Run) podWrites(ctx context.Context, p recovery.Plan) (actions []plan.Action, err error) {
	var s plan.Snapshot
	if err := r.Cluster.Observe(ctx, &s, clusterstages.AddPods.Reads); err != nil {
		return nil, err
	}
	for _, a := range clusterstages.AddPods.Decide(s).Actions {
		if pod, is := a.(plan.CreatePod); is && slices.ContainsFunc(p.Create, func(c recovery.Creation) bool { return c.Pod == pod.Name }) {
			actions = append(actions, a)
		}
	}
	return actions, nil
}

// tryVolumes returns the answers to the reservations of volumes.
func (r Run) tryVolumes(ctx context.Context, p recovery.Plan) (answers []error, err error) {
	for _, b := range p.Bind {
		v, err := r.volume(ctx, b)
		if err != nil {
			return nil, err
		}
		done, err := r.reserved(ctx, p.Namespace, b, v)
		switch {
		case err != nil:
			answers = append(answers, fmt.Errorf("volume %s: %w", b.Volume, err))
		case !done:
			answers = append(answers, r.unclaim(ctx, v))
		}
	}
	return answers, nil
}
