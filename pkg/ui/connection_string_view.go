package ui

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ConnectionStringView is the document of `connection-string show`.
type ConnectionStringView struct {
	Document
	ConnectionString string   `json:"connectionString"`
	Description      string   `json:"description"`
	GenerationID     string   `json:"generationId"`
	Coordinators     []string `json:"coordinators"`
}

// NewConnectionStringView makes the document of the connection string in force, or of the one
// in the status while that is unknown. There is none when known is false.
func NewConnectionStringView(m Metadata, f Facts, files plan.ClusterFiles) (v ConnectionStringView, known bool) {
	text, source := files.Live.String(), SourceLive
	if files.Live.IsZero() {
		text, source = f.Cluster.Status.ConnectionString, SourceRecord
	}
	cs, err := fdb.ParseConnectionString(text)
	if err != nil {
		return ConnectionStringView{}, false
	}
	v = ConnectionStringView{
		Document: NewDocument("ConnectionString", m, f.Now, source), ConnectionString: cs.String(), Description: cs.Description,
		GenerationID: cs.ID, Coordinators: coordinatorsOf(cs),
	}
	v.Warnings = append(v.Warnings, f.Warnings...)
	if source == SourceRecord {
		v.Warnings = append(v.Warnings, "this is the connection string in the status; cannot determine the one in force: "+files.LiveUnknown)
	}
	return v, true
}

func coordinatorsOf(cs fdb.ConnectionString) []string {
	addresses := make([]string, len(cs.Coordinators))
	for i, c := range cs.Coordinators {
		addresses[i] = c.Coordinator()
	}
	return addresses
}

// ConnectionStringDriftView is the document of `connection-string drift`: every place that
// has the connection string, compared with the one in force.
type ConnectionStringDriftView struct {
	Document
	// Matches is whether all places that could be read have the one in force. Null when
	// none differs and one could not be read.
	Matches *bool `json:"matches"`
	// Against is what the places are compared with: live, or cr-status while the one in
	// force is unknown.
	Against Source           `json:"against"`
	Items   []ConnectionSpot `json:"items"`
}

// ConnectionSpot is one place that has a connection string.
type ConnectionSpot struct {
	// Source is live, cr-status, configmap/NAME or pod/NAME.
	Source       string   `json:"source"`
	GenerationID string   `json:"generationId,omitempty"`
	Coordinators []string `json:"coordinators"`
	// Matches is null when it could not be read.
	Matches *bool `json:"matches"`
	// Unreadable is why there is nothing to compare.
	Unreadable string `json:"unreadable,omitempty"`
	// Waiting is true for a place that has no file because its pod does not run: processes
	// use the ConfigMap's when they start.
	Waiting bool `json:"waiting,omitempty"`

	text string
}

// NewConnectionStringDriftView makes the document.
func NewConnectionStringDriftView(m Metadata, f Facts, files plan.ClusterFiles) ConnectionStringDriftView {
	v := ConnectionStringDriftView{Document: NewDocument("ConnectionStringDrift", m, f.Now, SourceLive), Against: SourceLive}
	v.Warnings = append(v.Warnings, f.Warnings...)
	live := spot("live", files.Live.String(), files.LiveUnknown)
	recorded := spot("cr-status", f.Cluster.Status.ConnectionString, "the status has none yet")
	v.Items = append([]ConnectionSpot{live, recorded, f.configMapSpot()}, f.podSpots(files)...)
	reference := files.Live
	if reference.IsZero() {
		v.Against = SourceRecord
		reference, _ = fdb.ParseConnectionString(recorded.text)
	}
	v.compare(reference)
	return v
}

// spot returns a place with the text that was found there, or with why there was none.
func spot(source, text, unreadable string) ConnectionSpot {
	if text == "" {
		return ConnectionSpot{Source: source, Coordinators: []string{}, Unreadable: unreadable}
	}
	return ConnectionSpot{Source: source, Coordinators: []string{}, text: text}
}

func (f Facts) configMapSpot() ConnectionSpot {
	if f.ConfigMap == nil {
		return spot("configmap/"+f.Cluster.ConfigMapName(), "", "the ConfigMap does not exist")
	}
	return spot("configmap/"+f.ConfigMap.Name, f.ConfigMap.Data[objects.KeyClusterFile], "it has no cluster file")
}

func (f Facts) podSpots(files plan.ClusterFiles) []ConnectionSpot {
	var spots []ConnectionSpot
	for _, name := range slices.Sorted(maps.Keys(f.Pods)) {
		file, runs := files.Pods[name]
		s := spot("pod/"+name, file.Content, phrase.Or(file.Unreadable, "its file is empty"))
		if !runs {
			s.Unreadable, s.Waiting = "the pod does not run", true
		}
		spots = append(spots, s)
	}
	return spots
}

// compare compares every place with the reference, if there is one. Order does not count:
// FoundationDB lists coordinators in different orders in different places.
func (v *ConnectionStringDriftView) compare(reference fdb.ConnectionString) {
	all, unread := true, reference.IsZero()
	for i := range v.Items {
		s := &v.Items[i]
		s.read()
		if s.Unreadable != "" {
			unread = unread || !s.Waiting
			continue
		}
		if reference.IsZero() {
			continue
		}
		found, _ := fdb.ParseClusterFile(s.text)
		matches := found.Description == reference.Description && found.ID == reference.ID && found.SameCoordinators(reference.Coordinators)
		s.Matches = &matches
		all = all && matches
	}
	if !all || !unread {
		v.Matches = &all
	}
}

// read takes the text apart; one that is no cluster file counts as read and different.
func (s *ConnectionSpot) read() {
	if cs, err := fdb.ParseClusterFile(s.text); err == nil {
		s.GenerationID, s.Coordinators, s.text = cs.ID, coordinatorsOf(cs), cs.String()
	}
}

// WriteConnectionStringDrift prints a row per place, and below it what the places have
// that differ. Wide rows have their coordinators in full.
func WriteConnectionStringDrift(w io.Writer, v ConnectionStringDriftView, o ListOptions) error {
	t := Table{Header: o.header([]string{"SOURCE", "GENERATION-ID", "COORDS", "MATCH"}, "CONNECTION-STRING")}
	for _, s := range v.Items {
		row := []string{s.Source, phrase.Or(s.GenerationID, phrase.UnknownCell), s.count(), phrase.YesNo(s.Matches, phrase.UnknownCell)}
		if o.Wide {
			row = append(row, phrase.Or(oneLine(s.text), phrase.UnknownCell))
		}
		t.Rows = append(t.Rows, row)
	}
	if err := t.Write(w); err != nil || o.NoHeaders {
		return err
	}
	fmt.Fprintln(w)
	for _, s := range v.Items {
		switch {
		case s.Unreadable != "":
			fmt.Fprintf(w, "%s could not be read: %s\n", s.Source, s.Unreadable)
		case s.Matches != nil && !*s.Matches:
			fmt.Fprintf(w, "%s has %s\n", s.Source, oneLine(s.text))
		}
	}
	_, err := fmt.Fprintln(w, v.verdict())
	return err
}

func (s ConnectionSpot) count() string {
	if s.GenerationID == "" {
		return phrase.UnknownCell
	}
	return strconv.Itoa(len(s.Coordinators))
}

func (v ConnectionStringDriftView) verdict() string {
	reference := "the connection string in force"
	if v.Against == SourceRecord {
		reference = "the connection string in the status; the one in force is unknown"
	}
	compared := slices.ContainsFunc(v.Items, func(s ConnectionSpot) bool { return s.Matches != nil })
	switch {
	case !compared:
		return "nothing to compare with: no connection string is known"
	case v.Matches == nil:
		return "not all could be read; the others have " + reference
	case *v.Matches:
		return "all have " + reference
	default:
		return "not all have " + reference
	}
}
