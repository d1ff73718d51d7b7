package runbook

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// split splits a command into words as a shell does, with single and double quotes and backslashes.
// Nothing else is special: there are no globs, pipes or substitutions.
func split(text string) (Arguments, error) {
	var (
		words   Arguments
		word    strings.Builder
		quote   rune
		inside  bool
		escaped bool
	)
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inside = true, true
		case r == quote && quote != 0:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inside = r, true
		case quote == 0 && strings.ContainsRune(" \t\r\n", r):
			if inside {
				words = append(words, word.String())
			}
			word.Reset()
			inside = false
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("unterminated quote or backslash in %q", text)
	}
	if inside {
		words = append(words, word.String())
	}
	return words, nil
}

var (
	// reference is ${NAME}, or the beginning of one that is invalid.
	reference    = regexp.MustCompile(`\$\{([^}]*)(\}?)`)
	variableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	stepName     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
)

// references returns the names that a text refers to.
func references(text string) ([]string, error) {
	var names []string
	for _, m := range reference.FindAllStringSubmatch(text, -1) {
		if m[2] == "" || !variableName.MatchString(m[1]) {
			return nil, fmt.Errorf("invalid reference %q: must be ${NAME}", m[0])
		}
		names = append(names, m[1])
	}
	return names, nil
}

// expand replaces the references of a text by their values, and leaves those without one.
func expand(text string, values map[string]string) string {
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		if value, known := values[strings.TrimSuffix(strings.TrimPrefix(found, "${"), "}")]; known {
			return value
		}
		return found
	})
}

// ErrBecomesFlag means that a variable would add a flag to a command.
var ErrBecomesFlag = errors.New("the value of a variable must not begin with a dash: it would be read as a flag")

// Expand replaces the references in words. A value always stays within its word, and no value can make
// a word a flag.
func (w Arguments) Expand(values map[string]string) ([]string, error) {
	all := make([]string, len(w))
	for i, word := range w {
		all[i] = expand(word, values)
		if strings.HasPrefix(all[i], "-") && !strings.HasPrefix(word, "-") {
			return nil, fmt.Errorf("%q: %w", word, ErrBecomesFlag)
		}
	}
	return all, nil
}

// Pending returns the names in words that have no value.
func (w Arguments) Pending(values map[string]string) []string {
	var names []string
	for _, word := range w {
		found, _ := references(word) // the words were validated
		for _, name := range found {
			if _, known := values[name]; !known {
				names = append(names, name)
			}
		}
	}
	return names
}
