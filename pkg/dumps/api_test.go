package dumps

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func served(t *testing.T, d *Dump, method, url, body string) (int, map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://dump.invalid"+url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := APIServer{&Facts{Dump: d}}.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer
}

func TestAnAPIServerOfADumpRefusesEveryWrite(t *testing.T) {
	d := dumpOfPods()
	before, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		for _, path := range []string{"/api/v1/namespaces/fdb/pods", "/api/v1/namespaces/fdb/pods/a", "/api/v1/namespaces/fdb/pods/a/eviction", "/api/v1/nodes/n", "/apis/apps.foundationdb.org/v1beta2/namespaces/fdb/foundationdbclusters/sample"} {
			code, answer := served(t, d, method, path, "{}")
			if code != http.StatusMethodNotAllowed || answer["message"] != "a dump is read-only" {
				t.Errorf("%s %s: %d %v", method, path, code, answer)
			}
		}
	}
	if after, err := json.Marshal(d); err != nil || string(after) != string(before) {
		t.Error("a write changed the dump")
	}
}

func dumpOfPods() *Dump {
	d := New()
	d.Lists = []List{
		{Version: "v1", Resource: "pods", Kind: "Pod", Namespace: "fdb", Items: rawOf(
			`{"metadata":{"name":"a","namespace":"fdb","labels":{"x":"1"}}}`, `{"metadata":{"name":"b","namespace":"fdb","labels":{"x":"2"}}}`)},
		{Version: "v1", Resource: "events", Kind: "Event", Namespace: "fdb", Items: rawOf(
			`{"metadata":{"name":"e","namespace":"fdb"},"involvedObject":{"name":"a"}}`, `{"metadata":{"name":"f","namespace":"fdb"},"involvedObject":{"name":"b"}}`)},
		{Version: "v1", Resource: "nodes", Kind: "Node", Failure: refusal(http.StatusForbidden, "Forbidden", "nodes is forbidden")},
		{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Items: rawOf(
			`{"metadata":{"name":"o","namespace":"op"}}`, `{"metadata":{"name":"p","namespace":"fdb"}}`)},
	}
	return d
}

func TestADumpServesTheRecordedAPIResponses(t *testing.T) {
	d := dumpOfPods()
	for url, want := range map[string]string{
		"/api/v1/namespaces/fdb/pods":                                         "PodList a b",
		"/api/v1/namespaces/fdb/pods?labelSelector=x%3D2":                     "PodList b",
		"/api/v1/namespaces/fdb/pods?fieldSelector=metadata.name%3Da":         "PodList a",
		"/api/v1/namespaces/fdb/events?fieldSelector=involvedObject.name%3Db": "EventList f",
		"/apis/apps/v1/namespaces/fdb/deployments":                            "DeploymentList p",
		"/apis/apps/v1/deployments":                                           "DeploymentList o p",
		"/api/v1/nodes":                                                       "403 nodes is forbidden",
		"/api/v1/namespaces/fdb/pods/c":                                       `404 pods "c" not found`,
		"/api/v1/nodes/n":                                                     "503 not in the dump: get nodes n",
		"/api/v1/namespaces/other/pods":                                       "503 not in the dump: list pods",
		"/api/v1/namespaces/fdb/secrets/s":                                    "503 not in the dump: get secrets s",
		"/api/v1/namespaces/fdb/pods?fieldSelector=spec.nodeName%3Dn":         `400 field selector "spec.nodeName" is not supported by a dump`,
		"/api/v1/namespaces/fdb/pods/a/log":                                   "503 not in the dump: get /api/v1/namespaces/fdb/pods/a/log",
	} {
		code, answer := served(t, d, http.MethodGet, url, "")
		if diff := cmp.Diff(want, summaryOf(code, answer)); diff != "" {
			t.Errorf("%s\n%s", url, diff)
		}
	}
	if code, answer := served(t, d, http.MethodGet, "/api/v1/namespaces/fdb/pods/b", ""); code != http.StatusOK || answer["metadata"].(map[string]any)["name"] != "b" {
		t.Errorf("%d %v", code, answer)
	}
	if code, _ := served(t, d, http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{}}`); code != http.StatusServiceUnavailable {
		t.Errorf("a review that was not recorded: %d", code)
	}
}

// summaryOf is a list's kind and names, or a failure's code and message.
func summaryOf(code int, answer map[string]any) string {
	if code != http.StatusOK {
		return jsonNumber(code) + " " + answer["message"].(string)
	}
	words := []string{answer["kind"].(string)}
	for _, item := range answer["items"].([]any) {
		words = append(words, item.(map[string]any)["metadata"].(map[string]any)["name"].(string))
	}
	return strings.Join(words, " ")
}

func jsonNumber(n int) string {
	text, _ := json.Marshal(n)
	return string(text)
}

func TestDumpsOmitPodEnvironmentsOfOtherNamespaces(t *testing.T) {
	d := New()
	d.Manifest.Clusters = []Cluster{{"fdb", "sample"}}
	pod := func(namespace string) string {
		return `{"metadata":{"annotations":{"a":"b"},"name":"p","namespace":"` + namespace + `"},"spec":{"containers":[{"args":["x"],"env":[{"name":"a","value":"b"}],"name":"c","resources":{"requests":{"cpu":"1"}}}],"nodeName":"n","volumes":[]}}`
	}
	d.Lists = []List{
		{Resource: "pods", Items: rawOf(pod("fdb"), pod("shop"))},
		{Resource: "deployments", Items: rawOf(`{"metadata":{"name":"web","namespace":"shop"}}`, `{"metadata":{"name":"fdb-kubernetes-operator","namespace":"op"}}`, `{"metadata":{"name":"web","namespace":"fdb"}}`)},
	}
	Trim(d)
	want := []string{pod("fdb"), `{"metadata":{"name":"p","namespace":"shop"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}],"nodeName":"n"}}`}
	if diff := cmp.Diff(want, []string{string(d.Lists[0].Items[0]), string(d.Lists[0].Items[1])}); diff != "" {
		t.Error(diff)
	}
	if n := len(d.Lists[1].Items); n != 2 || strings.Contains(string(d.Lists[1].Items[0]), "shop") {
		t.Errorf("%d deployments are left: %s", n, d.Lists[1].Items)
	}
}

// Readers tell what a dump lacks from an API server that cannot answer by the cause of the status.
func TestWhatADumpLacksIsNotRecorded(t *testing.T) {
	if err := (&apierrors.StatusError{ErrStatus: *notInDump("get namespaces fdb")}); !apierrors.HasStatusCause(err, plan.CauseNotRecorded) {
		t.Errorf("%v has no such cause", err)
	}
}
