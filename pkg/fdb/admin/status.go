package admin

import (
	"context"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Status is the status document. When the servers speak another protocol than this
// client, the document would be that of a dead database: then the pod's fdbcli of
// another version is asked, as long as an upgrade has left one there, and later commands
// go through the one that works. Without any it is KindWrongProtocol.
func (c *FDBCLI) Status(ctx context.Context) (*fdb.Status, error) {
	s, err := c.status(ctx)
	if KindOf(err) != KindWrongProtocol {
		return s, err
	}
	for _, binary := range c.binaries {
		if binary == c.Binary() {
			continue
		}
		if s, ok := c.statusThrough(ctx, binary); ok {
			return s, nil
		}
	}
	return nil, err
}

// statusThrough asks through a certain fdbcli, and keeps to it when that speaks the
// servers' protocol.
func (c *FDBCLI) statusThrough(ctx context.Context, binary string) (*fdb.Status, bool) {
	other := &FDBCLI{transport: c.transport, binaries: []string{binary}, clusterFiles: c.clusterFiles, clock: c.clock, jitter: c.jitter}
	s, err := other.status(ctx)
	if err != nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.works, c.version = other.works, other.version
	return s, true
}

func (c *FDBCLI) status(ctx context.Context) (*fdb.Status, error) {
	const doing = "reading status"
	r, err := c.runAs(ctx, doing, "status json", Command{Limit: statusLimit, Reads: true, Patience: readPatience, Settles: saysAvailable})
	if err != nil {
		return nil, err
	}
	s, err := fdb.ParseStatus(r.Stdout)
	if err != nil {
		return nil, &Error{Kind: KindUnparsed, Doing: doing, Detail: firstLine(string(r.Stderr)), Err: err}
	}
	if !s.Available() {
		if err := c.checkProtocol(ctx, doing, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// saysAvailable reports whether a status document calls the database available. A pod that is
// cut off from the others says that it is not, and so do all when it is not.
func saysAvailable(r Result) bool { return fdb.SaysAvailable(r.Stdout) }

func (c *FDBCLI) checkProtocol(ctx context.Context, doing string, s *fdb.Status) error {
	running, ok := s.CoordinatorProtocol()
	if !ok {
		return nil
	}
	client, err := c.Version(ctx)
	if err != nil {
		return err
	}
	own, known := client.Protocol()
	if !known || own == running {
		return nil
	}
	return &Error{
		Kind: KindWrongProtocol, Doing: doing,
		Detail: fmt.Sprintf("coordinators speak protocol %s, fdbcli %s speaks %s", running, client, own),
	}
}

// Version asks the client for its own version, once.
func (c *FDBCLI) Version(ctx context.Context) (fdb.Version, error) {
	c.mu.Lock()
	known := c.version
	c.mu.Unlock()
	if !known.IsZero() {
		return known, nil
	}
	const doing = "asking fdbcli for its version"
	var v fdb.Version
	err := c.tryPlaces(func(p place) error {
		r, err := c.start(ctx, doing, Command{Argv: []string{p.binary, "--version"}, Limit: readLimit + wrapperGrace, Reads: true, Patience: readPatience})
		if err != nil {
			return err
		}
		if v, err = fdb.ParseVersion(string(r.Stdout)); err != nil {
			return &Error{Kind: KindUnparsed, Doing: doing, Err: err}
		}
		return nil
	})
	if err != nil {
		return fdb.Version{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version = v
	return v, nil
}
