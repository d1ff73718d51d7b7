package runbook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Digest returns the digest of a file.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Progress is how far a run is: all that a later invocation needs to continue.
type Progress struct {
	// Runbook is the name of the runbook.
	Runbook string `json:"runbook"`
	// Digest is that of the runbook's file.
	Digest string `json:"digest"`
	// Values are the variables: those of --var, defaults, captured values and paths of saved files.
	Values map[string]string `json:"values"`
	// Clusters are the UIDs of the clusters that commands of steps found by their arguments, by NAMESPACE/NAME; null in the state
	// of an older release.
	Clusters map[string]string `json:"clusters"`
	// StartedAt is when the first invocation began.
	StartedAt time.Time `json:"startedAt"`
	// EndedAt is when the last invocation ended; null while one runs, or if it was killed.
	EndedAt *time.Time `json:"endedAt"`
	// Outcome is how the run ended, or that it has not.
	Outcome Outcome `json:"outcome"`
	// ExitCode is the exit code of the last invocation; null before its end.
	ExitCode *int `json:"exitCode"`
	// Steps are the steps in the order of the runbook.
	Steps []Result `json:"steps"`
	// Compensations are the commands that revert steps, in the order in which they run.
	Compensations []Result `json:"compensations"`
	// Approved is true once a user approved changes, in a step or at the start.
	Approved bool `json:"approved"`
}

// Outcome is how a run ended.
type Outcome string

// The outcomes of a run.
const (
	// Running means that the run has not ended. It can be resumed.
	Running Outcome = "running"
	// Succeeded means that all steps have ended as the runbook requires.
	Succeeded Outcome = "succeeded"
	// Stopped means that a step ended with an exit code that stops the run. It can be resumed.
	Stopped Outcome = "stopped"
	// Compensated means that the run failed and every step that has a compensation was reverted.
	Compensated Outcome = "compensated"
)

// Status is how a step ended.
type Status string

// The statuses of a step.
const (
	Pending     Status = "pending"
	Started     Status = "started"
	Done        Status = "done"
	Failed      Status = "failed"
	Interrupted Status = "interrupted"
	Skipped     Status = "skipped"
)

// Result is what is known of a step.
type Result struct {
	Name string   `json:"name"`
	Kind StepKind `json:"kind"`
	// Arguments are the resolved words of the command.
	Arguments []string `json:"arguments,omitempty"`
	// Status is started while the command runs. In the state of a run that has ended or was killed it
	// means that the outcome is unknown.
	Status Status `json:"status"`
	// ExitCode is the exit code of the last attempt; null if there is none.
	ExitCode *int `json:"exitCode"`
	// Attempts counts the attempts since the step was last begun.
	Attempts int `json:"attempts"`
	// StartedAt and EndedAt are those of the last attempt.
	StartedAt *time.Time `json:"startedAt"`
	EndedAt   *time.Time `json:"endedAt"`
	// Message is why the step failed, or what is known of it beside its exit code.
	Message string `json:"message,omitempty"`
	// Captured are values of the command's output.
	Captured map[string]string `json:"captured,omitempty"`
	// Saved is the file with the command's output.
	Saved *File `json:"saved,omitempty"`
	// Digest is what --approve requires for an approval; empty for other steps.
	Digest string `json:"digest,omitempty"`
	// Approval is who approved what.
	Approval *Approved `json:"approval,omitempty"`
}

// File is a saved output.
type File struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

// Approved is an approval that was given.
type Approved struct {
	// Who had to approve.
	Who string `json:"who"`
	// By is the user and host of the run that received the approval.
	By string `json:"by"`
	// Digest is that of the approved plan, or of the runbook with its variables.
	Digest string `json:"digest"`
	// How is "prompt" or "digest".
	How string `json:"how"`
}

// Begin returns the progress of a run that has not begun.
func Begin(c Checked, digest string, now time.Time) *Progress {
	p := &Progress{
		Runbook: c.Metadata.Name, Digest: digest, Values: maps.Clone(c.Values), StartedAt: now.UTC(), Outcome: Running,
		Clusters: map[string]string{}, Steps: []Result{}, Compensations: []Result{},
	}
	for i := range c.Steps {
		p.Steps = append(p.Steps, Result{Name: c.Steps[i].Name, Kind: c.Steps[i].Kind(), Status: Pending})
	}
	return p
}

// StateDocument is the content of a state file.
type StateDocument struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Progress
}

// StateKind is the kind of a state file.
const StateKind = "RunbookState"

// Encode returns the content of a state file.
func (p *Progress) Encode() ([]byte, error) {
	text, err := json.MarshalIndent(StateDocument{APIVersion, StateKind, *p}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write state: %w", err)
	}
	return append(text, '\n'), nil
}

// Decode reads a state file.
func Decode(text []byte) (*Progress, error) {
	var state StateDocument
	if err := json.Unmarshal(text, &state); err != nil {
		return nil, fmt.Errorf("invalid state: %w", err)
	}
	if state.APIVersion != APIVersion || state.Kind != StateKind {
		return nil, fmt.Errorf("invalid state: must be a %s of %s, is %q of %q", StateKind, APIVersion, state.Kind, state.APIVersion)
	}
	return &state.Progress, nil
}

// Ran reports whether any step has begun.
func (p *Progress) Ran() bool {
	return slices.ContainsFunc(p.Steps, func(r Result) bool { return r.Status != Pending })
}

// Unknown returns the results whose command was started, and whose end is unknown.
func (p *Progress) Unknown() []*Result {
	var all []*Result
	for _, list := range [][]Result{p.Steps, p.Compensations} {
		for i := range list {
			if list[i].Status == Started {
				all = append(all, &list[i])
			}
		}
	}
	return all
}

// ApprovalDigest returns what an approval without a plan approves: the runbook and the variables of
// its user.
func ApprovalDigest(digest string, values map[string]string) string {
	var b strings.Builder
	b.WriteString(digest)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, "\n%q=%q", name, values[name])
	}
	return Digest([]byte(b.String()))
}

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
