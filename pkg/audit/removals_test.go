package audit

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Only names of process groups and pods are known to be gone: an address may be another one's.
func TestWhatIsKnownToBeGone(t *testing.T) {
	known := Removals{}
	known.AddEvents([]corev1.Event{
		{Type: corev1.EventTypeNormal, Reason: "IncludeAndForget", Message: "include 10.1.0.99, 10.1.0.98:4501 and locality_instance_id:storage-7 and remove storage-7 from the status [kubectl fdb replace x]"},
		{Type: corev1.EventTypeWarning, Reason: "MarkForRemoval", Message: "mark for removal: log-3"},
		{Type: corev1.EventTypeNormal, Reason: "CreatePod", Message: "create pod sample-log-4"},
	})
	for word, want := range map[string]bool{"storage-7": true, "10.1.0.99": false, "10.1.0.98": false, "4501": false, "log-3": false, "sample-log-4": false} {
		if known[word] != want {
			t.Errorf("%s: gone %t, want %t", word, known[word], want)
		}
	}
}
