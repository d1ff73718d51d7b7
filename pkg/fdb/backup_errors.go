package fdb

import (
	"regexp"
	"strings"
)

// errorAge is how long ago an error was, in front of it.
var errorAge = regexp.MustCompile(`^\S+ \S+ ago : `)

// ParseBackupErrors are what agents met lately, as `fdbbackup status` tells people of it: the
// status as JSON has no errors, whatever happens. Each error is there once, without its age.
func ParseBackupErrors(text []byte) []string {
	_, after, found := strings.Cut(string(text), "\nRecent Errors (")
	if !found {
		return nil
	}
	var errs []string
	seen := map[string]bool{}
	for _, line := range strings.Split(after, "\n")[1:] {
		what := errorAge.ReplaceAllString(strings.TrimSpace(line), "")
		switch {
		case what == "":
			return errs
		case !seen[what]:
			seen[what] = true
			errs = append(errs, WithoutSecrets(what))
		}
	}
	return errs
}
