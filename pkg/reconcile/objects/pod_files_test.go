package objects

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

func TestSplitFilesAreHashedAsTheSidecarDoes(t *testing.T) {
	c := sample(t, splitImage)
	l := DesiredLaunch(c, v1beta2.ProcessClassStorage)
	got, err := SplitFileHashes(c, l, podVariables())
	if err != nil {
		t.Fatal(err)
	}
	conf, err := MonitorConf(c, l, podVariables())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"fdb.cluster":     fmt.Sprintf("%x", sha256.Sum256([]byte(sampleConnection))),
		"fdbmonitor.conf": fmt.Sprintf("%x", sha256.Sum256([]byte(conf))),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAMonitorHasAcceptedWhatItReports(t *testing.T) {
	accepted := func(c *v1beta2.FoundationDBCluster) string {
		t.Helper()
		m, err := ConfigMap(c)
		if err != nil {
			t.Fatal(err)
		}
		return m.Data["fdbmonitor-conf-storage-json"]
	}
	c := sample(t, parameters("knob_a=1", "knob_b=$RACK"))
	tests := map[string]struct {
		reported map[string]string
		want     bool
		err      bool
	}{
		"what is in the config map":  {reported: map[string]string{v1beta2.AnnotationCurrentConfiguration: accepted(c)}, want: true},
		"what was there before":      {reported: map[string]string{v1beta2.AnnotationCurrentConfiguration: accepted(sample(t))}},
		"nothing yet":                {},
		"text that nobody can read":  {reported: map[string]string{v1beta2.AnnotationCurrentConfiguration: "?"}, err: true},
		"no servers while they must": {reported: map[string]string{v1beta2.AnnotationCurrentConfiguration: accepted(sample(t, func(c *v1beta2.FoundationDBCluster) { c.Status.ConnectionString = "" }))}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := HasAcceptedConfiguration(c, DesiredLaunch(c, v1beta2.ProcessClassStorage), podWith(tt.reported))
			if (err != nil) != tt.err {
				t.Fatalf("error %v, want one: %v", err, tt.err)
			}
			if got != tt.want {
				t.Errorf("accepted: %v, want %v", got, tt.want)
			}
		})
	}
}
