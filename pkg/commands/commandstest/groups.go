package commandstest

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
)

// Rested is a cluster whose last recovery is so long ago that exclusions may end.
func Rested(t *testing.T) *Given {
	t.Helper()
	g := Up(t)
	g.Cluster.Tick(11 * time.Minute)
	g.Cluster.Acted = nil
	return g
}

// Did are what was done of a kind.
func (g *Given) Did(kind string) []string {
	var words []string
	for _, a := range g.Cluster.Acted {
		if plan.KindOf(a) == kind {
			words = append(words, a.Describe())
		}
	}
	return words
}

// Fdbcli runs a command of fdbcli like a user.
func (g *Given) Fdbcli(script string) string {
	g.T.Helper()
	out, err := simtest.Type(g.Cluster, script)
	if err != nil {
		g.T.Fatal(err)
	}
	return out
}

// ExclusionOf returns how a process group is excluded.
func (g *Given) ExclusionOf(id string) string {
	return g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(id)).ExclusionString()
}

// Exclude excludes a target as a user would.
func (g *Given) Exclude(target string) {
	g.T.Helper()
	if out, err := simtest.Type(g.Cluster, "exclude no_wait "+target); err != nil {
		g.T.Fatalf("%v: %s", err, out)
	}
}

// Include ends all exclusions.
func (g *Given) Include() {
	g.T.Helper()
	if out, err := simtest.Type(g.Cluster, "include all"); err != nil {
		g.T.Fatalf("%v: %s", err, out)
	}
}

// Keeps makes the spec keep process groups from being replaced.
func (g *Given) Keeps(ids ...string) {
	for _, id := range ids {
		g.Cluster.Resource.Spec.CancelReplacementsForInstance = append(g.Cluster.Resource.Spec.CancelReplacementsForInstance, v1beta2.ProcessGroupID(id))
	}
	g.Cluster.Resource.Generation++
}

// Storage are the storage groups of a cluster that is up.
func (g *Given) Storage() []string {
	var ids []string
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == v1beta2.ProcessClassStorage {
			ids = append(ids, string(group.ProcessGroupID))
		}
	}
	return ids
}

// Marked returns the process groups that are marked for removal.
func (g *Given) Marked() []string {
	var ids []string
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		if group.IsMarkedForRemoval() {
			ids = append(ids, string(group.ProcessGroupID))
		}
	}
	return ids
}

// KeepEvents makes the Events that were written readable.
func (g *Given) KeepEvents() {
	for _, e := range g.Events {
		e.Name = fmt.Sprintf("%s-%d", e.Name, len(g.Objects)) // here all runs have the same ID
		g.Objects = append(g.Objects, e)
	}
	g.Events = nil
}

// WithoutUIDs makes the audit file one of an earlier release.
func (g *Given) WithoutUIDs() {
	g.T.Helper()
	text, err := os.ReadFile(g.AuditFile())
	if err != nil {
		g.T.Fatal(err)
	}
	if err := os.WriteFile(g.AuditFile(), bytes.ReplaceAll(text, []byte(`"uid":"1",`), nil), 0o600); err != nil {
		g.T.Fatal(err)
	}
}

// Kills are the process groups of each restart that was done.
func (g *Given) Kills() [][]string {
	var waves [][]string
	for _, a := range g.Cluster.Acted {
		if kill, ok := a.(plan.RestartProcesses); ok {
			waves = append(waves, phrase.Strings(kill.Groups))
		}
	}
	return waves
}
