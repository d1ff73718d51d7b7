package reconcile_test

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// mutation makes the plugin wrong on purpose. The zero value changes nothing.
type mutation struct {
	// stages changes the stages of every pass.
	stages func(*history, []plan.Stage) []plan.Stage
	// pass changes a pass before it runs.
	pass func(*history, *reconcile.Pass)
	// view changes what a view reads.
	view func(*inspect.Facts)
}

func (m mutation) plugin(h *history, p reconcile.Pass) *reconcile.Pass {
	if m.pass != nil {
		m.pass(h, &p)
	}
	return &p
}

// rogue adds a stage, right after the first, that does what it should not.
func rogue(decide func(*history, plan.Snapshot) []plan.Action) mutation {
	return mutation{stages: func(h *history, all []plan.Stage) []plan.Stage {
		return slices.Insert(all, 1, plan.Stage{
			Name: "Rogue", Reads: plan.ClusterResource | plan.Pods | plan.Database,
			Decide: func(s plan.Snapshot) plan.Decision { return plan.Decision{Actions: decide(h, s)} },
		})
	}}
}

// without leaves a stage out.
func without(name plan.StageName) mutation {
	return mutation{stages: func(_ *history, all []plan.Stage) []plan.Stage {
		return slices.DeleteFunc(all, func(s plan.Stage) bool { return s.Name == name })
	}}
}

// ignoringTheList has a stage decide as if the spec kept nothing.
func ignoringTheList(name plan.StageName) mutation {
	return mutation{stages: func(_ *history, all []plan.Stage) []plan.Stage {
		i := slices.IndexFunc(all, func(s plan.Stage) bool { return s.Name == name })
		decide := all[i].Decide
		all[i].Decide = func(s plan.Snapshot) plan.Decision {
			s.Cluster = s.Cluster.DeepCopy()
			s.Cluster.Spec.CancelReplacementsForInstance = nil
			return decide(s)
		}
		return all
	}}
}

// ahead has a stage decide by a clock that is ahead.
func ahead(name plan.StageName, by time.Duration) func(*history, []plan.Stage) []plan.Stage {
	return func(_ *history, all []plan.Stage) []plan.Stage {
		i := slices.IndexFunc(all, func(s plan.Stage) bool { return s.Name == name })
		decide := all[i].Decide
		all[i].Decide = func(s plan.Snapshot) plan.Decision {
			s.Now = s.Now.Add(by)
			return decide(s)
		}
		return all
	}
}

// oneMarkedOneDead marks a stateless group that never comes back for removal, a few minutes after it ended.
func (h *history) oneMarkedOneDead() {
	dead := pick(plan.Snapshot{Cluster: h.w.Resource, Pods: h.w.Pods}, isStateless)[0]
	h.w.Broken = map[string]bool{dead.PodName(h.w.Resource): true}
	h.w.KillServers(dead.PodName(h.w.Resource))
	h.w.Tick(10 * time.Second)
	h.pass(h.t.Context()) // records that it does not report
	h.w.Tick(2 * time.Minute)
	h.edit(func(s *v1beta2.FoundationDBClusterSpec) {
		s.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{dead.ProcessGroupID}
	})
	h.pass(h.t.Context()) // adds its replacement
	h.w.Tick(30 * time.Second)
}

// careless is an actor that takes nothing, or does not care about a no.
type careless struct {
	reconcile.Actor
	h                                  *history
	noLease, noLock, deafToNo, loseAll bool
}

func careful(change func(*careless)) mutation {
	return mutation{pass: func(h *history, p *reconcile.Pass) {
		c := &careless{Actor: p.Actor, h: h}
		change(c)
		p.Actor = c
	}}
}

func (c *careless) Begin(ctx context.Context) error {
	if c.noLease {
		return nil
	}
	err := c.Actor.Begin(ctx)
	if c.deafToNo {
		return nil
	}
	return err
}

func (c *careless) Lock(ctx context.Context) error {
	if c.noLock {
		return nil
	}
	return c.Actor.Lock(ctx)
}

// End loses all volumes where it should lose none, unnoticed.
func (c *careless) End(ctx context.Context) error {
	if c.loseAll {
		for name := range c.h.w.Pods {
			c.h.w.FDB.LoseData(c.h.w.DataKey(name, 1))
		}
	}
	return c.Actor.End(ctx)
}

// keeper cannot release what it took.
type keeper struct{ reconcile.Actor }

func (k keeper) End(ctx context.Context) error {
	if err := k.Actor.End(ctx); err != nil {
		return err
	}
	return errUnheard
}

// forgetful is an observer that never looks twice.
type forgetful struct {
	reconcile.Observer
	seen plan.Facet
}

func (f *forgetful) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	fresh := facets &^ f.seen
	f.seen |= facets
	if fresh == 0 {
		return nil
	}
	return f.Observer.Observe(ctx, into, fresh)
}

// exclusionOf excludes groups by their IDs.
func exclusionOf(groups ...*v1beta2.ProcessGroupStatus) []plan.Action {
	a := plan.Exclude{}
	for _, g := range groups {
		a.Groups = append(a.Groups, g.ProcessGroupID)
		a.Targets = append(a.Targets, g.ExclusionString())
	}
	return []plan.Action{a}
}

// pick returns the groups of a snapshot that have a pod and that a question is true of.
func pick(s plan.Snapshot, is func(*v1beta2.ProcessGroupStatus, string) bool) []*v1beta2.ProcessGroupStatus {
	var groups []*v1beta2.ProcessGroupStatus
	for _, g := range s.Groups() {
		if s.Pod(g) != nil && is(g, g.PodName(s.Cluster)) {
			groups = append(groups, g)
		}
	}
	return groups
}

func isStorage(g *v1beta2.ProcessGroupStatus, _ string) bool {
	return g.ProcessClass == v1beta2.ProcessClassStorage
}

// strayServer starts a server with a cluster file of its own, and creates a database there.
func (h *history) strayServer() {
	file := &strayFile{"stray:stray@10.9.9.9:4501"}
	if _, err := h.w.FDB.StartServer(fdbsim.Server{
		Args: []string{
			"fdbserver", "--cluster_file", "/stray/fdb.cluster", "--public_address", "10.9.9.9:4501",
			"--listen_address", "public", "--datadir", "/stray",
		},
		Version: "7.3.79", DataKey: "stray/1", ClusterFile: file,
	}); err != nil {
		h.t.Fatal(err)
	}
	var out bytes.Buffer
	if code := fdbsim.Of(h.w.FDB).RunTool(h.t.Context(), fdbsim.Tool{
		Name: "fdbcli", Version: "7.3.79", Host: "10.9.9.9", Files: file, Stdout: &out, Stderr: &out,
		Args: []string{"-C", "/stray/fdb.cluster", "--timeout", "75", "--exec", "configure new single ssd-2"},
	}); code != 0 {
		h.t.Fatal(out.String())
	}
}

type strayFile struct{ content string }

func (f *strayFile) Read() ([]byte, error) { return []byte(f.content), nil }

func (f *strayFile) Write(content []byte) error {
	f.content = string(content)
	return nil
}

func (f *strayFile) ReadFile(string) ([]byte, error)          { return f.Read() }
func (f *strayFile) WriteFile(_ string, content []byte) error { return f.Write(content) }
func (f *strayFile) Writable(string) bool                     { return true }

// deafTo asks gates and receives yes.
func deafTo(gates func(context.Context) ([]plan.Check, error)) func(context.Context) ([]plan.Check, error) {
	return func(ctx context.Context) ([]plan.Check, error) {
		checks, err := gates(ctx)
		for i := range checks {
			checks[i].OK = true
		}
		return checks, err
	}
}
