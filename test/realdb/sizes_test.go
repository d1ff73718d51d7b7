package realdb

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

func createUnified(t *test) {
	c := create(t, "unified", doubled)
	c.mark(t, t.Name())
	c.settled(t)
	c.discard(t)
}

func createSplit(t *test) {
	c := create(t, "split", "imageType: split\n"+strings.Replace(doubled, "double", "single", 1))
	c.mark(t, t.Name())
	c.settled(t)
	c.discard(t)
}

func createTriple(t *test) {
	c := create(t, "triple", strings.NewReplacer("double", "triple", "storage: 3, log: 3", "storage: 5, log: 4").Replace(doubled))
	c.mark(t, t.Name())
	c.settled(t)
	c.discard(t)
}

func grow(t *test) {
	c := shared(t)
	c.patch(t, `{"processCounts":{"storage":4,"log":4}}`)
	c.reconcile(t)
	for _, class := range []string{"storage", "log"} {
		if got := len(c.of(t, class)); got != 4 {
			t.Errorf("%d process groups of class %s, want 4", got, class)
		}
	}
	c.settled(t)
}

func shrink(t *test) {
	c := shared(t)
	if len(c.of(t, "storage")) == 3 || len(c.of(t, "log")) == 3 { // it was not grown before
		c.patch(t, `{"processCounts":{"storage":4,"log":4}}`)
		c.reconcile(t)
	}
	before := c.groups(t)
	c.patch(t, `{"processCounts":{"storage":3,"log":3}}`)
	planned := c.removes(t, "storage")
	after := c.groups(t)
	for _, g := range before {
		if !slices.ContainsFunc(after, func(left group) bool { return left.ID == g.ID }) && !strings.Contains(planned, `"`+g.ID+`"`) {
			t.Errorf("%s was removed, and no plan named it before", g.ID)
		}
	}
	for _, class := range []string{"storage", "log"} {
		if got := len(c.of(t, class)); got != 3 {
			t.Errorf("%d process groups of class %s, want 3", got, class)
		}
	}
	c.settled(t)
}

// removalLimit bounds a removal: exclusions end 10 minutes after a recovery, and another one can happen
// until then.
const removalLimit = limit + 10*time.Minute

// removes reconciles while something is to be removed, and holds every claim of a safe
// removal against the database meanwhile. It returns the plans before each pass.
func (c *cluster) removes(t *test, class string) (plans string) {
	t.Helper()
	done := time.Now().Add(removalLimit)
	for c.fdb(t, "plan").code != 0 {
		if time.Now().After(done) {
			t.Fatalf("%s is still being removed after %s:\n%s", class, removalLimit, c.fdb(t, "why").stdout)
		}
		c.provenByTheDatabase(t)
		plans += c.fdb(t, "plan", "-o", "json").stdout
		if r := c.fdb(t, "reconcile", "--yes"); r.code != 0 && r.code != 3 {
			t.Fatalf("reconcile: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		time.Sleep(2 * time.Second)
	}
	return plans
}

// replace replaces a process group of each class; that of storage has data.
func replace(t *test) {
	c := shared(t)
	for _, class := range []string{"storage", "log", "stateless"} {
		old := c.of(t, class)[0]
		if class == "storage" {
			old = c.fullest(t)
		}
		c.must(t, "replace", old.ID, "--wait", "--yes", "--timeout", "7m")
		if left := c.status(t).of(old.ID); len(left) > 0 {
			t.Errorf("%s was removed, and fdbcli has its process %s", old.ID, left[0].Address)
		}
		if claims := must(t, "kubectl", "get", "pods,pvc", "-n", c.ns, "-o", "name"); strings.Contains(claims, c.name+"-"+old.ID) {
			t.Errorf("objects of %s are left:\n%s", old.ID, claims)
		}
		c.verify(t)
	}
	c.settled(t)
}

// fullest returns the storage process group with the most data, as fdbcli reports it. A new database
// reports none at first.
func (c *cluster) fullest(t *test) (found group) {
	t.Helper()
	eventually(t, time.Minute, func() string {
		actual := c.status(t)
		var most int64
		for _, g := range c.of(t, "storage") {
			for _, p := range actual.of(g.ID) {
				for _, role := range p.Roles {
					if role.StoredBytes != nil && *role.StoredBytes > most {
						most, found = *role.StoredBytes, g
					}
				}
			}
		}
		if most == 0 {
			return fmt.Sprintf("no storage process has data: %v", actual.facts())
		}
		return ""
	})
	return found
}

// changeRedundancy removes one copy of all data and creates it again.
func changeRedundancy(t *test) {
	c := shared(t)
	for _, mode := range []string{"single", "double"} {
		c.redundant(t, mode)
	}
}

// tripleAndBack adds a third copy of all data, which takes more coordinators and logs, and removes it again.
func tripleAndBack(t *test) {
	c := create(t, "copies", strings.Replace(doubled, "storage: 3, log: 3", "storage: 5, log: 4", 1))
	c.mark(t, t.Name())
	for _, step := range []struct {
		mode         string
		coordinators int
	}{{"triple", 5}, {"double", 3}} {
		c.redundant(t, step.mode)
		if got := len(c.status(t).Client.Coordinators.Coordinators); got != step.coordinators {
			t.Errorf("reconciled with redundancy mode %s, and fdbcli has %d coordinators, want %d", step.mode, got, step.coordinators)
		}
	}
	c.discard(t)
}

// redundant changes the redundancy mode, and compares the result with the database.
func (c *cluster) redundant(t *test, mode string) {
	t.Helper()
	c.patch(t, fmt.Sprintf(`{"databaseConfiguration":{"redundancy_mode":%q}}`, mode))
	c.reconcileWithin(t, removalLimit) // fewer coordinators are chosen five minutes after the recovery
	if got := c.status(t).Cluster.Configuration.RedundancyMode; got != mode {
		t.Errorf("reconciled, and fdbcli has redundancy mode %q, want %q", got, mode)
	}
	c.settled(t)
}
