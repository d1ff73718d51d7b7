package dump

import (
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/dumps"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// notes collects what could not be read. Its zero value is empty.
type notes struct {
	mu  sync.Mutex
	all []dumps.Unread
}

func (n *notes) add(what, reason string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if note := (dumps.Unread{What: what, Reason: reason}); !slices.Contains(n.all, note) {
		n.all = append(n.all, note)
	}
}

// unread lists in the manifest what could not be read.
func (c *collector) unread() {
	others := c.notes.all
	c.notes.all = nil // objects come first
	for _, l := range c.dump.Lists {
		if l.Failure != nil {
			c.notes.add("list "+resourcePath(l.Resource, l.Group)+" "+session.InNamespace(l.Namespace), l.Failure.Message)
		}
	}
	for _, s := range c.dump.Singles {
		if s.Failure != nil && s.Failure.Code != http.StatusNotFound { // what does not exist is a fact
			c.notes.add("get "+objectPath(s), s.Failure.Message)
		}
	}
	for _, r := range c.dump.Runs {
		if r.Failure != nil {
			c.notes.add(fmt.Sprintf("%s in pod %s/%s", r.Argv[0], r.Namespace, r.Pod), r.Failure.Message)
		}
	}
	for _, s := range c.dump.Sidecars {
		if s.Failure != "" {
			c.notes.add("sidecar of pod "+s.Namespace+"/"+s.Pod, s.Failure)
		}
	}
	c.dump.Manifest.Unread = slices.Concat(c.dump.Manifest.Unread, c.notes.all, others)
}

func resourcePath(resource, group string) string {
	return session.Permission{Resource: resource, Group: group}.Path()
}

// objectPath names an object, or a path of the API server that is no object.
func objectPath(s dumps.Single) string {
	if s.Resource == "" {
		return s.Name
	}
	return resourcePath(s.Resource, s.Group) + " " + s.Namespace + "/" + s.Name
}
