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

// A new database takes a moment to report its configuration.
const (
	configurationReads = 4
	configurationPause = 2 * time.Second
)

// Configure creates or changes the configuration and reads it back. An accepted
// command is no proof that it is in force, and an error is no proof that it is not.
func (c *FDBCLI) Configure(ctx context.Context, desired fdb.Configuration, kind ConfigureKind) error {
	operation := "configuring the database"
	words, texts := []string{"configure"}, changedTexts
	if kind == NewDatabase {
		operation = "creating the database"
		words, texts = append(words, "new"), createdTexts
	}
	tokens, err := desired.TokensOf(kind.part())
	if err != nil {
		return &Error{Kind: KindBadInput, Operation: operation, Err: err}
	}
	return c.change(ctx, mutation{
		operation: operation,
		script:    command(append(words, tokens...)...),
		limit:     configureLimit,
		succeeded: func(r Result) bool {
			return slices.ContainsFunc(answerLines(r.Stdout), func(line string) bool { return slices.Contains(texts, line) })
		},
		inForce: func(ctx context.Context) (bool, error) { return c.configurationInForce(ctx, desired, kind.part()) },
	})
}

// ConfigureLine returns the command that sets a configuration, as it can be typed into
// fdbcli, which accepts other notations of regions but reads them as none.
func ConfigureLine(desired fdb.Configuration) (string, error) {
	tokens, err := desired.Tokens()
	if err != nil {
		return "", err
	}
	return command(append([]string{"configure"}, tokens...)...), nil
}

func (c *FDBCLI) configurationInForce(ctx context.Context, desired fdb.Configuration, part fdb.Part) (bool, error) {
	for range configurationReads {
		s, err := c.Status(ctx)
		if err != nil {
			return false, err
		}
		if s.Cluster.Configuration != nil {
			return c.satisfies(ctx, *s.Cluster.Configuration, desired, part)
		}
		if err := c.pause(ctx, configurationPause); err != nil {
			return false, err
		}
	}
	return false, fmt.Errorf("the status document has no configuration")
}

// satisfies compares configurations, resolving engine names by version if they
// differ.
func (c *FDBCLI) satisfies(ctx context.Context, current, desired fdb.Configuration, part fdb.Part) (bool, error) {
	if current.EqualIn(part, desired, fdb.Version{}) {
		return true, nil
	}
	v, err := c.Version(ctx)
	if err != nil {
		return false, err
	}
	return current.EqualIn(part, desired, v), nil
}
