package runbook

import (
	"maps"
	"regexp"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Traits are what is known of a command before it runs.
type Traits struct {
	// Command is the path of the command: "reconcile", "get exclusions".
	Command string
	// Changes is true if the command may change objects or databases, or runs a program: it needs an approval.
	Changes bool
	// ReadOnly is true if the command declares that it changes nothing, not even a file.
	ReadOnly bool
	// Forecasts is true if the command has a dry run.
	Forecasts bool
	// Planned is true if its dry run is one of a plan, too.
	Planned bool
	// Waits is true if the command does nothing but wait.
	Waits bool
	// JSON is true if the words request a JSON document.
	JSON bool
}

// Commands validates what steps run.
type Commands interface {
	// Command validates the words of a command. A word that refers to a variable without a value stands
	// for any value.
	Command(words []string) (Traits, error)
	// Path validates a JSONPath.
	Path(expression string) error
}

// Checked is a valid runbook with the values of its variables.
type Checked struct {
	*Runbook
	// Values are the values of the variables.
	Values map[string]string
	// Traits are those of each step's command, by the name of the step.
	Traits map[string]Traits
	// Compensations are those of the commands that revert steps, by the name of the step.
	Compensations map[string]Traits
}

// Check validates a runbook with the variables that the user set.
func (r *Runbook) Check(given map[string]string, commands Commands) (Checked, Problems) {
	v := validation{book: r, commands: commands, known: map[string]string{}, traits: map[string]Traits{}, compensations: map[string]Traits{}}
	if r.Metadata.Name != "" && !stepName.MatchString(r.Metadata.Name) {
		v.problems.addf(lineOf(r.Metadata.lines, "name"), "invalid name %q: must consist of lower case letters, digits and dashes", r.Metadata.Name)
	}
	values := v.variables(given)
	v.steps(values)
	return Checked{r, values, v.traits, v.compensations}, v.problems.sorted()
}

type validation struct {
	book     *Runbook
	commands Commands
	problems Problems
	// known are the variables that steps may refer to, and what sets each.
	known                 map[string]string
	traits, compensations map[string]Traits
}

// variables returns the value of each variable that has one.
func (v *validation) variables(given map[string]string) map[string]string {
	values := map[string]string{}
	for i := range v.book.Vars {
		one := &v.book.Vars[i]
		v.declare(one.Name, "a variable", lineOf(one.lines, "name"))
		switch {
		case one.Required && one.Default != nil:
			v.problems.addf(lineOf(one.lines, "required"), "variable %q is required and has a default: remove one of both", one.Name)
		case !one.Required && one.Default == nil:
			v.problems.addf(one.lines[""], "variable %q requires a default, or required: true", one.Name)
		}
		value, is := given[one.Name]
		if !is && one.Default != nil {
			value, is = *one.Default, true
		}
		if !is {
			v.problems.addf(one.lines[""], "variable %q is required: set it with --var %s=VALUE", one.Name, one.Name)
			continue
		}
		if v.fits(one, value) {
			values[one.Name] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if v.known[name] == "" {
			v.problems.addf(0, "unknown variable %q of --var: %s", name, v.knownNames())
		}
	}
	return values
}

// knownNames are the variables that exist so far, for messages.
func (v *validation) knownNames() string {
	if len(v.known) == 0 {
		return "no variable is defined before"
	}
	return "must be one of " + phrase.List(slices.Sorted(maps.Keys(v.known)))
}

// fits reports whether a value matches the variable's pattern.
func (v *validation) fits(one *Variable, value string) bool {
	if one.Pattern == "" {
		return true
	}
	pattern, err := regexp.Compile("^(?:" + one.Pattern + ")$")
	if err != nil {
		v.problems.addf(lineOf(one.lines, "pattern"), "invalid pattern %q: %v", one.Pattern, err)
		return false
	}
	if !pattern.MatchString(value) {
		v.problems.addf(lineOf(one.lines, "pattern"), "invalid value %q of variable %q: must match %s", value, one.Name, one.Pattern)
		return false
	}
	return true
}

// declare notes a variable that later steps may refer to.
func (v *validation) declare(name, by string, line int) {
	switch {
	case !variableName.MatchString(name):
		v.problems.addf(line, "invalid variable name %q: must consist of letters, digits and underscores", name)
	case v.known[name] != "":
		v.problems.addf(line, "duplicate variable %q: %s sets it already", name, v.known[name])
	default:
		v.known[name] = by
	}
}

func (v *validation) steps(values map[string]string) {
	if len(v.book.Steps) == 0 && v.book.lines["steps"] != 0 {
		v.problems.addf(v.book.lines["steps"], "a runbook requires at least one step")
	}
	for i := range v.book.Steps {
		s := &v.book.Steps[i]
		switch {
		case s.Name == "": // a problem already
		case !stepName.MatchString(s.Name):
			v.problems.addf(s.Line("name"), "invalid name %q: must consist of lower case letters, digits and dashes", s.Name)
		case v.book.step(s.Name) != i:
			v.problems.addf(s.Line("name"), "duplicate step %q", s.Name)
		}
		if v.oneKind(s) {
			v.kind(s)
			v.reactions(s)
			v.command(s, values)
		}
		for _, name := range slices.Sorted(maps.Keys(s.Capture)) {
			v.declare(name, "step "+s.Name, s.Line("capture"))
		}
		if s.Save != "" {
			v.declare(s.Save, "step "+s.Name, s.Line("save"))
		}
		v.compensation(s, values)
	}
}

// oneKind reports whether a step is exactly one of the kinds.
func (v *validation) oneKind(s *Step) bool {
	n := 0
	for _, kind := range []StepKind{KindRun, KindCheck, KindWait, KindApprove} {
		if _, has := s.lines[string(kind)]; has {
			n++
		}
	}
	if n != 1 {
		v.problems.addf(s.Line(""), "step %q requires exactly one of run, check, wait and approve", s.Name)
	}
	return n == 1
}

// kind validates the fields that only some kinds of steps have.
func (v *validation) kind(s *Step) {
	kind := s.Kind()
	for field, kinds := range map[string][]StepKind{
		"capture":    {KindRun, KindCheck},
		"save":       {KindRun, KindCheck},
		"retry":      {KindRun, KindCheck},
		"compensate": {KindRun},
		"unknown":    {KindRun},
		"timeout":    {KindRun, KindCheck, KindWait},
	} {
		if _, has := s.lines[field]; has && !slices.Contains(kinds, kind) {
			v.problems.addf(s.Line(field), "the field %q requires a step with %s", field, phrase.List(kinds))
		}
	}
	switch {
	case kind == KindWait:
		v.wait(s)
	case kind == KindApprove && s.Approve.Plan != "":
		v.approvedPlan(s)
	}
}

func (v *validation) wait(s *Step) {
	w := s.Wait
	switch {
	case (w.For == 0) == (len(w.Run) == 0):
		v.problems.addf(s.Line("wait"), "wait requires exactly one of for and run")
	case w.For != 0 && w.Every != 0:
		v.problems.addf(lineOf(w.lines, "every"), "every requires a wait with run")
	case w.Run != nil && s.Timeout == 0:
		v.problems.addf(s.Line("wait"), "a wait with run requires a timeout")
	}
}

func (v *validation) approvedPlan(s *Step) {
	for i := range v.book.Steps {
		before := &v.book.Steps[i]
		if before == s {
			break
		}
		if before.Save == s.Approve.Plan {
			return
		}
	}
	v.problems.addf(lineOf(s.Approve.lines, "plan"), "unknown plan %q: must be a variable that an earlier step saves", s.Approve.Plan)
}

// reactions validates what follows on exit codes.
func (v *validation) reactions(s *Step) {
	repeats := false
	for _, action := range s.On {
		repeats = repeats || action == Again
	}
	switch after := s.ActionAfter(0); {
	case after == Stop || after == Compensate:
		v.problems.addf(s.Line("on"), "exit code 0 is a success: the action must be continue, end or retry")
	case repeats && s.Retry == nil:
		v.problems.addf(s.Line("on"), "the action retry requires the field \"retry\"")
	case !repeats && s.Retry != nil:
		v.problems.addf(s.Line("retry"), "retry requires an exit code with the action retry in \"on\"")
	}
}

// command validates the step's command.
func (v *validation) command(s *Step, values map[string]string) {
	kind := s.Kind()
	line := s.Line(string(kind))
	words := s.Command()
	if len(words) == 0 {
		if kind == KindApprove {
			v.referred(Arguments{s.Approve.Who}, lineOf(s.Approve.lines, "who"))
		}
		return
	}
	if s.Wait != nil {
		line = lineOf(s.Wait.lines, "run")
	}
	traits, valid := v.valid(words, line, values)
	if !valid {
		return
	}
	v.traits[s.Name] = traits
	if kind != KindRun && !traits.ReadOnly {
		v.problems.addf(line, "%s requires a command that changes nothing: %s can", kind, traits.Command)
	}
	if len(s.Capture) > 0 && !traits.JSON {
		v.problems.addf(s.Line("capture"), "capture requires a command with -o json")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Capture)) {
		if err := v.commands.Path(s.Capture[name]); err != nil {
			v.problems.addf(s.Line("capture"), "invalid JSONPath of %q: %v", name, err)
		}
	}
}

// compensation validates the command that reverts a step. It may refer to what the step captured.
func (v *validation) compensation(s *Step, values map[string]string) {
	if len(s.Compensate) == 0 {
		return
	}
	if traits, valid := v.valid(s.Compensate, s.Line("compensate"), values); valid {
		v.compensations[s.Name] = traits
	}
}

// valid validates words: their references, and the command as it will run.
func (v *validation) valid(words Arguments, line int, values map[string]string) (Traits, bool) {
	if !v.referred(words, line) {
		return Traits{}, false
	}
	if names, _ := references(words[0]); len(names) > 0 {
		v.problems.addf(line, "the command %q must not be a variable", words[0])
		return Traits{}, false
	}
	expanded, err := words.Expand(values)
	if err != nil {
		v.problems.addf(line, "%v", err)
		return Traits{}, false
	}
	traits, err := v.commands.Command(expanded)
	if err != nil {
		v.problems.addf(line, "%v", err)
		return Traits{}, false
	}
	return traits, true
}

// referred reports whether everything that words refer to exists.
func (v *validation) referred(words Arguments, line int) bool {
	valid := true
	for _, word := range words {
		names, err := references(word)
		if err != nil {
			v.problems.addf(line, "%v", err)
			valid = false
		}
		for _, name := range names {
			if v.known[name] == "" {
				v.problems.addf(line, "unknown variable %q: %s", name, v.knownNames())
				valid = false
			}
		}
	}
	return valid
}
