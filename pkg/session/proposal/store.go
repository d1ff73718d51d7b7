package proposal

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// storeAttempts bounds how often a change is submitted while others write the status of the resource.
const storeAttempts = 5

// Refresh finds out again what the API server would store, for the resource as it is by now. It fails if its spec
// has changed since.
func (c *Change) Refresh(ctx context.Context) error {
	live, err := c.proposer.live(ctx, c.Stored)
	if err != nil {
		return err
	}
	moved := ""
	switch was := c.Live; {
	case was == nil && live == nil:
	case was == nil:
		moved = "it was created"
	case live == nil:
		moved = "it was deleted"
	case live.GetUID() != was.GetUID():
		moved = "it was deleted and created again"
	case live.GetGeneration() != was.GetGeneration():
		moved = fmt.Sprintf("generation %d, now %d", was.GetGeneration(), live.GetGeneration())
	}
	if moved != "" {
		return &exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("%s changed since the plan was made: %s", c.manifest.Title(), moved)}
	}
	c.Live = live
	if err := c.proposer.Beside.refresh(ctx, c.proposer.Client); err != nil {
		return err
	}
	return c.proposer.store(ctx, c)
}

// Store has the API server store the change, and proves by what it returns that it did. A spec that others have changed
// meanwhile is left as it is.
func (c *Change) Store(ctx context.Context) error {
	for range storeAttempts {
		if err := c.Refresh(ctx); err != nil {
			return err
		}
		if !c.IsChange() {
			c.isStored = true
			return nil
		}
		announced := c.Stored
		submitted := *c
		if c.Live != nil {
			var err error
			if submitted.patch, err = onlyAt(c.patch, c.Live.GetResourceVersion()); err != nil {
				return err
			}
		}
		stored, err := c.proposer.submit(ctx, &submitted)
		if apierrors.IsConflict(err) { // the status was written, or the spec, which the next read shows
			continue
		}
		if err != nil {
			return err
		}
		c.Stored, c.isStored = stored, true
		if !apiequality.Semantic.DeepEqual(stored.Object["spec"], announced.Object["spec"]) {
			return fmt.Errorf("the API server stored another spec of %s than it had announced: run the command again to plan with it", c.manifest.Title())
		}
		return nil
	}
	return &exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("%s is written by others all the time: not stored after %s", c.manifest.Title(), phrase.Count(storeAttempts, "attempt"))}
}

// onlyAt returns a patch that the API server applies to one version of the resource alone.
func onlyAt(patch []byte, resourceVersion string) ([]byte, error) {
	var object map[string]any
	if err := json.Unmarshal(patch, &object); err != nil {
		return nil, err
	}
	metadata, _ := object["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["resourceVersion"] = resourceVersion
	object["metadata"] = metadata
	return json.Marshal(object)
}

// IsChange reports whether the resource would be another one than it is.
func (c *Change) IsChange() bool {
	return c.Live == nil || len(differing(c.Live.Object["spec"], c.Stored.Object["spec"], "spec")) > 0
}

// MayStore refuses what the API server would not store for this user, what needs objects that only the manifests have, and to change fields that another field manager has
// set, such as that of a GitOps controller: it would set them back. What kubectl sets is set by users.
func (c *Change) MayStore() error {
	owners := c.owners()
	switch {
	case c.denied != nil:
		return c.denied
	case len(owners) == 0:
		return c.proposer.Beside.mayStore(c.manifest.Title())
	}
	var words []string
	for _, o := range owners {
		words = append(words, fmt.Sprintf("%s of %s", phrase.List(o.Fields), o.Manager))
	}
	return &exit.Error{
		Code: exit.ExitConflict,
		Err:  fmt.Errorf("%s has fields that another field manager sets, and would set back: %s", c.manifest.Title(), strings.Join(words, "; ")),
		Hints: []string{
			"change it where that manager reads it, then carry out the plan of it: reconcile --plan FILE",
			"take the fields over: --field-manager " + owners[0].Manager,
		},
	}
}

// owners returns the field managers, other than that of the command and those of kubectl, that have set fields which the
// change changes.
func (c *Change) owners() (all []planned.ProposedOwner) {
	if c.Live == nil {
		return nil
	}
	changed := differing(c.Live.Object["spec"], c.Stored.Object["spec"], "spec")
	for _, entry := range c.Live.GetManagedFields() {
		if entry.Subresource != "" || entry.Manager == c.proposer.FieldManager || strings.HasPrefix(entry.Manager, "kubectl") {
			continue
		}
		if owned := ownedBy(entry, changed); len(owned) > 0 {
			all = append(all, planned.ProposedOwner{Manager: entry.Manager, Fields: owned})
		}
	}
	return all
}

// ownedBy returns the paths that a field manager has set.
func ownedBy(entry metav1.ManagedFieldsEntry, paths []string) []string {
	set := &fieldpath.Set{}
	if entry.FieldsV1 == nil || set.FromJSON(entry.FieldsV1.GetRawReader()) != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !owns(set, path) })
}

// owns reports whether a set has a field, one that it is in, or one in it. Items of lists count as their list.
func owns(set *fieldpath.Set, path string) bool {
	steps, err := parsePath(path)
	if err != nil {
		return true // what cannot be compared is not taken over
	}
	at := fieldpath.Path{}
	for _, s := range steps {
		if s.field == "" {
			break
		}
		name := s.field
		at = append(at, fieldpath.PathElement{FieldName: &name})
	}
	for end := len(at); end > 1; end-- { // spec itself is in the set of each manager of one of its fields
		if set.Has(at[:end]) {
			return true
		}
	}
	inside := set
	for _, element := range at {
		inside = inside.WithPrefix(element)
	}
	return !inside.Empty()
}

// Invalid returns the refusal of a change that could be stored, and that no pass would carry out.
func (c *Change) Invalid(problems []Problem) error {
	return &RefusedError{Manifest: c.manifest, Kind: Invalid, Problems: problems}
}

// RefusedError is a manifest that would not be stored, or carried out, as its author wrote it.
type RefusedError struct {
	Manifest Manifest
	Kind     RefusalKind
	Problems []Problem
}

// RefusalKind is why fields of a manifest would not be stored.
type RefusalKind string

// The kinds.
const (
	// Mistyped is a manifest that is not one of its kind: the version, a required field or the type of a value.
	Mistyped RefusalKind = "mistyped"
	// Rejected is a value that the API server rejects.
	Rejected RefusalKind = "rejected"
	// Dropped is a field that the API server would drop, and Unknown one that this program does not know, where no API server reports it.
	Dropped RefusalKind = "dropped"
	Unknown RefusalKind = "unknown"
	// Invalid is a value that no pass would carry out, although it can be stored.
	Invalid RefusalKind = "invalid"
)

// Problem is one field that would not be stored.
type Problem struct {
	// Field is its path, such as spec.processCounts.storage.
	Field string
	// Message names the field, and what is wrong with it.
	Message string

	// name is the name that the field must have, and value what it must be; quoted is true for a value that must be a text.
	// All of them are empty where the correction needs its author.
	name, value string
	quoted      bool
}

// Error returns all problems with their places in the manifest.
func (e *RefusedError) Error() string {
	all := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		all[i] = e.Manifest.At(p.Field) + ": " + p.Message
	}
	text := strings.Join(all, "; ")
	switch e.Kind {
	case Rejected:
		return "the API server rejects " + e.Manifest.Title() + ": " + text
	case Dropped:
		return "the API server would drop " + phrase.Count(len(all), "field") + " of " + e.Manifest.Title() + ": " + text
	case Invalid:
		return e.Manifest.Title() + " would be invalid: " + text
	case Unknown:
		return e.Manifest.Object.GetKind() + " does not have " + phrase.Count(len(all), "field") + " of " + e.Manifest.Title() + ": " + text
	default:
		return text
	}
}
