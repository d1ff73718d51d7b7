package inspect

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// UnreadSite is a site of a database that cannot be read: of what is there, nothing is known.
type UnreadSite struct {
	// Site and Context are its name and its kubeconfig context.
	Site    string `json:"site"`
	Context string `json:"context"`
	// Namespace and Cluster are those of the FoundationDBCluster; empty where only the API server knows them.
	Namespace string `json:"namespace,omitempty"`
	Cluster   string `json:"cluster,omitempty"`
	// Reason is why it cannot be read.
	Reason string `json:"reason"`
}

// Warning is the site in the warnings of a document.
func (u UnreadSite) Warning() string { return "site " + u.Site + " could not be read: " + u.Reason }

// Metadata returns the metadata of a document about the site, from that of the command.
func (u UnreadSite) Metadata(m Metadata) Metadata {
	m.Site, m.Context, m.Namespace, m.Cluster = u.Site, u.Context, u.Namespace, u.Cluster
	return m
}

// OverSites returns a list over the sites of one database, with those that cannot be read, and how the specs of the others
// contradict each other.
func (v StatusListView) OverSites(unread []UnreadSite, differences []string) StatusListView {
	v.Unread, v.Differences = unread, differences
	for _, u := range unread {
		v.Warnings = append(v.Warnings, u.Warning())
	}
	v.Warnings = append(v.Warnings, differences...)
	return v
}

// SitesRead is how many sites were read, of how many.
func (v StatusListView) SitesRead() string {
	return phrase.CountOf(len(v.Items), len(v.Items)+len(v.Unread), "site")
}

// DatabaseAt is the index of the item whose database answered, else of the first; -1 without items.
func (v StatusListView) DatabaseAt() int {
	answers := func(s StatusView) bool { return s.Database.UnknownReason == "" }
	return max(slices.IndexFunc(v.Items, answers), min(0, len(v.Items)-1))
}
