package inspect

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// APIVersion is the version of every document that the program prints. Within it,
// fields are only added. docs/json-versions.md lists what changed between versions.
const APIVersion = "cli.kubectl-fdb/v2"

// FirstAPIVersion is the version before it. Recordings of it are converted; see package upgrade.
const FirstAPIVersion = "cli.kubectl-fdb/v1"

// Document is the head of every printed document.
type Document struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	// AsOf is when the newest fact in the document was read.
	AsOf *time.Time `json:"asOf"`
	// Source is where the facts come from.
	Source Source `json:"source"`
	// Warnings are what limits the validity of the document.
	Warnings []string `json:"warnings"`
}

// Metadata identifies the subject of a document and the run that made it.
type Metadata struct {
	// Cluster is the FoundationDBCluster; empty for documents about several.
	Cluster   string `json:"cluster,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Context is the kubeconfig context; empty when the kubeconfig has none.
	Context string `json:"context,omitempty"`
	// Site is which of the sites of the database the facts are of; empty where a command reads one resource.
	Site string `json:"site,omitempty"`
	// Tool is the program and its version.
	Tool string `json:"tool"`
	// RunID is the same in all output and actions of one run of the program.
	RunID string `json:"runId"`
}

// Subject names the resource of a document: its namespace and name, after its site where there are several.
func (m Metadata) Subject() string {
	name := m.Namespace + "/" + m.Cluster
	switch {
	case m.Site != "" && m.Cluster == "":
		return "site " + m.Site
	case m.Site != "":
		return "site " + m.Site + ": " + name
	}
	return name
}

// Source is where a fact comes from.
type Source string

// The sources of facts.
const (
	// SourceLive is a fact that was read just now.
	SourceLive Source = "live"
	// SourceResource is the status of the custom resource, as the last pass wrote it.
	SourceResource Source = "cr-status"
)

// NewDocument returns the head of a document of a kind. A zero time is an unknown one.
func NewDocument(kind string, m Metadata, asOf time.Time, source Source) Document {
	return Document{APIVersion: APIVersion, Kind: kind, Metadata: m, AsOf: Known(asOf), Source: source, Warnings: []string{}}
}

// Known returns a time for a document: UTC, and nil when unknown.
func Known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// sealField is the field of a document that has the digests of all others.
const sealField = "digests"

// ErrUnsealed means that a document has no digests of what it shows.
var ErrUnsealed = errors.New("it has no digests of its fields: it was modified, or saved by an earlier version of this program: save a new plan and approve that")

// Seal returns the digest of each field of a document as it is printed, for its field "digests": a file then
// shows nothing else than what was printed.
func Seal(document any) (map[string]string, error) {
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	fields, err := fieldsOf([]byte(redact.Text(string(text)))) // as it is printed
	if err != nil {
		return nil, err
	}
	return digestsOf(fields)
}

// Unseal returns a saved document as one that has each name once, in one way of writing. The error names
// every field that was changed, added or removed since it was sealed; the text is nil only for one that is no
// document.
func Unseal(text []byte) ([]byte, error) {
	fields, err := fieldsOf(text)
	if err != nil {
		return nil, fmt.Errorf("not a complete JSON document: %w", err)
	}
	canonical, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	sealed, is := fields[sealField].(map[string]any)
	if !is {
		return canonical, ErrUnsealed
	}
	found, err := digestsOf(fields)
	if err != nil {
		return nil, err
	}
	if edited := edits(found, sealed); len(edited) > 0 {
		return canonical, fmt.Errorf("it was modified: %s %s not what was printed", phrase.List(edited), phrase.Is(len(edited)))
	}
	return canonical, nil
}

// ReadSaved reads a saved document of a kind. The error is why it is none of this version, or not as it was printed.
func ReadSaved(text []byte, kind string, into any) error {
	text, edited := Unseal(text)
	if text == nil {
		return edited
	}
	var header Document
	err := errors.Join(json.Unmarshal(text, &header), json.Unmarshal(text, into))
	switch {
	case err != nil:
		return cmp.Or(edited, fmt.Errorf("not a complete JSON document: %w", err))
	case header.Kind != kind:
		return fmt.Errorf("unsupported kind %q: must be %s", header.Kind, kind)
	case header.APIVersion == FirstAPIVersion:
		return fmt.Errorf("it was saved by an earlier version of this program (%s): save a new plan and approve that", header.APIVersion)
	case header.APIVersion != APIVersion:
		return fmt.Errorf("unsupported version %q: must be %s", header.APIVersion, APIVersion)
	default:
		return edited
	}
}

// edits returns the fields that have another digest than the sealed one, or that only one of both has.
func edits(found map[string]string, sealed map[string]any) (names []string) {
	for name, digest := range found {
		if digest != sealed[name] {
			names = append(names, name)
		}
	}
	for name := range sealed {
		if _, has := found[name]; !has {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// fieldsOf returns the fields of a document. Of several with one name the last counts.
func fieldsOf(text []byte) (map[string]any, error) {
	var fields map[string]any
	err := json.Unmarshal(text, &fields)
	return fields, err
}

// digestsOf returns the digests of all fields but the seal. They depend neither on the order of keys, nor on
// how a program writes numbers and characters.
func digestsOf(fields map[string]any) (map[string]string, error) {
	digests := map[string]string{}
	for name, value := range fields {
		if name == sealField {
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		digests[name] = "sha256:" + hex.EncodeToString(sum[:])
	}
	return digests, nil
}

// CheckWords is a check in one line: its code, the question, the evidence.
func CheckWords(c plan.Check) string {
	if c.Gate == "" {
		return c.Text()
	}
	return string(c.Gate) + ": " + c.Text()
}

// OneLine keeps an error that holds several in one line.
func OneLine(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ") }

// Commands makes whole command lines, for the cluster's context and namespace.
type Commands struct {
	FDB, Kubectl func(words ...string) string
}

// CompareTimes orders by time, unknown times last.
func CompareTimes(a, b *time.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	default:
		return a.Compare(*b)
	}
}
