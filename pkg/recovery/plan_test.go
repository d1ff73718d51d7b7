package recovery

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
)

const movedTo = "sample:abc@10.0.9.1:4501,10.0.9.2:4501,10.0.9.3:4501"

func planned(t *testing.T) Plan {
	t.Helper()
	p, err := NewPlan("sample", "fdb", rebooted(), command)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestARecoveryPlanKeepsTheDescriptionAndCoordinatorCount(t *testing.T) {
	p := planned(t)
	if p.From != recorded || p.To != movedTo || len(p.Steps) != 5 || len(p.Manual) != 0 {
		t.Errorf("%+v", p)
	}
	if err := p.Check("sample", "fdb"); err != nil {
		t.Error(err)
	}
}

func TestARecoveryPlanThatCannotBeAppliedIsRefused(t *testing.T) {
	tests := map[string]struct {
		edit func(*Plan)
		want string
	}{
		"edited":                {edit: func(p *Plan) { p.To = recorded }, want: "the digest does not match"},
		"of another cluster":    {edit: func(p *Plan) { p.Cluster = "other"; p.Digest, _ = p.digest() }, want: "for cluster other"},
		"of another namespace":  {edit: func(p *Plan) { p.Namespace = "other"; p.Digest, _ = p.digest() }, want: "in namespace other"},
		"without steps":         {edit: func(p *Plan) { p.Steps = nil; p.Digest, _ = p.digest() }, want: "no steps to apply"},
		"of a kind not handled": {edit: func(p *Plan) { p.Kind = CoordinatorsLost; p.Digest, _ = p.digest() }, want: "no steps to apply"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := planned(t)
			tc.edit(&p)
			if err := p.Check("sample", "fdb"); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

func TestChangesSinceARecoveryPlanAreDetected(t *testing.T) {
	tests := map[string]struct {
		edit func(*Facts)
		// want is part of the only difference; empty for none.
		want string
	}{
		"nothing":                          {edit: func(*Facts) {}},
		"what the plan itself wrote":       {edit: withFilesWritten},
		"all that the plan itself wrote":   {edit: func(f *Facts) { withFilesWritten(f); f.Recorded, f.ConfigMap = movedTo, movedTo }},
		"another resource":                 {edit: func(f *Facts) { f.UID = "2" }, want: "is another one"},
		"another pod":                      {edit: func(f *Facts) { f.Groups[4].PodUID = "new" }, want: "storage-5: another pod"},
		"another address":                  {edit: func(f *Facts) { f.Groups[0].Now = []string{"10.0.9.8"} }, want: "its addresses are 10.0.9.8, not 10.0.9.1"},
		"another volume":                   {edit: func(f *Facts) { f.Groups[4].Volume = "pv-9" }, want: "another volume"},
		"coordination files that are lost": {edit: func(f *Facts) { f.Groups[0].Files.Coordination = nil }, want: "its coordination files changed"},
		"a new process group":              {edit: func(f *Facts) { f.Groups = append(f.Groups, Group{ID: "log-1", Files: &datadir.Files{}}) }, want: "a new process group"},
		"a process group less":             {edit: func(f *Facts) { f.Groups = f.Groups[:4] }, want: "not in the status anymore"},
		"a pod that cannot be read":        {edit: func(f *Facts) { f.Groups[4].Files = nil; f.Groups[4].Unread = "timeout" }, want: "could not be read"},
		"another connection string":        {edit: func(f *Facts) { f.ConfigMap = strings.Replace(recorded, "abc", "def", 1) }, want: "not of the plan"},
		"a quorum of the former ones":      {edit: func(f *Facts) { f.Quorum = new(true) }, want: "a quorum of the former coordinators answers"},
		"an unknown quorum":                {edit: func(f *Facts) { f.Quorum = nil }, want: "is unknown"},
		"other coordinators":               {edit: func(f *Facts) { f.Queried = []string{"10.0.0.8:4501"} }, want: "not of the plan: 10.0.0.8:4501"},
		"an answer from outside":           {edit: func(f *Facts) { f.Coordinators[0].Reachable = new(true) }, want: "belongs to no pod"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p, f := planned(t), rebooted()
			tc.edit(&f)
			got := p.Moved(f)
			if tc.want == "" && len(got) == 0 {
				return
			}
			if len(got) != 1 || !strings.Contains(got[0], tc.want) || tc.want == "" {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// withFilesWritten is the state after a run that was interrupted once it had written all cluster files.
func withFilesWritten(f *Facts) {
	for i := range f.Groups {
		f.Groups[i].Files.ClusterFile = movedTo
	}
	f.Queried, f.Quorum = []string{"10.0.9.1:4501", "10.0.9.2:4501", "10.0.9.3:4501"}, new(true)
}

func TestRecoveryPlansWithoutStepsHaveManualSteps(t *testing.T) {
	for name, edit := range map[string]func(*Facts){
		"pods": func(f *Facts) { f.Groups[4].Pod, f.Groups[4].UsedBy = "", []string{"shell"} }, "released": func(f *Facts) { withReleased(f); f.Released[0].Policy = "Delete" }, "lost": func(f *Facts) { lose(f, 2) },
		"down": func(f *Facts) { f.Quorum = new(true) }, "unknown": func(f *Facts) { f.Recorded = "" }, "obstacles": withTooManyFiles,
	} {
		f := rebooted()
		edit(&f)
		p, err := NewPlan("sample", "fdb", f, command)
		if err != nil || len(p.Steps) != 0 || len(p.Manual) == 0 || p.To != "" || p.Check("sample", "fdb") == nil {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func TestAPlanIsRefusedWhilePodsWithoutStateAreAQuorum(t *testing.T) {
	p, f := planned(t), rebooted()
	f.Quorum, f.Groups[3].Now, f.Groups[4].Now = new(true), []string{"10.0.0.2"}, []string{"10.0.0.1"}
	got := strings.Join(p.Moved(f), "; ")
	if !strings.Contains(got, "are a quorum without state: delete these pods") || strings.Contains(got, "nothing has to be recovered") {
		t.Errorf("%q", got)
	}
}

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
