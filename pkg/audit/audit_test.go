package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func marking(id v1beta2.ProcessGroupID, err error) Entry {
	r := Run{RunID: "run1", Who: "me@here process 1", Namespace: "fdb", Cluster: "sample", Command: "kubectl fdb replace sample"}
	return NewEntry(r, "ReplaceGroups", plan.MarkForRemoval{Groups: []v1beta2.ProcessGroupID{id}, At: noon}, err, noon.Add(-1500*time.Millisecond), noon)
}

func TestTheAuditFileIsInTheXDGStateDirectory(t *testing.T) {
	tests := map[string]struct {
		env  map[string]string
		want string
	}{
		"the variable names the file":                {env: map[string]string{"XDG_STATE_HOME": "/state", "HOME": "/home/me"}, want: "/state/kubectl-fdb/audit.jsonl"},
		"the home has a place for it":                {env: map[string]string{"HOME": "/home/me"}, want: "/home/me/.local/state/kubectl-fdb/audit.jsonl"},
		"a variable that is not absolute is ignored": {env: map[string]string{"XDG_STATE_HOME": "state", "HOME": "/home/me"}, want: "/home/me/.local/state/kubectl-fdb/audit.jsonl"},
		"without a home there is no place":           {},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Path(func(name string) string { return tc.env[name] })
			if got != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("%q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestTheAuditFileIsReadableOnlyByItsOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubectl-fdb", "audit.jsonl")
	if err := Append(path, marking("storage-1", nil)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil { // as a restored backup may have it
		t.Fatal(err)
	}
	if err := Append(path, marking("storage-2", nil)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s has %v (%v), want %v", name, info.Mode(), err, want)
		}
	}
}

func TestConcurrentRunsDoNotMixAuditLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	const runs, lines = 8, 20
	var group sync.WaitGroup
	for range runs {
		group.Go(func() {
			for range lines {
				if err := Append(path, marking("storage-1", nil)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(got) != runs*lines {
		t.Fatalf("%d lines, want %d", len(got), runs*lines)
	}
	for _, line := range got {
		if line != got[0] {
			t.Fatalf("lines differ: %s", line)
		}
	}
}

func TestTheAuditFileHasOneJSONLinePerAction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := Append(path, marking("storage-1", errors.New("no answer"))); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(path)
	want := `{"time":"2026-11-20T12:00:00Z","runId":"run1","who":"me@here process 1","context":"","namespace":"fdb","cluster":"sample",` +
		`"command":"kubectl fdb replace sample","stage":"ReplaceGroups","action":"MarkForRemoval","subject":"storage-1",` +
		`"words":"mark for removal: storage-1","removes":["storage-1"],"result":"failed","error":"no answer","tookSeconds":1.5}` + "\n"
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
}

// eventsOf is what an API server has after some steps of a run.
func eventsOf(t *testing.T, steps ...[]Entry) []corev1.Event {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).Build()
	e := &Events{Client: c, About: corev1.ObjectReference{Kind: "FoundationDBCluster", Namespace: "fdb", Name: "sample"}}
	for _, step := range steps {
		if err := e.Write(t.Context(), step); err != nil {
			t.Fatal(err)
		}
	}
	return list(t, c)
}

func list(t *testing.T, c client.Client) []corev1.Event {
	t.Helper()
	var events corev1.EventList
	if err := c.List(context.Background(), &events, client.InNamespace("fdb")); err != nil {
		t.Fatal(err)
	}
	return events.Items
}

func TestSimilarActionsAreMergedIntoOneEvent(t *testing.T) {
	failed := errors.New("no answer")
	tests := map[string]struct {
		steps [][]Entry
		want  []string // type, count, and the beginning of the message
	}{
		"one action": {
			steps: [][]Entry{{marking("storage-1", nil)}},
			want:  []string{"Normal 1 mark for removal: storage-1 [kubectl fdb replace sample; me@here process 1; run run1]"},
		},
		"three alike": {
			steps: [][]Entry{{marking("storage-1", nil), marking("storage-2", nil), marking("storage-3", nil)}},
			want:  []string{"Normal 1 mark for removal: storage-1; and 2 more like it: storage-2, storage-3 ["},
		},
		"one of them failed": {
			steps: [][]Entry{{marking("storage-1", nil), marking("storage-2", failed)}},
			want:  []string{"Normal 1 mark for removal: storage-1 [", "Warning 1 failed: mark for removal: storage-2: no answer ["},
		},
		"the same again counts up": {
			steps: [][]Entry{{marking("storage-1", nil)}, {marking("storage-1", nil)}, {marking("storage-1", nil)}},
			want:  []string{"Normal 3 mark for removal: storage-1 ["},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			events := eventsOf(t, tc.steps...)
			if len(events) != len(tc.want) {
				t.Fatalf("%d Events, want %d", len(events), len(tc.want))
			}
			for i, e := range events {
				if got := fmt.Sprintf("%s %d %s", e.Type, e.Count, e.Message); !strings.HasPrefix(got, tc.want[i]) {
					t.Errorf("Event %q, want %q", got, tc.want[i])
				}
			}
		})
	}
}

func TestEventMessagesAreCutToTheKubernetesLimit(t *testing.T) {
	long := marking("storage-1", errors.New(strings.Repeat("é", 2000)))
	long.Reason = strings.Repeat("because ", 500)
	for _, e := range eventsOf(t, []Entry{long, long}) {
		if len(e.Message) > longestMessage || !utf8.ValidString(e.Message) {
			t.Errorf("a message of %d bytes: %s", len(e.Message), e.Message)
		}
		if !strings.Contains(e.Message, "run run1]") {
			t.Errorf("it does not say which run: %s", e.Message)
		}
	}
}

// Who may read Events is not who may talk to the database.
func TestAuditEntriesOmitTheConnectionStringID(t *testing.T) {
	const text = "sample_cluster:PYoYPqXKaI7vjmcup2eG@10.1.0.1:4501,10.1.0.2:4501:tls"
	e := NewEntry(Run{}, "GenerateInitialClusterFile", plan.SetConnectionString{ConnectionString: text}, errors.New("store "+text), noon, noon)
	const kept = "sample_cluster:***@10.1.0.1:4501,10.1.0.2:4501:tls"
	if e.Words != "set the connection string to "+kept || e.Error != "store "+kept {
		t.Errorf("audited are %q and %q", e.Words, e.Error)
	}
}
