package trial

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// rogue adds a stage, right after the first, that does what it should not.
func rogue(decide func(*History, plan.Snapshot) []plan.Action) mutation {
	return mutation{stages: func(h *History, all []plan.Stage) []plan.Stage {
		return slices.Insert(all, 1, plan.Stage{
			Name: "Rogue", Reads: plan.ClusterResource | plan.Pods | plan.Database,
			Decide: func(s plan.Snapshot) plan.Decision { return plan.Decision{Actions: decide(h, s)} },
		})
	}}
}

// without leaves a stage out.
func without(name plan.StageName) mutation {
	return mutation{stages: func(_ *History, all []plan.Stage) []plan.Stage {
		return slices.DeleteFunc(all, func(s plan.Stage) bool { return s.Name == name })
	}}
}

// ignoringTheList has a stage decide as if the spec kept nothing.
func ignoringTheList(name plan.StageName) mutation {
	return mutation{stages: func(_ *History, all []plan.Stage) []plan.Stage {
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
func ahead(name plan.StageName, by time.Duration) func(*History, []plan.Stage) []plan.Stage {
	return func(_ *History, all []plan.Stage) []plan.Stage {
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
func (h *History) oneMarkedOneDead() {
	dead := pick(plan.Snapshot{Cluster: h.w.Resource, Pods: h.w.Pods}, isStateless)[0]
	h.w.Broken = map[string]bool{dead.PodName(h.w.Resource): true}
	h.w.KillServers(dead.PodName(h.w.Resource))
	h.w.Tick(10 * time.Second)
	h.pass(context.Background()) // records that it does not report
	h.w.Tick(2 * time.Minute)
	h.edit(func(s *v1beta2.FoundationDBClusterSpec) {
		s.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{dead.ProcessGroupID}
	})
	h.pass(context.Background()) // adds its replacement
	h.w.Tick(30 * time.Second)
}

// careless is an actor that takes nothing, or does not care about a no.
type careless struct {
	reconcile.Actor
	h                                  *History
	noLease, noLock, deafToNo, loseAll bool
}

func careful(change func(*careless)) mutation {
	return mutation{pass: func(h *History, p *reconcile.Pass) {
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
func (h *History) strayServer() {
	file := &strayFile{"stray:stray@10.9.9.9:4501"}
	if _, err := h.w.FDB.StartServer(fdbsim.Server{
		Args: []string{
			"fdbserver", "--cluster_file", "/stray/fdb.cluster", "--public_address", "10.9.9.9:4501",
			"--listen_address", "public", "--datadir", "/stray",
		},
		Version: "7.3.79", DataKey: "stray/1", ClusterFile: file,
	}); err != nil {
		panic(err)
	}
	var out bytes.Buffer
	if code := fdbsim.Of(h.w.FDB).RunTool(context.Background(), fdbsim.Tool{
		Name: "fdbcli", Version: "7.3.79", Host: "10.9.9.9", Files: file, Stdout: &out, Stderr: &out,
		Args: []string{"-C", "/stray/fdb.cluster", "--timeout", "75", "--exec", "configure new single ssd-2"},
	}); code != 0 {
		panic(out.String())
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

// packing enables the packing of pods.
func packing(h *History) {
	h.edit(func(s *v1beta2.FoundationDBClusterSpec) {
		s.DistributionConfig = Packs(3, v1beta2.BinPackClass, new(false))
	})
}

// unevenly are stages of which one draws random numbers, and one replaces no excess.
func unevenly(_ *History, all []plan.Stage) []plan.Stage {
	for i := range all {
		decide := all[i].Decide
		edited := func(edit func(*v1beta2.FoundationDBClusterSpec)) func(plan.Snapshot) plan.Decision {
			return func(s plan.Snapshot) plan.Decision {
				s.Cluster = s.Cluster.DeepCopy()
				edit(&s.Cluster.Spec)
				return decide(s)
			}
		}
		switch all[i].Name {
		case plan.StageAddProcessGroups:
			all[i].Decide = edited(func(s *v1beta2.FoundationDBClusterSpec) { s.DistributionConfig = nil })
		case plan.StageReplaceMisconfiguredPods:
			all[i].Decide = edited(func(s *v1beta2.FoundationDBClusterSpec) {
				s.ProcessCounts = v1beta2.ProcessCounts{Storage: 99, Log: 99, Stateless: 99}
			})
		default:
		}
	}
	return all
}

// twoOnOneNode moves the second storage pod to the node of the first.
func (h *History) twoOnOneNode() {
	storage := pick(plan.Snapshot{Cluster: h.w.Resource, Pods: h.w.Pods}, isStorage)
	first, second := storage[0].PodName(h.w.Resource), storage[1].PodName(h.w.Resource)
	h.w.Cordoned = map[string]bool{}
	for _, node := range h.w.Nodes {
		h.w.Cordoned[node] = node != h.w.Pods[first].Spec.NodeName
	}
	h.w.KillPod(second)
}

// bothBuckets takes the two down once all data is where they are, as if they were of two buckets.
func (h *History) bothBuckets(s plan.Snapshot) []plan.Action {
	storage := pick(s, isStorage)
	if len(storage) < 2 {
		return nil
	}
	first, second := storage[0].PodName(s.Cluster), storage[1].PodName(s.Cluster)
	t := h.truth()
	if zone := t.zones[first]; zone != t.zones[second] || !t.completeBut[zone] || len(t.young) > 0 {
		return nil
	}
	h.w.Pods[first].Labels[v1beta2.LabelDistributionKey] = "storage-0"
	h.w.Pods[second].Labels[v1beta2.LabelDistributionKey] = "storage-1"
	return []plan.Action{renewalOf(s, storage[:2])}
}
