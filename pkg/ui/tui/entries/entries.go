// Package entries is what the dashboard receives, what it requests, and what recordings hold.
package entries

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/upgrade"
)

// Key returns the resource of a cluster: its name in a namespace, or NAMESPACE/NAME.
func Key(cluster, namespace string) types.NamespacedName {
	if of, name, whole := strings.Cut(cluster, "/"); whole {
		return types.NamespacedName{Namespace: of, Name: name}
	}
	return types.NamespacedName{Namespace: namespace, Name: cluster}
}

// Entry is one input of a dashboard. A recording is a file of entries, one JSON object per
// line, so that a replay shows what was displayed.
type Entry struct {
	// At is when it was sent.
	At time.Time `json:"at"`
	// Cluster is the name of its FoundationDBCluster, or NAMESPACE/NAME on a dashboard of all
	// namespaces.
	Cluster string `json:"cluster"`
	// Frame is a new snapshot of the cluster; null for other entries.
	Frame *frame.Frame `json:"frame,omitempty"`
	// Pass is something that happened in a pass, as a ReconcileEvent or ReconcileResult;
	// null for other entries.
	Pass json.RawMessage `json:"pass,omitempty"`
	// Question is displayed above everything else; null for other entries. It is not part of a
	// recording.
	Question *Question `json:"-"`
}

// UnmarshalJSON reads entries of this version and of earlier ones: a recording may be older
// than the program that shows it.
func (e *Entry) UnmarshalJSON(text []byte) error {
	upgraded, err := upgrade.JSON(text)
	if err != nil {
		return err
	}
	type entry Entry // without this method
	if err := json.Unmarshal(upgraded, (*entry)(e)); err != nil {
		return err
	}
	if e.Frame != nil {
		e.Frame.Groups.Complete(e.Frame.Nodes)
	}
	return nil
}

// Feed is the source of entries.
type Feed interface {
	// Follow sends the state of a cluster whenever it changes, until ctx ends.
	Follow(ctx context.Context, cluster string, send func(Entry))
	// Refresh reads the cluster now.
	Refresh()
}

// Actions are the actions of the dashboard. They are the commands themselves: the same plan,
// the same gates, the same audit.
type Actions interface {
	// Propose returns what a command would do, and changes nothing.
	Propose(ctx context.Context, ask Ask) (Proposal, error)
	// CarryOut runs what the user approved, and sends its progress.
	CarryOut(ctx context.Context, p Proposal, send func(Entry)) error
}

// Object is what a text is about.
type Object struct {
	// Cluster is the FoundationDBCluster, as in entries.
	Cluster string
	Kind    ObjectKind
	// Name is its name; empty for the cluster.
	Name string
}

// ObjectKind is the kind of an object.
type ObjectKind int

// The kinds of objects: a process group stands for all objects of it.
const (
	OfCluster ObjectKind = iota
	OfGroup
	OfNode
	OfBackup
	OfRestore
)

// Reads are the reads of the dashboard about one object. They change nothing.
type Reads interface {
	// YAML returns an object as YAML.
	YAML(ctx context.Context, o Object) (string, error)
	// Logs sends the last lines that the containers of a pod logged, and those that follow, until
	// ctx ends.
	Logs(ctx context.Context, cluster, pod string, send func(lines []string)) error
	// Shell returns the program that runs a shell in a pod.
	Shell(cluster, pod string) *exec.Cmd
}

// Ask is the action that a key requests.
type Ask struct {
	// Verb is the action: a command, such as replace, drain or cordon, or change coordinators, start backup,
	// stop backup, pause backups or resume backups; keep is replace --undo --include.
	Verb string
	// Cluster is the FoundationDBCluster, as in entries.
	Cluster string
	// Subjects are process groups; nodes for cordon, uncordon and drain, a backup for its actions; empty for
	// reconcile.
	Subjects []string
}

// Label returns the action in a few words.
func (a Ask) Label() string {
	return strings.TrimSpace(a.Verb + " " + strings.Join(a.Subjects, " "))
}

// Proposal is what a command would do.
type Proposal struct {
	Ask
	// CommandLine is the whole command that does the same, to copy.
	CommandLine string
	// Plan is what the command would do, null if the command has no plan.
	Plan *planned.PlanView
	// Words are what the command prints beside the plan, one line each.
	Words []string
	// Confirm is the text to type: y, or the name of the cluster if data can be lost. Empty if
	// no confirmation is required.
	Confirm string
	// Refused is why it cannot be done; empty if it can.
	Refused string
}

// Question is a request for the user's approval, for example of a pass before an action.
type Question struct {
	// Text is the question, in one sentence.
	Text string
	// Words are why it is raised, one line each; none for the first one of a run.
	Words []string
	// Plan is what is to be approved; null for a question about something else.
	Plan *planned.PlanView
	// Confirm is the text to type for yes: y, or the name of the cluster if data can be lost.
	// Empty is y.
	Confirm string
	// Answer receives the user's answer, once. It may block: the dashboard does not wait for it.
	// If the dashboard ends without an answer, the sender of the question must end with it.
	Answer func(yes bool)
}
