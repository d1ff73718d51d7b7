package lists

import (
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ConfigurationListView is the document of `get configuration`: the configuration of the
// database beside the desired one.
type ConfigurationListView struct {
	inspect.Document
	// Matches is null while the configuration of the database is unknown.
	Matches *bool         `json:"matches"`
	Items   []SettingView `json:"items"`
	// Configure is the fdbcli command that applies the desired configuration. It is only
	// printed.
	Configure string `json:"configure"`
}

// SettingView is one setting. Settings that the spec does not define are left out.
type SettingView struct {
	Setting string `json:"setting"`
	// Live is null while it is unknown.
	Live *string `json:"live"`
	Spec string  `json:"spec"`
	// Differs is null while the live value is unknown.
	Differs *bool `json:"differs"`
}

// NewConfigurationListView makes the document; configure is the command.
func NewConfigurationListView(m inspect.Metadata, f inspect.Facts, configure string) ConfigurationListView {
	v := ConfigurationListView{Document: inspect.NewDocument("Configuration", m, f.Now, f.FromDatabase().Source), Items: []SettingView{}, Configure: configure}
	v.Warnings = append(v.Warnings, f.Warnings...)
	version, _ := fdb.ParseVersion(f.Cluster.RunningVersion()) // an unknown version resolves no engine's name
	var live []fdb.Setting
	if s := f.Database.Status; s != nil && s.Cluster.Configuration != nil {
		live = s.Cluster.Configuration.Settings(f.Desired, version)
		matches := s.Cluster.Configuration.Equal(f.Desired, version)
		v.Matches = &matches
	} else {
		v.Warnings = append(v.Warnings, "cannot determine the live configuration: "+phrase.Or(f.Database.Why(), "the database does not report it"))
	}
	for i, want := range f.Desired.Settings(f.Desired, version) {
		row := SettingView{Setting: want.Name, Spec: want.Value}
		if live != nil {
			differs := live[i].Value != want.Value
			row.Live, row.Differs = &live[i].Value, &differs
		}
		if !row.isAbsent() {
			v.Items = append(v.Items, row)
		}
	}
	return v
}

// isAbsent reports whether a setting is absent on both sides: which settings exist depends on
// how proxies are counted and on what the spec defines.
func (v SettingView) isAbsent() bool {
	absent := []string{"0", "unset"}
	return slices.Contains(absent, v.Spec) && (v.Live == nil || slices.Contains(absent, *v.Live))
}

// ConnectionStringView is the document of `connection-string show`.
type ConnectionStringView struct {
	inspect.Document
	ConnectionString string   `json:"connectionString"`
	Description      string   `json:"description"`
	GenerationID     string   `json:"generationId"`
	Coordinators     []string `json:"coordinators"`
}

// NewConnectionStringView makes the document of the connection string in force, or of the one
// in the status while that is unknown. There is none when known is false.
func NewConnectionStringView(m inspect.Metadata, f inspect.Facts, files plan.ClusterFiles) (v ConnectionStringView, known bool) {
	text, source := files.Live.String(), inspect.SourceLive
	if files.Live.IsZero() {
		text, source = f.Cluster.Status.ConnectionString, inspect.SourceResource
	}
	cs, err := fdb.ParseConnectionString(text)
	if err != nil {
		return ConnectionStringView{}, false
	}
	v = ConnectionStringView{
		Document: inspect.NewDocument("ConnectionString", m, f.Now, source), ConnectionString: cs.String(), Description: cs.Description,
		GenerationID: cs.ID, Coordinators: coordinatorsOf(cs),
	}
	v.Warnings = append(v.Warnings, f.Warnings...)
	if source == inspect.SourceResource {
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
	inspect.Document
	// Matches is whether all places that could be read have the one in force. Null when
	// none differs and one could not be read.
	Matches *bool `json:"matches"`
	// Against is what the places are compared with: live, or cr-status while the one in
	// force is unknown.
	Against inspect.Source   `json:"against"`
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

	Text string
}

// NewConnectionStringDriftView makes the document.
func NewConnectionStringDriftView(m inspect.Metadata, f inspect.Facts, files plan.ClusterFiles) ConnectionStringDriftView {
	v := ConnectionStringDriftView{Document: inspect.NewDocument("ConnectionStringDrift", m, f.Now, inspect.SourceLive), Against: inspect.SourceLive}
	v.Warnings = append(v.Warnings, f.Warnings...)
	live := spot("live", files.Live.String(), files.LiveUnknown)
	recorded := spot("cr-status", f.Cluster.Status.ConnectionString, "the status has none yet")
	v.Items = append([]ConnectionSpot{live, recorded, configMapSpot(f)}, podSpots(f, files)...)
	reference := files.Live
	if reference.IsZero() {
		v.Against = inspect.SourceResource
		reference, _ = fdb.ParseConnectionString(recorded.Text)
	}
	v.compare(reference)
	return v
}

// spot returns a place with the text that was found there, or with why there was none.
func spot(source, text, unreadable string) ConnectionSpot {
	if text == "" {
		return ConnectionSpot{Source: source, Coordinators: []string{}, Unreadable: unreadable}
	}
	return ConnectionSpot{Source: source, Coordinators: []string{}, Text: text}
}

func configMapSpot(f inspect.Facts) ConnectionSpot {
	if f.ConfigMap == nil {
		return spot("configmap/"+f.Cluster.ConfigMapName(), "", "the ConfigMap does not exist")
	}
	return spot("configmap/"+f.ConfigMap.Name, f.ConfigMap.Data[objects.KeyClusterFile], "it has no cluster file")
}

func podSpots(f inspect.Facts, files plan.ClusterFiles) []ConnectionSpot {
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
		found, _ := fdb.ParseClusterFile(s.Text)
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
	if cs, err := fdb.ParseClusterFile(s.Text); err == nil {
		s.GenerationID, s.Coordinators, s.Text = cs.ID, coordinatorsOf(cs), cs.String()
	}
}
