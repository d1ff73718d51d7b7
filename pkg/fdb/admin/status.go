package admin

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Status returns the status document. If the processes use another protocol than this
// client, the document would be that of an unavailable database: then it uses the pod's
// fdbcli of another version, if an upgrade has left one there, for later commands too.
// Without any it is KindWrongProtocol.
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

// statusThrough reads the status with a given fdbcli, and keeps using it if it has
// the processes' protocol.
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

const statusScript = "status json"

func statusCommand() Command {
	like := reading(statusScript, statusLimit)
	like.Settles, like.Whole = conclusive, json.Valid
	return like
}

func (c *FDBCLI) status(ctx context.Context) (*fdb.Status, error) {
	const operation = "reading status"
	r, err := c.runAs(ctx, operation, statusScript, statusCommand())
	if err != nil {
		return nil, err
	}
	s, err := fdb.ParseStatus(r.Stdout)
	if err != nil {
		return nil, &Error{Kind: KindUnparsed, Operation: operation, Detail: firstLine(string(r.Stderr)), Err: err}
	}
	switch {
	case s.Available():
		return s, nil
	case fdb.SaysIncompatible(r.Stderr):
		return nil, &Error{Kind: KindWrongProtocol, Operation: operation, Detail: "processes use another protocol than this fdbcli"}
	default:
		return s, c.checkProtocol(ctx, operation, s)
	}
}

// conclusive reports whether a status document needs no second one, of another pod: the database
// is available, or was never created. An isolated pod reports a database as unavailable, and so do
// all pods if it is.
func conclusive(r Result) bool {
	return fdb.SaysAvailable(r.Stdout) || fdb.SaysNeverConfigured(r.Stdout)
}

func (c *FDBCLI) checkProtocol(ctx context.Context, operation string, s *fdb.Status) error {
	if _, ok := s.CoordinatorProtocol(); !ok {
		return nil
	}
	client, err := c.Version(ctx)
	if err != nil {
		return err
	}
	return protocolDiffers(operation, s, "fdbcli", client)
}

// protocolDiffers returns KindWrongProtocol if the coordinators use another protocol than a client.
func protocolDiffers(operation string, s *fdb.Status, client string, v fdb.Version) error {
	running, answered := s.CoordinatorProtocol()
	own, known := v.Protocol()
	if !answered || !known || own == running {
		return nil
	}
	return &Error{
		Kind: KindWrongProtocol, Operation: operation,
		Detail: fmt.Sprintf("coordinators use protocol %s, %s %s uses %s", running, client, v, own),
	}
}

// Version returns the client's own version, which it reads once.
func (c *FDBCLI) Version(ctx context.Context) (fdb.Version, error) {
	c.mu.Lock()
	known := c.version
	c.mu.Unlock()
	if !known.IsZero() {
		return known, nil
	}
	const operation = "reading the version of fdbcli"
	var v fdb.Version
	err := c.tryPlaces(func(p place) error {
		r, err := c.start(ctx, operation, Command{Argv: []string{p.binary, "--version"}, Limit: readLimit + wrapperGrace, Reads: true, HedgeAfter: readHedgeDelay})
		if err != nil {
			return err
		}
		if v, err = fdb.ParseVersion(string(r.Stdout)); err != nil {
			return &Error{Kind: KindUnparsed, Operation: operation, Err: err}
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
