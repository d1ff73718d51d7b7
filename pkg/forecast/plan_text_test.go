package forecast_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/forecast"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// planFor returns the plan of the next pass, with the settings that change and a forecast.
func planFor(t *testing.T, w *sim.Cluster) planned.PlanView {
	t.Helper()
	var recorder planned.PlanRecorder
	s := observed(t, w)
	p := reconcile.Pass{Stages: stages.Cluster(), Observer: w, Report: recorder.Report, Seed: 42}
	if _, err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	f, err := forecast.Play(t.Context(), forecast.Request{Observed: s, Stages: stages.Cluster(), Seed: 42})
	if err != nil {
		t.Fatal(err)
	}
	v := recorder.View(inspect.Metadata{Cluster: "sample", Namespace: "fdb"})
	v.Changes, v.Forecast = planned.SettingChanges(s), &f
	return v
}

// printed is a plan on a terminal of 80 cells.
func printed(t *testing.T, v planned.PlanView, o ui.PlanOptions) string {
	t.Helper()
	var out bytes.Buffer
	if err := ui.WritePlan(layout.NewPage(&out, func() int { return 80 }), v, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// onThePage is the upgrade whose plan is in docs/plan.md.
const onThePage = "patch version, split image"

func TestThePlanOfAnUpgradeOf16ProcessGroupsFits40Lines(t *testing.T) {
	for name, tc := range map[string]struct {
		edit    func(*v1beta2.FoundationDBCluster)
		version string
	}{
		"minor version, unified image": {func(*v1beta2.FoundationDBCluster) {}, "7.4.6"},
		"minor version, split image":   {splitImage, "7.4.6"},
		"patch version, unified image": {func(*v1beta2.FoundationDBCluster) {}, "7.3.81"},
		onThePage:                      {splitImage, "7.3.81"},
	} {
		t.Run(name, func(t *testing.T) {
			w := settled(t, func(c *v1beta2.FoundationDBCluster) {
				c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 5, Log: 4, Stateless: 7}
				tc.edit(c)
			})
			if n := len(w.Resource.Status.ProcessGroups); n != 16 {
				t.Fatalf("%d process groups", n)
			}
			w.Resource.Spec.Version = tc.version
			w.Resource.Spec.ProcessCounts.Storage += 2
			w.Resource.Generation++
			text := printed(t, planFor(t, w), ui.PlanOptions{})
			if n := strings.Count(text, "\n"); n > 40 {
				t.Errorf("%d lines", n)
			}
			for line := range strings.Lines(text) {
				if line = strings.TrimSpace(line); strings.HasSuffix(line, "…") && !strings.HasSuffix(line, " …") {
					t.Errorf("cut within a word: %s", line)
				}
			}
			golden.RequireEqual(t, text)
			if name == onThePage {
				page, err := os.ReadFile("../../docs/plan.md")
				if err != nil || !strings.Contains(string(page), "```\n"+text+"```\n") {
					t.Errorf("docs/plan.md shows another plan: %v", err)
				}
			}
		})
	}
}

// What the rows of similar actions leave out is in the wide output.
func TestTheWidePlanNamesEachObjectAndEachGate(t *testing.T) {
	w := settled(t, nil)
	w.Resource.Spec.Version = "7.4.6"
	w.Resource.Generation++
	v := planFor(t, w)
	text := strings.Join(strings.Fields(printed(t, v, ui.PlanOptions{Wide: true})), " ")
	for _, item := range v.Items {
		for _, part := range append([]string{item.Kind, item.Why}, strings.Split(item.Subject, ", ")...) {
			if !strings.Contains(text, part) {
				t.Errorf("%s of action %d is missing", part, item.Number)
			}
		}
	}
	for _, h := range v.Holds {
		for _, c := range h.Refused {
			if !strings.Contains(text, string(c.Gate)) {
				t.Errorf("%s of %s is missing", c.Gate, h.Stage)
			}
		}
	}
}
