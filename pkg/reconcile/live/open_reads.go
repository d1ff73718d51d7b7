package live

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// KeepOpen keeps an fdbcli open in a pod, from the first read until the returned function is called. Without it each
// read starts one.
func (w *Cluster) KeepOpen() (end func()) { return w.db.keepOpen() }

// PollDatabase reads another status document through the fdbcli that is kept open, for what needs no more than a hint:
// nothing is decided by it. It is not ok where none is open, and where the document is not that of the cluster's
// available database.
func (w *Cluster) PollDatabase(ctx context.Context) (status *fdb.Status, ok bool) {
	return w.db.poll(ctx)
}

func (d *database) keepOpen() (end func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session != nil {
		return func() {} // another caller ends it
	}
	session := admin.NewReadSession(d.Clock)
	d.session = session
	return func() {
		d.mu.Lock()
		d.session = nil
		d.mu.Unlock()
		session.Close()
	}
}

// openSession returns the session of keepOpen; nil without one.
func (d *database) openSession() *admin.ReadSession {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session
}

func (d *database) poll(ctx context.Context) (*fdb.Status, bool) {
	session := d.openSession()
	cluster, _ := d.known.toReach()
	if session == nil || cluster == nil {
		return nil, false
	}
	status, ok := session.Status(ctx)
	if ok && isOfAnother(cluster, status) {
		d.leaveAnother()
		return nil, false
	}
	return status, ok
}

// leaveAnother ends the session of a pod in which fdbcli reached another database, and prefers other pods from now on.
func (d *database) leaveAnother() {
	d.mu.Lock()
	session := d.session
	if d.answer != "" {
		if d.foreign == nil {
			d.foreign = map[string]bool{}
		}
		d.foreign[d.answer] = true
		d.answer = ""
	}
	d.mu.Unlock()
	if session != nil {
		session.Close()
	}
}
