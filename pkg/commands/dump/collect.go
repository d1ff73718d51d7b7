package dump

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/dumps"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// collector reads what a dump has.
type collector struct {
	options
	env      *session.Env
	clusters []session.Cluster
	dump     *dumps.Dump
	source   *session.Dumped
	// notes is what could not be read besides the facts.
	notes notes
	// documents are the status documents.
	documents []part
}

func newCollector(env *session.Env, o options, clusters []session.Cluster) (*collector, error) {
	d := dumps.New()
	namespace := clusters[0].Namespace
	if o.all {
		var err error
		if namespace, err = env.Connection().Namespace(); err != nil {
			return nil, err
		}
	}
	d.Manifest = dumps.Manifest{
		Tool: "kubectl-fdb " + session.Version, At: env.Clock.Now().UTC(), Seed: env.Random(),
		Context: env.Connection().ContextName(), Namespace: namespace, Unread: []dumps.Unread{},
	}
	for _, c := range clusters {
		d.Manifest.Clusters = append(d.Manifest.Clusters, dumps.Cluster{Namespace: c.Namespace, Name: c.Name})
	}
	source, err := session.NewRecording(d, env)
	return &collector{options: o, env: env, clusters: clusters, dump: d, source: source}, err
}

// collect reads everything. What cannot be read is listed in the manifest; the only error is the
// end of the context.
func (c *collector) collect(ctx context.Context, logBytes int64) error {
	c.lists(ctx)
	c.env.Logf("reading the database through the commands that read it…")
	c.views(ctx, session.Dumping(c.env, c.source, &text{}))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var group errgroup.Group
	group.Go(func() error { c.statuses(ctx); return nil })
	group.Go(func() error { c.logs(ctx, logBytes); return nil })
	_ = group.Wait() // failures are in the notes
	for _, p := range c.documents {
		c.dump.Files[p.path] = p.content
	}
	c.audit()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.render(ctx)
	c.unread()
	return ctx.Err()
}

// namespaces returns the namespaces of the clusters.
func (c *collector) namespaces() []string {
	var all []string
	for _, cluster := range c.clusters {
		if !slices.Contains(all, cluster.Namespace) {
			all = append(all, cluster.Namespace)
		}
	}
	return all
}

// lists reads the objects that every dump has.
func (c *collector) lists(ctx context.Context) {
	c.env.Logf("reading resources of %s…", phrase.Count(len(c.clusters), "cluster"))
	for _, r := range dumps.Resources() {
		switch r.Collect {
		case dumps.InNamespace:
			for _, namespace := range c.namespaces() {
				c.source.Facts.Collect(ctx, r, namespace)
			}
		case dumps.Everywhere:
			c.source.Facts.Collect(ctx, r, "")
		case dumps.OnDemand:
		}
	}
	for _, path := range []string{"/version", "/api", "/apis"} {
		answer, err := c.document(ctx, path)
		c.source.Facts.Document(path, answer, err)
	}
}

// document reads what the API server returns for a path that names no object.
func (c *collector) document(ctx context.Context, path string) ([]byte, error) {
	config, err := c.env.Connection().Config()
	if err != nil {
		return nil, err
	}
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return server.RESTClient().Get().AbsPath(path).Do(ctx).Raw()
}

// view is a command line whose output a dump has.
type view struct {
	file  string
	words []string
}

// views returns all command lines, and runs each once in an environment so that what they read is
// added to the dump.
func (c *collector) views(ctx context.Context, env *session.Env) {
	for _, v := range c.commandLines() {
		if ctx.Err() == nil {
			c.run(ctx, env, v.words) // its exit code is part of no view
		}
	}
}

// render adds the output of the same command lines, all computed from the same facts.
func (c *collector) render(ctx context.Context) {
	for _, v := range c.commandLines() {
		output := &text{}
		c.run(ctx, session.Dumping(c.env, session.NewDumped(c.dump), output), v.words)
		c.dump.Files[v.file] = output.bytes()
	}
}

// commandLines returns the command lines of all clusters.
func (c *collector) commandLines() []view {
	var all []view
	add := func(of session.Cluster, name string, more ...string) {
		file := fmt.Sprintf("views/%s/%s/%s.txt", of.Namespace, of.Name, strings.NewReplacer(" --", "-", " ", "-", "/", "-").Replace(name))
		all = append(all, view{file, append(append(strings.Fields(name), more...), "-n", of.Namespace)})
	}
	for _, cluster := range c.clusters {
		for _, name := range clusterViews {
			add(cluster, name, cluster.Name)
		}
		for _, name := range namespaceViews {
			add(cluster, name)
		}
		if node := c.aNode(cluster); node != "" {
			add(cluster, "can drain "+node, "-c", cluster.Name)
		}
		for _, name := range c.resourcesOf(cluster, "foundationdbbackups", "clusterName") {
			for _, command := range []string{"backup status ", "backup describe ", "why fdbbackup/", "plan fdbbackup/"} {
				add(cluster, command+name)
			}
		}
		for _, name := range c.resourcesOf(cluster, "foundationdbrestores", "destinationClusterName") {
			for _, command := range []string{"restore status ", "why fdbrestore/", "plan fdbrestore/"} {
				add(cluster, command+name)
			}
		}
	}
	if c.all {
		all = append(all, view{"views/status.txt", []string{"status", "-A"}}, view{"views/clusters.txt", []string{"get", "clusters", "-A"}}, view{"views/operations.txt", []string{"operations", "list", "-A"}})
	}
	return all
}

// clusterViews are commands about one cluster, and namespaceViews those about all of a namespace.
var (
	clusterViews = []string{
		"status", "describe", "describe --tree", "why", "check", "plan", "events", "history", "get process-groups", "get processes", "get clients",
		"get configuration", "get coordinators", "get exclusions", "get locks", "get nodes", "exclusion status",
		"maintenance status", "connection-string drift", "can reconcile", "can restart",
	}
	namespaceViews = []string{"operations list", "get clusters", "backup list", "version"}
)

// aNode returns a node on which a pod of a cluster runs; empty for none.
func (c *collector) aNode(cluster session.Cluster) string {
	for _, pod := range c.pods(cluster) {
		if pod.Spec.NodeName != "" {
			return pod.Spec.NodeName
		}
	}
	return ""
}

// pods returns the pods of a cluster, and those of backup agents in its namespace.
func (c *collector) pods(cluster session.Cluster) []corev1.Pod {
	var all []corev1.Pod
	own := cluster.MatchLabels()
	c.source.Facts.Each("pods", cluster.Namespace, func(raw json.RawMessage) {
		pod := corev1.Pod{}
		if json.Unmarshal(raw, &pod) != nil {
			return
		}
		_, agent := pod.Labels[v1beta2.LabelBackupFor]
		for key, value := range own {
			if pod.Labels[key] != value && !agent {
				return
			}
		}
		all = append(all, pod)
	})
	return all
}

// resourcesOf returns the names of the backups of a cluster, or of the restores into it.
func (c *collector) resourcesOf(cluster session.Cluster, resource, field string) []string {
	var names []string
	c.source.Facts.Each(resource, cluster.Namespace, func(raw json.RawMessage) {
		var o struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
			Spec     map[string]any    `json:"spec"`
		}
		if json.Unmarshal(raw, &o) == nil && o.Spec[field] == cluster.Name {
			names = append(names, o.Metadata.Name)
		}
	})
	return names
}

// audit adds what the audit file of this machine has about the clusters.
func (c *collector) audit() {
	path, err := audit.Path(c.env.Getenv)
	var text []byte
	for _, cluster := range c.clusters {
		if err != nil {
			break
		}
		var entries []audit.Entry
		entries, _, err = audit.ReadFile(path, audit.Run{Context: c.dump.Manifest.Context, Namespace: cluster.Namespace, Cluster: cluster.Name, UID: cluster.UID})
		for _, e := range entries {
			if line, broken := json.Marshal(e); broken == nil {
				text = append(append(text, line...), '\n')
			}
		}
	}
	if err != nil {
		c.notes.add("the audit file of this machine", exit.Explain(err))
	}
	c.dump.Files[dumps.AuditFile] = text
}

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
