package fdb

import (
	"regexp"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// errorAge matches the age in front of an error.
var errorAge = regexp.MustCompile(`^\S+ \S+ ago : `)

// ParseBackupErrors returns the recent errors of agents from the text of `fdbbackup status`,
// since its JSON never has any. Each error is returned once, without its age.
func ParseBackupErrors(text []byte) []string {
	_, after, found := strings.Cut(string(text), "\nRecent Errors (")
	if !found {
		return nil
	}
	var errs []string
	seen := map[string]bool{}
	for _, line := range strings.Split(redact.Text(after), "\n")[1:] {
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
