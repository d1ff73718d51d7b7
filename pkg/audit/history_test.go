package audit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

func entry(run, action, subject string, at time.Duration, result string) Entry {
	return Entry{
		Time: noon.Add(at), Run: Run{RunID: run, Who: "alice@laptop process 7", Command: "kubectl fdb replace", Reason: "CHG-42"},
		Stage: "AddPods", Action: action, Subject: subject, Result: result, TookSeconds: 2,
	}
}

func event(run string, count int32, record string) corev1.Event {
	return corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{inspect.AnnotationRun: record}}, Type: corev1.EventTypeNormal, Reason: "CreatePod",
		ReportingController: "kubectl-fdb", ReportingInstance: run, Count: count, FirstTimestamp: metav1.NewTime(noon), LastTimestamp: metav1.NewTime(noon.Add(time.Minute)),
	}
}

// about is an Event on the object with a UID.
func about(uid types.UID, e corev1.Event) corev1.Event {
	e.InvolvedObject.UID = uid
	return e
}

const bob = `{"who":"bob@vm process 1","command":"kubectl fdb reconcile","stage":"AddPods","subjects":["storage-1","storage-2"],"actions":2}`

// summary is what a row of the list has.
type summary struct {
	Run, User       string
	Actions, Failed int
	Took            time.Duration
	Source          inspect.RunSource
	Steps           int
	Active          bool
}

func TestAuditEntriesAreGroupedByRun(t *testing.T) {
	tests := map[string]struct {
		in   Records
		want []summary
	}{
		"nothing": {},
		"actions of a run that ended together are one step": {
			in: Records{Entries: []Entry{
				entry("r1", "CreatePod", "a", 0, inspect.ActionDone), entry("r1", "CreatePod", "b", 0, inspect.ActionDone), entry("r1", "CreatePod", "c", time.Minute, inspect.ActionFailed),
			}},
			want: []summary{{"r1", "alice@laptop", 3, 1, time.Minute + 2*time.Second, inspect.RunFromFile, 2, false}},
		},
		"the newest run is first": {
			in: Records{Entries: []Entry{
				entry("r1", "CreatePod", "a", 0, inspect.ActionDone), entry("r2", "CreatePod", "a", time.Hour, inspect.ActionDone),
			}},
			want: []summary{
				{"r2", "alice@laptop", 1, 0, 2 * time.Second, inspect.RunFromFile, 1, false},
				{"r1", "alice@laptop", 1, 0, 2 * time.Second, inspect.RunFromFile, 1, false},
			},
		},
		"an Event counts as often as it was repeated": {
			in:   Records{Events: []corev1.Event{event("r3", 3, bob)}},
			want: []summary{{"r3", "bob@vm", 6, 0, time.Minute, inspect.RunFromEvents, 1, false}},
		},
		"a run that both have is the file's": {
			in:   Records{Entries: []Entry{entry("r1", "CreatePod", "a", 0, inspect.ActionDone)}, Events: []corev1.Event{event("r1", 3, bob)}},
			want: []summary{{"r1", "alice@laptop", 1, 0, 2 * time.Second, inspect.RunFromFile, 1, false}},
		},
		"Events of others are left out": {
			in: Records{Events: []corev1.Event{
				func() corev1.Event { e := event("r3", 1, bob); e.ReportingController = "kubelet"; return e }(),
				event("r4", 1, "no JSON"),
				{ReportingController: "kubectl-fdb", ReportingInstance: "r5"},
			}},
		},
		"a run that ended before the time is left out": {
			in:   Records{Entries: []Entry{entry("r1", "CreatePod", "a", 0, inspect.ActionDone), entry("r2", "CreatePod", "a", time.Hour, inspect.ActionDone)}, After: noon.Add(time.Minute)},
			want: []summary{{"r2", "alice@laptop", 1, 0, 2 * time.Second, inspect.RunFromFile, 1, false}},
		},
		"Events on another object of the name are left out": {
			in: Records{UID: "1", Events: []corev1.Event{about("2", event("r1", 1, bob)), about("1", event("r2", 1, bob)), event("r3", 1, bob)}},
			want: []summary{
				{"r2", "bob@vm", 2, 0, time.Minute, inspect.RunFromEvents, 1, false},
				{"r3", "bob@vm", 2, 0, time.Minute, inspect.RunFromEvents, 1, false},
			},
		},
		"the operation that goes on is active": {
			in:   Records{Events: []corev1.Event{event("r3", 1, bob)}, Operation: &reconcile.Operation{ID: "r3"}},
			want: []summary{{"r3", "bob@vm", 2, 0, time.Minute, inspect.RunFromEvents, 1, true}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []summary
			for _, i := range tc.in.Runs() {
				got = append(got, summary{i.RunID, i.User, i.Actions, i.Failed, i.Until.Sub(i.Since), i.Source, len(i.Steps), i.Active})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
		})
	}
}
