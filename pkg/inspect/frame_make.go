package inspect

import (
	"regexp"
	"strings"
)

// WithoutSecrets leaves out an action's own fields, and hides secrets in its summary.
func (r ActionRecord) WithoutSecrets() ActionRecord {
	r.Details, r.Summary = nil, HideSecrets(r.Summary)
	return r
}

// connectionSecret matches the secret part of a connection string: DESCRIPTION:ID@ADDRESS.
var connectionSecret = regexp.MustCompile(`\b([A-Za-z0-9_]+):[A-Za-z0-9]+@`)

// HideSecrets hides the secret part of connection strings in a text.
func HideSecrets(text string) string {
	if !strings.Contains(text, "@") { // most have none, and the dashboard reads all events every 2 s
		return text
	}
	return connectionSecret.ReplaceAllString(text, "$1:***@")
}
