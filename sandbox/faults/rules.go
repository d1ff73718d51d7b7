package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Rule is one API fault. Empty fields match everything.
type Rule struct {
	Verb      string        `json:"verb,omitempty"`      // as HTTP: GET, POST, PUT, PATCH, DELETE
	Resource  string        `json:"resource,omitempty"`  // a plural such as pods, or a word of the path such as exec
	Name      string        `json:"name,omitempty"`      // of the object
	Status    int           `json:"status,omitempty"`    // answer with this HTTP status; 0 passes the request on
	Reason    string        `json:"reason,omitempty"`    // the status's reason, such as Conflict
	Delay     time.Duration `json:"delay,omitempty"`     // wait before answering or passing on
	Remaining int           `json:"remaining,omitempty"` // requests left; 0 is all until cleared
}

// Check returns an error for an invalid rule.
func (r Rule) Check() error {
	switch {
	case r.Status == 0 && r.Delay == 0:
		return errors.New("an API fault needs a status or a delay")
	case r.Status != 0 && (r.Status < 400 || r.Status > 599):
		return fmt.Errorf("status %d is not an error", r.Status)
	case r.Delay < 0 || r.Remaining < 0:
		return errors.New("an API fault cannot have negative numbers")
	}
	return nil
}

// matches reports whether the rule applies to a request.
func (r Rule) matches(q *http.Request) bool {
	words := strings.Split(strings.Trim(q.URL.Path, "/"), "/")
	return (r.Verb == "" || strings.EqualFold(r.Verb, q.Method)) &&
		(r.Resource == "" || slices.Contains(words, r.Resource)) &&
		(r.Name == "" || slices.Contains(words, r.Name))
}

// Rules are the API faults in force, first match first.
type Rules struct {
	mu  sync.Mutex
	all []Rule
}

// Add puts a rule behind the others.
func (r *Rules) Add(rule Rule) error {
	if err := rule.Check(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, rule)
	return nil
}

// Clear removes every rule.
func (r *Rules) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = nil
}

// List is the rules in force.
func (r *Rules) List() []Rule {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// take finds the rule for a request and counts it.
func (r *Rules) take(q *http.Request) (Rule, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, rule := range r.all {
		if !rule.matches(q) {
			continue
		}
		if rule.Remaining == 1 {
			r.all = slices.Delete(r.all, i, i+1)
		} else if rule.Remaining > 1 {
			r.all[i].Remaining--
		}
		return rule, true
	}
	return Rule{}, false
}

// apply puts the rules in front of a handler.
func (r *Rules) apply(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		rule, found := r.take(q)
		if found && !waited(q, rule.Delay) {
			return
		}
		if !found || rule.Status == 0 {
			next.ServeHTTP(w, q)
			return
		}
		rule.answer(w)
	})
}

func waited(q *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-q.Context().Done():
		return false
	case <-timer.C:
		return true
	}
}

// reasons are Kubernetes' reasons for a status.
var reasons = map[int]metav1.StatusReason{
	http.StatusUnauthorized: metav1.StatusReasonUnauthorized, http.StatusForbidden: metav1.StatusReasonForbidden,
	http.StatusNotFound: metav1.StatusReasonNotFound, http.StatusConflict: metav1.StatusReasonConflict,
	http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests, http.StatusInternalServerError: metav1.StatusReasonInternalError,
	http.StatusServiceUnavailable: metav1.StatusReasonServiceUnavailable, http.StatusGatewayTimeout: metav1.StatusReasonTimeout,
}

// answer is the rule's failure as the API server would word it.
func (r Rule) answer(w http.ResponseWriter) {
	reason := metav1.StatusReason(r.Reason)
	if reason == "" {
		reason = reasons[r.Status]
	}
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Message: fmt.Sprintf("the sandbox fails this request on purpose (%d %s)", r.Status, reason), Reason: reason, Code: int32(r.Status), //nolint:gosec // an HTTP status
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.Status)
	json.NewEncoder(w).Encode(status) // a client that has ended needs no answer
}

// String is the rule in words.
func (r Rule) String() string {
	word := func(text string) string {
		if text == "" {
			return "any"
		}
		return text
	}
	text := fmt.Sprintf("on %s %s %s:", word(r.Verb), word(r.Resource), word(r.Name))
	if r.Delay > 0 {
		text += " wait " + r.Delay.String()
	}
	if r.Status > 0 {
		text += fmt.Sprintf(" answer %d", r.Status)
	}
	if r.Remaining > 0 {
		text += fmt.Sprintf(" (%d left)", r.Remaining)
	}
	return text
}
