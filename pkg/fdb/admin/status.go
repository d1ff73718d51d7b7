package admin

import (
	"context"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Status is the status document. When the servers speak another protocol than this
// client, the document would be that of a dead database: then it is KindWrongProtocol.
func (c *FDBCLI) Status(ctx context.Context) (*fdb.Status, error) {
	const doing = "reading status"
	r, err := c.run(ctx, doing, "status json", statusLimit)
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
		r, err := c.start(ctx, doing, Command{Argv: []string{p.binary, "--version"}, Limit: readLimit + wrapperGrace})
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
