package texts

import (
	"encoding/json"
	"sync"
)

// Answer is what fdbcli prints for a line about something that the database does not use.
type Answer struct {
	Line   string `json:"line"`
	Exit   int    `json:"exit"`
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	// Asks is whether fdbcli reads from the database to answer.
	Asks bool `json:"asks,omitempty"`
}

// AnswerTo is the answer to a line of one command; false without one.
func AnswerTo(line string) (Answer, bool) {
	a, ok := answers()[line]
	return a, ok
}

var answers = sync.OnceValue(func() map[string]Answer {
	found := map[string]Answer{}
	content, err := files.ReadFile("answers.json")
	if err != nil {
		return found // it is embedded
	}
	var all []Answer
	if err := json.Unmarshal(content, &all); err != nil {
		return found // TestEveryEmbeddedFdbcliAnswerHasOutput
	}
	for _, a := range all {
		found[a.Line] = a
	}
	return found
})
