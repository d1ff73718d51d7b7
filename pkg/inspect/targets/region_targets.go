package targets

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// PrimaryRegion is the progress of a failover: it is reached once the region of this data center serves, and
// has the highest priority in the database.
func PrimaryRegion(f inspect.Facts, dc string) inspect.Target {
	t := inspect.Target{ID: dc, Phase: "unknown"}
	status := f.Database.Status
	if !f.Database.Available() || status.Cluster.Configuration == nil {
		t.Note = f.Database.Why()
		return t
	}
	primary, _ := status.Cluster.Configuration.Primary()
	main, _ := primary.Main()
	serves := status.Cluster.ActivePrimaryDC
	t.Phase, t.Note = "secondary", fmt.Sprintf("%s serves, %s has the highest priority", phrase.Or(serves, phrase.Unknown), main.ID)
	if serves == dc && main.ID == dc {
		t.Phase, t.Reached = "primary", true
	}
	return t
}
