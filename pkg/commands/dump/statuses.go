package dump

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

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
