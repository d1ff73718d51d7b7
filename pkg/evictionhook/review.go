package evictionhook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// parseReview returns the request of an AdmissionReview. Errors name what is wrong with it.
func parseReview(body []byte) (*admissionv1.AdmissionRequest, error) {
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, fmt.Errorf("parse AdmissionReview: %w", err)
	}
	if want := admissionv1.SchemeGroupVersion.String(); review.APIVersion != want || review.Kind != "AdmissionReview" {
		return nil, fmt.Errorf("parse AdmissionReview: got %s %s, %s AdmissionReview required", review.APIVersion, review.Kind, want)
	}
	switch {
	case review.Request == nil:
		return nil, errors.New("parse AdmissionReview: request is required")
	case review.Request.UID == "":
		return nil, errors.New("parse AdmissionReview: request.uid is required")
	}
	return review.Request, nil
}

// writeReview answers a request.
func writeReview(w http.ResponseWriter, response *admissionv1.AdmissionResponse) {
	review := admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Response: response,
	}
	text, err := json.Marshal(review)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // a client that has left needs no answer
}

// isEviction reports whether a request is the creation of an eviction.
func isEviction(r *admissionv1.AdmissionRequest) bool {
	return r.Operation == admissionv1.Create && r.Resource.Group == "" && r.Resource.Resource == "pods" && r.SubResource == "eviction"
}

// evictionOf returns the eviction that a request creates. A dry run is
// requested by the options of the request, or by those of the deletion in its body.
func evictionOf(r *admissionv1.AdmissionRequest) (e requested, err error) {
	var body policyv1.Eviction
	if err := json.Unmarshal(r.Object.Raw, &body); err != nil {
		return requested{}, fmt.Errorf("parse Eviction: %w", err)
	}
	e.pod = cmp.Or(r.Name, body.Name)
	switch group, _, _ := strings.Cut(body.APIVersion, "/"); {
	case group != policyv1.GroupName || body.Kind != "Eviction":
		return requested{}, fmt.Errorf("parse Eviction: got %q %q, %s Eviction required", body.APIVersion, body.Kind, policyv1.GroupName)
	case e.pod == "" || r.Namespace == "":
		return requested{}, errors.New("parse Eviction: name and namespace are required")
	case body.Name != "" && body.Name != e.pod, body.Namespace != "" && body.Namespace != r.Namespace:
		return requested{}, errors.New("parse Eviction: it is of another pod than the request")
	}
	e.dryRun = r.DryRun != nil && *r.DryRun
	if o := body.DeleteOptions; o != nil {
		e.dryRun = e.dryRun || slices.Contains(o.DryRun, metav1.DryRunAll)
		if o.Preconditions != nil {
			e.uid = o.Preconditions.UID
		}
	}
	return e, nil
}

// requested is what a request asks to evict.
type requested struct {
	pod string
	// uid is the one that the pod must have; nil for any.
	uid    *types.UID
	dryRun bool
}

// causeType begins the type of a status cause; the rest is the ID of a check.
const causeType = "kubectl-fdb/"

// deny denies with the status that a PodDisruptionBudget denies with: clients of the eviction API
// try again after it, and after no other. It names no time to retry after, which would make
// clients wait without a word.
func deny(message string, refused []plan.Check) *admissionv1.AdmissionResponse {
	status := &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusTooManyRequests, Reason: metav1.StatusReasonTooManyRequests, Message: message,
	}
	if len(refused) > 0 {
		status.Details = &metav1.StatusDetails{}
	}
	for _, c := range refused {
		status.Details.Causes = append(status.Details.Causes, metav1.StatusCause{Type: metav1.CauseType(causeType + string(c.ID)), Field: c.Subject, Message: c.Evidence})
	}
	return &admissionv1.AdmissionResponse{Result: status}
}

func allow() *admissionv1.AdmissionResponse { return &admissionv1.AdmissionResponse{Allowed: true} }

// refusedOf returns the checks that do not hold.
func refusedOf(checks []plan.Check) []plan.Check {
	return slices.DeleteFunc(slices.Clone(checks), func(c plan.Check) bool { return c.OK })
}

// evidenceOf lists what does not hold.
func evidenceOf(refused []plan.Check) string {
	var words []string
	for _, c := range refused {
		if !slices.Contains(words, c.Evidence) {
			words = append(words, c.Evidence)
		}
	}
	return strings.Join(words, "; ")
}

const (
	// Path is where the webhook answers.
	Path = "/evictions"
	// maxBody bounds a request. An AdmissionReview of an eviction has a few KiB.
	maxBody = 1 << 20
	// maxRequests is how many requests are judged at once; the answers of the others do not wait.
	maxRequests = 64
	// defaultTimeout is how long the API server waits if the configuration sets nothing.
	defaultTimeout = 10 * time.Second
	// longestTimeout is the most that a webhook configuration may set.
	longestTimeout = 30 * time.Second
	// answerMargin is what an answer needs on its way: one that is late is no answer, and fails a
	// drain instead of delaying it.
	answerMargin = 2 * time.Second
)

// Handler serves admission reviews at Path.
func (h *Hook) Handler() http.Handler {
	places := make(chan struct{}, maxRequests)
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+Path, func(w http.ResponseWriter, r *http.Request) {
		request, code, err := readReview(w, r)
		if err != nil {
			h.invalid(err)
			http.Error(w, err.Error(), code)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), timeLeft(r))
		defer cancel()
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
			writeReview(w, h.Review(ctx, request))
		default:
			writeReview(w, h.overloaded(request))
		}
	})
	return mux
}

func (h *Hook) invalid(err error) {
	if h.Report != nil {
		h.Report(Answer{Outcome: Invalid, Message: err.Error()})
	}
}

func (h *Hook) overloaded(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	answer := Answer{Outcome: Busy, Message: fmt.Sprintf("the eviction webhook reviews %d other evictions", maxRequests)}
	if h.Report != nil {
		h.Report(answer)
	}
	response := deny(answer.Message, nil)
	response.UID = r.UID
	return response
}

// readReview reads the request; on an error it returns the HTTP status to answer with.
func readReview(w http.ResponseWriter, r *http.Request) (request *admissionv1.AdmissionRequest, code int, err error) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, http.StatusUnsupportedMediaType, fmt.Errorf("content type %q: application/json required", r.Header.Get("Content-Type"))
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return nil, http.StatusRequestEntityTooLarge, errors.New("the request is larger than 1 MiB")
		}
		return nil, http.StatusBadRequest, fmt.Errorf("read the request: %w", err)
	}
	if request, err = parseReview(body); err != nil {
		return nil, http.StatusBadRequest, err
	}
	return request, http.StatusOK, nil
}

// timeLeft is how long an answer may take: the API server appends how long it waits.
func timeLeft(r *http.Request) time.Duration {
	timeout, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || timeout <= 0 {
		timeout = defaultTimeout
	}
	timeout = min(timeout, longestTimeout)
	return max(timeout-answerMargin, timeout/2)
}

const clusterKind = "FoundationDBCluster"

// clusterOf returns the cluster that a pod belongs to, by its owner and by the labels of clusters
// in the namespace; nil where it belongs to none. An owner that does not exist, and two clusters
// whose labels match, are errors: nothing is known about such a pod but that it has a database.
func (h *Hook) clusterOf(ctx context.Context, pod *corev1.Pod) (*v1beta2.FoundationDBCluster, error) {
	owner := ownerOf(pod)
	clusters := &v1beta2.FoundationDBClusterList{}
	if err := h.Client.List(ctx, clusters, client.InNamespace(pod.Namespace)); err != nil {
		return nil, fmt.Errorf("list FoundationDBClusters: %w", err)
	}
	var found *v1beta2.FoundationDBCluster
	for i := range clusters.Items {
		c := &clusters.Items[i]
		if owner != nil && owner.UID != c.UID || owner == nil && !selects(c, pod) {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("FoundationDBClusters %s and %s select it", found.Name, c.Name)
		}
		found = c
	}
	if found == nil && owner != nil {
		return nil, fmt.Errorf("its FoundationDBCluster %s does not exist any more", owner.Name)
	}
	return found, nil
}

// ownerOf returns the FoundationDBCluster that controls a pod; nil for none.
func ownerOf(pod *corev1.Pod) *metav1.OwnerReference {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != clusterKind {
		return nil
	}
	if group, _, _ := strings.Cut(owner.APIVersion, "/"); group != v1beta2.GroupVersion.Group {
		return nil
	}
	return owner
}

// selects reports whether a pod has the labels of a cluster and of one of its process groups.
func selects(c *v1beta2.FoundationDBCluster, pod *corev1.Pod) bool {
	if !labels.SelectorFromSet(c.MatchLabels()).Matches(labels.Set(pod.Labels)) {
		return false
	}
	_, isGroup := pod.Labels[c.ProcessGroupIDLabels()[0]]
	return isGroup
}
