package tui

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestTheDashboardExplainsAsTheCommandDoes(t *testing.T) {
	s := shown(t, 100, 46, Options{}, entriesOfALoss()...).clusterView()
	for _, group := range []string{"", "storage-3", "log-2", "stateless-2", "storage-1"} {
		report := s.whyReport(group)
		var printed bytes.Buffer
		if err := ui.WriteWhy(&printed, *report, ui.WhyOptions{ListOptions: ui.ListOptions{Now: s.now}}); err != nil {
			t.Fatal(err)
		}
		var shown []string
		for _, l := range s.whyLines(group, 100, heading("")) {
			shown = append(shown, l.Text())
		}
		shown = shown[1 : len(shown)-1] // the heading, and the age of the preview
		if diff := cmp.Diff(strings.Fields(printed.String()), strings.Fields(strings.Join(shown, "\n"))); diff != "" {
			t.Errorf("why %s (-command +dashboard):\n%s", group, diff)
		}
	}
}
