package dumps

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Facts answers from a dump. While one is being written, it reads what the dump lacks and adds it.
type Facts struct {
	Dump *Dump
	// Live reads what the dump lacks; nil for a finished dump.
	Live client.Client

	mu sync.Mutex
}

// object returns one object.
func (f *Facts) object(ctx context.Context, q query) (json.RawMessage, *metav1.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.Dump.Singles {
		if s.Group == q.group && s.Resource == q.resource && s.Namespace == q.namespace && s.Name == q.name {
			return s.Object, s.Failure
		}
	}
	if list := f.known(q); list != nil && list.Failure == nil {
		for _, raw := range list.Items {
			var o fieldsOfObject
			if json.Unmarshal(raw, &o) == nil && o.Metadata.Name == q.name && o.Metadata.Namespace == q.namespace {
				return raw, nil
			}
		}
		return nil, notFound(q)
	}
	if f.Live == nil {
		return nil, notInDump(strings.Join(strings.Fields("get "+q.groupResource().String()+" "+q.name), " "))
	}
	s := f.readObject(ctx, q)
	f.Dump.Singles = append(f.Dump.Singles, s)
	return s.Object, s.Failure
}

func (f *Facts) readObject(ctx context.Context, q query) Single {
	s := Single{Group: q.group, Resource: q.resource, Namespace: q.namespace, Name: q.name}
	o := &unstructured.Unstructured{}
	kind, known := kindOf(q)
	if !known {
		s.Failure = notInDump("get " + q.groupResource().String())
		return s
	}
	o.SetGroupVersionKind(kind)
	if s.Failure = failureOf(f.Live.Get(ctx, types.NamespacedName{Namespace: q.namespace, Name: q.name}, o)); s.Failure == nil {
		s.Object = encoded(o.Object)
	}
	return s
}

// known returns the list that answers a request, that of its namespace first; nil for none.
func (f *Facts) known(q query) *List {
	var everywhere *List
	for i := range f.Dump.Lists {
		l := &f.Dump.Lists[i]
		if l.Group != q.group || l.Resource != q.resource {
			continue
		}
		if l.Namespace == q.namespace {
			return l
		}
		if l.Namespace == "" && l.Failure == nil {
			everywhere = l
		}
	}
	return everywhere
}

// list returns the list that answers a request. Its items may be of more namespaces.
func (f *Facts) list(ctx context.Context, q query) (List, *metav1.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if list := f.known(q); list != nil {
		return *list, list.Failure
	}
	if f.Live == nil {
		return f.joined(q)
	}
	list := f.readList(ctx, q)
	f.Dump.Lists = append(f.Dump.Lists, list)
	return list, list.Failure
}

// joined returns all FoundationDB resources of a dump as those of all namespaces: it has no others.
// Of other objects it has only some, and a part is not the answer.
func (f *Facts) joined(q query) (List, *metav1.Status) {
	all := List{Items: []json.RawMessage{}}
	found := false
	for _, l := range f.Dump.Lists {
		if q.namespace == "" && q.group == v1beta2.GroupVersion.Group && l.Group == q.group && l.Resource == q.resource && l.Failure == nil {
			found, all.Kind = true, l.Kind
			all.Items = append(all.Items, l.Items...)
		}
	}
	if !found {
		return List{}, notInDump("list " + q.groupResource().String())
	}
	return all, nil
}

// pageSize is how many objects one request lists at most.
const pageSize = 500

func (f *Facts) readList(ctx context.Context, q query) List {
	l := List{Group: q.group, Version: q.version, Resource: q.resource, Namespace: q.namespace, Items: []json.RawMessage{}}
	kind, known := kindOf(q)
	if !known {
		l.Failure = notInDump("list " + q.groupResource().String())
		return l
	}
	l.Kind = kind.Kind
	for next := ""; ; {
		page := &unstructured.UnstructuredList{}
		page.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		options := []client.ListOption{client.InNamespace(q.namespace), client.Limit(pageSize), client.Continue(next)}
		if l.Failure = failureOf(f.Live.List(ctx, page, options...)); l.Failure != nil {
			l.Items = nil
			return l
		}
		for i := range page.Items {
			l.Items = append(l.Items, encoded(page.Items[i].Object))
		}
		if next = page.GetContinue(); next == "" {
			return l
		}
	}
}

// Collect reads a list that commands may need, unless it was read before. Namespace is empty for
// all namespaces.
func (f *Facts) Collect(ctx context.Context, r Resource, namespace string) *metav1.Status {
	_, failure := f.list(ctx, query{group: r.Group, version: r.Version, resource: r.Resource, namespace: namespace})
	return failure
}

// Document adds the answer to a path that names no object: the version, and the list of groups.
func (f *Facts) Document(path string, answer []byte, err error) *metav1.Status {
	s := Single{Name: path, Failure: failureOf(err)}
	if err == nil {
		s.Object = answer
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Dump.Singles = append(f.Dump.Singles, s)
	return s.Failure
}

// Each calls use for the objects of a resource in a namespace that the dump has.
func (f *Facts) Each(resource, namespace string, use func(json.RawMessage)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.Dump.Lists {
		if l.Resource != resource || l.Namespace != namespace {
			continue
		}
		for _, raw := range l.Items {
			use(raw)
		}
	}
}

// review returns the answer to a question about permissions.
func (f *Facts) review(ctx context.Context, resource string, spec json.RawMessage) (json.RawMessage, *metav1.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.Dump.Reviews {
		if r.Resource == resource && sameJSON(r.Spec, spec) {
			return r.Object, r.Failure
		}
	}
	if f.Live == nil {
		return nil, notInDump("create " + resource)
	}
	r := f.readReview(ctx, resource, spec)
	f.Dump.Reviews = append(f.Dump.Reviews, r)
	return r.Object, r.Failure
}

func (f *Facts) readReview(ctx context.Context, resource string, spec json.RawMessage) Review {
	r := Review{Resource: resource, Spec: spec}
	var o client.Object
	switch resource {
	case "selfsubjectrulesreviews":
		rules := &authorizationv1.SelfSubjectRulesReview{TypeMeta: reviewType("SelfSubjectRulesReview")}
		r.Failure, o = failureOf(json.Unmarshal(spec, &rules.Spec)), rules
	case "selfsubjectaccessreviews":
		access := &authorizationv1.SelfSubjectAccessReview{TypeMeta: reviewType("SelfSubjectAccessReview")}
		r.Failure, o = failureOf(json.Unmarshal(spec, &access.Spec)), access
	default:
		r.Failure = notInDump("create " + resource)
	}
	if r.Failure != nil {
		return r
	}
	if r.Failure = failureOf(f.Live.Create(ctx, o)); r.Failure == nil {
		r.Object = encoded(o)
	}
	return r
}

func reviewType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{Kind: kind, APIVersion: authorizationv1.SchemeGroupVersion.String()}
}

func encoded(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("{}") // what the API server sent can be encoded
	}
	return text
}

func sameJSON(a, b json.RawMessage) bool {
	var left, right bytes.Buffer
	return json.Compact(&left, a) == nil && json.Compact(&right, b) == nil && bytes.Equal(left.Bytes(), right.Bytes())
}

// failureOf returns an error as the API server sends it; nil for none.
func failureOf(err error) *metav1.Status {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return nil
	case errors.As(err, &status):
		failure := status.Status()
		return &failure
	default:
		return refusal(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err.Error())
	}
}

// kindOf returns the kind of a resource; only kinds that commands read are known.
func kindOf(q query) (schema.GroupVersionKind, bool) {
	for _, r := range Resources() {
		if r.Group == q.group && r.Resource == q.resource {
			return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}, true
		}
	}
	return schema.GroupVersionKind{}, false
}

// Sidecar returns what the sidecar of a split pod reported. While a dump is written, query reads what
// the dump lacks, which is added to it.
func (f *Facts) Sidecar(at SidecarReport, query func() (any, error)) (json.RawMessage, error) {
	if known, found := f.sidecar(at); found {
		return known.answer()
	}
	if f.Live == nil {
		return nil, errNotInDump
	}
	report, err := query() // of several pods at once
	switch {
	case errors.Is(err, context.Canceled):
		return nil, err // the command was interrupted
	case err != nil:
		at.Failure = err.Error()
	default:
		at.Report = encoded(report)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Dump.Sidecars = append(f.Dump.Sidecars, at)
	return at.answer()
}

func (f *Facts) sidecar(at SidecarReport) (SidecarReport, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.Dump.Sidecars, func(s SidecarReport) bool {
		return s.Namespace == at.Namespace && s.Pod == at.Pod && slices.Equal(s.Binaries, at.Binaries)
	})
	if i < 0 {
		return SidecarReport{}, false
	}
	return f.Dump.Sidecars[i], true
}

func (s SidecarReport) answer() (json.RawMessage, error) {
	if s.Failure != "" {
		return nil, errors.New(s.Failure)
	}
	return s.Report, nil
}
