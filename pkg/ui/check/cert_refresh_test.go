package check

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

func TestCheckPrintsTheCertificateRefreshDelay(t *testing.T) {
	tests := map[string]struct {
		parameters map[v1beta2.ProcessClass]string
		left       time.Duration
		want       string
		late       bool
	}{
		"the default":                      {nil, 20 * 24 * time.Hour, "up to 12h0m0s later (the default of tls_cert_refresh_delay_seconds)", false},
		"longer than it is valid":          {nil, 11 * time.Hour, "up to 12h0m0s later", true},
		"an hour for all":                  {map[v1beta2.ProcessClass]string{"general": "knob_tls_cert_refresh_delay_seconds=3600"}, 2 * time.Hour, "up to 1h0m0s later (knob_tls_cert_refresh_delay_seconds)", false},
		"longer for one class":             {map[v1beta2.ProcessClass]string{"log": "knob_tls_cert_refresh_delay_seconds=86400"}, 20 * time.Hour, "up to 24h0m0s later (knob_tls", true},
		"shorter for one class":            {map[v1beta2.ProcessClass]string{"log": "knob_tls_cert_refresh_delay_seconds=60"}, 20 * time.Hour, "up to 12h0m0s later (the default", false},
		"no number":                        {map[v1beta2.ProcessClass]string{"general": "knob_tls_cert_refresh_delay_seconds=soon"}, 20 * time.Hour, "unknown: knob_tls_cert_refresh_delay_seconds is no number", false},
		"a parameter about something else": {map[v1beta2.ProcessClass]string{"general": "knob_tls_cert=5"}, 20 * time.Hour, "up to 12h0m0s later (the default", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &v1beta2.FoundationDBCluster{}
			c.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{{ProcessClass: "log"}, {ProcessClass: "storage"}}
			c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{}
			for class, parameter := range tc.parameters {
				c.Spec.Processes[class] = v1beta2.ProcessSettings{CustomParameters: v1beta2.FoundationDBCustomParameters{v1beta2.FoundationDBCustomParameter(parameter)}}
			}
			got := certRefreshText(c, tc.left)
			if !strings.Contains(got, tc.want) || strings.Contains(got, "longer than it is valid") != tc.late {
				t.Errorf("%s", got)
			}
		})
	}
}

// After the delay, and for processes that were started since, the certificate is the renewed one.
func TestReloadedCertificatesAreNoFinding(t *testing.T) {
	for name, given := range map[string]func(*Facts){
		"without TLS":                       func(*Facts) {},
		"renewed longer ago than the delay": renewed(certRefreshDefault),
		"restarted since": func(f *Facts) {
			renewed(25 * time.Hour)(f)
			f.Cluster.Spec.Processes[v1beta2.ProcessClassGeneral] = v1beta2.ProcessSettings{CustomParameters: v1beta2.FoundationDBCustomParameters{knobCertRefresh + "=172800"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			given(&f)
			if item := itemOf(t, reportOn(f, Options{}), "CERT-004"); item.Outcome != Passed {
				t.Errorf("got %+v", item)
			}
		})
	}
}
