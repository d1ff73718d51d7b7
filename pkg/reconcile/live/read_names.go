package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// namesLimit bounds the lookups in a pod, which end by themselves after 10 s.
const namesLimit = 20 * time.Second

// ReadNames measures how names are resolved in one of the cluster's pods.
func (w *World) ReadNames(ctx context.Context, names []string) (fdb.NameLookups, error) {
	ctx, cancel := context.WithTimeout(ctx, namesLimit)
	defer cancel()
	w.mu.Lock()
	record, pods := w.record, w.pods
	w.mu.Unlock()
	if record == nil {
		return fdb.NameLookups{}, errors.New("resolving names: the resource was not read")
	}
	places, why := w.places(record, pods)
	if places == nil {
		return fdb.NameLookups{}, fmt.Errorf("resolving names: %s", why)
	}
	return admin.ResolveNames(ctx, places, names)
}
