package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/docs/runbooks"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// longestFile bounds a runbook, so that a wrong file is not read whole.
const longestFile = 1 << 20

// source is a runbook before it is read.
type source struct {
	// Name is the argument of the command, and File what problems name.
	Name, File string
	Text       []byte
}

// sourceOf reads a runbook: a file if the argument has a path separator or the ending of a file, "-" for
// stdin, or else one that the program comes with.
func sourceOf(env *session.Env, name string) (source, error) {
	s := source{Name: name, File: name}
	var err error
	switch {
	case name == "-":
		s.File = "stdin"
		s.Text, err = io.ReadAll(io.LimitReader(env.In, longestFile+1))
	case strings.ContainsAny(name, `/\`), slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)):
		s.Text, err = readFile(name)
	default:
		s.File = name + ".yaml"
		s.Text, err = runbooks.Files.ReadFile(s.File)
		if errors.Is(err, fs.ErrNotExist) {
			return s, exit.Usage(fmt.Errorf("unknown runbook %q: must be a file, or one of %s%s", name, strings.Join(embedded(), ", "), session.OrMeant(name, embedded())), env.Command("run", "--list"))
		}
	}
	switch {
	case err != nil:
		return s, exit.Usage(fmt.Errorf("read runbook: %w", err))
	case len(s.Text) > longestFile:
		return s, exit.Usagef("read runbook %s: must be no larger than 1 MiB", s.File)
	}
	return s, nil
}

func readFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, longestFile+1))
}

// embedded returns the names of the runbooks that the program comes with.
func embedded() []string {
	entries, err := runbooks.Files.ReadDir(".")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// checked parses and validates a runbook, and fails with all of its problems.
func (s source) checked(env *session.Env, tree Tree, given map[string]string) (runbook.Checked, error) {
	book, problems := runbook.Parse(s.Text)
	var c runbook.Checked
	if len(problems) == 0 {
		c, problems = book.Check(given, tree)
	}
	if len(problems) == 0 {
		return c, nil
	}
	for _, p := range problems {
		layout.Entry(env.ErrOut, "error: ", p.In(s.File))
	}
	return c, &exit.Error{Code: exit.ExitUsage, Err: &invalidError{s.File, problems}, Printed: true, Hints: []string{"kubectl fdb schema Runbook"}}
}

// invalidError has all problems of a runbook.
type invalidError struct {
	file     string
	problems runbook.Problems
}

func (e *invalidError) Error() string {
	return fmt.Sprintf("invalid runbook %s: %s, the first: %s", e.file, phrase.Count(len(e.problems), "problem"), e.problems[0].In(e.file))
}
