package ui

import (
	"io"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// sectionsOfDatabase are the sections of a status that are the same at all sites of a database.
var sectionsOfDatabase = []string{"database", "fault-tolerance", "coordinators"}

// WriteSites prints the status of the sites of one database: which were read and which were not, then the database once, and
// each site with the age of its facts.
func WriteSites(w io.Writer, v inspect.StatusListView, o StatusOptions) error {
	p := &page{w: w, o: o}
	p.printf("%s\n", o.in(bold, v.SitesRead()+" read"))
	for _, u := range v.Unread {
		p.entry(o.in(red, "unread:")+" ", u.Site+": "+u.Reason)
	}
	for _, warning := range v.Differences {
		p.entry(o.in(yellow, "warning:")+" ", warning)
	}
	if i := v.DatabaseAt(); i >= 0 {
		p.sections(v.Items[i], func(name string) bool { return slices.Contains(sectionsOfDatabase, name) })
	}
	for _, site := range v.Items {
		p.printf("\n")
		p.head(o.in(bold, site.Metadata.Subject())+"  "+o.in(faint, o.origin(inspect.Origin{Source: site.Source, AsOf: site.AsOf})), site)
		p.sections(site, func(name string) bool { return !slices.Contains(sectionsOfDatabase, name) })
	}
	return p.err
}
