// Package rebuild infers the manifest of a FoundationDBCluster that was deleted from what is left of it:
// pods, PVCs, volumes, services, the ConfigMap and the database. It is pure. What is left is no proof
// of a whole spec: each field has its source, and what cannot be inferred is listed.
package rebuild

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// Manifest is a FoundationDBCluster for review, and what it relies on.
type Manifest struct {
	// Resource has only fields that are known.
	Resource map[string]any `json:"resource"`
	// Known are its fields and their sources.
	Known []Known `json:"known"`
	// Unknown are fields that could not be inferred, or not with certainty.
	Unknown []Unknown `json:"unknown"`
	// Match is how many pods, PVCs and configurations of processes equal what a pass creates from
	// the manifest; null if it is unknown.
	Match *Match `json:"match"`
}

// Known is a field whose value was inferred.
type Known struct {
	Path   string `json:"path"`
	Source string `json:"source"`
}

// Unknown is a field whose value was not inferred.
type Unknown struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Match is what equals the objects that a pass creates from the manifest.
type Match struct {
	Pods           int `json:"pods"`
	MatchingPods   int `json:"matchingPods"`
	Claims         int `json:"claims"`
	MatchingClaims int `json:"matchingClaims"`
	// Configured and MatchingConfigured count pods by the hash of their process arguments.
	Configured         int `json:"configured"`
	MatchingConfigured int `json:"matchingConfigured"`
}

// builder infers one manifest.
type builder struct {
	facts   Facts
	groups  []group
	cluster *v1beta2.FoundationDBCluster
	known   []Known
	unknown []Unknown
}

func (f Facts) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: f.Name, Namespace: f.Namespace}
}

// Rebuild infers the manifest. It begins with the fields that the others depend on.
func Rebuild(f Facts) (Manifest, error) {
	b := &builder{facts: f, groups: f.groups(), cluster: &v1beta2.FoundationDBCluster{
		TypeMeta: metav1.TypeMeta{APIVersion: v1beta2.GroupVersion.String(), Kind: "FoundationDBCluster"}, ObjectMeta: f.meta(),
	}}
	for _, kind := range slices.Sorted(maps.Keys(f.Unread)) {
		b.doubt("", kind+" are unknown: "+f.Unread[kind])
	}
	b.cluster.Spec.Skip = true
	b.know("spec.skip", "added, so that no operator acts on a manifest before its review; set it to false afterwards")
	b.connectionString()
	b.imageType()
	b.version()
	b.images()
	b.prefixAndCounts()
	b.places()
	b.network()
	b.configuration()
	b.volumes()
	b.templates()
	b.parameters()
	b.untraced()
	match := b.match()
	resource, err := pruned(b.cluster)
	return Manifest{Resource: resource, Known: b.known, Unknown: b.unknown, Match: match}, err
}

func (b *builder) know(path, source string) {
	b.known = append(b.known, Known{Path: path, Source: source})
}

func (b *builder) doubt(path, reason string) {
	b.unknown = append(b.unknown, Unknown{Path: path, Reason: reason})
}

// only returns the one value that all have. If they have several, or there are none, the field is
// unknown.
func (b *builder) only(path, source string, values []string) (string, bool) {
	slices.Sort(values)
	n := len(values)
	values = slices.Compact(values)
	switch len(values) {
	case 1:
		b.know(path, phrase.Count(n, source))
		return values[0], true
	case 0:
		b.doubt(path, "no "+source+" is left")
	default:
		b.doubt(path, fmt.Sprintf("%s have different values: %s", phrase.Count(n, source), phrase.List(values)))
	}
	return "", false
}

// ofPods returns a value of each pod.
func (b *builder) ofPods(value func(g group) string) []string {
	var all []string
	for _, g := range b.groups {
		if g.pod != nil {
			all = append(all, value(g))
		}
	}
	return all
}

// untraced lists the parts of a spec that leave no trace anywhere.
func (b *builder) untraced() {
	for _, path := range []string{"automationOptions", "lockOptions", "coordinatorSelection", "minimumUptimeSecondsForBounce", "replaceInstancesWhenResourcesChange", "maxZonesWithUnavailablePods", "ignoreUpgradabilityChecks"} {
		b.doubt("spec."+path, "leaves no trace outside of the resource; the default applies")
	}
	if len(b.facts.Pods) == 0 {
		return
	}
	b.doubt("spec.labels", "pods are found by the default label "+v1beta2.LabelClusterName+"; those with other labels are not found")
}

// pruned returns the resource without its status and without empty fields.
func pruned(c *v1beta2.FoundationDBCluster) (map[string]any, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	resource := map[string]any{}
	if err := json.Unmarshal(text, &resource); err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	delete(resource, "status")
	prune(resource)
	return resource, nil
}

func prune(fields map[string]any) {
	for key, value := range fields {
		switch value := value.(type) {
		case nil:
			delete(fields, key)
		case string:
			if value == "" {
				delete(fields, key)
			}
		case []any:
			for _, element := range value {
				if object, is := element.(map[string]any); is {
					prune(object)
				}
			}
		case map[string]any:
			prune(value)
			if len(value) == 0 {
				delete(fields, key)
			}
		}
	}
}

// afterLast returns what follows the last separator of a text, and what precedes it.
func afterLast(text, separator string) (before, after string) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i+len(separator):]
}

// Facts are what is left of a cluster.
type Facts struct {
	Name, Namespace string
	// Exists is whether the FoundationDBCluster exists.
	Exists   bool
	Pods     []corev1.Pod
	Claims   []corev1.PersistentVolumeClaim
	Services []corev1.Service
	// Volumes are those that are, or were, of a PVC whose name begins with the one of the cluster.
	Volumes   []corev1.PersistentVolume
	ConfigMap *corev1.ConfigMap
	// Status is nil if the database was not read, or only in part; StatusUnknown has the cause.
	Status        *fdb.Status
	StatusUnknown string
	// Unread has the errors of objects that could not be listed, by their kind.
	Unread map[string]string
}

// SetStatus sets the status document. One that is incomplete is not used: what it lacks exists all the
// same, and processes that it does not list would seem to be lost.
func (f *Facts) SetStatus(s *fdb.Status) {
	f.Status, f.StatusUnknown = s, ""
	if s.Incomplete() {
		f.Status, f.StatusUnknown = nil, "the status document is incomplete"
	}
}

// Found reports whether anything of the cluster is left.
func (f Facts) Found() bool {
	return len(f.Pods) > 0 || len(f.Claims) > 0 || f.ConfigMap != nil || len(f.groups()) > 0
}

// group is a process group of which something is left.
type group struct {
	ID    v1beta2.ProcessGroupID
	Class v1beta2.ProcessClass
	pod   *corev1.Pod
	claim *corev1.PersistentVolumeClaim
	// volume is the last one that was of the PVC of the group.
	volume *corev1.PersistentVolume
}

// status returns the entry of the group in a status.
func (g group) status() *v1beta2.ProcessGroupStatus {
	return &v1beta2.ProcessGroupStatus{ProcessGroupID: g.ID, ProcessClass: g.Class}
}

// groups returns the process groups by ID. Pods and PVCs have ID and class as labels; of a volume
// both are inferred from the name of its PVC, unless a PVC of that name exists.
func (f Facts) groups() []group {
	byID := map[v1beta2.ProcessGroupID]*group{}
	of := func(labels map[string]string) *group {
		id := v1beta2.ProcessGroupID(labels[v1beta2.LabelProcessGroupID])
		if id == "" {
			return nil
		}
		if byID[id] == nil {
			byID[id] = &group{ID: id, Class: v1beta2.ProcessClass(labels[v1beta2.LabelProcessClass])}
		}
		return byID[id]
	}
	claimed := map[string]*group{}
	for i := range f.Pods {
		if g := of(f.Pods[i].Labels); g != nil && f.Pods[i].DeletionTimestamp == nil {
			g.pod = &f.Pods[i]
			claimed[f.Pods[i].Name+"-data"] = g
		}
	}
	for i := range f.Claims {
		if g := of(f.Claims[i].Labels); g != nil {
			g.claim = &f.Claims[i]
			claimed[f.Claims[i].Name] = g
		}
	}
	for i := range f.Volumes {
		v := &f.Volumes[i]
		g := claimed[v.Spec.ClaimRef.Name]
		if owner := GroupOfPVC(&v1beta2.FoundationDBCluster{ObjectMeta: f.meta()}, v.Spec.ClaimRef.Name); g == nil && owner != nil {
			g = of(map[string]string{v1beta2.LabelProcessGroupID: string(owner.ProcessGroupID), v1beta2.LabelProcessClass: string(owner.ProcessClass)})
		}
		if g != nil {
			g.volume = v
		}
	}
	all := []group{}
	for _, g := range byID {
		all = append(all, *g)
	}
	stable.Sort(all, func(a, b group) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// GroupOfPVC returns the process group of a cluster that has a PVC of this name; nil if none has.
func GroupOfPVC(c *v1beta2.FoundationDBCluster, pvc string) *v1beta2.ProcessGroupStatus {
	rest := strings.TrimSuffix(strings.TrimPrefix(pvc, c.Name+"-"), "-data")
	i := strings.LastIndex(rest, "-")
	if i < 0 {
		return nil
	}
	number, err := strconv.Atoi(rest[i+1:])
	class := v1beta2.ProcessClass(strings.ReplaceAll(rest[:i], "-", "_"))
	if err != nil || !class.IsStateful() {
		return nil
	}
	g := &v1beta2.ProcessGroupStatus{ProcessGroupID: c.ProcessGroupIDFor(class, number), ProcessClass: class}
	if g.PVCName(c) != pvc { // also one without the prefix or the suffix
		return nil
	}
	return g
}

// View is the document of `recover manifest`.
type View struct {
	inspect.Document
	Manifest
}

// NewView makes the document.
func NewView(m inspect.Metadata, asOf time.Time, manifest Manifest, warnings []string) View {
	v := View{Document: inspect.NewDocument("RecoveryManifest", m, asOf, inspect.SourceLive), Manifest: manifest}
	v.Warnings = append(v.Warnings, warnings...)
	return v
}
