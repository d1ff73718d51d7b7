package live

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/datadirs"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// endsNoStatus reports whether a status of the database of the cluster may never end, because the database was
// never created and its version does not report that. A database that existed before the resource must never be
// created.
func endsNoStatus(c *v1beta2.FoundationDBCluster) bool {
	version, err := fdb.ParseVersion(c.RunningVersion())
	return err == nil && !version.ReportsMissingDatabase() && !c.Status.Configured && c.Spec.SeedConnectionString == ""
}

// readDataDirs reads the data directories of all running pods, and which processes have registered. The error is
// that of missing permission for all pods: everything else is a fact.
func (d *database) readDataDirs(ctx context.Context, c *v1beta2.FoundationDBCluster, pods map[string]*corev1.Pod, inPods *admin.FDBCLI) (*plan.DataDirs, error) {
	var names []string
	for name, pod := range pods {
		if pod.Status.Phase == corev1.PodRunning {
			names = append(names, name)
		}
	}
	open := func(name string) (admin.Transport, error) { return d.transport(pods[name]) }
	generation, _, _ := strings.Cut(c.Status.ConnectionString, "@")
	files, unread := datadirs.Read(ctx, names, open, generation)
	dirs := &plan.DataDirs{Pods: files, Unread: map[string]string{}}
	var forbidden error
	for name, err := range unread {
		dirs.Unread[name] = err.Error()
		if apierrors.IsForbidden(err) {
			forbidden = err
		}
	}
	if forbidden != nil && len(files) == 0 {
		return nil, forbidden
	}
	registered, err := inPods.Workers(ctx)
	if dirs.Registered = registered; err != nil {
		dirs.Unlisted = fmt.Sprintf("the processes that registered are unknown: %v", err)
	}
	return dirs, nil
}

// verifyBlank fails unless the files of all pods that exist now prove that no database was ever created.
func (d *database) verifyBlank(ctx context.Context, c *v1beta2.FoundationDBCluster) error {
	pods, err := listed[corev1.Pod](ctx, d.Client, c, &corev1.PodList{})
	if err != nil {
		return fmt.Errorf("verify that no database exists yet: %w", err)
	}
	volumes, err := listed[corev1.PersistentVolumeClaim](ctx, d.Client, c, &corev1.PersistentVolumeClaimList{})
	if err != nil {
		return fmt.Errorf("verify that no database exists yet: %w", err)
	}
	_, inPods, err := d.client(ctx, c, pods)
	if err != nil {
		return fmt.Errorf("verify that no database exists yet: %w", err)
	}
	if inPods == nil {
		return errors.New("verify that no database exists yet: fdbcli cannot run in a pod")
	}
	dirs, err := d.readDataDirs(ctx, c, pods, inPods)
	if err != nil {
		return fmt.Errorf("verify that no database exists yet: %w", err)
	}
	if found := dirs.Verdict(c, volumes); found.Finding != datadir.Blank {
		return fmt.Errorf("create a database: %s", found.Evidence)
	}
	return nil
}
