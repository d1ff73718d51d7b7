// Package dumps is what a dump of clusters consists of: facts about them at one moment, as the
// API server and the database returned them. It reads and writes the file, hides secrets, and
// serves the facts to commands that read clusters.
package dumps

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// Format identifies a dump of this program.
	Format = "kubectl-fdb-dump"
	// Version is the version of the format. A reader refuses a newer one.
	Version = 1
)

// Manifest describes a dump.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Tool is the program that wrote it.
	Tool string `json:"tool"`
	// At is when the facts were read. Ages are computed from it.
	At time.Time `json:"at"`
	// Context and Namespace are those of the command that wrote it.
	Context   string `json:"context"`
	Namespace string `json:"namespace"`
	// Seed makes the random choices of plans: a plan over the dump is the plan in it.
	Seed uint64 `json:"seed"`
	// Clusters are the clusters of which it has facts.
	Clusters []Cluster `json:"clusters"`
	// Redacted counts what was hidden, by redactor.
	Redacted map[string]int `json:"redacted"`
	// Unread is what could not be read, and why.
	Unread []Unread `json:"unread"`
	// Files are all other files of the dump.
	Files []File `json:"files"`
}

// Cluster names a FoundationDBCluster.
type Cluster struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Key returns the name as clients use it.
func (c Cluster) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
}

// Unread is something that could not be read.
type Unread struct {
	// What is what the dump lacks: "logs of pod a/b, container c".
	What string `json:"what"`
	// Reason is the error.
	Reason string `json:"reason"`
}

// File is a file of a dump.
type File struct {
	Path   string `json:"path"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
	// OmittedBytes is how much is missing at its beginning; 0 for a whole file. -1 is unknown.
	OmittedBytes int64 `json:"omittedBytes,omitempty"`
}

// List is the answer to a list of a resource: all objects in a namespace, or in all namespaces.
type List struct {
	Group    string `json:"group"`
	Version  string `json:"version"`
	Resource string `json:"resource"`
	Kind     string `json:"kind"`
	// Namespace is empty for all namespaces, and for resources without.
	Namespace string `json:"namespace"`
	// Failure is set if the API server refused; there are no items then.
	Failure *metav1.Status `json:"failure,omitempty"`
	// Items are the objects.
	Items []json.RawMessage `json:"items"`
}

// Single is the answer to a read of one object that no list has.
type Single struct {
	Group     string          `json:"group"`
	Resource  string          `json:"resource"`
	Namespace string          `json:"namespace"`
	Name      string          `json:"name"`
	Failure   *metav1.Status  `json:"failure,omitempty"`
	Object    json.RawMessage `json:"object,omitempty"`
}

// Review is the answer to a question about permissions.
type Review struct {
	Resource string          `json:"resource"`
	Spec     json.RawMessage `json:"spec"`
	Failure  *metav1.Status  `json:"failure,omitempty"`
	Object   json.RawMessage `json:"object,omitempty"`
}

// Run is a run of a program in a container.
type Run struct {
	Namespace string   `json:"namespace"`
	Pod       string   `json:"pod"`
	Container string   `json:"container"`
	Argv      []string `json:"argv"`
	Stdin     string   `json:"stdin,omitempty"`
	// Session is true for an interactive run.
	Session bool `json:"session,omitempty"`
	// Ended is true for an interactive run that ended before its client had all answers.
	Ended    bool   `json:"ended,omitempty"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	ExitCode int    `json:"exitCode"`
	// Failure is set if the program did not run to its end.
	Failure *RunFailure `json:"failure,omitempty"`
}

// RunFailure is why a program did not run to its end.
type RunFailure struct {
	Started  bool           `json:"started"`
	Where    string         `json:"where"`
	Message  string         `json:"message"`
	TimedOut bool           `json:"timedOut,omitempty"`
	Status   *metav1.Status `json:"status,omitempty"`
}

// SidecarReport is what the sidecar of a split pod reported of its files.
type SidecarReport struct {
	Namespace string   `json:"namespace"`
	Pod       string   `json:"pod"`
	Binaries  []string `json:"binaries,omitempty"`
	// Failure is why it could not be read; empty if it was.
	Failure string          `json:"failure,omitempty"`
	Report  json.RawMessage `json:"report,omitempty"`
}

// Dump is all facts of a dump.
type Dump struct {
	Manifest Manifest
	Lists    []List
	Singles  []Single
	Reviews  []Review
	Runs     []Run
	Sidecars []SidecarReport
	// Files are logs, trace files, status documents, the audit and rendered views, by path.
	Files map[string][]byte
	// Omitted is how much is missing of files, by path; see File.OmittedBytes.
	Omitted map[string]int64
}

// New returns an empty dump.
func New() *Dump { return &Dump{Files: map[string][]byte{}, Omitted: map[string]int64{}} }

// AuditFile is the path of the audit in a dump.
const AuditFile = "audit.jsonl"

// LogFile returns the path of the log that options select, in a dump.
func LogFile(namespace, pod string, o *corev1.PodLogOptions) string {
	suffix := ".log"
	if o.Previous {
		suffix = ".previous.log"
	}
	return "logs/" + namespace + "/" + pod + "/" + o.Container + suffix
}

// TracesOf returns the directory of the trace files of a pod in a dump.
func TracesOf(namespace, pod string) string { return TracesDirectory + namespace + "/" + pod + "/" }
