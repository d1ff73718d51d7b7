package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/logs"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// parallelPods bounds from how many pods logs are read concurrently.
const parallelPods = 8

// reader reads the logs of one cluster.
type reader struct {
	env    *session.Env
	o      *options
	key    types.NamespacedName
	source source
	faults faults
	filter logs.Filter
	// share is how many bytes are read of a pod at first.
	share  int64
	widths ui.LogWidths
}

func newReader(env *session.Env, o *options, key types.NamespacedName) *reader {
	r := &reader{env: env, o: o, key: key, source: livePods{env}, faults: faults{env: env, warned: map[string]bool{}}}
	if files, omitted, dumped := env.Connection().DumpedFiles(); dumped {
		r.source = dump{files, omitted}
	}
	r.filter = logs.Filter{Severity: o.severity, Tail: o.tail}
	if o.since > 0 {
		r.filter.Since = env.Clock.Now().Add(-o.since)
	}
	return r
}

// prepare divides the limit among pods, and finds the widths of columns.
func (r *reader) prepare(pods []target) {
	r.share = max(r.o.limit/int64(max(len(pods), 1)), 1)
	for _, t := range pods {
		r.widths.Note(t.place.ProcessGroup, r.o.containersOf(t.pod)...)
	}
}

// once prints the logs as they are.
func (r *reader) once(ctx context.Context, pods []target) {
	r.prepare(pods)
	all := make([][]logs.Entry, len(pods))
	var group errgroup.Group
	group.SetLimit(parallelPods)
	for i := range pods {
		group.Go(func() error {
			limited, cancel := context.WithTimeout(ctx, cmdutil.PodLimit)
			defer cancel()
			all[i] = r.pod(limited, pods[i])
			return nil
		})
	}
	_ = group.Wait() // failures are noted
	if ctx.Err() == nil {
		r.print(logs.Merge(all...))
	}
}

// print prints entries.
func (r *reader) print(entries []logs.Entry) {
	w := layout.Asked(r.env.Out) // a log is no text of ours
	for _, e := range entries {
		if r.o.output == "json" {
			_ = ui.WriteJSON(w, e) // a reader that went away ends the process
			continue
		}
		ui.WriteLog(w, e, r.widths)
	}
}

// pod reads the logs of a pod, merged by time.
func (r *reader) pod(ctx context.Context, t target) []logs.Entry {
	var all [][]logs.Entry
	if r.o.reads(logs.FromContainer) {
		containers := r.o.containersOf(t.pod)
		for _, container := range containers {
			all = append(all, r.container(ctx, t, container, r.share/2/int64(len(containers))))
		}
	}
	if r.o.hasTraces(t) {
		entries, err := r.events(ctx, t)
		r.faults.note("trace files of pod "+t.pod.Name, err)
		all = append(all, entries)
	}
	return logs.Merge(all...)
}

// podLogOptions are the options of a request for the log of a container.
func (r *reader) podLogOptions(container string) *corev1.PodLogOptions {
	o := &corev1.PodLogOptions{Container: container, Timestamps: true, Previous: r.o.previous}
	if r.o.tail >= 0 {
		o.TailLines = new(int64(r.o.tail))
	}
	if !r.filter.Since.IsZero() {
		o.SinceTime = &metav1.Time{Time: r.filter.Since}
	}
	return o
}

// reading returns what is common to the entries of a log.
func (r *reader) reading(t target, container string, origin logs.Origin) logs.Reading {
	place := t.place
	place.Container, place.Origin = container, origin
	return logs.Reading{Metadata: r.env.Metadata(r.key), Place: place, AsOf: r.env.Clock.Now()}
}

// container reads the log of a container. One that has not run has none, and is no failure.
func (r *reader) container(ctx context.Context, t target, container string, most int64) []logs.Entry {
	if !started(t.pod, container) || r.o.previous && !restarted(t.pod, container) {
		return nil
	}
	what := fmt.Sprintf("log of pod %s, container %s", t.pod.Name, container)
	content, omitted, err := r.source.log(ctx, t.pod, r.podLogOptions(container), max(most, 1))
	r.faults.note(what, err)
	if omitted != 0 {
		content = withoutTorn(content)
	}
	entries := r.reading(t, container, logs.FromContainer).Entries(content)
	kept := r.filter.Of(entries)
	if omitted != 0 && r.lacks(entries, kept) {
		r.faults.limited(what, "--max-bytes "+r.o.maxBytes)
	}
	return kept
}

// withoutTorn returns a text without its first line, whose beginning is missing.
func withoutTorn(text []byte) []byte {
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	return rest
}

// lacks reports whether entries of a log whose beginning was not read are missing among the selected
// ones.
func (r *reader) lacks(read, kept []logs.Entry) bool {
	if r.o.tail >= 0 && len(kept) >= r.o.tail {
		return false
	}
	return r.filter.Since.IsZero() || !slices.ContainsFunc(read, func(e logs.Entry) bool { return e.Time != nil && e.Time.Before(r.filter.Since) })
}

// events reads the events of the newest trace files of a pod, as far as its share of the limit goes.
func (r *reader) events(ctx context.Context, t target) ([]logs.Entry, error) {
	if t.pod.Status.Phase != corev1.PodRunning {
		return nil, errors.New("they can only be read while the pod is running; its phase is " + string(t.pod.Status.Phase))
	}
	files, err := r.source.traces(ctx, t.pod)
	if err != nil {
		return nil, err
	}
	var all [][]logs.Entry
	left, omitted := r.share/2, false
	for _, f := range files {
		if left <= 0 {
			omitted = true
			break
		}
		from := max(f.size-left, 0)
		content, err := r.source.after(ctx, t.pod, f.name, from)
		if err != nil {
			return logs.Merge(all...), err
		}
		if from > 0 {
			content, omitted = withoutTorn(content), true
		}
		left -= f.size - from
		all = append(all, r.reading(t, v1beta2.ContainerMain, logs.FromTrace).Entries(content))
	}
	read := logs.Merge(all...)
	kept := r.filter.Of(read)
	if omitted && r.lacks(read, kept) {
		r.faults.limited("trace files of pod "+t.pod.Name, "--max-bytes "+r.o.maxBytes)
	}
	return kept, nil
}

// target is a pod whose logs are read.
type target struct {
	pod   *corev1.Pod
	place logs.Place
}

// pods reads the selected pods of the cluster. The database is not queried: logs matter most while it
// does not answer.
func (r *reader) pods(ctx context.Context) ([]target, error) {
	c, err := r.env.Client()
	if err != nil {
		return nil, err
	}
	cluster, err := r.env.Read(ctx, c, r.key)
	if err != nil {
		return nil, err
	}
	list := &corev1.PodList{}
	if err := c.List(ctx, list, client.InNamespace(r.key.Namespace), client.MatchingLabels(cluster.MatchLabels())); err != nil {
		return nil, fmt.Errorf("list pods of FoundationDBCluster %s: %w", r.key.Name, err)
	}
	named, err := namedGroups(cluster, list.Items, r.o.IDs)
	if err != nil {
		return nil, err
	}
	var all []target
	for i := range list.Items {
		t := targetOf(cluster, &list.Items[i])
		if r.o.selects(t) && (len(r.o.IDs) == 0 || slices.Contains(named, t.place.ProcessGroup)) {
			all = append(all, t)
		}
	}
	return all, nil
}

// namedGroups returns the IDs of the process groups that words name. One that has left the status and
// still has a pod is found by its ID.
func namedGroups(cluster *session.Cluster, pods []corev1.Pod, words []string) ([]string, error) {
	var ids, rest []string
	for _, word := range words {
		if slices.ContainsFunc(pods, func(p corev1.Pod) bool { return groupOf(cluster, &p) == word }) {
			ids = append(ids, word)
			continue
		}
		rest = append(rest, word)
	}
	s := plan.Snapshot{Cluster: cluster, Pods: map[string]*corev1.Pod{}}
	groups, err := session.GroupsNamed(s, rest)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		ids = append(ids, string(g.ProcessGroupID))
	}
	return ids, nil
}

func groupOf(cluster *session.Cluster, pod *corev1.Pod) string {
	return pod.Labels[cluster.ProcessGroupIDLabels()[0]]
}

func targetOf(cluster *session.Cluster, pod *corev1.Pod) target {
	t := target{pod: pod, place: logs.Place{
		ProcessGroup: groupOf(cluster, pod), Class: pod.Labels[cluster.ProcessClassLabels()[0]], Node: pod.Spec.NodeName, Pod: pod.Name,
	}}
	if g := cluster.ProcessGroup(v1beta2.ProcessGroupID(t.place.ProcessGroup)); g != nil {
		t.place.Zone = string(g.FaultDomain)
	}
	return t
}

func (o *options) selects(t target) bool {
	return cmdutil.AnyOf(o.Classes, t.place.Class) && cmdutil.AnyOf(o.Zones, t.place.Zone) && cmdutil.AnyOf(o.Nodes, t.place.Node)
}

// reads reports whether logs of an origin are read.
func (o *options) reads(origin logs.Origin) bool { return slices.Contains(o.origins, string(origin)) }

// containersOf returns the names of the containers of a pod whose logs are read.
func (o *options) containersOf(pod *corev1.Pod) []string {
	var names []string
	for _, c := range pod.Spec.Containers {
		if cmdutil.AnyOf(o.containers, c.Name) {
			names = append(names, c.Name)
		}
	}
	for _, c := range pod.Spec.InitContainers {
		if slices.Contains(o.containers, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// hasTraces reports whether a pod is expected to have trace files that are read.
func (o *options) hasTraces(t target) bool {
	return o.reads(logs.FromTrace) && !o.previous && cmdutil.AnyOf(o.containers, v1beta2.ContainerMain) && started(t.pod, v1beta2.ContainerMain)
}

// started reports whether a container has run, or may have: one without a status may.
func started(pod *corev1.Pod, container string) bool {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if s.Name == container {
			return s.State.Waiting == nil || s.RestartCount > 0 || s.LastTerminationState.Terminated != nil
		}
	}
	return pod.Status.Phase != corev1.PodPending
}

// restarted reports whether a container ran before.
func restarted(pod *corev1.Pod, container string) bool {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if s.Name == container {
			return s.RestartCount > 0 || s.LastTerminationState.Terminated != nil
		}
	}
	return false
}
