package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// namesLimit bounds the lookups in a pod, which time out by themselves after 10 s.
const namesLimit = 20 * time.Second

// ReadNames measures how names are resolved in one of the cluster's pods.
func (w *World) ReadNames(ctx context.Context, names []string) (fdb.NameLookups, error) {
	ctx, cancel := context.WithTimeout(ctx, namesLimit)
	defer cancel()
	w.mu.Lock()
	record, pods := w.record, w.pods
	w.mu.Unlock()
	if record == nil {
		return fdb.NameLookups{}, errors.New("resolve names: the FoundationDBCluster was not read yet")
	}
	inPods, why := w.execPods(record, pods)
	if inPods == nil {
		return fdb.NameLookups{}, fmt.Errorf("resolve names: %s", why)
	}
	return admin.ResolveNames(ctx, inPods, names)
}
