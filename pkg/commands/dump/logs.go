package dump

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/dumps"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const (
	// parallelPods bounds from how many pods logs are read concurrently.
	parallelPods = 8
	// maxTraces is how many trace files of a pod are read, the newest first.
	maxTraces = 12
)

// part is a file of the dump.
type part struct {
	path    string
	content []byte
	omitted int64
}

// logs reads the logs and trace files of all pods, each pod with the same share of the limit.
func (c *collector) logs(ctx context.Context, most int64) {
	var pods []corev1.Pod
	seen := map[string]bool{}
	for _, cluster := range c.clusters {
		for _, pod := range c.pods(cluster) {
			if id := pod.Namespace + "/" + pod.Name; !seen[id] {
				seen[id], pods = true, append(pods, pod)
			}
		}
	}
	if most == 0 || len(pods) == 0 {
		return
	}
	c.env.Logf("reading logs and trace files of %s, at most %s…", phrase.Count(len(pods), "pod"), phrase.Bytes(most))
	share := most / int64(len(pods))
	parts := make([][]part, len(pods))
	var group errgroup.Group
	group.SetLimit(parallelPods)
	for i := range pods {
		group.Go(func() error {
			limited, cancel := context.WithTimeout(ctx, cmdutil.PodLimit)
			defer cancel()
			parts[i] = append(c.podLogs(limited, &pods[i], share/2), c.podTraces(limited, &pods[i], share/2)...)
			return nil
		})
	}
	_ = group.Wait() // failures are in the notes
	for _, p := range slices.Concat(parts...) {
		c.dump.Files[p.path], c.dump.Omitted[p.path] = p.content, p.omitted
	}
}

// podLogs reads the logs of the containers of a pod, and of those that ran before.
func (c *collector) podLogs(ctx context.Context, pod *corev1.Pod, share int64) []part {
	var all []part
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	for _, s := range statuses {
		each := share / int64(2*len(statuses))
		options := []*corev1.PodLogOptions{{Container: s.Name, Timestamps: true}}
		if s.RestartCount > 0 {
			options = append(options, &corev1.PodLogOptions{Container: s.Name, Timestamps: true, Previous: true})
		}
		for _, o := range options {
			what := "logs of pod " + pod.Namespace + "/" + pod.Name + ", container " + s.Name
			if o.Previous {
				what = "previous " + what
			}
			content, omitted, err := c.log(ctx, pod, o, each)
			if err != nil {
				c.notes.add(what, exit.Explain(err))
				continue
			}
			all = append(all, part{dumps.LogFile(pod.Namespace, pod.Name, o), content, omitted})
		}
	}
	return all
}

// log reads the end of a log. The API server can only limit its beginning.
func (c *collector) log(ctx context.Context, pod *corev1.Pod, o *corev1.PodLogOptions, most int64) (content []byte, omitted int64, err error) {
	stream, err := c.env.Logs(ctx, pod.Namespace, pod.Name, o)
	if err != nil {
		return nil, 0, err
	}
	defer stream.Close()
	end := &cmdutil.End{Max: most}
	_, err = io.Copy(end, stream)
	return end.Kept, end.Omitted, err
}

// podTraces reads the trace files of a pod, the newest first, also those of processes that ran
// before.
func (c *collector) podTraces(ctx context.Context, pod *corev1.Pod, share int64) []part {
	if pod.Status.Phase != corev1.PodRunning {
		return nil
	}
	what := "trace files of pod " + pod.Namespace + "/" + pod.Name
	t, err := c.env.Tool(pod, v1beta2.ContainerMain)
	if err != nil {
		c.notes.add(what, exit.Explain(err))
		return nil
	}
	names, err := cmdutil.TraceNames(ctx, t)
	if err != nil {
		c.notes.add(what, exit.Explain(err))
		return nil
	}
	if len(names) > maxTraces {
		c.notes.add(what, fmt.Sprintf("only the newest %d of %d are read", maxTraces, len(names)))
		names = names[:maxTraces]
	}
	var all []part
	for _, name := range names {
		if share <= 0 {
			c.notes.add(what, "the limit of --max-log-bytes is reached: "+name+" and older ones are not read")
			break
		}
		content, err := cmdutil.Printed(ctx, t, "tail", "-c", strconv.FormatInt(share, 10), path.Join(cmdutil.TracesDirectory, path.Base(name)))
		if err != nil {
			c.notes.add(what, exit.Explain(err))
			continue
		}
		omitted := int64(0)
		if int64(len(content)) >= share {
			omitted = -1
		}
		share -= int64(len(content))
		all = append(all, part{dumps.TracesOf(pod.Namespace, pod.Name) + path.Base(name), content, omitted})
	}
	return all
}

// keptOutput keeps the last JSON that a program printed: a status document is kept as the database
// returned it.
type keptOutput struct {
	mu   sync.Mutex
	last []byte
}

func (k *keptOutput) of(t admin.Transport) admin.Transport { return keptTransport{t, k} }

func (k *keptOutput) stdout() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

type keptTransport struct {
	admin.Transport
	kept *keptOutput
}

// Run runs a tool to its end.
func (t keptTransport) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	r, err := t.Transport.Run(ctx, c)
	if err == nil && r.ExitCode == 0 && bytes.Contains(r.Stdout, []byte("{")) {
		t.kept.mu.Lock()
		defer t.kept.mu.Unlock()
		t.kept.last = r.Stdout
	}
	return r, err
}

// statusInterval is the time between two status documents.
const statusInterval = 10 * time.Second

// statuses reads status documents for a while: they show what changes.
func (c *collector) statuses(ctx context.Context) {
	if c.duration > 0 {
		c.env.Logf("reading status documents for %s…", phrase.Duration(c.duration))
	}
	ends := c.env.Clock.Now().Add(c.duration)
	for n := 0; ; n++ {
		for _, cluster := range c.clusters {
			document, err := c.status(ctx, cluster)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				c.notes.add(fmt.Sprintf("status document %d of cluster %s/%s", n, cluster.Namespace, cluster.Name), exit.Explain(err))
				continue
			}
			c.documents = append(c.documents, part{path: fmt.Sprintf("status/%s/%s/%03d-%s.json", cluster.Namespace, cluster.Name, n, c.env.Clock.Now().UTC().Format("150405")), content: document})
		}
		left := ends.Sub(c.env.Clock.Now())
		if left <= 0 || c.env.Waiting().Pause(ctx, min(statusInterval, left), "") != nil {
			return
		}
	}
}

// status reads one status document.
func (c *collector) status(ctx context.Context, cluster session.Cluster) ([]byte, error) {
	pods := map[string]*corev1.Pod{}
	for _, pod := range c.pods(cluster) {
		pods[pod.Name] = &pod
	}
	var transports []admin.Transport
	kept := &keptOutput{}
	for _, pod := range live.ToolPods(&cluster, pods) {
		t, err := c.env.Tool(pod, v1beta2.ContainerMain)
		if err != nil {
			return nil, err
		}
		transports = append(transports, kept.of(t))
	}
	_, err := admin.NewFDBCLI(admin.NewFailover(transports...), admin.FDBCLIOptions{Clock: c.env.Clock}).Status(ctx)
	return kept.stdout(), err
}
