package recovery

import (
	"strings"
	"testing"
)

// Every one of these has the right digest: whoever edits a plan can compute it.
func TestARecoveryPlanThatContradictsItselfIsRefused(t *testing.T) {
	const elsewhere = "10.6.6.6:4501"
	tests := map[string]struct {
		given Plan
		edit  func(*Plan)
		want  string
	}{
		"a connection string that is not of its moves":   {planned(t), func(p *Plan) { p.To = "evil:evil@" + elsewhere }, "not that of its coordinators"},
		"a coordinator at another address":               {planned(t), func(p *Plan) { p.To = strings.Replace(p.To, "10.0.9.1:4501", elsewhere, 1) }, "not that of its coordinators"},
		"a move to an address of no process group of it": {planned(t), func(p *Plan) { p.Moves[0].To, p.To = elsewhere, strings.Replace(p.To, "10.0.9.1:4501", elsewhere, 1) }, "is not an address of process group"},
		"a move of another coordinator":                  {planned(t), func(p *Plan) { p.Moves[0].From = elsewhere }, "is not the one of the move"},
		"a move less":                                    {planned(t), func(p *Plan) { p.Moves = p.Moves[1:] }, "3 required"},
		"a move of an unknown process group":             {planned(t), func(p *Plan) { p.Moves[0].Group = "other" }, "is not an address of process group other"},
		"a step less":                                    {planned(t), func(p *Plan) { p.Steps = p.Steps[:4] }, "its steps"},
		"steps in another order":                         {planned(t), func(p *Plan) { p.Steps[0], p.Steps[3] = p.Steps[3], p.Steps[0] }, "its steps"},
		"a copy to an address of no process group": {copying(t, bereft()), func(p *Plan) {
			p.Copy.Coordinators[1].Address, p.To = elsewhere, strings.Replace(p.To, "10.0.9.4:4501", elsewhere, 1)
		}, "is not an address of process group"},
		"a connection string that is not of its copies": {copying(t, bereft()), func(p *Plan) { p.To = p.From }, "not that of its coordinators"},
		"a copy without the steps that keep the state":  {copying(t, bereft()), func(p *Plan) { p.Steps = p.Steps[2:] }, "its steps"},
		"a connection string where pods are created":    {planOf(t, withoutPods()), func(p *Plan) { p.To = p.From }, "not that of its coordinators"},
		"pods that are created without a wait":          {planOf(t, withoutPods()), func(p *Plan) { p.Steps = p.Steps[:1] }, "its steps"},
		"a pod of an unknown process group":             {planOf(t, withoutPods()), func(p *Plan) { p.Create[0].Group = "other" }, "is not of its basis"},
		"a step of another kind":                        {planned(t), func(p *Plan) { p.Steps = append(p.Steps, StepPods) }, "its steps"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := tc.given
			if err := p.Check("sample", "fdb"); err != nil {
				t.Fatal(err)
			}
			tc.edit(&p)
			p.Digest, _ = p.digest()
			if err := p.Check("sample", "fdb"); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

// What a plan alone cannot prove is compared with the cluster before anything is changed.
func TestARecoveryPlanThatContradictsTheClusterIsRefused(t *testing.T) {
	p := copying(t, bereft())
	p.Copy.Coordinators[1].Directory = "/etc"
	if got := strings.Join(p.Moved(bereft()), "; "); !strings.Contains(got, "its address and directory are") {
		t.Errorf("a directory of another volume: %q", got)
	}
	f := withoutPods()
	p = planOf(t, f)
	p.Rebuild = []Rebuilt{{ID: f.Groups[0].ID, Class: f.Groups[0].Class}}
	if got := p.Moved(f); len(got) > 0 {
		t.Errorf("the same class: %q", got)
	}
	p.Rebuild[0].Class = "other"
	if got := strings.Join(p.Moved(f), "; "); !strings.Contains(got, "its class is") {
		t.Errorf("another class: %q", got)
	}
}
