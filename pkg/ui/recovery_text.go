package ui

import (
	"fmt"
	"io"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteRecoveryReport prints what can be saved and what may be lost, the evidence, and a row per
// process group.
func WriteRecoveryReport(w io.Writer, v recovery.ReportView, o ListOptions) error {
	if err := writeAssessment(w, v.Assessment); err != nil {
		return err
	}
	for _, c := range v.Facts.Coordinators {
		if _, err := layout.Fprintf(w, "Coordinator:  %s, answers: %s\n", c.Address, phrase.YesNo(c.Reachable, phrase.UnknownCell)); err != nil {
			return err
		}
	}
	for _, r := range v.Facts.Released {
		if _, err := layout.Fprintf(w, "Released:     %s of PVC %s, policy %s\n", r.Name, r.PVC, r.Policy); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	t := o.table([]layout.Column{
		{Name: "ID"},
		{Name: "POD-ADDRESS"},
		{Name: "STATUS-ADDRESS", Drop: 1},
		{Name: "PVC", Drop: 3, Min: 12},
		{Name: "VOLUME", Drop: 4, Min: 12},
		{Name: "GENERATION", Drop: 2, Min: 12},
		{Name: "COORDINATION"},
		{Name: "MODIFIED", Drop: 2},
		{Name: "PROCESSES"},
		{Name: "NOTE", Below: true},
	})
	for _, g := range v.Facts.Groups {
		t.Rows = append(t.Rows, recoveryRow(g))
	}
	return t.Write(w)
}

func recoveryRow(g recovery.Group) []string {
	row := []string{g.ID, phrase.Or(phrase.List(g.Now), phrase.Nothing), phrase.Or(phrase.List(g.Addresses), phrase.Nothing), phrase.Or(g.PVC, phrase.Nothing), phrase.Or(g.Volume, phrase.Nothing)}
	if g.Files == nil {
		return append(row, phrase.UnknownCell, phrase.UnknownCell, phrase.UnknownCell, phrase.UnknownCell, phrase.Or(g.Unread, "no running pod"))
	}
	coordination, modified := "none", phrase.Nothing
	for _, f := range g.Files.Coordination {
		if coordination != "current" {
			coordination = map[bool]string{true: "current", false: "other generation"}[f.Current]
		}
		if text := f.Modified.Format("2006-01-02T15:04:05Z"); modified == phrase.Nothing || text > modified {
			modified = text
		}
	}
	return append(row, phrase.Or(g.Files.Generation, phrase.Nothing), coordination, modified, strconv.Itoa(len(g.Files.Processes)), phrase.Nothing)
}

// writeAssessment prints what may be lost first.
func writeAssessment(w io.Writer, a recovery.Assessment) error {
	if _, err := layout.Fprintf(w, "May be lost:  %s\nCan be saved: %s\nKind:         %s\n", a.Lost, a.Saved, a.Kind); err != nil {
		return err
	}
	for _, text := range a.Evidence {
		if _, err := layout.Fprintf(w, "Evidence:     %s\n", text); err != nil {
			return err
		}
	}
	for _, text := range a.Obstacles {
		if _, err := layout.Fprintf(w, "Obstacle:     %s\n", text); err != nil {
			return err
		}
	}
	return nil
}

// recoverySteps are the steps of plans in words.
var recoverySteps = map[recovery.Step]string{
	recovery.StepKeepCoordination: "keep a copy of the coordination files of survivors and new coordinators",
	recovery.StepCopyCoordination: "copy the coordination files of the source to the new coordinators",
	recovery.StepClusterFiles:     "keep a copy of the cluster file of each pod and replace it",
	recovery.StepConfigMap:        "write the connection string to the ConfigMap",
	recovery.StepStatus:           "write the connection string to the status of the resource",
	recovery.StepRestart:          "restart all fdbserver processes at once",
	recovery.StepAvailable:        "wait until the database is available",

	recovery.StepReserveVolumes: "reserve each released volume for the PVC of the same name",
	recovery.StepRebuild:        "write the connection string and these process groups to the empty status",
	recovery.StepPVCs:           "create the PVCs and wait until they are bound to these volumes",
	recovery.StepPods:           "create the pods on their own PVCs, those of coordinators first",
	recovery.StepPodsRun:        "wait until all pods run",
	recovery.StepAddresses:      "if coordinators have other addresses: replace the connection string everywhere and restart all fdbserver processes",
}

// RecoveryStep returns a step in words.
func RecoveryStep(s recovery.Step) string { return phrase.Or(recoverySteps[s], string(s)) }

// WriteRecoveryPlan prints what may be lost, and the steps of a plan, or what to do manually.
func WriteRecoveryPlan(w io.Writer, v recovery.PlanView) error {
	if err := writeAssessment(w, v.Plan.Assessment); err != nil {
		return err
	}
	if v.Plan.To != "" {
		if _, err := layout.Fprintf(w, "From:         %s\nTo:           %s\nDigest:       %s\n", v.Plan.From, v.Plan.To, v.Plan.Digest); err != nil {
			return err
		}
	}
	if err := writeCreations(w, v.Plan); err != nil {
		return err
	}
	for i, s := range v.Plan.Steps {
		if _, err := layout.Fprintf(w, "%d. %s\n", i+1, RecoveryStep(s)); err != nil {
			return err
		}
	}
	if len(v.Plan.Manual) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\nrecover apply has nothing to do for it. Manually:")
	for i, text := range v.Plan.Manual {
		if _, err := layout.Fprintf(w, "%d. %s\n", i+1, text); err != nil {
			return err
		}
	}
	return nil
}

// writeCreations prints the PVCs that a plan binds and the pods that it creates, in their order.
func writeCreations(w io.Writer, p recovery.Plan) error {
	if len(p.Bind)+len(p.Create) == 0 {
		return nil
	}
	if _, err := layout.Fprintf(w, "Connection:   %s\nDigest:       %s\n", p.From, p.Digest); err != nil {
		return err
	}
	for _, g := range p.Rebuild {
		if _, err := layout.Fprintf(w, "Status:       process group %s, class %s\n", g.ID, g.Class); err != nil {
			return err
		}
	}
	for _, b := range p.Bind {
		if _, err := layout.Fprintf(w, "Bind:         %s to volume %s\n", b.PVC, b.Volume); err != nil {
			return err
		}
	}
	for _, c := range p.Create {
		text := phrase.Or(c.PVC, "no PVC")
		if c.Coordinator {
			text += ", coordinator"
		}
		if _, err := layout.Fprintf(w, "Create:       pod %s (%s)\n", c.Pod, text); err != nil {
			return err
		}
	}
	return nil
}

// WriteRecoveryVerification prints a row per check.
func WriteRecoveryVerification(w io.Writer, v recovery.VerificationView, o ListOptions) error {
	t := o.table([]layout.Column{{Name: "CHECK"}, {Name: "HOLDS"}, {Name: "EVIDENCE", Min: 20}})
	for _, c := range v.Items {
		t.Rows = append(t.Rows, []string{string(c.ID), phrase.YesNo(&c.Holds, phrase.UnknownCell), c.Evidence})
	}
	return t.Write(w)
}
