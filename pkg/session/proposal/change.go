package proposal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Change is a resource as it would be after a change that nothing has stored yet.
type Change struct {
	// Stored is what the API server would have.
	Stored *unstructured.Unstructured
	// Live is what it has; nil for a resource that does not exist.
	Live *unstructured.Unstructured
	// Way is how the change would be stored, and Manager the field manager of a server-side apply.
	Way     planned.ProposedWay
	Manager string
	// Source is where it is from: a file, "stdin", a kustomization, or flags.
	Source string
	// Asked is true if an API server has reported what it would store.
	Asked bool

	manifest Manifest
	proposer Proposer
	isStored bool // the API server has it
	// denied is why the API server would not store it for this user; nil where it would.
	denied error
	// patch is what is submitted: a merge patch, or the whole object.
	patch []byte
}

// Key returns the name of the resource.
func (c *Change) Key() types.NamespacedName { return client.ObjectKeyFromObject(c.Stored) }

// Decode returns the resource as it would be stored.
func (c *Change) Decode(into client.Object) error { return convert(c.Stored, into) }

// Kind returns the kind of the resource.
func (c *Change) Kind() string { return c.Stored.GetKind() }

// Proposer finds out what the API server would store.
type Proposer struct {
	Client client.Client
	// FieldManager is the field manager of the command.
	FieldManager string
	// Offline is true where no API server can be asked, as with a dump: then the types of this program decide.
	Offline bool
	// Beside are the other objects of the manifests; nil without any.
	Beside *Beside
}

// Manifest returns what the resource would be after its manifest was applied, as whoever manages it would do: as kubectl
// apply does, unless a field manager has applied it on the server. The error is a *RefusedError where the API server would not
// store what the manifest has; then the change is what it would be without that, and nil where a value has the wrong type.
func (p Proposer) Manifest(ctx context.Context, m Manifest) (*Change, error) {
	if err := m.mistyped(); err != nil {
		return nil, err
	}
	wanted := m.Object.DeepCopy()
	unstructured.RemoveNestedField(wanted.Object, "status")
	live, err := p.live(ctx, wanted)
	if err != nil {
		return nil, err
	}
	c := &Change{Live: live, Source: m.Source, manifest: m, proposer: p}
	switch manager := managerOf(live); {
	case live == nil:
		c.Way = planned.ProposedCreate
		err = c.recorded(wanted)
	case manager != "":
		c.Way, c.Manager = planned.ProposedServerSide, manager
		c.patch, err = json.Marshal(wanted)
	default:
		c.Way = planned.ProposedApply
		err = c.threeWay(wanted, live)
	}
	if err != nil {
		return nil, fmt.Errorf("compare %s with the live one: %w", m.Title(), err)
	}
	return c, p.store(ctx, c)
}

// Examine is Manifest for a manifest that may be wrong in several ways, all of which it returns. The change is nil where the
// manifest cannot be decoded.
func (p Proposer) Examine(ctx context.Context, m Manifest) (c *Change, wrong []*RefusedError, err error) {
	if err = m.check(); err == nil {
		c, err = p.Manifest(ctx, m)
	}
	if err == nil {
		return c, nil, nil
	}
	refused, is := errors.AsType[*RefusedError](err)
	if !is {
		return nil, nil, err
	}
	wrong = []*RefusedError{refused}
	if unknown := m.unknownFields(); len(unknown) > 0 && refused.Kind != Dropped && refused.Kind != Unknown {
		wrong = append(wrong, &RefusedError{Manifest: m, Kind: Unknown, Problems: unknown})
	}
	return c, wrong, nil
}

// Edits returns what a live resource would be after edits of its spec.
func (p Proposer) Edits(ctx context.Context, kind string, key types.NamespacedName, edits []Edit, source string) (*Change, error) {
	named := &unstructured.Unstructured{}
	named.SetGroupVersionKind(v1beta2.GroupVersion.WithKind(kind))
	named.SetNamespace(key.Namespace)
	named.SetName(key.Name)
	live, err := p.live(ctx, named)
	if err == nil && live == nil {
		err = exit.Usagef("%s %s not found in namespace %s", kind, key.Name, key.Namespace)
	}
	if err != nil {
		return nil, err
	}
	wanted := live.DeepCopy()
	spec, _, _ := unstructured.NestedMap(wanted.Object, "spec")
	if spec == nil {
		spec = map[string]any{}
	}
	for _, e := range edits {
		if err := e.apply(kind, spec); err != nil {
			return nil, err
		}
	}
	wanted.Object["spec"] = spec
	c := &Change{Live: live, Source: source, Way: planned.ProposedPatch, manifest: Manifest{Object: wanted, Source: source}, proposer: p}
	if c.patch, err = mergePatch(live, wanted); err != nil {
		return nil, err
	}
	return c, p.store(ctx, c)
}

// live reads a resource; nil if it does not exist.
func (p Proposer) live(ctx context.Context, o *unstructured.Unstructured) (found *unstructured.Unstructured, err error) {
	found = &unstructured.Unstructured{}
	found.SetGroupVersionKind(o.GroupVersionKind())
	switch err = p.Client.Get(ctx, client.ObjectKeyFromObject(o), found); {
	case exit.IsMissingKind(err):
		return nil, exit.MissingKind(err)
	case apierrors.IsNotFound(err):
		found, err = nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s %s in namespace %s: %w", o.GetKind(), o.GetName(), o.GetNamespace(), err)
	}
	return found, err
}

// managerOf returns the field manager that has applied the spec on the server; empty where none has, or kubectl apply has
// recorded a manifest, which it compares by itself.
func managerOf(live *unstructured.Unstructured) string {
	if live == nil {
		return ""
	}
	if by := AppliedBy(live); by != byKubectl {
		return by
	}
	return ""
}

// byKubectl is who has applied a resource with the record of its manifest.
const byKubectl = "kubectl"

// AppliedBy returns who has applied the manifest of a resource: kubectl, or a field manager on the server; empty for neither.
func AppliedBy(live client.Object) string {
	if live.GetAnnotations()[corev1.LastAppliedConfigAnnotation] != "" {
		return byKubectl
	}
	for _, entry := range live.GetManagedFields() {
		if entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" && ownsSpec(entry) {
			return entry.Manager
		}
	}
	return ""
}

func ownsSpec(entry metav1.ManagedFieldsEntry) bool {
	var fields map[string]json.RawMessage
	if entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
		return false
	}
	_, owns := fields["f:spec"]
	return owns
}

// recorded sets what is submitted to create a resource, with the record that kubectl apply compares later manifests with.
func (c *Change) recorded(wanted *unstructured.Unstructured) (err error) {
	if err := record(wanted); err != nil {
		return err
	}
	c.patch, err = json.Marshal(wanted)
	return err
}

// record adds the annotation of kubectl apply: the manifest without the annotation, and a line break.
func record(o *unstructured.Unstructured) error {
	annotations := o.GetAnnotations()
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	o.SetAnnotations(annotations)
	if annotations == nil { // kubectl writes an empty object
		if err := unstructured.SetNestedMap(o.Object, map[string]any{}, "metadata", "annotations"); err != nil {
			return err
		}
		annotations = map[string]string{}
	}
	text, err := json.Marshal(o.Object)
	if err != nil {
		return err
	}
	annotations[corev1.LastAppliedConfigAnnotation] = string(text) + "\n"
	o.SetAnnotations(annotations)
	return nil
}

// threeWay sets the patch that kubectl apply would submit: what the manifest sets, without what the last one set and
// this one does not.
func (c *Change) threeWay(wanted, live *unstructured.Unstructured) error {
	if err := record(wanted); err != nil {
		return err
	}
	modified, err := json.Marshal(wanted)
	if err != nil {
		return err
	}
	current, err := json.Marshal(live)
	if err != nil {
		return err
	}
	last := []byte(live.GetAnnotations()[corev1.LastAppliedConfigAnnotation])
	c.patch, err = jsonmergepatch.CreateThreeWayJSONMergePatch(last, modified, current)
	return err
}

func mergePatch(from, to *unstructured.Unstructured) ([]byte, error) {
	before, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(to)
	if err != nil {
		return nil, err
	}
	return jsonpatch.CreateMergePatch(before, after)
}

// store finds out what the API server would store, and refuses what it would drop or reject.
func (p Proposer) store(ctx context.Context, c *Change) (err error) {
	if p.Offline {
		c.Stored, err = c.computed()
	} else {
		c.Stored, err = p.submit(ctx, c, client.DryRunAll)
		c.Asked, c.denied = err == nil, nil
		switch assumed, unread := p.namespaceBeside(ctx, c, err); {
		case unread != nil:
			err = unread
		case assumed:
			c.Stored, err = c.computed()
		}
		if apierrors.IsForbidden(err) { // without the permission to change it, the change can still be planned
			c.denied = err
			c.Stored, err = c.computed()
		}
	}
	if rejected := err; err != nil {
		if _, is := errors.AsType[*RefusedError](err); is {
			c.Stored, err = c.computed()
		}
		return cmp.Or(err, rejected)
	}
	return c.refuseLost()
}

// namespaceBeside reports whether the API server cannot be asked about a resource since only the manifests have its namespace.
func (p Proposer) namespaceBeside(ctx context.Context, c *Change, refused error) (bool, error) {
	if c.Way != planned.ProposedCreate || !apierrors.IsNotFound(refused) {
		return false, nil
	}
	return p.Beside.assumes(ctx, p.Client, named(namespaceKind, "", c.manifest.Object.GetNamespace()))
}

// submit sends the change to the API server.
func (p Proposer) submit(ctx context.Context, c *Change, options ...submitOption) (*unstructured.Unstructured, error) {
	o := c.manifest.Object.DeepCopy()
	var err error
	switch c.Way {
	case planned.ProposedCreate:
		o.Object = nil
		if err := json.Unmarshal(c.patch, &o.Object); err != nil {
			return nil, err
		}
		err = p.Client.Create(ctx, o, creating(options)...)
	case planned.ProposedServerSide:
		patched := append(patching(options), client.FieldOwner(c.Manager), client.ForceOwnership)
		err = p.Client.Patch(ctx, o, client.RawPatch(types.ApplyPatchType, c.patch), patched...)
	default:
		err = p.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, c.patch), patching(options)...)
	}
	if err != nil {
		return nil, c.explained(err)
	}
	return o, nil
}

// submitOption is an option of requests that create and that patch.
type submitOption interface {
	client.CreateOption
	client.PatchOption
}

func creating(options []submitOption) (all []client.CreateOption) {
	for _, o := range options {
		all = append(all, o)
	}
	return all
}

func patching(options []submitOption) (all []client.PatchOption) {
	for _, o := range options {
		all = append(all, o)
	}
	return all
}

// explained returns what the API server rejects, with the places in the manifest.
func (c *Change) explained(err error) error {
	var status apierrors.APIStatus
	if apierrors.IsNotFound(err) {
		return exit.Usage(err)
	}
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) || status.Status().Details == nil {
		return fmt.Errorf("submit %s without persisting it: %w", c.manifest.Title(), err)
	}
	refused := &RefusedError{Manifest: c.manifest, Kind: Rejected}
	for _, cause := range status.Status().Details.Causes {
		problem := Problem{Field: cause.Field, Message: cause.Field + ": " + cause.Message}
		if !slices.Contains(refused.Problems, problem) {
			refused.Problems = append(refused.Problems, problem)
		}
	}
	return exit.Usage(refused)
}

// computed returns what an API server with this program's resource definitions would store.
func (c *Change) computed() (*unstructured.Unstructured, error) {
	o := c.manifest.Object.DeepCopy()
	if c.Live == nil {
		o.SetUID(uuid.NewUUID()) // as in a dry run of the API server
	}
	if c.Live != nil && c.Way != planned.ProposedPatch {
		current, err := json.Marshal(c.Live)
		if err != nil {
			return nil, err
		}
		merged, err := jsonpatch.MergePatch(current, c.patch)
		if err != nil {
			return nil, err
		}
		o.Object = nil
		if err := decodeJSON(merged, &o.Object); err != nil {
			return nil, err
		}
	}
	if c.Live == nil {
		o.SetGeneration(1)
		return o, nil
	}
	if !apiequality.Semantic.DeepEqual(c.Live.Object["spec"], o.Object["spec"]) {
		o.SetGeneration(c.Live.GetGeneration() + 1)
	}
	return o, nil
}

// newOf returns an empty resource of a kind.
func newOf(kind string) client.Object {
	switch kind {
	case "FoundationDBBackup":
		return &v1beta2.FoundationDBBackup{}
	case "FoundationDBRestore":
		return &v1beta2.FoundationDBRestore{}
	default:
		return &v1beta2.FoundationDBCluster{}
	}
}

// refuseLost refuses a manifest with fields that the API server would drop, as kubectl apply does: the resource would
// not be what its author wrote.
func (c *Change) refuseLost() error {
	refused := &RefusedError{Manifest: c.manifest, Kind: Unknown, Problems: c.manifest.unknownFields()}
	if c.Asked {
		refused.Kind, refused.Problems = Dropped, c.droppedFields()
	}
	if len(refused.Problems) == 0 {
		return nil
	}
	return exit.Usage(refused)
}

// unknownFields returns the fields of the spec that its kind does not have, as far as this program knows.
func (m Manifest) unknownFields() (all []Problem) {
	spec, _, _ := unstructured.NestedMap(m.Object.Object, "spec")
	for _, field := range v1beta2.UnknownFields(m.Object.GetKind(), spec) {
		parent, name := cutLast(field.Path)
		beside := fieldsAt(m.Object.GetKind(), parent)
		problem := Problem{Field: field.Path, Message: field.Path}
		switch meant := phrase.Meant(name, beside); {
		case field.Successor != "":
			problem.Message += " (use " + field.Successor + ")"
			if in, renamed := cutLast(field.Successor); in == parent {
				problem.name = renamed
			}
		case len(meant) == 1:
			problem.Message, problem.name = problem.Message+phrase.OrMeant(name, beside), meant[0]
		default:
			problem.Message += phrase.OrMeant(name, beside)
		}
		all = append(all, problem)
	}
	return all
}

// droppedFields returns the fields that the manifest has, and what the API server would store does not.
func (c *Change) droppedFields() (all []Problem) {
	wanted, _, _ := unstructured.NestedMap(c.manifest.Object.Object, "spec")
	stored, _, _ := unstructured.NestedMap(c.Stored.Object, "spec")
	unknown := c.manifest.unknownFields()
	for _, path := range dropped(wanted, stored, "spec") {
		problem := Problem{Field: path, Message: path}
		if i := slices.IndexFunc(unknown, func(p Problem) bool { return p.Field == path }); i >= 0 {
			problem = unknown[i] // with its successor
		}
		all = append(all, problem)
	}
	return all
}

// dropped returns the paths of a value that another one does not have.
func dropped(from, to any, path string) (lost []string) {
	switch from := from.(type) {
	case map[string]any:
		in, _ := to.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(from)) {
			value, kept := in[key]
			switch {
			case !kept && from[key] == nil: // the same as an absent one
			case !kept:
				lost = append(lost, path+"."+key)
			default:
				lost = append(lost, dropped(from[key], value, path+"."+key)...)
			}
		}
	case []any:
		in, _ := to.([]any)
		for i := range min(len(from), len(in)) {
			lost = append(lost, dropped(from[i], in[i], path+"["+strconv.Itoa(i)+"]")...)
		}
	}
	return lost
}

// View returns the change for a plan. Secrets are hidden.
func (c *Change) View() *planned.Proposed {
	v := &planned.Proposed{Source: c.Source, Way: c.Way, Manager: c.Manager, New: c.Live == nil, AdmissionUnknown: !c.Asked, Assumed: c.proposer.Beside.Assumed(), Fields: []planned.ProposedField{}}
	if v.New {
		return v
	}
	if c.Manager == "" { // else the change is one of that manager
		v.Owners = c.owners()
	}
	for _, path := range differing(c.Live.Object["spec"], c.Stored.Object["spec"], "spec") {
		v.Fields = append(v.Fields, planned.ProposedField{Path: path, From: shown(c.Live, path), To: shown(c.Stored, path)})
	}
	return v
}

// differing returns the paths of the fields in which two values differ, as deep as both are objects or lists of the same
// length.
func differing(a, b any, path string) (all []string) {
	if apiequality.Semantic.DeepEqual(a, b) || isNothing(a) && isNothing(b) {
		return nil
	}
	if from, is := a.(map[string]any); is {
		if to, both := b.(map[string]any); both {
			return differingMembers(from, to, path)
		}
	}
	from, isList := a.([]any)
	to, both := b.([]any)
	if !isList || !both || len(from) != len(to) {
		return []string{path}
	}
	for i := range from {
		all = append(all, differing(from[i], to[i], path+"["+strconv.Itoa(i)+"]")...)
	}
	return all
}

func differingMembers(from, to map[string]any, path string) (all []string) {
	keys := map[string]bool{}
	for key := range from {
		keys[key] = true
	}
	for key := range to {
		keys[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		all = append(all, differing(from[key], to[key], memberPath(path, key))...)
	}
	return all
}

// isNothing reports whether a value means as much as its absence: objects with nothing in them.
func isNothing(value any) bool {
	object, is := value.(map[string]any)
	if !is {
		return value == nil
	}
	for _, member := range object {
		if !isNothing(member) {
			return false
		}
	}
	return true
}

// memberPath returns the path of a member.
func memberPath(path, key string) string {
	if strings.ContainsAny(key, ".[]=") {
		return path + "[" + key + "]"
	}
	return path + "." + key
}

// shown returns the value of a field: a text as it is, anything else as JSON; nil where it is not set.
func shown(o *unstructured.Unstructured, path string) *string {
	hidden := o.DeepCopy()
	redact.Object(hidden.Object)
	steps, err := parsePath(path)
	if err != nil {
		return nil
	}
	var value any = hidden.Object
	for _, s := range steps {
		switch of := value.(type) {
		case map[string]any:
			value = of[s.field]
		case []any:
			if s.field != "" || s.index >= len(of) {
				return nil
			}
			value = of[s.index]
		default:
			return nil
		}
	}
	if text, is := value.(string); is {
		return &text
	}
	encoded, err := json.Marshal(value)
	if value == nil || err != nil {
		return nil
	}
	text := string(encoded)
	return &text
}
