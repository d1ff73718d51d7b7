package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/datadirs"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// The status of a database that was never configured takes 15 s (7.3.79, recorded), and names the
// processes that had registered when it was requested. So it is requested once they have, and the
// same document serves the decision to create the database and the last read before that. Where the
// files of all pods prove that there is no database, it is not requested at all.

// workersPause is between two lists of registered processes, and workersMost bounds the wait for a
// list that does not grow any more. filesMost bounds the wait for files, which are written as soon as
// a coordinator is reached.
const (
	workersPause = time.Second
	workersMost  = 15 * time.Second
	filesMost    = 5 * time.Second
)

// awaitWorkers waits, where the database was never configured, until as many processes have
// registered as the spec has them, or no further one does. A failure is left to the status.
func (d *database) awaitWorkers(ctx context.Context, c *v1beta2.FoundationDBCluster, inPods *admin.FDBCLI) {
	if c.Status.Configured || inPods == nil {
		return
	}
	want, ends := plan.DesiredServers(c), d.Clock.Now().Add(workersMost)
	for before := 0; ; {
		all, err := inPods.Workers(ctx)
		if err != nil || ctx.Err() != nil || len(all) >= want || len(all) > 0 && len(all) == before || !d.Clock.Now().Before(ends) {
			return
		}
		before = len(all)
		d.pause(ctx, workersPause)
	}
}

// awaitDataDirs reads the data directories until they prove that there is no database and as many processes have
// registered as the spec has them, or no further one does; for a short time.
func (d *database) awaitDataDirs(ctx context.Context, c *v1beta2.FoundationDBCluster, pods map[string]*corev1.Pod, inPods *admin.FDBCLI) (*plan.DataDirs, error) {
	want, ends := plan.DesiredServers(c), d.Clock.Now().Add(filesMost)
	for before := 0; ; {
		dirs, err := d.readDataDirs(ctx, c, pods, inPods)
		if err != nil || ctx.Err() != nil || dirs.MayExist(c) || !d.Clock.Now().Before(ends) {
			return dirs, err
		}
		n := len(dirs.Registered)
		if dirs.AreBlank(c) && (n >= want || n > 0 && n == before) {
			return dirs, nil
		}
		before = n
		d.pause(ctx, workersPause)
	}
}

func (d *database) pause(ctx context.Context, t time.Duration) {
	timer := d.Clock.NewTimer(t)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C():
	}
}

// statusRead is what the database was last known by: a status document, and when it was read, or files.
type statusRead struct {
	status *fdb.Status
	at     time.Time
	files  bool
}

// rememberStatus keeps a document that was read while this run held the Lease.
func (d *database) rememberStatus(s *fdb.Status) {
	held := d.leases.current() != nil
	d.mu.Lock()
	defer d.mu.Unlock()
	d.latest = statusRead{}
	if held {
		d.latest = statusRead{status: s, at: d.Clock.Now()}
	}
}

// rememberFiles keeps that files were read instead of a document.
func (d *database) rememberFiles() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.latest = statusRead{files: true}
}

// takeLook returns the latest document, and drops it: it serves one command, under one Lease.
func (d *database) takeLook() statusRead {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := d.latest
	d.latest = statusRead{}
	return last
}

// lastLook is for how long a document is the last read before a database is created: shorter than
// it takes to read another one.
const lastLook = 5 * time.Second

// verifyNeverConfigured fails unless the database was certainly never configured. FoundationDB
// itself refuses to create a database over one that exists.
func (d *database) verifyNeverConfigured(ctx context.Context, cli admin.Client, newest *v1beta2.FoundationDBCluster) error {
	last := d.takeLook()
	if plan.FilesProve(newest) && last.files || plan.EndsNoStatus(newest) {
		return d.verifyBlank(ctx, newest)
	}
	if last.status == nil || d.Clock.Since(last.at) > lastLook {
		var err error
		if last.status, err = cli.Status(ctx); err != nil {
			return fmt.Errorf("verify that no database exists yet: %w", err)
		}
	}
	switch status := last.status; {
	case status.Incomplete():
		return errors.New("create a database: the status document is incomplete")
	case !status.NeverConfigured():
		return fmt.Errorf("create a database: recovery state must be %[2]q, is %[1]q", status.RecoveryName(), fdb.RecoveryNeverCreated)
	}
	return nil
}

// noFiles is why no status is read of a cluster whose pods have no files of a database.
func noFiles(c *v1beta2.FoundationDBCluster) string {
	const none = "the pods that were read have no files of a database"
	if plan.EndsNoStatus(c) {
		return none + ", and fdbserver " + c.RunningVersion() + " never completes the status document of one that does not exist"
	}
	return none
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
	if dirs.MayExist(c) && !plan.EndsNoStatus(c) {
		return dirs, nil // no proof, whatever has registered: the status is read
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
