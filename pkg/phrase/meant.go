package phrase

import (
	"slices"
	"strings"
)

const (
	// maxMeant is how many names are suggested for a mistyped one.
	maxMeant = 3
	// farthestMeant is how many letters may be wrong.
	farthestMeant = 2
)

// OrMeant returns a suggestion for a word that matches nothing: the most similar names; empty
// if there are none. A name that begins with the word is similar.
func OrMeant(typed string, names []string) string {
	var meant []string
	nearest := farthestMeant
	for _, name := range names {
		far := wrongLetters(strings.ToLower(typed), strings.ToLower(name))
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(typed)) {
			far = min(far, 1)
		}
		if far < nearest {
			nearest, meant = far, nil
		}
		if far == nearest && !slices.Contains(meant, name) {
			meant = append(meant, name)
		}
	}
	if len(meant) == 0 || len(meant) > maxMeant {
		return ""
	}
	return "; did you mean " + strings.Join(meant, " or ") + "?"
}

// wrongLetters returns how many letters must be inserted, deleted or replaced to turn a into b.
func wrongLetters(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
