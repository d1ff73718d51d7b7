// Command vulncheck has govulncheck compare what is built with the Go project's database of known
// vulnerabilities: vulncheck DIRECTORY... for the modules in these directories.
//
// It has three outcomes. Code that calls a vulnerable function fails it; so does a check that could not
// be made. Where the database does not answer, as on a machine without internet, it prints NOT RUN and
// succeeds. GOVULNDB names another database, such as file:///srv/vulndb.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// public is the database of the Go project.
	public = "https://vuln.go.dev"
	// index is the file that every database has: https://go.dev/doc/security/vuln/database#api.
	index = "/index/db.json"
	// patience is the time within which a database answers.
	patience = 20 * time.Second
)

// scan checks one module against a database.
type scan func(ctx context.Context, dir, database string) error

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	database := public
	if named := os.Getenv("GOVULNDB"); named != "" {
		database = named
	}
	if err := run(ctx, os.Args[1:], database, govulncheck, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "vulncheck:", err)
		os.Exit(1)
	}
}

// run checks all modules, also after one that failed: one run names all that is vulnerable.
func run(ctx context.Context, dirs []string, database string, check scan, out io.Writer) error {
	if len(dirs) == 0 {
		return errors.New("name the directories of the modules")
	}
	if err := reach(ctx, database); err != nil {
		_, err := fmt.Fprintf(out, "NOT RUN: known vulnerabilities were not looked for, since their database does not answer: %v\n", err)
		return err
	}
	var failed []error
	for _, dir := range dirs {
		if err := check(ctx, dir, database); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", dir, err))
		}
	}
	return errors.Join(failed...)
}

// reach reads the index of a database.
func reach(ctx context.Context, database string) error {
	u, err := url.Parse(database)
	if err != nil {
		return fmt.Errorf("parse GOVULNDB: %w", err)
	}
	if u.Scheme == "file" {
		_, err := os.Stat(filepath.FromSlash(u.Path + index))
		return err
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(database, "/")+index, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s%s: %s", database, index, response.Status)
	}
	return nil
}

// govulncheck runs the version that tools/go.mod names. It ends with an error for a vulnerable function
// that is called, and for a module that cannot be built.
func govulncheck(ctx context.Context, dir, database string) error {
	tools, err := filepath.Abs("tools/go.mod")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile="+tools, "govulncheck", "-db", database, "./...")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	return cmd.Run()
}
