package live

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/datadirs"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// endsNoStatus reports whether a status of the database of the cluster may never end, because the database was
// never created and its version does not report that. A database that existed before the resource is none to be
// created.
func endsNoStatus(c *v1beta2.FoundationDBCluster) bool {
	version, err := fdb.ParseVersion(c.RunningVersion())
	return err == nil && !version.ReportsMissingDatabase() && !c.Status.Configured && c.Spec.SeedConnectionString == ""
}

// showDatabase reports whether there may be a database, so that a status document is worth the wait.
func showDatabase(c *v1beta2.FoundationDBCluster, dirs *plan.DataDirs) bool {
	connection, err := fdb.ParseConnectionString(c.Status.ConnectionString)
	if err != nil {
		return true
	}
	finding := datadir.Find(connection, dirs.Pods).Finding
	return finding == datadir.Exists || finding == datadir.Elsewhere
}

// readDataDirs reads the data directories of all running pods, and which processes have registered.
func (d *database) readDataDirs(ctx context.Context, c *v1beta2.FoundationDBCluster, pods map[string]*corev1.Pod, inPods *admin.FDBCLI) *plan.DataDirs {
	dirs := d.readPods(ctx, c, pods)
	registered, err := inPods.Workers(ctx)
	if dirs.Registered = registered; err != nil {
		dirs.Unlisted = fmt.Sprintf("the processes that registered are unknown: %v", err)
	}
	return dirs
}

func (d *database) readPods(ctx context.Context, c *v1beta2.FoundationDBCluster, pods map[string]*corev1.Pod) *plan.DataDirs {
	connection, err := fdb.ParseConnectionString(c.Status.ConnectionString)
	if err != nil {
		return &plan.DataDirs{} // safety.NeverCreated refuses it as well
	}
	var names []string
	for name, pod := range pods {
		if pod.Status.Phase == corev1.PodRunning {
			names = append(names, name)
		}
	}
	open := func(name string) (admin.Transport, error) { return d.transport(pods[name]) }
	files, unread := datadirs.Read(ctx, names, open, connection.Description+":"+connection.ID)
	return &plan.DataDirs{Pods: files, Unread: unread}
}

// verifyBlank fails unless the files of all running pods prove, right now, that no database was ever created.
func (d *database) verifyBlank(ctx context.Context, c *v1beta2.FoundationDBCluster, pods map[string]*corev1.Pod) error {
	connection, err := fdb.ParseConnectionString(c.Status.ConnectionString)
	if err != nil {
		return fmt.Errorf("verify that no database exists yet: %w", err)
	}
	dirs := d.readPods(ctx, c, pods)
	for name, why := range dirs.Unread {
		return fmt.Errorf("verify that no database exists yet: pod %s: %s", name, why)
	}
	if found := datadir.Find(connection, dirs.Pods); found.Finding != datadir.Blank {
		return fmt.Errorf("create a database: %s", found.Evidence)
	}
	return nil
}
