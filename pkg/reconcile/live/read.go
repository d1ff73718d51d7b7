package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/served"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// readLimit bounds what is read besides the status document.
const readLimit = time.Minute

// ReadExclusions reads which exclusions are in force and which processes still hold data, even
// if no process group is marked for removal. It never runs the exclude command, which would
// move data again.
func (w *Cluster) ReadExclusions(ctx context.Context) (plan.CoordinationFacts, error) {
	return w.db.readExclusions(ctx)
}

func (d *database) readExclusions(ctx context.Context) (plan.CoordinationFacts, error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	facts := plan.CoordinationFacts{}
	cli, _, err := d.open(ctx)
	if err != nil {
		return facts, fmt.Errorf("read exclusions: %w", err)
	}
	lists, err := cli.ExclusionLists(ctx)
	if err != nil {
		return facts, err
	}
	noteExclusions(&facts, lists)
	return facts, nil
}

// ReadShared reads all that control-plane instances share, whether or not the spec needs it.
func (w *Cluster) ReadShared(ctx context.Context) (plan.CoordinationFacts, error) {
	return w.db.readShared(ctx)
}

func (d *database) readShared(ctx context.Context) (plan.CoordinationFacts, error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	facts := plan.CoordinationFacts{}
	cli, cluster, err := d.open(ctx)
	if err != nil {
		return facts, fmt.Errorf("read the shared keys of control-plane instances: %w", err)
	}
	everything := admin.SharedRequest{Denials: true, Upgrades: true, Maintenance: true, Lists: true}
	shared, err := admin.ReadShared(ctx, cli, fdb.LockKeys{Prefix: cluster.LockKeyPrefix()}, everything)
	if err != nil {
		return facts, err
	}
	noteShared(&facts, shared, cluster)
	return facts, nil
}

// ReadClusterFiles reads the connection string in force, and the cluster file in each pod. An
// unreadable file is a fact; only the end of the context is an error.
func (w *Cluster) ReadClusterFiles(ctx context.Context) (plan.ClusterFiles, error) {
	return w.db.readClusterFiles(ctx)
}

func (d *database) readClusterFiles(ctx context.Context) (plan.ClusterFiles, error) {
	limited, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	_, pods := d.known.toReach()
	files := plan.ClusterFiles{Pods: map[string]plan.ClusterFile{}}
	var mu sync.Mutex
	group, asking := errgroup.WithContext(limited)
	group.SetLimit(parallelPods)
	group.Go(guarded(func() error {
		files.Live, files.LiveUnknown = d.liveConnectionString(asking)
		return nil
	}))
	for name, pod := range pods {
		if pod.Status.Phase != corev1.PodRunning || !mainContainerReady(pod) {
			continue
		}
		group.Go(guarded(func() error {
			file := d.clusterFile(asking, pod)
			mu.Lock()
			defer mu.Unlock()
			files.Pods[name] = file
			return nil
		}))
	}
	if fault := group.Wait(); fault != nil { // no function returns an error
		return files, fault
	}
	return files, Interrupted(ctx)
}

func (d *database) liveConnectionString(ctx context.Context) (inForce fdb.ConnectionString, unknown string) {
	cli, _, err := d.open(ctx)
	if err != nil {
		return inForce, err.Error()
	}
	if inForce, err = cli.ConnectionString(ctx); err != nil {
		return inForce, err.Error()
	}
	return inForce, ""
}

// fileLimit bounds the read of a file in one pod.
const fileLimit = 10 * time.Second

func (d *database) clusterFile(ctx context.Context, pod *corev1.Pod) plan.ClusterFile {
	t, err := d.transport(pod)
	if err != nil {
		return plan.ClusterFile{Unreadable: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, fileLimit)
	defer cancel()
	r, err := t.Run(ctx, admin.Command{Argv: []string{"cat", admin.LiveClusterFile}, Limit: fileLimit})
	switch {
	case err != nil:
		return plan.ClusterFile{Unreadable: err.Error()}
	case r.ExitCode != 0:
		return plan.ClusterFile{Unreadable: strings.TrimSpace(string(r.Stderr))}
	default:
		return plan.ClusterFile{Content: string(r.Stdout)}
	}
}

// ReadNames measures how names are resolved in one of the cluster's pods.
func (w *Cluster) ReadNames(ctx context.Context, names []string) (lookups fdb.NameLookups, err error) {
	err = w.db.inOnePod(ctx, "resolve names", func(ctx context.Context, t admin.Transport) error {
		lookups, err = admin.ResolveNames(ctx, t, names)
		return err
	})
	return lookups, err
}

// ReadServed connects to processes from one of the cluster's pods, and reads the certificates that they serve.
func (w *Cluster) ReadServed(ctx context.Context, addresses []fdb.Address) (certificates []fdb.ServedCertificate, err error) {
	err = w.db.inOnePod(ctx, "read served certificates", func(ctx context.Context, t admin.Transport) error {
		certificates, err = served.Read(ctx, t, addresses)
		return err
	})
	return certificates, err
}

func (d *database) inOnePod(ctx context.Context, what string, read func(context.Context, admin.Transport) error) error {
	ctx, cancel := context.WithTimeout(ctx, 40*time.Second) // the programs end by themselves earlier
	defer cancel()
	cluster, pods := d.known.toReach()
	if cluster == nil {
		return errors.New(what + ": the FoundationDBCluster was not read yet")
	}
	inPods, why := d.execPods(cluster, pods)
	if inPods == nil {
		return fmt.Errorf("%s: %s", what, why)
	}
	return read(ctx, inPods)
}
