package lists

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
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
