package runbook

import (
	"maps"

	"go.yaml.in/yaml/v3"
)

func (d *decoder) runbook(n *yaml.Node, r *Runbook) {
	lines := d.object(n, "a runbook", fields{
		"apiVersion": named(d, &r.APIVersion, []string{APIVersion}),
		"kind":       named(d, &r.Kind, []string{Kind}),
		"metadata": func(n *yaml.Node) {
			r.Metadata.lines = d.object(n, "metadata", fields{"name": d.text(&r.Metadata.Name), "description": d.text(&r.Metadata.Description)}, "name")
		},
		"vars":    d.list("vars", func(n *yaml.Node) { r.Vars = append(r.Vars, d.variable(n)) }),
		"timeout": d.duration(&r.Timeout),
		"steps":   d.list("steps", func(n *yaml.Node) { r.Steps = append(r.Steps, d.step(n)) }),
	}, "apiVersion", "kind", "metadata", "steps")
	maps.Copy(r.lines, lines)
}

func (d *decoder) variable(n *yaml.Node) Variable {
	var v Variable
	v.lines = d.object(n, "a variable", fields{
		"name":        d.text(&v.Name),
		"description": d.text(&v.Description),
		"default": func(n *yaml.Node) {
			v.Default = new(string)
			d.text(v.Default)(n)
		},
		"required": d.flag(&v.Required),
		"pattern":  d.text(&v.Pattern),
	}, "name")
	return v
}

func (d *decoder) step(n *yaml.Node) Step {
	var s Step
	s.lines = d.object(n, "a step", fields{
		"name":        d.text(&s.Name),
		"description": d.text(&s.Description),
		"run":         d.arguments(&s.Run),
		"check":       d.arguments(&s.Check),
		"wait":        func(n *yaml.Node) { s.Wait = d.wait(n) },
		"approve":     func(n *yaml.Node) { s.Approve = d.approval(n) },
		"timeout":     d.duration(&s.Timeout),
		"on":          func(n *yaml.Node) { s.On = d.reactions(n) },
		"retry":       func(n *yaml.Node) { s.Retry = d.retry(n) },
		"capture": func(n *yaml.Node) {
			s.Capture = map[string]string{}
			d.pairs("capture", func(key string, value *yaml.Node) {
				var path string
				d.text(&path)(value)
				s.Capture[key] = path
			})(n)
		},
		"save":       d.text(&s.Save),
		"compensate": d.arguments(&s.Compensate),
		"unknown":    named(d, &s.Unknown, []Unknown{UnknownStop, UnknownRepeat}),
	}, "name")
	return s
}

func (d *decoder) wait(n *yaml.Node) *Wait {
	var w Wait
	w.lines = d.object(n, "wait", fields{"for": d.duration(&w.For), "run": d.arguments(&w.Run), "every": d.duration(&w.Every)})
	return &w
}

func (d *decoder) approval(n *yaml.Node) *Approval {
	var a Approval
	a.lines = d.object(n, "approve", fields{"who": d.text(&a.Who), "plan": d.text(&a.Plan)}, "who")
	return &a
}

func (d *decoder) retry(n *yaml.Node) *Retry {
	r := Retry{Then: Stop}
	r.lines = d.object(n, "retry", fields{"every": d.duration(&r.Every), "limit": d.number(&r.Limit), "then": named(d, &r.Then, []Action{Stop, Compensate})}, "every", "limit")
	return &r
}

// reactions reads what to do after exit codes; a code that is listed twice, by number and name, is a
// problem.
func (d *decoder) reactions(n *yaml.Node) map[string]Action {
	all, known := map[string]Action{}, map[int]bool{}
	d.pairs("on", func(key string, value *yaml.Node) {
		code, err := codeOf(key)
		if err != nil {
			d.problems.addf(value.Line, "%v", err)
			return
		}
		if known[code] && all[key] == "" {
			d.problems.addf(value.Line, "the exit code %s is listed twice, by number and by name", key)
		}
		known[code] = true
		var action Action
		named(d, &action, actions)(value)
		all[key] = action
	})(n)
	return all
}
