package dumps

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ReadOnlyMessage is the answer to every request that would change something.
const ReadOnlyMessage = "a dump is read-only"

// APIServer serves requests from facts, as the API server that they are of would have done. Requests
// that it has no answer to are errors, and none changes anything.
type APIServer struct{ Facts *Facts }

// RoundTrip implements http.RoundTripper.
func (s APIServer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := bodyOf(r)
	if err != nil {
		return nil, err
	}
	q, known := parseRequest(r)
	var answer any
	switch {
	case known && r.Method == http.MethodPost && strings.HasPrefix(q.resource, "selfsubject"):
		answer = s.review(r, q, body)
	case r.Method != http.MethodGet:
		answer = refusal(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, ReadOnlyMessage)
	case !known:
		answer = s.object(r, query{name: r.URL.Path})
	case q.name != "":
		answer = s.object(r, q)
	default:
		answer = s.list(r, q)
	}
	return response(r, answer)
}

func bodyOf(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	return limit.All(r.Body, limit.Document)
}

// query is a request for an object, a list or a review.
type query struct{ group, version, resource, namespace, name string }

func (q query) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: q.group, Resource: q.resource}
}

// parseRequest parses the paths of the API: /api/v1/… and /apis/GROUP/VERSION/….
func parseRequest(r *http.Request) (query, bool) {
	words := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var q query
	switch {
	case len(words) >= 3 && words[0] == "api":
		q.version, words = words[1], words[2:]
	case len(words) >= 4 && words[0] == "apis":
		q.group, q.version, words = words[1], words[2], words[3:]
	default: // the version, and the list of groups
		return q, false
	}
	if words[0] == "namespaces" && len(words) > 2 {
		q.namespace, words = words[1], words[2:]
	}
	q.resource = words[0]
	if len(words) > 1 {
		q.name = words[1]
	}
	return q, len(words) <= 2
}

func (s APIServer) object(r *http.Request, q query) any {
	raw, failure := s.Facts.object(r.Context(), q)
	if failure != nil {
		return failure
	}
	return raw
}

func (s APIServer) list(r *http.Request, q query) any {
	list, failure := s.Facts.list(r.Context(), q)
	if failure != nil {
		return failure
	}
	selected, err := selectorOf(r)
	if err != nil {
		return refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
	}
	items := []json.RawMessage{}
	for _, raw := range list.Items {
		var o fieldsOfObject
		if err := json.Unmarshal(raw, &o); err == nil && (q.namespace == "" || o.Metadata.Namespace == q.namespace) && selected(o) {
			items = append(items, raw)
		}
	}
	return map[string]any{
		"kind": list.Kind + "List", "apiVersion": schema.GroupVersion{Group: q.group, Version: q.version}.String(),
		"metadata": map[string]any{}, "items": items,
	}
}

// fieldsOfObject are the fields that commands select objects by.
type fieldsOfObject struct {
	Metadata       metav1.ObjectMeta `json:"metadata"`
	InvolvedObject struct {
		Name string `json:"name"`
	} `json:"involvedObject"`
}

// selectorOf returns the selection of a list request.
func selectorOf(r *http.Request) (func(fieldsOfObject) bool, error) {
	byLabel, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		return nil, err
	}
	byField, err := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	if err != nil {
		return nil, err
	}
	for _, requirement := range byField.Requirements() {
		switch requirement.Field {
		case "metadata.name", "metadata.namespace", "involvedObject.name":
		default:
			return nil, fmt.Errorf("field selector %q is not supported by a dump", requirement.Field)
		}
	}
	return func(o fieldsOfObject) bool {
		return byLabel.Matches(labels.Set(o.Metadata.Labels)) && byField.Matches(fields.Set{
			"metadata.name": o.Metadata.Name, "metadata.namespace": o.Metadata.Namespace, "involvedObject.name": o.InvolvedObject.Name,
		})
	}, nil
}

func (s APIServer) review(r *http.Request, q query, body []byte) any {
	var requested struct {
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(body, &requested); err != nil {
		return refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, "decode the review: "+err.Error())
	}
	raw, failure := s.Facts.review(r.Context(), q.resource, requested.Spec)
	if failure != nil {
		return failure
	}
	return raw
}

// response returns a response with an answer: an object, a list, or a failure.
func response(r *http.Request, answer any) (*http.Response, error) {
	code := http.StatusOK
	if failure, is := answer.(*metav1.Status); is {
		code = int(failure.Code)
		whole := *failure
		whole.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		answer = whole
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("encode the answer of the dump: %w", err)
	}
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)),
	}, nil
}

func refusal(code int32, reason metav1.StatusReason, message string) *metav1.Status {
	return &metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}
}

// notInDump is the answer to a request that was not made when the dump was written.
func notInDump(what string) *metav1.Status {
	status := refusal(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "not in the dump: "+what)
	status.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: plan.CauseNotRecorded}}}
	return status
}

func notFound(q query) *metav1.Status {
	status := apierrors.NewNotFound(q.groupResource(), q.name).ErrStatus
	return &status
}

// operatorName is in every Deployment and Lease of a FoundationDB operator.
const operatorName = "fdb-kubernetes-operator"

// Trim leaves out what commands do not need of objects in other namespaces than those of the
// clusters: the environments and command lines of their pods, and Deployments and Leases that are
// of no operator.
func Trim(d *Dump) {
	own := map[string]bool{}
	for _, c := range d.Manifest.Clusters {
		own[c.Namespace] = true
	}
	foreign := func(raw json.RawMessage) bool {
		var o fieldsOfObject
		return json.Unmarshal(raw, &o) == nil && o.Metadata.Namespace != "" && !own[o.Metadata.Namespace]
	}
	for i := range d.Lists {
		l := &d.Lists[i]
		switch l.Resource {
		case "pods":
			for j, raw := range l.Items {
				if foreign(raw) {
					l.Items[j] = edited(raw, trimmedPod)
				}
			}
		case "deployments", "leases":
			l.Items = slices.DeleteFunc(l.Items, func(raw json.RawMessage) bool {
				return foreign(raw) && !bytes.Contains(raw, []byte(operatorName))
			})
		}
	}
}

// trimmedPod leaves out what does not decide where other pods fit.
func trimmedPod(o map[string]any) any {
	if metadata, is := o["metadata"].(map[string]any); is {
		delete(metadata, "annotations")
		delete(metadata, "managedFields")
	}
	spec, _ := o["spec"].(map[string]any)
	delete(spec, "volumes")
	for _, field := range []string{"containers", "initContainers", "ephemeralContainers"} {
		containers, _ := spec[field].([]any)
		for _, c := range containers {
			container, _ := c.(map[string]any)
			for _, name := range []string{"env", "envFrom", "command", "args", "volumeMounts", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe"} {
				delete(container, name)
			}
		}
	}
	return o
}
