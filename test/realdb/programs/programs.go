// Package programs reads which FoundationDB programs a test run was given.
package programs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Needed are the programs that a directory must have for the journeys to run.
var Needed = []string{"fdbserver", "fdbcli"}

// Given are the programs of one FoundationDB version.
type Given struct {
	Version string
	// Dir is absolute.
	Dir string
}

var version = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// Parse reads VERSION=DIR[,VERSION=DIR]. It fails if the text is empty or malformed, names a
// version twice, or names a directory without one of the programs Needed.
func Parse(text string) ([]Given, error) {
	if text == "" {
		return nil, errors.New("needs FDB_BIN=VERSION=DIR[,VERSION=DIR]: directories with the programs of FoundationDB, at least " + strings.Join(Needed, " and "))
	}
	var all []Given
	for entry := range strings.SplitSeq(text, ",") {
		given, err := parseEntry(entry)
		if err != nil {
			return nil, fmt.Errorf("FDB_BIN: %q: %w", entry, err)
		}
		if slices.ContainsFunc(all, func(g Given) bool { return g.Version == given.Version }) {
			return nil, fmt.Errorf("FDB_BIN: %q: version %s must not be repeated", entry, given.Version)
		}
		all = append(all, given)
	}
	return all, nil
}

func parseEntry(entry string) (Given, error) {
	v, dir, found := strings.Cut(entry, "=")
	if !found || !version.MatchString(v) || dir == "" {
		return Given{}, errors.New("must be VERSION=DIR, with a version such as 7.3.79")
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return Given{}, err
	}
	for _, name := range Needed {
		info, err := os.Stat(filepath.Join(absolute, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return Given{}, fmt.Errorf("no program %s in %s", name, absolute)
		case err != nil:
			return Given{}, err
		case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
			return Given{}, fmt.Errorf("%s in %s is not a program", name, absolute)
		}
	}
	return Given{Version: v, Dir: absolute}, nil
}

// Choose returns the names that text lists, separated by commas, in the order of all; an
// empty text chooses all. An unknown name is an error, so that a misspelled one does not
// pass as a run without failures.
func Choose(text string, all []string) ([]string, error) {
	if text == "" {
		return all, nil
	}
	desired := strings.Split(text, ",")
	for _, name := range desired {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("RUN: unknown journey %q; journeys: %s", name, strings.Join(all, ", "))
		}
	}
	var chosen []string
	for _, name := range all {
		if slices.Contains(desired, name) {
			chosen = append(chosen, name)
		}
	}
	return chosen, nil
}

// DefaultJobs is how many journeys run at the same time without JOBS. Most of
// a journey is waiting; a sandbox with its database needs about 3 GiB of memory.
const DefaultJobs = 4

// Jobs returns how many journeys run at the same time: the positive number that text is, or
// DefaultJobs if it is empty.
func Jobs(text string) (int, error) {
	if text == "" {
		return DefaultJobs, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("JOBS: %q is not a positive number", text)
	}
	return n, nil
}

// Outcome is the last line of a run: how many of the chosen journeys passed, and the names of the others.
// A journey that was not run fails no test, so a run without failures is not complete without this line.
func Outcome(chosen int, failed, notRun []string) string {
	text := fmt.Sprintf("%d of %d chosen journeys passed", chosen-len(failed)-len(notRun), chosen)
	if len(failed) > 0 {
		text += "; failed: " + strings.Join(failed, ", ")
	}
	if len(notRun) > 0 {
		text += "; NOT RUN: " + strings.Join(notRun, ", ")
	}
	return text
}
