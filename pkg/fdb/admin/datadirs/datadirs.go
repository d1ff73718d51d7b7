// Package datadirs reads the data directories of pods, at the same time, with the command line of package datadir.
package datadirs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
)

const (
	// atOnce bounds how many pods are read at once.
	atOnce = 8
	// limit bounds the read of one pod: a few dozen programs, which start slowly on a node with too much work, as
	// one has after others were lost.
	limit = 45 * time.Second
)

// Read returns the files of pods, by name, and why others could not be read. It opens a runner of programs in the
// main container of each pod. The generation is what is searched for in coordination files.
func Read(ctx context.Context, names []string, open func(name string) (admin.Transport, error), generation string) (files map[string]*datadir.Files, unread map[string]error) {
	files, unread = map[string]*datadir.Files{}, map[string]error{}
	var (
		mu    sync.Mutex
		group errgroup.Group
	)
	group.SetLimit(atOnce)
	for _, name := range names {
		group.Go(func() error {
			one, err := read(ctx, func() (admin.Transport, error) { return open(name) }, generation)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				unread[name] = err
			} else {
				files[name] = one
			}
			return nil
		})
	}
	_ = group.Wait() // no function returns an error
	return files, unread
}

func read(ctx context.Context, open func() (admin.Transport, error), generation string) (*datadir.Files, error) {
	tool, err := open()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := tool.Run(ctx, admin.Command{Argv: datadir.Argv(generation), Limit: limit, Reads: true})
	switch {
	case err != nil:
		return nil, err
	case r.ExitCode != 0:
		return nil, errors.New(cmp.Or(strings.TrimSpace(string(r.Stderr)), fmt.Sprintf("exit code %d", r.ExitCode)))
	}
	return datadir.Parse(string(r.Stdout))
}
