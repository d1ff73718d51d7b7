package runbook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// APIVersion and Kind are those of every runbook file that this version reads.
const (
	APIVersion = "runbook.kubectl-fdb/v1"
	Kind       = "Runbook"
)

// Runbook is a procedure: variables, and steps that run one after the other.
type Runbook struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	// Vars are the values that differ from run to run.
	Vars []Variable `json:"vars,omitempty"`
	// Timeout is the maximum time of one invocation; no limit without it.
	Timeout Duration `json:"timeout,omitempty"`
	// Steps are in the order in which they run; at least one.
	Steps []Step `json:"steps"`

	lines map[string]int
}

// Metadata names a runbook.
type Metadata struct {
	// Name consists of lower case letters, digits and dashes.
	Name string `json:"name"`
	// Description is what the procedure is for.
	Description string `json:"description,omitempty"`

	lines map[string]int
}

// Variable is a value that --var sets, and that steps refer to as ${NAME}.
type Variable struct {
	// Name consists of letters, digits and underscores, and begins with a letter.
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Default is the value without --var.
	Default *string `json:"default,omitempty"`
	// Required is true if the variable must be set by --var.
	Required bool `json:"required,omitempty"`
	// Pattern is a regular expression (RE2) that the whole value must match.
	Pattern string `json:"pattern,omitempty"`

	lines map[string]int
}

// Step is one of: a command, a check, a wait, an approval.
type Step struct {
	// Name is unique among the steps: lower case letters, digits and dashes.
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Run is a command of kubectl fdb, without the words "kubectl fdb".
	Run Arguments `json:"run,omitempty"`
	// Check is a command that changes nothing, and whose exit code is the answer.
	Check Arguments `json:"check,omitempty"`
	// Wait is a time, or a command to repeat until it ends with exit code 0.
	Wait *Wait `json:"wait,omitempty"`
	// Approve is an approval that is required before the next step.
	Approve *Approval `json:"approve,omitempty"`
	// Timeout is the maximum time of one attempt of the step, or of all of a wait.
	Timeout Duration `json:"timeout,omitempty"`
	// On has what to do after an exit code, by its number or name. 0 continues and all others stop,
	// unless they are listed.
	On map[string]Action `json:"on,omitempty"`
	// Retry is how often the action retry repeats the step.
	Retry *Retry `json:"retry,omitempty"`
	// Capture has values of the command's JSON output: the name of a variable for later steps, and a
	// JSONPath.
	Capture map[string]string `json:"capture,omitempty"`
	// Save is a variable for later steps: the path of a file with the output of the command.
	Save string `json:"save,omitempty"`
	// Compensate is a command that reverts the step. It runs after the action compensate.
	Compensate Arguments `json:"compensate,omitempty"`
	// Unknown is what a resumed run does if the outcome of a started command is unknown.
	Unknown Unknown `json:"unknown,omitempty"`

	lines map[string]int
}

// Arguments are the words of a command.
type Arguments []string

// SchemaTypes are the forms of words in a file.
func (Arguments) SchemaTypes() []string { return []string{"string", "array"} }

// Wait is a time, or a command to repeat.
type Wait struct {
	// For is a time to wait.
	For Duration `json:"for,omitempty"`
	// Run is a command that changes nothing. It is repeated until it ends with exit code 0; the step
	// needs a timeout.
	Run Arguments `json:"run,omitempty"`
	// Every is the time between two attempts; 10s without it.
	Every Duration `json:"every,omitempty"`

	lines map[string]int
}

// Approval is the approval of a user.
type Approval struct {
	// Who has to approve, in words for users: a name, a role or a group.
	Who string `json:"who"`
	// Plan is a variable that an earlier step saves: the digest of that plan is approved. Without it,
	// the digest of the runbook and its variables is.
	Plan string `json:"plan,omitempty"`

	lines map[string]int
}

// Retry bounds the repetitions of a step.
type Retry struct {
	// Every is the time between two attempts.
	Every Duration `json:"every"`
	// Limit is the number of repetitions after the first attempt.
	Limit int `json:"limit"`
	// Then is what to do after the last one: stop or compensate.
	Then Action `json:"then,omitempty"`

	lines map[string]int
}

// Action is what to do after a step.
type Action string

// The actions after a step.
const (
	// Continue goes on with the next step.
	Continue Action = "continue"
	// End ends the run successfully; later steps are skipped.
	End Action = "end"
	// Again repeats the step.
	Again Action = "retry"
	// Stop ends the run with the step's exit code; a resumed run repeats the step.
	Stop Action = "stop"
	// Compensate reverts the steps that ran, last one first, and ends with the step's exit code.
	Compensate Action = "compensate"
)

var actions = []Action{Continue, End, Again, Stop, Compensate}

// Unknown is what a resumed run does about an unknown outcome.
type Unknown string

// The ways to resume at a step with an unknown outcome.
const (
	// UnknownStop requires the user to decide with --unknown.
	UnknownStop Unknown = "stop"
	// UnknownRepeat runs the command again.
	UnknownRepeat Unknown = "repeat"
)

// StepKind is what a step does.
type StepKind string

// The kinds of steps.
const (
	KindRun     StepKind = "run"
	KindCheck   StepKind = "check"
	KindWait    StepKind = "wait"
	KindApprove StepKind = "approve"
)

// Kind returns what the step does; the first of several in an invalid one.
func (s *Step) Kind() StepKind {
	switch {
	case len(s.Run) > 0:
		return KindRun
	case len(s.Check) > 0:
		return KindCheck
	case s.Wait != nil:
		return KindWait
	default:
		return KindApprove
	}
}

// Command returns the words of the step's command; none if it has no command.
func (s *Step) Command() Arguments {
	if s.Wait != nil {
		return s.Wait.Run
	}
	if len(s.Run) > 0 {
		return s.Run
	}
	return s.Check
}

// Line returns the line of a field in the file, or that of the step.
func (s *Step) Line(field string) int { return lineOf(s.lines, field) }

// lineOf returns the line of a field, or else that of the object.
func lineOf(lines map[string]int, field string) int {
	if line, has := lines[field]; has {
		return line
	}
	return lines[""]
}

// step returns the index of a step; -1 if there is none.
func (r *Runbook) step(name string) int {
	return slices.IndexFunc(r.Steps, func(s Step) bool { return s.Name == name })
}

// Duration is a time as Go writes it: "90s", "10m", "1h30m".
type Duration time.Duration

// MarshalText writes it as in a file.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads it.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("invalid duration %q: must be a number and a unit, like 90s, 10m or 1h", text)
	}
	*d = Duration(parsed)
	return nil
}

func (d Duration) String() string { return time.Duration(d).String() }

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
