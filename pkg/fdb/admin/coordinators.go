package admin

import (
	"context"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// connectionStringKey works without an available database and on a locked one.
var connectionStringKey = []byte("\xff\xff/connection_string")

var coordinatorTexts = []string{
	"Coordination state changed",
	"No change (existing configuration satisfies request)",
}

// ChangeCoordinators changes the coordinators. The caller is responsible for their
// number and choice: FoundationDB accepts a single one for any redundancy.
func (c *FDBCLI) ChangeCoordinators(ctx context.Context, coordinators []fdb.Address) (fdb.ConnectionString, error) {
	words, err := coordinatorWords(coordinators)
	if err != nil {
		return fdb.ConnectionString{}, err
	}
	var now fdb.ConnectionString
	err = c.change(ctx, mutation{
		operation: changingCoordinators,
		script:    command(append([]string{"coordinators"}, words...)...),
		limit:     changeLimit,
		succeeded: func(r Result) bool {
			return slices.ContainsFunc(answerLines(r.Stdout), func(l string) bool { return slices.Contains(coordinatorTexts, l) })
		},
		inForce: func(ctx context.Context) (bool, error) {
			var err error
			now, err = c.ConnectionString(ctx)
			return err == nil && now.SameCoordinators(coordinators), err
		},
	})
	if err != nil {
		return fdb.ConnectionString{}, err
	}
	return now, nil
}

const changingCoordinators = "changing coordinators"

// coordinatorWords returns the notations of coordinators that FoundationDB accepts for them.
func coordinatorWords(coordinators []fdb.Address) ([]string, error) {
	proposed := fdb.ConnectionString{Description: "proposed", ID: "proposed", Coordinators: coordinators}
	if err := proposed.Check(); err != nil {
		return nil, &Error{Kind: KindBadInput, Operation: changingCoordinators, Err: err}
	}
	words := make([]string, len(coordinators))
	for i, a := range coordinators {
		words[i] = a.Coordinator()
	}
	return words, nil
}

// ConnectionString returns the connection string in force.
func (c *FDBCLI) ConnectionString(ctx context.Context) (fdb.ConnectionString, error) {
	const operation = "reading the connection string"
	value, found, err := c.get(ctx, operation, connectionStringKey)
	if err != nil {
		return fdb.ConnectionString{}, err
	}
	if !found {
		return fdb.ConnectionString{}, &Error{Kind: KindUnparsed, Operation: operation, Detail: "the key is absent"}
	}
	s, err := fdb.ParseConnectionString(string(value))
	if err != nil {
		return fdb.ConnectionString{}, &Error{Kind: KindUnparsed, Operation: operation, Err: err}
	}
	return s, nil
}

// get reads one key that requires no option.
func (c *FDBCLI) get(ctx context.Context, operation string, key []byte) (value []byte, found bool, err error) {
	r, err := c.read(ctx, operation, command("get", string(key)), readLimit)
	if err != nil {
		return nil, false, err
	}
	lines := answerLines(r.Stdout)
	if len(lines) != 1 {
		return nil, false, unparsed(operation, r)
	}
	value, found, err = parseValue(key, lines[0])
	if err != nil {
		return nil, false, &Error{Kind: KindUnparsed, Operation: operation, Err: err}
	}
	return value, found, nil
}
