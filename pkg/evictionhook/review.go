package evictionhook

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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
