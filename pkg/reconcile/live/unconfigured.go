package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// The status of a database that was never configured takes 15 s (7.3.79, recorded), and names the
// processes that had registered when it was requested. So it is requested once they have, and the
// same document serves the decision to create the database and the last read before that.

// workersPause is between two lists of registered processes, and workersMost bounds the wait for a
// list that does not grow any more.
const (
	workersPause = time.Second
	workersMost  = 15 * time.Second
)

// awaitWorkers waits, where the database was never configured, until as many processes have
// registered as the spec has them, or no further one does. A failure is left to the status.
func (d *database) awaitWorkers(ctx context.Context, c *v1beta2.FoundationDBCluster, inPods *admin.FDBCLI) {
	if c.Status.Configured || inPods == nil {
		return
	}
	want := 0
	for _, g := range c.Status.ProcessGroups {
		want += c.ServersPerPod(g.ProcessClass)
	}
	ends := d.Clock.Now().Add(workersMost)
	for before := 0; ; {
		all, err := inPods.Workers(ctx)
		if err != nil || ctx.Err() != nil || len(all) >= want || len(all) > 0 && len(all) == before || !d.Clock.Now().Before(ends) {
			return
		}
		before = len(all)
		timer := d.Clock.NewTimer(workersPause)
		select {
		case <-ctx.Done():
		case <-timer.C():
		}
		timer.Stop()
	}
}

// statusRead is a status document, and when it was read.
type statusRead struct {
	status *fdb.Status
	at     time.Time
}

// rememberStatus keeps a document that was read while this run held the Lease.
func (d *database) rememberStatus(s *fdb.Status) {
	held := d.leases.current() != nil
	d.mu.Lock()
	defer d.mu.Unlock()
	d.latest = statusRead{}
	if held {
		d.latest = statusRead{s, d.Clock.Now()}
	}
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
	if endsNoStatus(newest) {
		return d.verifyBlank(ctx, newest)
	}
	last := d.takeLook()
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
