package versionfacts

import (
	"fmt"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// A gate of package fdb, which cannot import the facts, allows in every version what the fact does not forbid there.
func TestGatesAllowWhatTheirFactsAllow(t *testing.T) {
	gates := map[string]func(fdb.Version) bool{
		"recovery-age-missing":             fdb.Version.HasRecoveryAge,
		"locality-exclusions-incomplete":   fdb.Version.SupportsLocalityExclusion,
		"status-of-no-database-never-ends": fdb.Version.ReportsMissingDatabase,
	}
	for id, allows := range gates {
		forbidden, allowed := 0, 0
		for minor := 1; minor <= 4; minor++ {
			for patch := range 100 {
				v := version(t, fmt.Sprintf("7.%d.%d", minor, patch))
				_, is := About(id, v)
				if is == allows(v) {
					t.Errorf("%s holds in %s: %t, and its gate allows: %t", id, v, is, allows(v))
				}
				if is {
					forbidden++
				} else {
					allowed++
				}
			}
		}
		if forbidden == 0 || allowed == 0 {
			t.Errorf("%s holds in %d versions, and not in %d", id, forbidden, allowed)
		}
	}
}
