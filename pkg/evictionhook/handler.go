package evictionhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
)

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
