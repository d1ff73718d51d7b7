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

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/logs"
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
