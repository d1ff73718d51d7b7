package admin

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Texts with which configure succeeds.
var (
	createdTexts = []string{"Database created"}
	changedTexts = []string{"Configuration changed", "Configuration changed, with warnings"}
)

// A new database takes a moment to show its configuration.
const (
	configurationReads = 4
	configurationPause = 2 * time.Second
)

// Configure creates or changes the configuration and reads it back. What FoundationDB
// accepts is no proof that it is in force, and an error is none that it is not.
func (c *FDBCLI) Configure(ctx context.Context, wanted fdb.Configuration, kind ConfigureKind) error {
	doing := "configuring the database"
	words, texts := []string{"configure"}, changedTexts
	if kind == NewDatabase {
		doing = "creating the database"
		words, texts = append(words, "new"), createdTexts
	}
	tokens, err := wanted.TokensOf(kind.part())
	if err != nil {
		return &Error{Kind: KindBadInput, Doing: doing, Err: err}
	}
	return c.change(ctx, mutation{
		doing:  doing,
		script: command(append(words, tokens...)...),
		limit:  configureLimit,
		succeeded: func(r Result) bool {
			return slices.ContainsFunc(answerLines(r.Stdout), func(line string) bool { return slices.Contains(texts, line) })
		},
		inForce: func(ctx context.Context) (bool, error) { return c.configurationInForce(ctx, wanted, kind.part()) },
	})
}

// ConfigureLine is the command that brings a database to a configuration, so that it can
// be typed into fdbcli: other ways to write regions are accepted there and mean none.
func ConfigureLine(wanted fdb.Configuration) (string, error) {
	tokens, err := wanted.Tokens()
	if err != nil {
		return "", err
	}
	return command(append([]string{"configure"}, tokens...)...), nil
}

func (c *FDBCLI) configurationInForce(ctx context.Context, wanted fdb.Configuration, part fdb.Part) (bool, error) {
	for range configurationReads {
		s, err := c.Status(ctx)
		if err != nil {
			return false, err
		}
		if s.Cluster.Configuration != nil {
			return c.satisfies(ctx, *s.Cluster.Configuration, wanted, part)
		}
		if err := c.pause(ctx, configurationPause); err != nil {
			return false, err
		}
	}
	return false, fmt.Errorf("the status document shows no configuration")
}

// satisfies compares, resolving engine names as the version does when they differ.
func (c *FDBCLI) satisfies(ctx context.Context, current, wanted fdb.Configuration, part fdb.Part) (bool, error) {
	if current.EqualIn(part, wanted, fdb.Version{}) {
		return true, nil
	}
	v, err := c.Version(ctx)
	if err != nil {
		return false, err
	}
	return current.EqualIn(part, wanted, v), nil
}
