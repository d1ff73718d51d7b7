package runbook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// codeNames are the names of the exit codes, by their number; docs/exit-codes.md explains them.
var codeNames = []string{"done", "no", "usage", "waiting", "refused", "forbidden", "conflict", "unconfirmed", "unreachable", "partly", "internal"}

// CodeNames returns the names of the exit codes by their number.
func CodeNames() []string { return slices.Clone(codeNames) }

// codeOf returns the exit code of a name or a number.
func codeOf(text string) (int, error) {
	if i := slices.Index(codeNames, text); i >= 0 {
		return i, nil
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 0 && n < len(codeNames) {
		return n, nil
	}
	return 0, fmt.Errorf("unknown exit code %q: must be 0 to %d, or %s", text, len(codeNames)-1, strings.Join(codeNames, ", "))
}

// ActionAfter returns what to do after an exit code of the step.
func (s *Step) ActionAfter(code int) Action {
	for key, action := range s.On {
		if known, err := codeOf(key); err == nil && known == code {
			return action
		}
	}
	if code == 0 {
		return Continue
	}
	return Stop
}
