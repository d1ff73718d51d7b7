package dashboard

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/entries"
)

// ScreenReads reads the logs and YAML that keys show.
type ScreenReads struct {
	env       *session.Env
	namespace string
}

var _ entries.Reads = ScreenReads{}

// NewScreenReads returns the reads of the dashboard. The namespace is that of clusters without one
// in their name.
func NewScreenReads(env *session.Env, namespace string) ScreenReads {
	return ScreenReads{env: env, namespace: namespace}
}

// YAML implements entries.Reads. Secrets are hidden, and managed fields omitted.
func (r ScreenReads) YAML(ctx context.Context, o entries.Object) (string, error) {
	c, err := r.env.Client()
	if err != nil {
		return "", errors.New(exit.Explain(err))
	}
	key := entries.Key(o.Cluster, r.namespace)
	objects, err := objectsOf(ctx, c, key, o)
	if err != nil {
		return "", errors.New(exit.Explain(err))
	}
	var parts []string
	for _, object := range objects {
		object.SetManagedFields(nil)
		if kinds, _, err := c.Scheme().ObjectKinds(object); err == nil && len(kinds) > 0 {
			object.GetObjectKind().SetGroupVersionKind(kinds[0])
		}
		text, err := hiddenYAML(object)
		if err != nil {
			return "", fmt.Errorf("write %s as YAML: %w", object.GetName(), err)
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "", fmt.Errorf("%s not found", o.Name)
	}
	return strings.Join(parts, "---\n"), nil
}

// hiddenYAML returns an object as YAML without values that may not be shown.
func hiddenYAML(object client.Object) (string, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return "", err
	}
	redact.Object(fields)
	text, err := ui.YAML(fields)
	return redact.Kept(string(text)), err
}

// objectsOf reads an object; of a process group its pod, its PVC and its Service.
func objectsOf(ctx context.Context, c client.Client, key types.NamespacedName, o entries.Object) ([]client.Object, error) {
	var one client.Object = &v1beta2.FoundationDBCluster{}
	switch o.Kind {
	case entries.OfCluster: // read as it is
	case entries.OfGroup:
		return groupObjects(ctx, c, key, o.Name)
	case entries.OfNode:
		one, key = &corev1.Node{}, types.NamespacedName{Name: o.Name}
	case entries.OfBackup:
		one, key.Name = &v1beta2.FoundationDBBackup{}, o.Name
	case entries.OfRestore:
		one, key.Name = &v1beta2.FoundationDBRestore{}, o.Name
	}
	return []client.Object{one}, c.Get(ctx, key, one)
}

// groupObjects lists the objects of a process group, by the labels that passes set: the permission
// to list them is the one that every read of a cluster needs.
func groupObjects(ctx context.Context, c client.Client, key types.NamespacedName, id string) ([]client.Object, error) {
	cluster := &v1beta2.FoundationDBCluster{}
	if err := c.Get(ctx, key, cluster); err != nil {
		return nil, err
	}
	labels := client.MatchingLabels(maps.Clone(cluster.MatchLabels()))
	labels[cluster.ProcessGroupIDLabels()[0]] = id
	var objects []client.Object
	var pods corev1.PodList
	var claims corev1.PersistentVolumeClaimList
	var services corev1.ServiceList
	for _, list := range []client.ObjectList{&pods, &claims, &services} {
		if err := c.List(ctx, list, client.InNamespace(key.Namespace), labels); err != nil {
			return nil, err
		}
	}
	for i := range pods.Items {
		objects = append(objects, &pods.Items[i])
	}
	for i := range claims.Items {
		objects = append(objects, &claims.Items[i])
	}
	for i := range services.Items {
		objects = append(objects, &services.Items[i])
	}
	return objects, nil
}

const (
	// logTail is how many earlier lines of each container are shown.
	logTail = 200
	// logBatch is how long lines are collected: a container can log thousands at once.
	logBatch = 200 * time.Millisecond
)

// Logs implements entries.Reads: the lines of all containers, each after the name of its own.
func (r ScreenReads) Logs(ctx context.Context, cluster, pod string, send func(lines []string)) error {
	key := entries.Key(cluster, r.namespace)
	containers, err := r.containers(ctx, types.NamespacedName{Namespace: key.Namespace, Name: pod}, key)
	if err != nil {
		return errors.New(exit.Explain(err))
	}
	lines := make(chan string)
	faults := make([]error, len(containers))
	var readers sync.WaitGroup
	for i, container := range containers {
		readers.Go(func() {
			faults[i] = reconcile.Guarded(func() error { return r.follow(ctx, key.Namespace, pod, container, lines) })
		})
	}
	ended := make(chan struct{})
	go func() { readers.Wait(); close(ended) }()
	batch(lines, ended, r.env.Clock.NewTicker(logBatch).C(), send)
	if err := errors.Join(faults...); err != nil && ctx.Err() == nil {
		return errors.New(exit.Explain(err))
	}
	return nil
}

// batch sends lines at intervals, until they end.
func batch(lines <-chan string, ended <-chan struct{}, tick <-chan time.Time, send func([]string)) {
	var waiting []string
	flush := func() {
		if len(waiting) > 0 {
			send(waiting)
		}
		waiting = nil
	}
	defer flush()
	for {
		select {
		case line := <-lines:
			waiting = append(waiting, line)
		case <-tick:
			flush()
		case <-ended:
			return
		}
	}
}

// follow sends the lines of a container until it or ctx ends.
func (r ScreenReads) follow(ctx context.Context, namespace, pod, container string, lines chan<- string) error {
	stream, err := r.env.Logs(ctx, namespace, pod, &corev1.PodLogOptions{Container: container, Follow: true, TailLines: new(int64(logTail))})
	if err != nil {
		return fmt.Errorf("read the log of container %s: %w", container, err)
	}
	defer stream.Close()
	scanner := bufio.NewScanner(stream)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		select {
		case lines <- container + "  " + redact.Kept(scanner.Text()):
		case <-ctx.Done():
			return nil
		}
	}
	if err := scanner.Err(); err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		return fmt.Errorf("read the log of container %s: %w", container, err)
	}
	return nil
}

// containers returns the names of the containers of a pod, the main one first.
func (r ScreenReads) containers(ctx context.Context, pod, cluster types.NamespacedName) ([]string, error) {
	c, err := r.env.Client()
	if err != nil {
		return nil, err
	}
	resource := &v1beta2.FoundationDBCluster{}
	if err := c.Get(ctx, cluster, resource); err != nil {
		return nil, err
	}
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(pod.Namespace), client.MatchingLabels(resource.MatchLabels())); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(pods.Items, func(p corev1.Pod) bool { return p.Name == pod.Name })
	if i < 0 {
		return nil, fmt.Errorf("pod %s not found", pod.Name)
	}
	var names []string
	for _, c := range pods.Items[i].Spec.Containers {
		names = append(names, c.Name)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case a == b:
			return 0
		case a == v1beta2.ContainerMain:
			return -1
		case b == v1beta2.ContainerMain:
			return 1
		}
		return 0
	})
	return names, nil
}

// Shell implements entries.Reads: kubectl exec, with the kubeconfig context of the dashboard.
func (r ScreenReads) Shell(cluster, pod string) *exec.Cmd {
	where := r.env.Where(entries.Key(cluster, r.namespace).Namespace)
	words := []string{"exec", "-it", pod, "--container", v1beta2.ContainerMain, "--namespace", where.Namespace}
	if where.Context != "" {
		words = append(words, "--context", where.Context)
	}
	words = append(append(words, where.Flags...), "--", "sh")
	return exec.CommandContext(context.Background(), "kubectl", words...) //nolint:gosec // words of this program, and no shell
}
