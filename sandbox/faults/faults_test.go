package faults

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPodFaultsAreParsed(t *testing.T) {
	tests := map[string]struct {
		text    string
		want    Pod
		refused bool
	}{
		"no text is no fault":                   {},
		"several faults stand side by side":     {text: "NotReady, ExecRefused", want: Pod{NotReady: true, ExecRefused: true}},
		"a delay has a duration":                {text: "ExecSlow=5s", want: Pod{ExecDelay: 5 * time.Second}},
		"a cut has a number of bytes":           {text: "ExecCut=10", want: Pod{ExecCutBytes: 10}},
		"an unknown fault is refused":           {text: "Nonsense", refused: true},
		"a delay without duration is refused":   {text: "ExecSlow", refused: true},
		"a cut at nothing is refused":           {text: "ExecCut=0", refused: true},
		"a value where none belongs is refused": {text: "Pending=5s", refused: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParsePod(test.text)
			if refused := err != nil; refused != test.refused {
				t.Fatalf("error %v, want one: %v", err, test.refused)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCutStreamsPassALimitedNumberOfBytes(t *testing.T) {
	s := NewScissors(5)
	var out, errOut bytes.Buffer
	io.WriteString(s.Writer(&out), "abc")
	_, err := io.WriteString(s.Writer(&errOut), "defg")
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("writing past the cut: %v", err)
	}
	if diff := cmp.Diff("abc|de", out.String()+"|"+errOut.String()); diff != "" {
		t.Error(diff)
	}
	select {
	case <-s.Cut():
	default:
		t.Error("the connection is not cut")
	}
}

func TestAPIFaultRulesMatchRequests(t *testing.T) {
	tests := map[string]struct {
		rule   Rule
		verb   string
		path   string
		status []int // of requests one after the other; 200 is passed on
	}{
		"everything fails until cleared":     {rule: Rule{Status: 503}, verb: "GET", path: "/api/v1/pods", status: []int{503, 503}},
		"a rule with a number wears off":     {rule: Rule{Status: 409, Remaining: 1}, verb: "PUT", path: "/api/v1/pods", status: []int{409, 200}},
		"another verb passes":                {rule: Rule{Status: 503, Verb: "patch"}, verb: "GET", path: "/api/v1/pods", status: []int{200}},
		"the verb's case does not matter":    {rule: Rule{Status: 503, Verb: "patch"}, verb: "PATCH", path: "/api/v1/pods", status: []int{503}},
		"another resource passes":            {rule: Rule{Status: 503, Resource: "pods"}, verb: "GET", path: "/api/v1/nodes", status: []int{200}},
		"a resource is not part of a word":   {rule: Rule{Status: 503, Resource: "pod"}, verb: "GET", path: "/api/v1/pods", status: []int{200}},
		"an object of the resource is meant": {rule: Rule{Status: 403, Resource: "pods", Name: "a"}, verb: "GET", path: "/api/v1/namespaces/x/pods/a", status: []int{403}},
		"a delay alone passes":               {rule: Rule{Delay: time.Millisecond}, verb: "GET", path: "/api/v1/pods", status: []int{200}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var rules Rules
			if err := rules.Add(test.rule); err != nil {
				t.Fatal(err)
			}
			h := rules.apply(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
			var got []int
			for range test.status {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest(test.verb, test.path, nil))
				got = append(got, w.Code)
			}
			if diff := cmp.Diff(test.status, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheSandboxProxyRemovesClientIdentityHeaders(t *testing.T) {
	in := httptest.NewRequest(http.MethodGet, "/", nil)
	out := http.Header{"X-Remote-User": {"system:admin"}, "X-Remote-Group": {"system:masters"}, "X-Remote-Extra-A": {"b"}, "Accept": {"*/*"}}
	vouch(in, out)
	if diff := cmp.Diff(http.Header{"Accept": {"*/*"}}, out); diff != "" {
		t.Error(diff)
	}
}
