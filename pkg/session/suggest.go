package session

import (
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// OrMeant returns a suggestion for a word that matches nothing, as phrase.OrMeant does.
func OrMeant(typed string, names []string) string { return phrase.OrMeant(typed, names) }

// Unknown is the error of a word that must be one of known, with a suggestion.
func Unknown(what, typed string, known []string, hints ...string) error {
	return exit.Usage(fmt.Errorf("unknown %s %q: must be one of %s%s", what, typed, strings.Join(known, ", "), OrMeant(typed, known)), hints...)
}
