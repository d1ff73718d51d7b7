package audit

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Removals are the names of process groups and of their pods in removals that were recorded. A
// name among them that no status has any more was removed; of any other name it is unknown
// whether such a process group ever existed.
type Removals map[string]bool

// AnnotationRemoves is on an Event about removals: the names that Entry.Removes has of all its
// actions, separated by commas.
const AnnotationRemoves = "kubectl-fdb/removes"

// removedBy returns the names of process groups, and of their pods, that an action removes.
func removedBy(a plan.Action) []string {
	switch a := a.(type) { //nolint:gochecksumtype // no other action removes process groups
	case plan.MarkForRemoval:
		return phrase.Strings(a.Groups)
	case plan.IncludeAndForget:
		return phrase.Strings(a.Groups)
	case plan.DeleteGroupObjects:
		if a.Pod == "" {
			return []string{string(a.Group)}
		}
		return []string{string(a.Group), a.Pod}
	default:
		return nil
	}
}

// AddFile adds what the audit file at path has about the cluster of a run, by its UID, and nothing
// without a file.
func (r Removals) AddFile(path string, of Run) error {
	entries, _, err := ReadFile(path, of)
	for _, e := range entries {
		if e.Match(of) == MatchUID {
			r.add(e.Result, e.Removes)
		}
	}
	return err
}

// AddEvents adds what Events of this program on the cluster's object report.
func (r Removals) AddEvents(events []corev1.Event, cluster types.UID) {
	for _, e := range events {
		if cluster == "" || e.InvolvedObject.UID != cluster || e.ReportingController != inspect.EventComponent {
			continue
		}
		result := inspect.ActionDone
		if e.Type != corev1.EventTypeNormal {
			result = inspect.ActionFailed
		}
		if names := e.Annotations[AnnotationRemoves]; names != "" {
			r.add(result, strings.Split(names, ","))
		}
	}
}

func (r Removals) add(result string, names []string) {
	if result != inspect.ActionDone {
		return
	}
	for _, name := range names {
		r[name] = true
	}
}
