package dashboard

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

func TestReplayCommandsUseTheRecordedNamespaceAndContext(t *testing.T) {
	where, namespace, fdb, kubectl := asRecorded(inspect.Metadata{Cluster: "c", Namespace: "there", Context: "prod"})
	if where != "prod" || namespace != "there" || fdb("why", "c") != "kubectl fdb why c -n there --context prod" {
		t.Errorf("%s, %s, %s", where, namespace, fdb("why", "c"))
	}
	if got := kubectl("describe", "node", "a b"); got != "kubectl describe node 'a b' -n there --context prod" {
		t.Error(got)
	}
}
