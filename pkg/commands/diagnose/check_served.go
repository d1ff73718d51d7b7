package diagnose

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// servedAge is how long served certificates are not read again by one command: fdbserver delays connections of a host
// after its second failed handshake within nine seconds (TLS_SERVER_CONNECTION_THROTTLE_TIMEOUT).
const servedAge = time.Minute

// servedReads are the certificates that were read last, of each cluster.
type servedReads struct {
	mu sync.Mutex
	of map[types.NamespacedName]servedRead
}

func newServedReads() *servedReads {
	return &servedReads{of: map[types.NamespacedName]servedRead{}}
}

type servedRead struct {
	at     time.Time
	served []fdb.ServedCertificate
	unread string
}

// read reads the certificates that processes serve, if there are some and a rule needs them. A failed read is a fact.
func (s *servedReads) read(ctx context.Context, now time.Time, key types.NamespacedName, r session.Reader, into *check.Facts, options check.Options) {
	addresses := into.TLSAddresses()
	if len(addresses) == 0 || !options.AsksFor("CERT-004", "CERT-005") {
		return
	}
	s.mu.Lock()
	last, known := s.of[key]
	s.mu.Unlock()
	if !known || now.Sub(last.at) >= servedAge {
		last = servedRead{at: now}
		served, err := r.ReadServed(ctx, addresses)
		if err != nil {
			last.unread = exit.Explain(err)
		}
		last.served = served
		s.mu.Lock()
		s.of[key] = last
		s.mu.Unlock()
	}
	into.Served, into.ServedUnread = last.served, last.unread
}
